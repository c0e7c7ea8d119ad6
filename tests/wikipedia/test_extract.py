"""Dump files in, mention tables out: every format and option, resuming, and the real dumps."""

import bz2
import gzip
import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import candgen
from candgen.dumps.parenthesis import remove_parenthesis
from candgen.errors import CandgenError, StorageError
from candgen.wikipedia.extract import Options, Sources, extract
from candgen.wikipedia.markup.links import Link, LinkReader
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.pages import read_header
from tests.support.dumps import WrittenPage, cut_every, dump_xml, multistream, pieces, write_dump
from tests.support.extract_oracle import PageRow, resolve
from tests.support.faroese_wiki import PAGE_PROPS, PAGES, REDIRECT, WITHOUT_IDS, rows, zipped


def test_the_world_by_hand(faroese, tmp_path):
    report = extract(faroese, tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == WITHOUT_IDS
    told = report.to_dict()
    assert told == json.loads((tmp_path / "fo.report.json").read_text(encoding="utf-8"))
    assert told["wiki"] == "fowiki"
    assert told["language"] == "fo"
    assert told["dump_date"] == "20230501"
    assert told["truncated"] is False
    assert told["pages"] == {
        "read": 14,
        "mended": 0,
        "articles": 5,
        "redirects": 6,
        "other namespaces": 2,
        "not wikitext": 1,
    }
    assert told["seen"] == {"links": 18}
    assert told["dropped"] == {
        "redirect loop": 2,
        "redirect to another wiki": 1,
        "other namespace": 1,
        "image": 1,
        "interwiki": 1,
    }
    assert told["kept"] == 12
    assert not (tmp_path / ".fo.parquet.parts").exists()


def test_the_output_is_what_the_table_itself_would_write(faroese, tmp_path):
    extract(faroese, tmp_path / "fo.parquet")
    candgen.MentionTable.read(tmp_path / "fo.parquet").write(tmp_path / "again.parquet")
    first, again = (pq.ParquetFile(tmp_path / f"{name}.parquet") for name in ("fo", "again"))
    assert first.read() == again.read()
    assert first.metadata.num_row_groups == again.metadata.num_row_groups


# Mistakes


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"mention\tentity\n", "does not begin as a dump"),
        (b"<html><page></page></html>", "does not begin as a dump"),
        (bz2.compress(b"nothing"), "does not begin as a dump"),
        (gzip.compress(b"<mediawiki>", mtime=0)[:-9], "ends in the middle of a stream: download"),
        (bz2.compress(dump_xml(PAGES))[:-20], "ends in the middle of a stream: download"),
        (b"BZh9" + bytes(40), "no block where one should be, .*: download it again"),
        (b"7z\xbc\xaf\x27\x1c", "does not begin as a dump"),
    ],
)
def test_what_is_no_dump_costs_nothing(tmp_path, content, told):
    (tmp_path / "x.xml.bz2").write_bytes(content)
    with pytest.raises(CandgenError, match=told):
        extract(str(tmp_path / "x.xml.bz2"), tmp_path / "fo.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["x.xml.bz2"]


def test_mistakes(faroese, tmp_path):
    output = tmp_path / "fo.parquet"
    english = str(write_dump(tmp_path / "enwiki.xml", [WrittenPage("A", "b")], "en"))
    damaged = tmp_path / "damaged.sql.gz"
    damaged.write_bytes(gzip.compress(PAGE_PROPS.encode())[:200])
    german = zipped(tmp_path / "props.gz", f"-- Host: db1  Database: dewiki\n{PAGE_PROPS}")
    icelandic = zipped(tmp_path / "iswiki-20230501-redirect.sql.gz", REDIRECT)
    siteinfo = tmp_path / "siteinfo.json"
    siteinfo.write_text('{"error": {}}', encoding="utf-8")
    mistakes = {
        "ends in .parquet": lambda: extract(faroese, tmp_path / "fo.tsv"),
        "a folder that exists": lambda: extract(faroese, tmp_path / "no" / "fo.parquet"),
        "does not exist": lambda: extract(str(tmp_path / "no.xml"), output),
        "of several wikis": lambda: extract(Sources((faroese, english)), output),
        "given twice": lambda: extract(Sources((faroese, f"{tmp_path}/./{faroese[-29:]}")), output),
        "language is empty": lambda: extract(faroese, output, language=""),
        "is of dewiki, but the dump is of fowiki": lambda: extract(
            Sources((faroese,), page_props=german), output
        ),
        "is of iswiki": lambda: extract(Sources((faroese,), redirects=icelandic), output),
        'has no "query"': lambda: extract(Sources((faroese,), siteinfo=siteinfo), output),
        "no dump was given": lambda: extract(Sources(()), output),
        "beside other dumps": lambda: extract(Sources((faroese, "-")), output),
        "stdin cannot be read again to resume": lambda: extract("-", output, resume=True),
        "minimum is 0: expected": lambda: extract(faroese, output, options=Options(minimum=0)),
        "three numbers": lambda: extract(faroese, output, options=Options(split=(1, 2))),
        "such as 0": lambda: extract(faroese, output, options=Options(namespaces=())),
        "workers is 0: expected a whole number": lambda: extract(faroese, output, workers=0),
        "download it again": lambda: extract(Sources((faroese,), page_props=damaged), output),
    }
    there = sorted(path.name for path in tmp_path.iterdir())
    for told, mistake in mistakes.items():
        with pytest.raises(CandgenError, match=told):
            mistake()
        assert sorted(path.name for path in tmp_path.iterdir()) == there


def test_a_work_folder_that_is_somebody_elses_is_left_alone(faroese, tmp_path):
    (tmp_path / ".fo.parquet.parts").mkdir()
    (tmp_path / ".fo.parquet.parts" / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError, match="move it away"):
        extract(faroese, tmp_path / "fo.parquet")
    assert (tmp_path / ".fo.parquet.parts" / "letter.txt").exists()


def test_a_table_without_pairs_is_doubted(faroese, tmp_path, caplog):
    extract(faroese, tmp_path / "fo.parquet", options=Options(namespaces=(99,)))
    assert len(candgen.MentionTable.read(tmp_path / "fo.parquet")) == 0
    assert "fo.parquet has no pairs" in caplog.text


def test_a_symbolic_link_stays_one(faroese, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "fo.parquet").symlink_to(tmp_path / "elsewhere" / "real.parquet")
    extract(faroese, tmp_path / "fo.parquet")
    assert (tmp_path / "fo.parquet").is_symlink()
    assert rows(tmp_path / "elsewhere" / "real.parquet") == WITHOUT_IDS


# Dumps that are cut off or damaged


def test_a_dump_that_is_cut_off_gives_what_comes_before(tmp_path):
    xml = dump_xml(PAGES)
    cut = xml.index(b"Eingin")
    (tmp_path / "fo.xml").write_bytes(xml[:cut])
    report = extract(str(tmp_path / "fo.xml"), tmp_path / "fo.parquet")
    assert report.truncated
    assert report.to_dict()["pages"]["read"] == 3
    assert candgen.MentionTable.read(tmp_path / "fo.parquet").metadata["truncated"] == "true"
    assert rows(tmp_path / "fo.parquet").keys() < WITHOUT_IDS.keys()
    assert [fault["kind"] for fault in report.to_dict()["faults"]] == ["page cut off", "truncated"]


def test_a_damaged_stream_loses_its_own_pages_only(tmp_path):
    streams = [bz2.compress(piece) for piece in pieces(PAGES, together=2)]
    damaged = bytearray(streams[2])
    damaged[len(damaged) // 2] ^= 0xFF
    (tmp_path / "x.xml.bz2").write_bytes(b"".join([*streams[:2], damaged, *streams[3:]]))
    report = extract(str(tmp_path / "x.xml.bz2"), tmp_path / "fo.parquet")
    assert report.truncated
    assert report.to_dict()["pages"]["damaged streams"] == 1
    assert report.to_dict()["pages"]["read"] == len(PAGES) - 2
    assert ("søgu", "fo:Føroyar") in rows(tmp_path / "fo.parquet")


# Any world, judged by a naive version

NAMES = st.sampled_from(["A", "B", "C", "D (x)", "É", "Bólkur:K"])
TEXTS = st.lists(st.tuples(NAMES, st.sampled_from(["", "|a", "|b", "|é"])), max_size=6).map(
    lambda links: " ".join(f"[[{title}{anchor}]]" for title, anchor in links)
)
WORLDS = st.lists(
    st.tuples(NAMES, TEXTS, st.none() | NAMES), max_size=8, unique_by=lambda page: page[0]
)


def oracle(pages, options, entities):
    """The rows of a world whose pages are (title, text, redirect)."""
    site = Site.from_xml(dump_xml([]))
    reader = LinkReader(site, namespaces=options.namespaces)
    table, links, dropped = [], [], Counter()

    def namespace(title):
        return 14 if title.startswith("Bólkur:") else 0

    for number, (title, text, redirect) in enumerate(pages, 1):
        mine = namespace(title)
        table.append(PageRow(title, mine, number, redirect, redirect and namespace(redirect)))
        asked = options.titles if redirect is None else options.redirect_titles
        if asked and mine in options.namespaces:
            links.append((remove_parenthesis(title), title, 0, 1))
        if redirect is None and mine in options.namespaces:
            for link in reader.links(text.encode()):
                if isinstance(link, Link):
                    links.append((link.mention, link.title, 0, 1))
                else:
                    dropped[link] += 1
    kept, more = resolve(links, table, entities, language="fo", namespaces=options.namespaces)
    made = {(mention, entity): count for (mention, entity, _), count in kept.items()}
    dropped += more
    if rare := sum(count for count in made.values() if count < options.minimum):
        dropped["below the minimum count"] = rare
    return {pair: n for pair, n in made.items() if n >= options.minimum}, dropped


@settings(max_examples=40)
@given(
    world=WORLDS,
    options=st.builds(
        Options,
        namespaces=st.sampled_from([(0,), (0, 14), (14,)]),
        titles=st.booleans(),
        redirect_titles=st.booleans(),
        minimum=st.sampled_from([1, 2]),
    ),
    entities=st.none() | st.dictionaries(NAMES, st.sampled_from(["Q1", "Q2"])),
)
def test_any_world(world, options, entities, tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    pages = [
        WrittenPage(
            title,
            text if redirect is None else f"#REDIRECT [[{redirect}]]",
            namespace=14 if title.startswith("Bólkur:") else 0,
            redirect=redirect,
        )
        for title, text, redirect in world
    ]
    sources = Sources((str(write_dump(folder / "fo.xml", pages)),))
    if entities is not None:
        table = pa.table(
            {"title": list(entities), "entity": list(entities.values())},
            schema=pa.schema([("title", pa.string()), ("entity", pa.string())]),
        )
        pq.write_table(table, folder / "ids.parquet")
        sources = Sources(sources.dumps, ids=folder / "ids.parquet")
    report = extract(sources, folder / "fo.parquet", options=options)
    kept, dropped = oracle(world, options, entities)
    assert rows(folder / "fo.parquet") == kept
    assert report.statistics.dropped == dropped


# The real dumps


@pytest.mark.parametrize("language", ["el", "hy", "mr", "fo"])
def test_real_dumps(shared_data, tmp_path, language):
    path = next((shared_data / "dumps").glob(f"{language}wiki-*.xml.bz2"))
    report = extract(str(path), tmp_path / "x.parquet", workers=2)
    told = report.to_dict()
    xml = bz2.decompress(path.read_bytes())
    assert told["pages"]["read"] + told["pages"].get("bad", 0) == xml.count(b"<page>")
    assert told["truncated"] is (language != "fo")
    assert told["wiki"] == f"{language}wiki"
    assert sum(told["seen"].values()) == told["kept"] + sum(told["dropped"].values())
    made = rows(tmp_path / "x.parquet")
    assert sum(made.values()) == told["kept"]
    if language == "fo":
        assert made["Føroyum", "fo:Føroyar"] == 1
    streams = multistream(cut_every(xml, len(xml) // 5))
    (tmp_path / "streams.xml.bz2").write_bytes(streams)
    again = extract(str(tmp_path / "streams.xml.bz2"), tmp_path / "y.parquet")
    assert rows(tmp_path / "y.parquet") == made
    assert again.to_dict()["pages"] == told["pages"]


def test_marathi_inflects_after_the_link(shared_data):
    path = next((shared_data / "dumps").glob("mrwiki-*.xml.bz2"))
    site = Site.from_xml(read_header(str(path)))
    links = LinkReader(site).links("[[भारत]]ातील [[मुंबई|मुंबई]]त".encode())
    assert links == [Link("भारत", "भारतातील"), Link("मुंबई", "मुंबईत")]


def test_stdin_is_read_once(tmp_path, cli):
    xml = dump_xml(PAGES)
    for content in (xml, bz2.compress(xml), gzip.compress(xml)):
        result = cli("extract", "fo", "--dump", "-", "-o", tmp_path / "fo.parquet", stdin=content)
        assert result.status == 0
        assert rows(tmp_path / "fo.parquet") == WITHOUT_IDS
    result = cli("extract", "fo", "--dump", "-", "-o", tmp_path / "no.parquet", stdin=b"")
    assert result.status == 2
    assert result.err.startswith("candgen: stdin does not begin as a dump")
    assert {path.name for path in tmp_path.iterdir()} == {"fo.parquet", "fo.report.json"}
