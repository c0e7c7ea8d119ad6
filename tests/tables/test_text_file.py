"""Reading text files: gzip, UTF-8, byte order marks, and errors that name file and line."""

import errno
import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.tables import text_file
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query, read_queries
from candgen.tables.text_file import parse_columns, read_blocks, split_lines
from tests.support.mention_tables import refusal, write


def test_files_that_are_not_gzip_or_not_whole(tmp_path):
    content = b"mention\tentity\n" + b"".join(b"m%d\tQ%d\n" % (n, n) for n in range(5000))
    path = tmp_path / "fo.tsv.gz"
    path.write_bytes(content)
    assert f"{path} is not a valid gzip file" in refusal(MentionTable.read, path)
    packed = gzip.compress(content)
    for cut in (5, 15, len(packed) // 2, len(packed) - 8, len(packed) - 1):
        path.write_bytes(packed[:cut])
        assert f"{path} is cut short or damaged" in refusal(MentionTable.read, path)
    path.write_bytes(packed[:-8] + b"\0" + packed[-7:])
    assert f"{path} is not a valid gzip file" in refusal(MentionTable.read, path)
    path.write_bytes(packed[:100] + b"\xff\xff\xff\xff" + packed[104:])
    assert str(path) in refusal(MentionTable.read, path)
    path.write_bytes(packed + gzip.compress(b"last\tQ0\n"))  # two members are one file
    assert len(MentionTable.read(path)) == 5001
    plain = tmp_path / "fo.tsv"
    plain.write_bytes(packed)
    assert f"{plain} is compressed by gzip: add .gz" in refusal(MentionTable.read, plain)


def test_an_unreadable_file(tmp_path, monkeypatch):
    path = write(tmp_path / "fo.tsv", "mention\tentity\n")

    def denied(self, mode):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", denied)
    assert refusal(MentionTable.read, path) == f"{path} cannot be read: Permission denied"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))))
def test_lines_are_cut_at_line_feeds_only(lines):
    text = "\n".join(lines).encode()
    expected = text.decode().split("\n") if text else []
    if expected and not expected[-1]:
        expected.pop()  # what follows the last line feed is a line only if it has characters
    assert list(split_lines(text)) == expected


@given(st.lists(st.sampled_from([b"a", b"\n", b"bc"])).map(b"".join), st.integers(1, 5))
def test_blocks_are_whole_lines(tmp_path_factory, text, size):
    path = tmp_path_factory.getbasetemp() / "blocks.txt"
    path.write_bytes(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_file, "_BLOCK", size)
        blocks = list(read_blocks(path))
    whole = text.removesuffix(b"\n")
    assert b"".join(blocks).removesuffix(b"\n") == whole.removesuffix(b"\n")
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert [line for block in blocks for line in split_lines(block)] == list(split_lines(whole))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", b""),
        (b"a\tb\r\n\xef\xbb\xbfc\n", b"a\tb\n\xef\xbb\xbfc"),
        (b"\xef\xbb\xbfa\n\n", b"a\n"),
        (b"a\rb", b"a\rb"),
    ],
)
def test_one_mark_goes_and_line_ends_become_plain(tmp_path, data, text):
    (tmp_path / "a.txt").write_bytes(data)
    assert b"".join(read_blocks(tmp_path / "a.txt")) == text
    (tmp_path / "a.TXT.GZ").write_bytes(gzip.compress(data))
    assert b"".join(read_blocks(tmp_path / "a.TXT.GZ")) == text


def test_a_byte_that_is_not_utf_8_is_named_by_its_line(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a\r\nb\nc\xc3\n\xff")
    expected = f"{tmp_path / 'a.txt'} line 3: byte 0xc3 is not UTF-8: save the file as UTF-8"
    assert refusal(list, read_blocks(tmp_path / "a.txt")) == expected


def test_columns_that_arrow_would_cut_otherwise_are_left_to_the_plain_reader():
    names = ["x", "y"]
    assert parse_columns(b"a\tb\nc\td", names, ["y"]).to_pydict() == {"y": ["b", "d"]}
    for block in (b"a\tb\rc\td\n", b"\xef\xbb\xbfa\tb\n", b"a\tb\nc\n"):
        assert parse_columns(block, names, names) is None
    empty = parse_columns(b"a\tb\n\nc\td\n", names, names)
    assert empty.to_pydict() == {"x": ["a", "", "c"], "y": ["b", "", "d"]}
    blank = parse_columns(b"a\tb\n\nc\td\n", names, names, skip_empty_lines=True)
    assert blank.to_pydict() == {"x": ["a", "c"], "y": ["b", "d"]}


def test_a_pipe_that_a_shell_has_opened_is_read():
    """As in ``candgen evaluate <(zcat queries.gz) ...``."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file:
        file.write(b"mention\tentity\nWien\tQ1741\n")
    try:
        assert read_queries(f"/dev/fd/{reading}") == [Query("Wien", "Q1741")]
    finally:
        os.close(reading)
