"""The layout in which the paper's data was released: toy files by hand, bad lines, round trips."""

import errno
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from candgen import MentionTable
from candgen.errors import StorageError, TableError
from candgen.evaluation.split import split
from candgen.tables import released_lines as lines
from candgen.tables import text_file
from candgen.tables.queries import TYPES, Query
from candgen.tables.released import (
    is_released,
    languages,
    read_released,
    read_training,
    read_typed,
    write_released,
    write_training,
)

TRAIN = "mentions_tr.txt"
DEV = "mentions_dev_type.txt"
TEST = "mentions_tt_type.txt"


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def toy(tmp_path):
    """Two languages: a target with queries of every type, and a pivot."""
    write(
        tmp_path / "fo" / TRAIN,
        "12 Q10704 Tórshavn\n12 Q10704 Havnin\n7 Q10704 Havnin\n31 Q4628 Føroya_løgting\n",
    )
    write(tmp_path / "fo" / DEV, "Q10704 Havnin 0\nQ4628 løgtingið_í_Havn 1\n")
    write(tmp_path / "fo" / TEST, "Q35 Danmark 2\n")
    write(tmp_path / "is" / TRAIN, "1 Q35 Danmörk\n")
    (tmp_path / "README.txt").touch()
    (tmp_path / "pictures").mkdir()
    return tmp_path


def test_the_toy_world(toy):
    faroese = read_released(toy / "fo")
    assert list(faroese.train) == [
        ("Føroya løgting", "Q4628", 1),
        ("Havnin", "Q10704", 2),
        ("Tórshavn", "Q10704", 1),
    ]
    assert faroese.dev == [
        Query("Havnin", "Q10704", "easy"),
        Query("løgtingið í Havn", "Q4628", "medium"),
    ]
    assert faroese.test == [Query("Danmark", "Q35", "hard")]


def test_a_pivot_has_no_queries_and_a_zero_shot_target_no_training_data(toy):
    icelandic = read_released(toy / "is")
    assert list(icelandic.train) == [("Danmörk", "Q35", 1)]
    assert icelandic.dev == icelandic.test == []
    (toy / "fo" / TRAIN).unlink()
    assert len(read_released(toy / "fo").train) == 0
    write(toy / "fo" / TRAIN, "")
    assert len(read_released(toy / "fo").train) == 0
    assert read_released(toy / "fo").test


def test_which_folders_hold_languages(toy):
    assert is_released(toy)
    assert languages(toy) == ["fo", "is"]
    write(toy / "co" / TEST, "Q1 a 2\n")
    write(toy / "xx" / DEV, "Q1 a 2\n")
    assert languages(str(toy)) == ["co", "fo", "is"]
    for other in (toy / "fo", toy / "pictures", toy / "README.txt", toy / "missing"):
        assert not is_released(other)
        assert languages(other) == []


@pytest.mark.parametrize("name", ["pictures", "missing", "README.txt"])
def test_a_folder_without_data_is_refused(toy, name):
    with pytest.raises(TableError, match=f"{name} has no data of a language: expected a folder"):
        read_released(toy / name)


def test_train_and_dev_are_read_without_test(toy):
    faroese = read_released(toy / "fo")
    write(toy / "fo" / TEST, b"\xff")
    assert faroese.train
    assert faroese.dev
    with pytest.raises(TableError, match=f"{TEST} line 1: byte 0xff is not UTF-8"):
        assert faroese.test


FORMS = [
    "{} {} {}\n{} {} {}\n{} {} {}\n",
    "{} {} {}\n{} {} {}\n{} {} {}",
    "\ufeff{} {} {}\n{} {} {}\n{} {} {}\n",
    "{} {} {}\r\n{} {} {}\r\n{} {} {}\r\n",
    "{}\t{}\t{}\n{}\t{}\t{}\n{}\t{}\t{}\n",
    "{}  {} \t {}\n {} {} {} \n{} {} {}\t\n",
    " {} {} {}\n{} {} {}\t\r\n\t{} {} {} ",
]


@pytest.mark.parametrize("form", FORMS)
def test_separators_and_line_ends(tmp_path, form):
    text = form.format(1, "Q1", "a_b", 2, "Q1", "a_b", 3, "Q2", "c")
    expected = [("a b", "Q1", 2), ("c", "Q2", 1)]
    assert list(read_training(write(tmp_path / TRAIN, text))) == expected
    text = form.format("Q1", "a_b", 2, "Q1", "a_b", 2, "Q2", "c", 0)
    queries = [Query("a b", "Q1", "hard")] * 2 + [Query("c", "Q2", "easy")]
    assert read_typed(write(tmp_path / TEST, text)) == queries


def test_what_is_text_and_what_is_not(tmp_path):
    """Only blanks, tabs and line feeds separate; underscores of an entity are its own."""
    text = '0 a_b "x\n0 Q1 \u00a0\u2028x\x85\n0 Q1 _a__b_\n0 Q1 #,;\\\n'
    assert list(read_training(write(tmp_path / TRAIN, text))) == [
        (" a  b ", "Q1", 1),
        ('"x', "a_b", 1),
        ("#,;\\", "Q1", 1),
        ("\u00a0\u2028x\x85", "Q1", 1),
    ]
    assert len(read_training(write(tmp_path / TRAIN, ""))) == 0
    assert len(read_training(write(tmp_path / TRAIN, "\ufeff"))) == 0
    assert read_typed(write(tmp_path / DEV, "")) == []


BAD_TRAINING = [
    (b"Q1 a", "found 'Q1 a', expected 3 fields: wikipedia-id entity mention"),
    (b"1 Q1 a b", "found '1 Q1 a b', expected 3 fields"),
    (b"1 Q1 ", "found '1 Q1', expected 3 fields"),
    (b"", "found '', expected 3 fields"),
    (b"1 Q1 a\rb", "expected text without a tab or line break"),
    (b"1 Q1 \xe6", "byte 0xe6 is not UTF-8: save the file as UTF-8"),
]


@pytest.mark.parametrize(("bad", "sentence"), BAD_TRAINING)
@pytest.mark.parametrize("block", [1, 20, 1 << 24])
def test_bad_lines_of_training_data(tmp_path, monkeypatch, bad, sentence, block):
    monkeypatch.setattr(text_file, "_BLOCK", block)
    path = write(tmp_path / TRAIN, b"1 Q1 a\n2 Q2 b\n" + bad + b"\n1 Q1 a\n")
    with pytest.raises(TableError) as caught:
        read_training(path)
    assert str(caught.value).startswith(f"{path} line 3: ")
    assert sentence in str(caught.value)
    table = read_training(path, skip_bad_rows=True)
    assert list(table) == [("a", "Q1", 2), ("b", "Q2", 1)]
    assert table.skipped == 1


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (b"Q1 a 3", "type is '3', expected 0 (easy), 1 (medium) or 2 (hard)"),
        (b"Q1 a -1", "type is '-1', expected 0"),
        (b"Q1 a easy", "type is 'easy', expected 0"),
        ("Q1 a ٢".encode(), "type is '٢', expected 0"),
        (b"Q1 2", "found 'Q1 2', expected 3 fields: entity mention type"),
        (b"Q1 a b 2", "found 'Q1 a b 2', expected 3 fields"),
        (b"", "found '', expected 3 fields"),
        (b"Q1 a\rb 2", "expected text without a tab or line break"),
        (b"Q1 \xe6 2", "byte 0xe6 is not UTF-8"),
    ],
)
def test_bad_lines_of_queries(tmp_path, caplog, bad, sentence):
    path = write(tmp_path / TEST, b"Q1 a 0\n" + bad + b"\nQ2 b 2\n")
    with pytest.raises(TableError) as caught:
        read_typed(path)
    assert str(caught.value).startswith(f"{path} line 2: ")
    assert sentence in str(caught.value)
    assert "leaves them out" in str(caught.value)
    good = [Query("a", "Q1", "easy"), Query("b", "Q2", "hard")]
    assert read_typed(path, skip_bad_rows=True) == good
    assert f"{path}: bad lines left out: 1, the first: {path} line 2: " in caplog.text


def test_all_bad_lines_are_counted(tmp_path, caplog):
    text = "1 Q1 a\nx\n" * 3 + "1 Q1 a\n"
    path = write(tmp_path / "fo" / TRAIN, text)
    with pytest.raises(TableError, match=r"line 2: found 'x', .*; bad lines after it: 2 "):
        read_training(path)
    with pytest.raises(TableError, match=r"line 2: found 'x', .*; bad lines after it: 2 "):
        read_typed(write(tmp_path / "fo" / DEV, text.replace("1 Q1 a", "Q1 a 1")))
    faroese = read_released(tmp_path / "fo", skip_bad_rows=True)
    assert (list(faroese.train), len(faroese.dev)) == ([("a", "Q1", 4)], 4)
    assert f"{path}: bad lines left out: 3, the first: {path} line 2: found 'x'" in caplog.text


def test_a_file_that_is_something_else_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(text_file, "_BLOCK", 1 << 10)
    path = write(tmp_path / TRAIN, "x\n" * 5000)
    with pytest.raises(TableError, match="line 1: found 'x'") as caught:
        read_training(path)
    assert "bad lines after it: 1023 or more" in str(caught.value)
    assert read_training(path, skip_bad_rows=True).skipped == 5000


def test_files_that_cannot_be_read(tmp_path):
    for function in (read_training, read_typed):
        with pytest.raises(TableError, match=r"none\.txt does not exist"):
            function(tmp_path / "none.txt")
        with pytest.raises(TableError, match="cannot be read: Is a directory"):
            function(tmp_path)


PIECES = [
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"_",
    b"a",
    b"Q1",
    b"1",
    "é".encode(),
    b"\xff",
    b'"',
    b"\0",
    b",",
    "\u2028".encode(),
    b"\xef\xbb\xbf",
    b"\\",
    b"1 Q1 a\n",
    b"1\tQ1  b_c\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join), st.integers(1, 30))
@example(b"\n", 1)
@example(b"\xef\xbb\xbf1 Q1 a\n\xef\xbb\xbf1 Q1 a\n", 8)
@example(b"1 Q1 a\n \n1 Q1 a", 100)
@example(b"1 Q1 a\n1 Q1 a\r", 100)
@example(b"1 Q1 a\n ", 100)
@example(b" ", 1)
def test_the_fast_way_is_the_slow_way(data, block):
    """Whatever the bytes and wherever they are cut; the last line end closes the last line."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(text_file, "_BLOCK", block)
        path = write(Path(folder) / TRAIN, data)
        rows = lines.read_training_rows(path, stop_early=False)
        patch.setattr(lines, "_parse_block", lambda block: None)
        patch.setattr(text_file, "_BLOCK", 1 << 20)
        slow = lines.read_training_rows(path, stop_early=False)
    assert MentionTable(rows) == MentionTable(slow)
    assert (rows.skipped, rows.first_skipped) == (slow.skipped, slow.first_skipped)


def test_good_lines_are_read_the_fast_way(tmp_path, monkeypatch):
    monkeypatch.setattr(text_file, "_BLOCK", 100)
    monkeypatch.setattr(lines, "_parse_slowly", lambda *_: pytest.fail("one by one"))
    text = "".join(f"{n}\tQ{n % 7} \t mention_{n % 5} \r\n" for n in range(1000))
    table = read_training(write(tmp_path / TRAIN, text))
    assert len(table) == 35
    assert table.total == 1000


# ---------------------------------------------------------------- writing

LEGAL = st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"])
MENTIONS = st.text(LEGAL.filter(lambda c: c != "_") | st.just(" "), min_size=1, max_size=5)
ENTITIES = st.text(
    LEGAL.filter(lambda c: c not in " \ufeff") | st.just("_"), min_size=1, max_size=3
)
ROWS = st.lists(st.tuples(MENTIONS, ENTITIES, st.integers(1, 5)), max_size=8)
QUERIES = st.lists(st.builds(Query, MENTIONS, ENTITIES, st.sampled_from(TYPES)), max_size=5)


@given(ROWS, QUERIES, QUERIES, st.integers(1, 9))
def test_what_is_written_reads_back(rows, dev, test, at_once):
    table = MentionTable.from_pairs(rows)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(lines, "_LINES_AT_ONCE", at_once)
        write_released(Path(folder) / "fo", SimpleNamespace(train=table, dev=dev, test=test))
        again = read_released(Path(folder) / "fo")
        assert (again.train, again.dev, again.test) == (table, dev, test)
        text = (Path(folder) / "fo" / TRAIN).read_bytes()
        assert text.count(b"\n") == table.total


def test_the_authors_programs_read_what_is_written(tmp_path):
    """They cut lines at blanks, and open the training data of a zero-shot target, too."""
    table = MentionTable.from_pairs([("Føroya løgting", "Q4628", 2), ("Havnin", "Q10704")])
    dev = [Query("Føroya løgting", "Q4628", "easy"), Query("Høvn", "Q1", "hard")]
    write_released(tmp_path / "fo", SimpleNamespace(train=table, dev=dev, test=[]))
    assert (tmp_path / "fo" / TRAIN).read_text(encoding="utf-8") == (
        "0 Q4628 Føroya_løgting\n0 Q4628 Føroya_løgting\n0 Q10704 Havnin\n"
    )
    assert (tmp_path / "fo" / DEV).read_text(encoding="utf-8") == (
        "Q4628 Føroya_løgting 0\nQ1 Høvn 2\n"
    )
    assert (tmp_path / "fo" / TEST).read_bytes() == b""
    zero_shot = split(table, setting="zero-shot")
    write_released(tmp_path / "co", zero_shot)
    assert (tmp_path / "co" / TRAIN).read_bytes() == b""


@pytest.mark.parametrize(
    ("mention", "entity", "sentence"),
    [
        ("a_b", "Q1", "mention is 'a_b', and in the released layout an underscore is a blank"),
        ("a", "Q 1", "entity is 'Q 1', and the released layout has no blanks in entities"),
    ],
)
def test_what_would_not_read_back_is_refused(tmp_path, mention, entity, sentence):
    table = MentionTable.from_pairs([("a", "Q1"), (mention, entity), ("zz", "Q3")])
    nothing = MentionTable.from_pairs([])
    query = Query(mention, entity, "easy")
    with pytest.raises(TableError, match=f"row [01] of the table: {sentence}"):
        write_released(tmp_path / "fo", SimpleNamespace(train=table, dev=[], test=[]))
    with pytest.raises(TableError, match=f"row [01] of the table: {sentence}"):
        write_training(tmp_path / "x.txt", table)
    with pytest.raises(TableError, match=rf"dev\[0\]: {sentence}"):
        write_released(tmp_path / "fo", SimpleNamespace(train=nothing, dev=[query], test=[]))
    with pytest.raises(TableError, match=rf"test\[1\]: {sentence}"):
        write_released(
            tmp_path / "fo",
            SimpleNamespace(train=nothing, dev=[], test=[Query("a", "Q1", "easy"), query]),
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (Query("a", "Q1"), "type is missing, expected easy, medium or hard"),
        (Query("a", "Q1", "2"), "type is '2', expected easy, medium or hard"),
        (Query("a\r", "Q1", "easy"), "expected text without a tab or line break"),
        (Query("", "Q1", "easy"), "mention is empty"),
        (Query("a", "\ufeffQ1", "easy"), "nor a byte order mark before them"),
    ],
)
def test_queries_that_the_layout_cannot_hold(tmp_path, query, sentence):
    data = SimpleNamespace(train=MentionTable.from_pairs([]), dev=[query], test=[])
    with pytest.raises(TableError, match=sentence):
        write_released(tmp_path / "fo", data)
    assert list(tmp_path.iterdir()) == []


def test_counts_that_no_disk_can_hold(tmp_path):
    table = MentionTable.from_pairs([("a", "Q1", 2**32), ("b", "Q1", 1)])
    with pytest.raises(
        TableError, match="the counts add up to 4294967297, and each becomes a line"
    ):
        write_training(tmp_path / TRAIN, table)


def test_somebodys_data_is_left_alone(toy):
    before = {path: path.read_bytes() for path in (toy / "fo").iterdir()}
    data = read_released(toy / "is")
    with pytest.raises(StorageError, match="fo is a folder with something else in it"):
        write_released(toy / "fo", data)
    assert {path: path.read_bytes() for path in (toy / "fo").iterdir()} == before
    write_released(toy / "pictures", data)
    assert read_released(toy / "pictures").train == data.train


def test_a_pivot_is_written_as_one_file(tmp_path):
    table = MentionTable.from_pairs([("Reykjavík", "Q1764", 3)])
    write_training(tmp_path / TRAIN, table)
    assert read_training(tmp_path / TRAIN) == table
    with pytest.raises(StorageError, match=r"cannot be written: .* is not a folder"):
        write_training(tmp_path / "none" / TRAIN, table)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", range(3))
def test_a_failure_leaves_nothing(tmp_path, monkeypatch, error, at):
    real, calls = os.replace, []

    def fail(*arguments):
        calls.append(1)
        if len(calls) == at + 1:
            raise error
        real(*arguments)

    monkeypatch.setattr(os, "replace", fail)
    made = split(MentionTable.from_pairs([(f"m{n}", f"Q{n}") for n in range(30)]))
    with pytest.raises((StorageError, KeyboardInterrupt)):
        write_released(tmp_path / "fo", made)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("language", ["fo", "mk", "co"])
def test_real_names(shared_data, tmp_path, language):
    table = MentionTable.read(shared_data / "names" / f"{language}.tsv.gz")
    made = split(table, language=language)
    write_released(tmp_path / language, made)
    again = read_released(tmp_path / language)
    assert (again.train, again.dev, again.test) == (made.train, made.dev, made.test)
    assert languages(tmp_path) == [language]
