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
from candgen.dumps import compressed_streams as dump_module
from candgen.dumps import external_sort as runs_module
from candgen.dumps.parenthesis import without_parenthesis
from candgen.errors import CandgenError, StorageError
from candgen.wikipedia import read_part as harvest_module
from candgen.wikipedia.extract import Options, Sources, extract
from candgen.wikipedia.markup.links import Link, LinkReader
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.pages import header
from tests.support.dumps import (
    END,
    WrittenPage,
    cut_every,
    dump_xml,
    multistream,
    pieces,
    write_dump,
)
from tests.support.extract_oracle import PageRow, resolve
from tests.support.faroese_wiki import PAGES, WITHOUT_IDS, rows

PAGE_PROPS = """\
CREATE TABLE `page_props` (
  `pp_page` int(11) NOT NULL,
  `pp_propname` varbinary(60) NOT NULL DEFAULT '',
  `pp_value` blob NOT NULL,
  `pp_sortkey` float DEFAULT NULL,
  PRIMARY KEY (`pp_page`,`pp_propname`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
INSERT INTO `page_props` VALUES (1,'wikibase_item','Q4628',NULL),(1,'defaultsort','(x),''y''',NULL),
(2,'wikibase_item','Q10704',NULL),(3,'wikibase_item','Q1',NULL),(12,'page_image','a\\'b',1.5);
"""
REDIRECT = """\
CREATE TABLE `redirect` (
  `rd_from` int(8) unsigned NOT NULL DEFAULT 0,
  `rd_namespace` int(11) NOT NULL DEFAULT 0,
  `rd_title` varbinary(255) NOT NULL DEFAULT '',
  `rd_interwiki` varbinary(32) DEFAULT NULL,
  `rd_fragment` varbinary(255) DEFAULT NULL,
  PRIMARY KEY (`rd_from`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
INSERT INTO `redirect` VALUES (3,0,'Suðuroy','',''),(12,0,'Føroyar','','x'),(4,0,'X','en','');
"""
LANGLINKS = """\
CREATE TABLE `langlinks` (
  `ll_from` int(8) unsigned NOT NULL DEFAULT 0,
  `ll_lang` varbinary(35) NOT NULL DEFAULT '',
  `ll_title` varbinary(255) NOT NULL DEFAULT '',
  PRIMARY KEY (`ll_from`,`ll_lang`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
INSERT INTO `langlinks` VALUES (1,'en','Faroe Islands'),(1,'de','Färöer'),(2,'en','Tórshavn');
"""


def zipped(path, text):
    path.write_bytes(gzip.compress(text.encode()))
    return path


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


def test_the_table_says_what_it_is(faroese, tmp_path, cli):
    extract(faroese, tmp_path / "fo.parquet")
    metadata = candgen.MentionTable.read(tmp_path / "fo.parquet").metadata
    assert metadata["wiki"] == "fowiki"
    assert metadata["candgen_version"]
    assert json.loads(metadata["dropped"])["image"] == 1
    assert json.loads(metadata["options"])["minimum"] == 1
    assert json.loads(metadata["pages"])["redirects"] == 6
    shown = cli("info", tmp_path / "fo.parquet")
    assert shown.status == 0
    for line in ("wiki            ", "fowiki", "redirect loop", "dump date", "20230501"):
        assert line in shown.out


def test_entities_of_page_props(faroese, tmp_path):
    props = zipped(tmp_path / "page_props.sql.gz", PAGE_PROPS)
    report = extract(Sources((faroese,), page_props=props), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {
        ("Tórshavn", "Q10704"): 1,
        ("Havnina", "Q10704"): 1,
        ("T.", "Q10704"): 1,
        ("Føroyar", "Q4628"): 1,
        ("Føroyum", "Q4628"): 1,
        ("søgu", "Q4628"): 1,
    }
    assert report.to_dict()["dropped"]["no entity"] == 6
    assert sum(report.to_dict()["seen"].values()) == 6 + sum(report.to_dict()["dropped"].values())


def test_redirects_of_the_database_count_more_than_those_of_the_dump(faroese, tmp_path):
    redirects = zipped(tmp_path / "redirect.sql.gz", REDIRECT)
    report = extract(Sources((faroese,), redirects=redirects), tmp_path / "fo.parquet")
    # Havnin leads to Suðuroy there, which leads to another wiki; Gomul leads to Føroyar.
    gone = {("Havnina", "fo:Tórshavn"), ("Suðuroyar", "fo:Suðuroy"), ("Suðuroy", "fo:Suðuroy")}
    wanted = {pair: count for pair, count in WITHOUT_IDS.items() if pair not in gone}
    assert rows(tmp_path / "fo.parquet") == wanted
    assert report.to_dict()["dropped"]["redirect to another wiki"] == 1 + 3


def test_entities_of_a_table_of_titles(faroese, tmp_path):
    (tmp_path / "ids.tsv").write_text("title\tentity\nTórshavn\tQ10704\nKina\tQ148\n", "utf-8")
    extract(Sources((faroese,), ids=tmp_path / "ids.tsv"), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {
        ("Tórshavn", "Q10704"): 1,
        ("Havnina", "Q10704"): 1,
        ("T.", "Q10704"): 1,
        ("Kina", "Q148"): 2,
    }


def test_entities_by_way_of_another_language(faroese, tmp_path):
    (tmp_path / "en.tsv").write_text("title\tentity\nFaroe Islands\tQ4628\n", "utf-8")
    sources = Sources(
        (faroese,),
        ids=tmp_path / "en.tsv",
        langlinks=zipped(tmp_path / "langlinks.sql.gz", LANGLINKS),
        langlinks_to="en",
    )
    extract(sources, tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {
        ("Føroyar", "Q4628"): 1,
        ("Føroyum", "Q4628"): 1,
        ("søgu", "Q4628"): 1,
    }


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        (Options(templates=False), {("Kina", "fo:Kina"): 1}),
        (Options(refs=False), {("Suðuroy", "fo:Suðuroy"): 1}),
        (Options(tables=False), {("T.", "fo:Tórshavn"): 1}),
        (Options(minimum=2), {pair: 1 for pair in WITHOUT_IDS if pair[0] != "Kina"}),
    ],
)
def test_what_can_be_left_out(faroese, tmp_path, options, gone):
    report = extract(faroese, tmp_path / "fo.parquet", options=options)
    wanted = Counter(WITHOUT_IDS)
    wanted.subtract(gone)
    assert rows(tmp_path / "fo.parquet") == +wanted
    told = report.to_dict()
    assert sum(told["seen"].values()) == told["kept"] + sum(told["dropped"].values())
    if options.minimum > 1:
        assert told["dropped"]["below the minimum count"] == 10


def test_titles_as_mentions(faroese, tmp_path):
    options = Options(titles=True, redirect_titles=True)
    report = extract(faroese, tmp_path / "fo.parquet", options=options)
    made = Counter(rows(tmp_path / "fo.parquet"))
    made.subtract(WITHOUT_IDS)
    assert +made == {
        ("Føroyar", "fo:Føroyar"): 1,
        ("Tórshavn", "fo:Tórshavn"): 1,
        ("Suðuroy", "fo:Suðuroy"): 1,
        ("Paris", "fo:Paris (gudur)"): 1,
        ("Gomul", "fo:Gomul"): 1,
        ("Gadget.js", "fo:Gadget.js"): 1,
        ("Havnin", "fo:Tórshavn"): 1,
        ("Søga", "fo:Føroyar"): 1,
    }
    assert report.to_dict()["seen"] == {"links": 18, "page titles": 6, "redirect titles": 6}


def test_other_namespaces(faroese, tmp_path):
    report = extract(faroese, tmp_path / "fo.parquet", options=Options(namespaces=(0, 14)))
    made = rows(tmp_path / "fo.parquet")
    assert made["Tórshavn", "fo:Tórshavn"] == 2
    assert made["Búskapur", "fo:Bólkur:Býir"] == 1
    assert report.to_dict()["pages"]["articles"] == 6


def test_the_first_pages(faroese, tmp_path):
    report = extract(faroese, tmp_path / "fo.parquet", options=Options(pages=1), workers=2)
    assert report.to_dict()["pages"]["read"] == 1
    assert rows(tmp_path / "fo.parquet").keys() == {
        ("Tórshavn", "fo:Tórshavn"),
        ("Havnina", "fo:Havnin"),
        ("Suðuroyar", "fo:Suðuroy"),
        ("Føroyar", "fo:Føroyar"),
    }


def test_the_first_pages_of_several_parts(faroese, tmp_path, monkeypatch):
    monkeypatch.setattr(dump_module, "PART", 1)
    for number in range(1, 16):
        report = extract(faroese, tmp_path / "fo.parquet", options=Options(pages=number))
        assert report.to_dict()["pages"]["read"] == min(number, len(PAGES))
        assert not report.truncated


def test_articles_are_divided_among_three_tables(tmp_path):
    pages = [WrittenPage(f"Síða {n}", f"[[Mál|orð {n}]] [[Mál]]") for n in range(400)]
    path = str(write_dump(tmp_path / "x.xml", pages))
    extract(path, tmp_path / "fo.parquet", options=Options(split=(70, 15, 15), seed=3))
    assert not (tmp_path / "fo.parquet").exists()
    names = ("fo.train.parquet", "fo.dev.parquet", "fo.test.parquet")
    tables = [rows(tmp_path / name) for name in names]
    sizes = [len(table) - 1 for table in tables]
    assert sum(sizes) == 400
    assert 240 < sizes[0] < 320
    assert all(40 < size < 80 for size in sizes[1:])
    for table, size in zip(tables, sizes, strict=True):
        assert table["Mál", "fo:Mál"] == size  # both links of an article are in one table
    extract(path, tmp_path / "again.parquet", options=Options(split=(0.7, 0.15, 0.15), seed=3))
    assert rows(tmp_path / "again.dev.parquet") == tables[1]
    extract(path, tmp_path / "other.parquet", options=Options(split=(70, 15, 15), seed=4))
    assert rows(tmp_path / "other.dev.parquet") != tables[1]
    extract(path, tmp_path / "all.parquet", options=Options(split=(1, 0, 0)))
    assert len(rows(tmp_path / "all.train.parquet")) == 401
    assert len(candgen.MentionTable.read(tmp_path / "all.test.parquet")) == 0


def files(folder, name="fo"):
    """The bytes of the table, and the report but for the names of the inputs."""
    report = json.loads((folder / f"{name}.report.json").read_text(encoding="utf-8"))
    del report["inputs"]
    return (folder / f"{name}.parquet").read_bytes(), report


def test_every_format_part_and_number_of_workers_gives_the_same_files(
    tmp_path, monkeypatch, capfdbinary
):
    many = [page._replace(title=f"{page.title} {n}", id=None) for n in range(30) for page in PAGES]
    xml = dump_xml(many)
    contents = {
        "a-20230501-.xml": xml,
        "b-20230501-.xml.gz": gzip.compress(xml),
        "c-20230501-.xml.bz2": bz2.compress(xml),
        "d-20230501-.xml.bz2": multistream(pieces(many, together=7)),
        "e-20230501-.xml.bz2": multistream(cut_every(xml, 1013)),
    }
    made = {}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        extract(str(tmp_path / name), tmp_path / "fo.parquet")
        made[name] = files(tmp_path)
    monkeypatch.setattr(dump_module, "PART", 2000)
    monkeypatch.setattr(harvest_module, "_DISTINCT", 5)
    monkeypatch.setattr(runs_module, "_BATCH", 4)
    monkeypatch.setattr(runs_module, "ROWS", 16)
    for name in list(contents)[3:]:
        for workers in (1, 2):
            extract(str(tmp_path / name), tmp_path / "fo.parquet", workers=workers)
            made[name, workers] = files(tmp_path)
    first = made["a-20230501-.xml"]
    assert first[1]["pages"]["read"] == len(many)
    assert all(each == first for each in made.values())


def test_several_files_of_one_dump(tmp_path, faroese):
    one = write_dump(tmp_path / "fowiki-20230501-1.xml.bz2", PAGES[:5])
    two = write_dump(tmp_path / "fowiki-20230501-2.xml.gz", PAGES[5:])
    extract(Sources((str(one), str(two))), tmp_path / "fo.parquet", workers=2)
    assert rows(tmp_path / "fo.parquet") == WITHOUT_IDS


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
        "cannot be resumed": lambda: extract("-", output, resume=True),
        "at least 1": lambda: extract(faroese, output, options=Options(minimum=0)),
        "three numbers": lambda: extract(faroese, output, options=Options(split=(1, 2))),
        "such as 0": lambda: extract(faroese, output, options=Options(namespaces=())),
        "expected at least 1": lambda: extract(faroese, output, workers=0),
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


def test_the_table_says_where_its_entities_come_from(faroese, tmp_path):
    extract(faroese, tmp_path / "fo.parquet")
    metadata = candgen.MentionTable.read(tmp_path / "fo.parquet").metadata
    assert metadata["entities_from"] == "titles"
    assert metadata["redirects_from"] == "the dump"
    props = zipped(tmp_path / "fowiki-20230501-page_props.sql.gz", PAGE_PROPS)
    redirects = zipped(tmp_path / "fowiki-20230501-redirect.sql.gz", REDIRECT)
    sources = Sources((faroese,), page_props=props, redirects=redirects)
    extract(sources, tmp_path / "fo.parquet")
    metadata = candgen.MentionTable.read(tmp_path / "fo.parquet").metadata
    assert metadata["entities_from"] == "page_props"
    assert metadata["redirects_from"] == "the database, then the dump"


def test_a_symbolic_link_stays_one(faroese, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "fo.parquet").symlink_to(tmp_path / "elsewhere" / "real.parquet")
    extract(faroese, tmp_path / "fo.parquet")
    assert (tmp_path / "fo.parquet").is_symlink()
    assert rows(tmp_path / "elsewhere" / "real.parquet") == WITHOUT_IDS


def test_parts_that_do_not_add_up_are_no_table(faroese, tmp_path, monkeypatch):
    monkeypatch.setattr(dump_module, "PART", 1)
    real = harvest_module.Tally.add

    def forgetful(self, other):
        real(self, other)
        self.seen["links"] = 1

    monkeypatch.setattr(harvest_module.Tally, "add", forgetful)
    with pytest.raises(StorageError, match="do not add up"):
        extract(faroese, tmp_path / "fo.parquet")
    assert not (tmp_path / "fo.parquet").exists()


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


def test_a_bad_page_is_reported_and_the_others_are_there(tmp_path):
    xml = dump_xml(PAGES).replace(b"<title>Gomul</title>", b"<title></title>")
    (tmp_path / "fo.xml").write_bytes(xml)
    report = extract(str(tmp_path / "fo.xml"), tmp_path / "fo.parquet")
    assert report.to_dict()["pages"]["bad"] == 1
    assert report.to_dict()["pages"]["read"] == len(PAGES) - 1
    assert report.to_dict()["faults"][0]["kind"] == "bad page"
    assert not report.truncated


def test_a_truncated_file_among_whole_ones_is_told(tmp_path):
    cut = tmp_path / "fowiki-1.xml"
    cut.write_bytes(dump_xml(PAGES[:2])[: -len(END)])
    whole = write_dump(tmp_path / "fowiki-2.xml", PAGES[2:])
    report = extract(Sources((str(cut), str(whole))), tmp_path / "fo.parquet")
    assert report.truncated
    assert report.to_dict()["pages"]["read"] == len(PAGES)


def test_all_bad_pages_are_counted_and_the_first_are_told(tmp_path):
    bad = dump_xml([WrittenPage(f"Síða {n}", "") for n in range(30)])
    bad = bad.replace(b"<title>", b"<titel>")
    for name in ("a", "b"):
        (tmp_path / f"{name}.xml").write_bytes(bad)
    sources = Sources((str(tmp_path / "a.xml"), str(tmp_path / "b.xml")))
    told = extract(sources, tmp_path / "fo.parquet").to_dict()
    assert told["pages"]["bad"] == 60
    assert len(told["faults"]) == 20


def test_a_title_that_no_table_can_hold_is_a_bad_page(tmp_path):
    xml = dump_xml([*PAGES, WrittenPage("A\tB", "[[x]]", id=99)]).replace(b"A\tB", b"A&#9;B")
    (tmp_path / "fowiki.xml").write_bytes(xml)
    redirects = zipped(tmp_path / "redirect.sql.gz", REDIRECT.replace("'Suðuroy'", "'A\\tB'"))
    sources = Sources((str(tmp_path / "fowiki.xml"),), redirects=redirects)
    report = extract(sources, tmp_path / "fo.parquet", options=Options(titles=True))
    assert report.to_dict()["pages"]["bad"] == 1
    assert rows(tmp_path / "fo.parquet")["Havnina", "fo:Tórshavn"] == 1  # as the dump says


def test_what_is_no_wikitext_is_no_redirect_and_has_no_links(tmp_path):
    pages = [
        WrittenPage("Gadget.js", "#REDIRECT [[Tórshavn]]", model="javascript"),
        WrittenPage("Føroyar", "[[Gadget.js]]", timestamp="2024-01-01T00:00:00Z"),
        WrittenPage("Gamalt", "x", timestamp="2003-01-01T00:00:00Z"),
    ]
    report = extract(str(write_dump(tmp_path / "x.xml", pages)), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {("Gadget.js", "fo:Gadget.js"): 1}
    assert report.to_dict()["newest_revision"] == "2024-01-01T00:00:00Z"
    assert report.to_dict()["dump_date"] == "20240101"


def test_what_a_dump_does_not_say_is_found_out(tmp_path):
    xml = dump_xml([WrittenPage("Bólkur:Býir", "[[x]]"), WrittenPage("Føroyar", "[[y]]")])
    xml = b"\n".join(line for line in xml.split(b"\n") if b"<ns>" not in line)
    (tmp_path / "x.xml").write_bytes(xml.replace(b"[[y]]", b"[[y]]&nbsp;"))
    report = extract(str(tmp_path / "x.xml"), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {("y", "fo:Y"): 1}
    assert report.to_dict()["pages"]["mended"] == 1


def test_it_is_told_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(dump_module, "PART", 1)
    many = [WrittenPage(f"Síða {n}", "[[x]]") for n in range(40)]
    path = write_dump(tmp_path / "x.xml.bz2", many, together=10)
    seen = []
    extract(str(path), tmp_path / "fo.parquet", progress=seen.append)
    assert [each for each in seen if not each.pages and each.doing == "reading pages"] == []
    reading = [each for each in seen if each.doing.startswith(("starting", "reading pages"))]
    assert all(each.total == path.stat().st_size for each in reading)
    assert [each.done for each in reading] == sorted(each.done for each in reading)
    assert (reading[0].done, reading[0].pages) == (0, 0)
    assert (reading[-1].done, reading[-1].pages) == (path.stat().st_size, 40)
    (tmp_path / "x.xml").write_bytes(dump_xml(many * 500))
    seen.clear()
    extract(str(tmp_path / "x.xml"), tmp_path / "fo.parquet", progress=seen.append)
    assert any(0 < each.pages < 20000 for each in seen)


def test_the_table_of_titles_may_be_written_as_links_are(faroese, tmp_path):
    (tmp_path / "ids.tsv").write_text("title\tentity\ntórshavn\tQ10704\n", "utf-8")
    props = zipped(tmp_path / "props.sql.gz", PAGE_PROPS.replace("Q10704", "Q7"))
    extract(Sources((faroese,), ids=tmp_path / "ids.tsv"), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet")["Tórshavn", "Q10704"] == 1
    both = Sources((faroese,), ids=tmp_path / "ids.tsv", page_props=props)
    extract(both, tmp_path / "fo.parquet")  # of the two, page_props is right
    assert rows(tmp_path / "fo.parquet")["Tórshavn", "Q7"] == 1


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
            links.append((without_parenthesis(title), title, 0, 1))
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
    assert report.tally.dropped == dropped


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
    site = Site.from_xml(header(str(path)))
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
