"""Wikidata's JSON dump to mention tables and entities to show."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import candgen
from candgen.dumps.parenthesis import remove_parenthesis
from candgen.errors import CandgenError, ParameterError, StorageError, TableError
from candgen.wikidata import run_writer
from candgen.wikidata.items import SkipReason, read_item
from candgen.wikidata.languages import find_keys
from candgen.wikidata.names import PAGE_CLASSES, Selection
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

# One line


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (world.BAD[0], SkipReason.ENCODING),
        (world.BAD[1], SkipReason.JSON),
        (world.BAD[2], SkipReason.SHAPE),
        (world.BAD[3], SkipReason.SHAPE),
        (world.BAD[4], SkipReason.JSON),
        (world.BAD[5], SkipReason.SHAPE),
        (b"{}", SkipReason.SHAPE),
        (b"null", SkipReason.SHAPE),
        (b'{"id": "Q1"} {"id": "Q2"}', SkipReason.JSON),
        (b'{"id": 10704}', SkipReason.SHAPE),
        (b'{"id": "Q0"}', SkipReason.SHAPE),
        (b'{"type": "item", "id": "P31"}', SkipReason.SHAPE),
        (b'{"id": "Q1", "claims": [1]}', SkipReason.SHAPE),
        (b'{"id": "Q1", "n": ' + b"9" * 5000 + b"}", SkipReason.JSON),
        (b'{"id": "P31"}', SkipReason.PROPERTY),
        (b'{"type": "property", "id": "P31"}', SkipReason.PROPERTY),
        (b'{"type": "lexeme", "id": "L7"}', SkipReason.LEXEME),
        (b'{"type": "form", "id": "L7-F1"}', SkipReason.OTHER),
        (b'{"type": "mediainfo", "id": "M7"}', SkipReason.OTHER),
        (b'{"entity": "Q1", "redirect": "Q2"}', SkipReason.REDIRECT),
        (b'{"type": ["item"], "id": "Q1"}', SkipReason.OTHER),
    ],
)
def test_what_is_no_item(line, reason):
    assert read_item(line) is reason


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["id", "type", "labels", "claims", "P31", "fo", "value", "mainsnak"]
                ),
                inner,
                max_size=4,
            )
        ),
    ).map(
        lambda value: json.dumps(
            {"type": "item", "id": "Q1", "x": value} | (value if isinstance(value, dict) else {})
        ).encode()
    )
)
def test_a_line_never_raises(line):
    from candgen.wikidata.names import ItemDescriber

    item = read_item(line)
    if not isinstance(item, SkipReason):
        ItemDescriber(Selection(languages=("fo",), mul=True)).describe(item)


def test_classes_of_an_item():
    assert read_item(world.encoded(world.PARIS)).instance_of == ("Q95074", "Q4271324")
    assert read_item(world.encoded(world.TORSHAVN)).instance_of == ("Q515", "Q5119")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Paris (mythology)", "Paris"),
        ("Foo, Bar", "Foo, Bar"),
        ("Foo (bar (baz))", "Foo"),
        ("Foo (bar) (baz)", "Foo (bar)"),
        ("(500) Days of Summer", "(500) Days of Summer"),
        ("(Untitled)", "(Untitled)"),
        ("f(x)", "f(x)"),
        ("Iron(II)", "Iron(II)"),
        ("東京（曖昧さ回避）", "東京"),
        ("A) (b", "A) (b"),
        ("Foo ()", "Foo"),
    ],
)
def test_titles_without_their_parenthesis(title, name):
    assert remove_parenthesis(title) == name


@pytest.mark.parametrize(
    ("code", "labels", "site"),
    [
        ("fo", ("fo",), "fowiki"),
        ("nb", ("nb", "no"), "nowiki"),
        ("no", ("nb", "no"), "nowiki"),
        ("nn", ("nn",), "nnwiki"),
        ("be-x-old", ("be-tarask", "be-x-old"), "be_x_oldwiki"),
        ("be-tarask", ("be-tarask", "be-x-old"), "be_x_oldwiki"),
        ("be", ("be",), "bewiki"),
        ("simple", ("en",), "simplewiki"),
        ("zh-hant", ("zh-hant",), "zh_hantwiki"),
        ("zh-min-nan", ("nan", "zh-min-nan"), "zh_min_nanwiki"),
        ("gsw", ("gsw", "als"), "alswiki"),
    ],
)
def test_codes_of_languages(code, labels, site):
    assert find_keys(code) == (code, labels, site)


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


def test_tables_are_those_that_a_mention_table_writes(tmp_path):
    extract(write_dump(tmp_path, many_items(300)), tmp_path / "made", part_size=5000)
    path = tmp_path / "made" / "fo.parquet"
    again = candgen.MentionTable.read(path)
    again.write(tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == path.read_bytes()
    assert again.metadata["language"] == "fo"
    assert again.metadata["source"] == "Wikidata"
    assert json.loads(again.metadata["options"])["languages"] == list(LANGUAGES)
    assert json.loads(again.metadata["counts"])["items"] == 300
    entities = pq.read_table(tmp_path / "made" / "entities.parquet")
    keys = [(len(row["entity"]), row["entity"], row["language"]) for row in entities.to_pylist()]
    assert keys == sorted(keys)


def test_an_entity_that_comes_twice_is_one(tmp_path):
    first = world.item(1, labels=world.texts(fo="a"), sitelinks=world.pages(fowiki="b"))
    second = world.item(1, labels=world.texts(fo="b"), aliases=world.several(fo=["c"]))
    found = []
    for at, entities in enumerate(([first, second], [second, first])):
        dump = write_dump(tmp_path, world.dump_of(entities))
        extract(dump, tmp_path / f"{at}", languages=("fo",), part_size=60)
        found.append(tables(tmp_path / f"{at}", ("fo",)))
    names = {("fo", "a", "Q1"): 1, ("fo", "b", "Q1"): 2, ("fo", "c", "Q1"): 1}
    assert found[0] == found[1] == (names, {("Q1", "fo"): ("a", None, set(), 1)})


def test_names_for_all_languages_count_when_they_are_asked_for(tmp_path):
    full = world.item(
        2, labels=world.texts(fo="Páll", mul="Paul"), aliases=world.several(mul=["P"])
    )
    dump = write_dump(tmp_path, world.dump_of([world.ONLY_MUL, full]))
    extract(dump, tmp_path / "plain", languages=("fo", "is"))
    names, shown = tables(tmp_path / "plain", ("fo", "is"))
    assert names == {("fo", "Páll", "Q2"): 1}
    assert shown["Q5", "mul"][0] == "Niels Bohr"
    assert set(shown) == {("Q5", "mul"), ("Q2", "mul"), ("Q2", "fo")}
    extract(dump, tmp_path / "mul", languages=("fo", "is"), mul=True)
    names, same = tables(tmp_path / "mul", ("fo", "is"))
    assert same == shown
    bohr = {(code, name, "Q5") for code in ("fo", "is") for name in ("Niels Bohr", "N. Bohr")}
    paul = {("fo", "Páll", "Q2"), ("is", "Paul", "Q2"), ("fo", "P", "Q2"), ("is", "P", "Q2")}
    assert set(names) == bohr | paul
    extract(dump, tmp_path / "code", languages=("mul",))
    names, same = tables(tmp_path / "code", ("mul",))
    assert {name for _, name, _ in names} == {"Niels Bohr", "N. Bohr", "Paul", "P"}
    assert set(same) == {("Q5", "mul"), ("Q2", "mul")}


def test_filters(tmp_path):
    dump = write_dump(tmp_path, world.all_kinds())

    def kept(**options):
        report = extract(dump, tmp_path / "made", **options)
        return {entity for entity, _ in tables(tmp_path / "made")[1]}, report.skipped

    everything, skipped = kept(not_instance_of=())
    assert everything == {"Q4", "Q5", "Q6", "Q7", "Q8", "Q9", "Q10", "Q12", "Q10704", "Q167646"}
    assert "instance of a class that was left out" not in skipped
    entities, skipped = kept(instance_of=("Q515", "Q5"))
    assert entities == {"Q12", "Q10704"}
    assert skipped["no instance of a class that was asked for"] == 8
    assert kept(instance_of=("Q4167410",))[0] == {"Q7"}
    assert kept(not_instance_of=("Q5",))[0] == everything - {"Q12"}
    entities, skipped = kept(has_sitelink=True)
    assert entities == {"Q8", "Q10704", "Q167646"}
    assert skipped["without a sitelink"] == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"languages": ()}, "no language"),
        ({"languages": "fo"}, "expected a list"),
        ({"languages": ("fo", "FO")}, "twice"),
        ({"languages": ("entities",)}, "'entities' is not the code"),
        ({"languages": ("../x",)}, "is not the code"),
        ({"languages": ("fo",), "instance_of": ("human",)}, "'human'"),
        ({"languages": ("fo",), "instance_of": "Q5"}, "expected a list"),
        ({"languages": ("fo",), "instance_of": ("Q5",), "not_instance_of": ("Q5",)}, "Q5 is in"),
        ({"languages": ("fo",), "labels": False, "aliases": False, "sitelinks": False}, "no names"),
    ],
)
def test_selections_that_make_no_sense(options, words):
    with pytest.raises(ParameterError, match=words):
        Selection(**options)


def test_default_classes_are_each_once():
    assert len(set(PAGE_CLASSES)) == len(PAGE_CLASSES)
    assert {"Q4167410", "Q4167836", "Q11266439"} <= set(PAGE_CLASSES)


# Files


@pytest.fixture(scope="module")
def long_text():
    return many_items(1500)


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


def test_many_rows_are_merged_from_many_runs(tmp_path, long_text, monkeypatch):
    dump = write_dump(tmp_path, long_text)
    extract(dump, tmp_path / "one")
    monkeypatch.setattr(run_writer, "MAX_RUN", 1)
    monkeypatch.setattr("candgen.wikidata.tables.merge_runs.__kwdefaults__", {"rows": 5000})
    extract(dump, tmp_path / "many", part_size=20_000)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


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


class Stop(BaseException):
    """Like Ctrl-C."""


def stop_after(parts):
    calls = []

    def progress(_doing, _share):
        calls.append(1)
        if len(calls) == parts:
            raise Stop

    return progress


@pytest.mark.parametrize(("kind", "workers"), [("bz2", 2), ("gz", 1), ("plain", 1)])
def test_an_interrupted_run_goes_on(tmp_path, long_text, kind, workers, monkeypatch):
    dump = write_dump(tmp_path, long_text, kind)
    size = dump.stat().st_size // 8 if kind != "gz" else len(long_text) // 8
    extract(dump, tmp_path / "whole", part_size=size)
    monkeypatch.setattr(run_writer, "MAX_RUN", 1)
    output, options = tmp_path / "made", {"part_size": size, "workers": workers}
    with pytest.raises(Stop):
        extract(dump, output, progress=stop_after(4), **options)
    assert not output.exists()
    work = tmp_path / ".made.parts"
    assert len(list(work.glob("*.tally"))) >= 3
    with pytest.raises(Stop):
        extract(dump, output, progress=stop_after(2), resume=True, **options)
    next(work.glob("000001-*.names")).unlink()  # what is lost is made again
    done = len(list(work.glob("*.names")))
    told = []
    extract(dump, output, resume=True, progress=lambda *told_: told.append(told_), **options)
    parts = [doing for doing, _ in told if "items" in doing]
    assert 0 < len(parts) <= 9 - done
    assert contents(output) == contents(tmp_path / "whole")
    assert not work.exists()


def test_only_the_same_run_goes_on(tmp_path, long_text):
    dump = write_dump(tmp_path, long_text)
    output, options = tmp_path / "made", {"part_size": 20_000}

    def interrupt():
        with pytest.raises(Stop):
            extract(dump, output, progress=stop_after(4), **options)

    interrupt()
    with pytest.raises(StorageError, match="other files or other options"):
        extract(dump, output, languages=("fo",), resume=True, **options)
    with pytest.raises(StorageError, match="other files or other options"):
        extract(dump, output, resume=True)
    extract(dump, output, languages=("fo",), **options)  # starts over
    assert {path.name for path in output.iterdir()} == {
        "fo.parquet",
        "entities.parquet",
        "report.json",
    }
    interrupt()
    dump.write_bytes(long_text[:-500] + b"\n]")
    with pytest.raises(StorageError, match="other files or other options"):
        extract(dump, output, resume=True, **options)


def test_a_failure_while_tables_are_written_leaves_nothing(tmp_path, monkeypatch):
    dump = write_dump(tmp_path, world.all_kinds())
    whole = tmp_path / "whole"
    extract(dump, whole)

    def fail(*_arguments):
        raise StorageError("entities.parquet cannot be written: no space")

    with monkeypatch.context() as patch:
        patch.setattr("candgen.wikidata.extract.write_entities", fail)
        with pytest.raises(CandgenError, match="no space"):
            extract(dump, tmp_path / "made")
    assert not (tmp_path / "made").exists()
    told = []
    extract(dump, tmp_path / "made", resume=True, progress=lambda doing, _: told.append(doing))
    assert told == ["merging names", "merging entities"]  # all parts were done
    assert contents(tmp_path / "made") == contents(whole)


KILLED = """
import os, signal, sys
from candgen.wikidata import run_writer
from candgen.wikidata.extract import extract_wikidata
from candgen.wikidata.names import Selection

def progress(_doing, _share):
    progress.calls += 1
    if progress.calls == 3:
        os.kill(os.getpid(), signal.SIGKILL)

progress.calls = 0
if __name__ == "__main__":
    run_writer.MAX_RUN = 1
    extract_wikidata(sys.argv[1], sys.argv[2], selection=Selection(languages=("fo", "is", "en",
        "no")), workers=2, part_size=int(sys.argv[3]), progress=progress)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill so")
def test_a_killed_run_leaves_no_output_and_goes_on(tmp_path, long_text):
    dump = write_dump(tmp_path, long_text, "bz2")
    script, size = tmp_path / "run.py", dump.stat().st_size // 6
    script.write_text(KILLED, encoding="utf-8")
    done = subprocess.run([sys.executable, script, dump, tmp_path / "made", str(size)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "made").exists()
    assert len(list(Path(tmp_path / ".made.parts").glob("*.tally"))) == 3
    extract(dump, tmp_path / "made", part_size=size, resume=True)
    extract(dump, tmp_path / "whole", part_size=size)
    assert contents(tmp_path / "made") == contents(tmp_path / "whole")
