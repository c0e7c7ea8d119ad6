"""Wikidata's JSON dump to mention tables and entities to show."""

import io
import json
import os
import sys

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import candgen
from candgen.errors import ParameterError, StorageError, TableError
from candgen.wikidata import read_part
from candgen.wikidata.items import read_item
from tests.support import wikidata_world as world
from tests.support.wikidata_files import (
    KINDS,
    LANGUAGES,
    compressed,
    contents,
    extract,
    many_items,
    tables,
    write_dump,
)

# Rows


def test_rows_by_hand(tmp_path):
    dump = write_dump(tmp_path, world.dump_of([world.TORSHAVN, world.PARIS]))
    report = extract(dump, tmp_path / "made", languages=("fo", "en"))
    faroese = candgen.MentionTable.read(tmp_path / "made" / "fo.parquet")
    assert list(faroese) == [
        ("Havn", "Q10704", 1),
        ("Havnin", "Q10704", 1),
        ("Tórshavn", "Q10704", 2),
    ]
    english = candgen.MentionTable.read(tmp_path / "made" / "en.parquet")
    assert list(english) == [
        ("Paris", "Q167646", 2),
        ("Thorshavn", "Q10704", 1),
        ("Tórshavn", "Q10704", 3),
    ]
    shown = pq.read_table(tmp_path / "made" / "entities.parquet").to_pylist()
    assert [tuple(row.values()) for row in shown] == [
        ("Q10704", "en", "Tórshavn", None, ["Q515", "Q5119"], 3),
        ("Q10704", "fo", "Tórshavn", "høvuðsstaður í Føroyum", ["Q515", "Q5119"], 3),
        ("Q167646", "en", "Paris", None, ["Q95074", "Q4271324"], 1),
        ("Q167646", "mul", "Paris", None, ["Q95074", "Q4271324"], 1),
    ]
    assert report.names == {"en": 3, "fo": 3}
    assert report.entities == 4
    assert report.complete
    assert report.newest_change == "2024-05-01T10:20:30Z"
    assert json.loads((tmp_path / "made" / "report.json").read_bytes())["entities"] == 4


@pytest.mark.parametrize("kind", KINDS)
def test_everything_odd_is_read_as_the_naive_reader_does(tmp_path, kind):
    text = world.all_kinds()
    report = extract(write_dump(tmp_path, text, kind), tmp_path / "made", part_size=250)
    assert tables(tmp_path / "made") == world.naive(text, LANGUAGES)
    assert report.skipped == {
        "not UTF-8": 1,
        "not JSON": 2,
        "not an entity": 3,
        "property": 1,
        "lexeme": 1,
        "entity of another type": 1,
        "redirect": 1,
        "no name in these languages": 1,
        "instance of a class that was left out": 1,
    }
    assert report.counts["items"] == 11
    assert report.counts["items kept"] == 9
    assert report.counts["lines"] == text.count(b"\n")
    assert report.counts["texts left out"] == 7
    expected = text.split(b"\n")
    assert len(report.bad_lines) == 6
    for bad in report.bad_lines:
        line = expected[bad["line"] - 1].decode("utf-8", "replace")
        assert line.startswith(bad["begins"])
    assert report.complete


TEXTS = st.text(alphabet="aB (),é\u00a0\t\n", max_size=8)
VALUES = st.dictionaries(
    st.sampled_from(["fo", "is", "nb", "de", "mul"]), TEXTS.map(lambda t: {"value": t}), max_size=4
)
ITEMS = st.lists(
    st.fixed_dictionaries(
        {"labels": VALUES | st.just([])},
        optional={
            "descriptions": VALUES,
            "aliases": st.dictionaries(
                st.sampled_from(["fo", "is", "nb"]),
                st.lists(TEXTS.map(lambda t: {"value": t}), max_size=3),
                max_size=2,
            ),
            "sitelinks": st.dictionaries(
                st.sampled_from(["fowiki", "nowiki", "dewiki"]),
                st.sampled_from(["a", "Bé", "a B (x)", "a  B"]).map(lambda t: {"title": t}),
                max_size=3,
            ),
            "claims": st.lists(st.sampled_from([5, 515, 4167836]), max_size=2).map(
                lambda numbers: world.instance_of(*numbers)
            ),
        },
    ),
    max_size=8,
)


KIND_OPTIONS = {"label": "labels", "alias": "aliases", "title": "sitelinks"}


@settings(max_examples=40)
@given(
    items=ITEMS,
    size=st.integers(20, 500),
    kinds=st.sets(st.sampled_from(sorted(KIND_OPTIONS)), min_size=1),
)
def test_any_items_are_read_as_the_naive_reader_does(tmp_path_factory, items, size, kinds):
    folder = tmp_path_factory.mktemp("any")
    text = world.dump_of([world.item(3 * at + 8, **each) for at, each in enumerate(items)])
    wanted = {option: kind in kinds for kind, option in KIND_OPTIONS.items()}
    extract(write_dump(folder, text), folder / "made", part_size=size, **wanted)
    assert tables(folder / "made") == world.naive(text, LANGUAGES, kinds=kinds)


def test_formats_workers_and_parts_change_nothing(tmp_path, long_text):
    made = {}
    for name, kind, options in (
        ("plain", "plain", {}),
        ("plain parts", "plain", {"part_size": 10_000}),
        ("gz", "gz", {}),
        ("gz parts", "gz", {"part_size": 30_000, "workers": 2}),
        ("members", "members", {}),
        ("bz2", "bz2", {}),
        ("bz2 parts", "bz2", {"part_size": 3000}),
        ("bz2 two", "bz2", {"part_size": 20_000, "workers": 2}),
        ("streams", "streams", {"part_size": 30_000}),
    ):
        dump = write_dump(tmp_path, long_text, kind)
        dump = dump.rename(tmp_path / "dump")  # the format is told by the content
        extract(dump, tmp_path / name, **options)
        made[name] = contents(tmp_path / name)
    assert set(made["plain"]) == {
        *(f"{c}.parquet" for c in LANGUAGES),
        "entities.parquet",
        "report.json",
    }
    assert all(files == made["plain"] for files in made.values())
    assert tables(tmp_path / "plain") == world.naive(long_text, LANGUAGES)


def test_stdin(tmp_path, monkeypatch):
    text = world.all_kinds()
    for kind in KINDS:
        stdin = io.TextIOWrapper(io.BytesIO(compressed(text, kind)))
        monkeypatch.setattr(sys, "stdin", stdin)
        report = extract("-", tmp_path / kind, workers=1, part_size=500)
        assert report.dump == "stdin"
        assert tables(tmp_path / kind) == world.naive(text, LANGUAGES)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ParameterError, match="redirect it to stdin"):
        extract(tmp_path / "pipe", tmp_path / "made")


@pytest.mark.parametrize("items", [1, 2, 3, 10, 11, 500])
def test_a_sample_is_the_first_items(tmp_path, items):
    text = world.all_kinds()
    first, seen = [], 0
    for line in text.split(b"\n"):
        first.append(line)
        seen += isinstance(read_item(line.strip().rstrip(b",")), tuple)
        if seen == items:
            break
    for kind in KINDS:
        dump = write_dump(tmp_path, text, kind)
        report = extract(dump, tmp_path / kind, items=items, part_size=100)
        assert report.counts["items"] == min(items, 11)
        assert tables(tmp_path / kind) == world.naive(b"\n".join(first), LANGUAGES)
        assert report.complete


@pytest.mark.parametrize("kind", KINDS)
def test_a_dump_that_is_cut_short(tmp_path, kind, caplog):
    text = many_items(1200 if kind == "bz2" else 30)
    packed = compressed(text, kind)
    for share in (0.35, 0.7, 0.99):
        dump = tmp_path / "dump"
        dump.write_bytes(packed[: int(len(packed) * share)])
        caplog.clear()
        report = extract(dump, tmp_path / "made", part_size=max(500, len(packed) // 5))
        assert report.truncated
        assert not report.complete
        assert "cut short" in caplog.text
        metadata = candgen.MentionTable.read(tmp_path / "made" / "fo.parquet").metadata
        assert metadata["truncated"] == "true"
        read = report.counts["items"]
        assert 0 < read < text.count(b'"id"')
        whole = text.split(b"\n")[: read + 1]
        assert tables(tmp_path / "made") == world.naive(b"\n".join(whole), LANGUAGES)
        if kind != "bz2":  # which loses the whole of its last block
            assert read >= int(text.count(b'"type":"item"') * share) - 5


def test_a_sample_that_the_dump_is_too_short_for(tmp_path):
    dump = write_dump(tmp_path, world.dump_of(world.FULL, closed=False))
    assert extract(dump, tmp_path / "made", items=9).complete
    assert extract(dump, tmp_path / "made", items=10).truncated


def test_an_array_without_its_end_is_cut_short_also_between_lines(tmp_path):
    text = world.dump_of([world.BARE], closed=False)
    assert extract(write_dump(tmp_path, text), tmp_path / "made").truncated
    lines_only = b"\n".join(world.encoded(each) for each in world.FULL)  # no array at all
    assert extract(write_dump(tmp_path, lines_only), tmp_path / "made").complete
    for array in (b"[]", b"[\n]\n", b"\xef\xbb\xbf[\r\n]\r\n"):
        report = extract(write_dump(tmp_path, array), tmp_path / "made")
        assert report.complete
        assert report.counts["items"] == report.entities == 0
    glued = b"[" + world.encoded(world.BARE) + b",\n" + world.encoded(world.TORSHAVN) + b"]"
    report = extract(write_dump(tmp_path, glued), tmp_path / "made")
    assert report.complete
    assert report.counts["items"] == 2


# Mistakes, interruptions


def test_what_is_no_dump(tmp_path):
    (tmp_path / "table.tsv").write_text("mention\tentity\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="has no entity, and line 1 is not JSON"):
        extract(tmp_path / "table.tsv", tmp_path / "made")
    (tmp_path / "empty").touch()
    with pytest.raises(TableError, match="is empty"):
        extract(tmp_path / "empty", tmp_path / "made")
    with pytest.raises(TableError, match="does not exist"):
        extract(tmp_path / "nothing", tmp_path / "made")
    with pytest.raises(TableError, match="cannot be read"):
        extract(tmp_path, tmp_path / "made")
    assert {path.name for path in tmp_path.iterdir()} == {"table.tsv", "empty"}


@pytest.mark.parametrize("kind", ["gz", "bz2"])
def test_a_dump_of_which_not_even_a_line_is_left(tmp_path, kind, monkeypatch):
    data = compressed(world.all_kinds(), kind)[:30]
    (tmp_path / "dump").write_bytes(data)
    with pytest.raises(TableError, match="dump is cut off or damaged before its first line"):
        extract(tmp_path / "dump", tmp_path / "made")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(TableError, match="stdin is cut off or damaged before its first line"):
        extract("-", tmp_path / "made")
    assert {path.name for path in tmp_path.iterdir()} == {"dump"}


def test_mistakes_of_the_caller(tmp_path, monkeypatch):
    dump = write_dump(tmp_path, world.all_kinds())
    with pytest.raises(StorageError, match="is a file"):
        extract(dump, dump)
    with pytest.raises(StorageError, match="there is no folder"):
        extract(dump, tmp_path / "no" / "made")
    with pytest.raises(ParameterError, match="workers is 0"):
        extract(dump, tmp_path / "made", workers=0)
    with pytest.raises(ParameterError, match="items is 0"):
        extract(dump, tmp_path / "made", items=0)
    with pytest.raises(ParameterError, match="stdin cannot be read again to resume: name a file"):
        extract("-", tmp_path / "made", resume=True)
    with pytest.raises(ParameterError, match="sample"):
        extract(dump, tmp_path / "made", resume=True, items=3)
    assert list(tmp_path.iterdir()) == [dump]


def test_files_that_are_there_are_replaced_and_others_left_alone(tmp_path):
    dump = write_dump(tmp_path, world.all_kinds())
    output = tmp_path / "made"
    output.mkdir()
    for name in ("fo.parquet", "report.json", "notes.txt"):
        (output / name).write_text("old", encoding="utf-8")
    extract(dump, output)
    assert tables(output) == world.naive(world.all_kinds(), LANGUAGES)
    assert (output / "notes.txt").read_text(encoding="utf-8") == "old"
    assert json.loads((output / "report.json").read_bytes())["dump"] == "dump.json"


def test_a_part_with_more_names_than_fit_into_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(read_part, "_MAX_ROW_BYTES", 1000)
    monkeypatch.setattr(read_part, "_MAX_OBJECTS", 10)
    dump = write_dump(tmp_path, many_items(100))
    with pytest.raises(TableError, match="has more than 0 GiB of names in one part"):
        extract(dump, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == [dump.name]


def test_a_name_longer_than_any_is_left_out(tmp_path):
    long = world.item(1, labels=world.texts(fo="a" * 65_537), aliases=world.several(fo=["b"]))
    report = extract(
        write_dump(tmp_path, world.dump_of([long])), tmp_path / "out", languages=("fo",)
    )
    assert report.names == {"fo": 1}
    assert report.counts["texts left out"] == 1
