"""Files of queries: what reads back, and what is refused by file and line."""

import gzip
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.errors import StorageError, TableError
from candgen.tables.queries import TYPES, Query, read_queries, write_queries

TEXT = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1)
QUERIES = st.lists(st.builds(Query, TEXT, TEXT, st.sampled_from([None, *TYPES])))


@given(QUERIES)
def test_queries_read_back(queries):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dev.tsv"
        write_queries(path, queries)
        assert read_queries(path) == queries


def test_queries_may_be_compressed(tmp_path):
    path = tmp_path / "dev.tsv.gz"
    path.write_bytes(gzip.compress(b"mention\tentity\nV\tQ1\n"))
    assert read_queries(path) == [Query("V", "Q1")]
    path.rename(tmp_path / "dev.tsv")
    with pytest.raises(TableError, match=r"dev\.tsv is compressed by gzip: add \.gz to its name"):
        read_queries(tmp_path / "dev.tsv")


def test_other_columns_and_a_mark_and_windows_line_ends(tmp_path):
    path = tmp_path / "dev.tsv"
    path.write_bytes("\ufeffnote\tentity\tmention\r\nx\tQ1\tVín\r\n".encode())
    assert read_queries(path) == [Query("Vín", "Q1")]
    path.write_bytes(b"mention\tentity\ttype\nV\tQ1\t\nW\tQ2\thard")
    assert read_queries(path) == [Query("V", "Q1"), Query("W", "Q2", "hard")]
    path.write_bytes(b"x\tx\tmention\tentity\n1\t2\tV\tQ1\n")
    assert read_queries(path) == [Query("V", "Q1")]
    path.write_bytes(b"mention\tentity")
    assert read_queries(path) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "is empty, expected a header row with mention, entity and optionally type"),
        (b"entity\ttype\n", r"has no column mention, only \['entity', 'type'\]: name the columns"),
        (b"mention\tmention\tentity\n", "has more than one column 'mention'"),
        (b"mention\tentity\ttype\ttype\n", "has more than one column 'type': rename"),
        (b"mention\tentity\ttype\na\tQ1\teasy\nb\tQ2\n", "line 3: expected 3 columns, found 2"),
        (b"mention\tentity\n\na\tQ1\n", "line 2: expected 2 columns, found an empty line"),
        (b"mention\tentity\ttype\na\tQ1\t3\n", "line 2: type is '3', expected easy, medium or"),
        (b"mention\tentity\n\tQ1\n", "line 2: mention is empty"),
        (b"mention\tentity\na\t\n", "line 2: entity is empty"),
        (b"mention\tentity\na\rb\tQ1\n", "line 2: mention is 'a\\\\rb', expected text without a"),
        (b"mention\tentity\na\tQ1\nb\xff\tQ1\n", "line 3: byte 0xff is not UTF-8"),
    ],
)
def test_bad_files_are_named_with_their_line(tmp_path, text, sentence):
    path = tmp_path / "dev.tsv"
    path.write_bytes(text)
    with pytest.raises(TableError, match=sentence) as caught:
        read_queries(path)
    assert re.match(f"{re.escape(str(path))} {sentence}", str(caught.value))


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (Query("a\tb", "Q1"), r"queries\[1\]: mention is 'a\\tb', expected text without a tab"),
        (Query("a", ""), r"queries\[1\]: entity is empty"),
        (Query("a", "Q1", "simple"), r"queries\[1\]: type is 'simple', expected easy, medium"),
    ],
)
def test_what_would_not_read_back_is_not_written(tmp_path, query, sentence):
    path = tmp_path / "dev.tsv"
    path.write_bytes(b"as it was")
    with pytest.raises(TableError, match=sentence):
        write_queries(path, [Query("a", "Q1"), query])
    assert path.read_bytes() == b"as it was"


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(TableError, match=r"dev\.tsv does not exist: check the name"):
        read_queries(tmp_path / "dev.tsv")
    with pytest.raises(StorageError, match=r"dev\.tsv cannot be written: .*not a folder"):
        write_queries(tmp_path / "missing" / "dev.tsv", [])
