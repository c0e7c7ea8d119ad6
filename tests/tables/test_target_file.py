"""The target's data: a mention table, or names without entities."""

import pytest

from candgen.errors import TableError
from candgen.tables.mention_table import MentionTable
from candgen.tables.target_file import read_target

FAROESE = MentionTable.from_pairs(
    [("Wien", "Q1741"), ("Vín", "Q282"), ("Oslo", "Q585"), ("Havnin", "Q10704")]
)


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("fo.txt", "Wien\nOslo\n\n", ["Wien", "Oslo"]),
        ("fo.txt", "\ufeffWien\r\nOslo", ["Wien", "Oslo"]),
        ("fo.tsv", "mention\nWien\n", ["Wien"]),
        ("fo.tsv", "count\tmention\n3\tWien\n", ["Wien"]),
        ("fo.tsv", "Wien\nOslo\n", ["Wien", "Oslo"]),
        ("fo.txt", "mention\tcount\nWien\t1\n\n", ["Wien"]),
    ],
)
def test_names_without_entities(tmp_path, name, text, names):
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert read_target(tmp_path / name) == names


def test_a_table_is_a_table(tmp_path):
    for name in ("fo.tsv", "fo.tsv.gz", "fo.parquet", "fo.jsonl"):
        FAROESE.write(tmp_path / name)
        assert read_target(tmp_path / name) == FAROESE


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("fo.txt", b"\n\n", "has no names"),
        ("fo.tsv", b"", "has no names"),
        ("fo.tsv", b"a\tb\nc\td\n", "has no column mention"),
        ("fo.tsv", b"mention\tcount\nWien\n", "line 2: expected 2 columns, found 1"),
        ("fo.txt", b"Wien\n\xff\n", "line 2: byte 0xff is not UTF-8"),
        ("fo.txt.gz", b"Wien", "not a valid gzip file"),
        ("fo.csv", b"Wien", "unknown suffix"),
        (None, b"", "does not exist"),
    ],
)
def test_bad_targets(tmp_path, name, data, sentence):
    if name is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(TableError, match=sentence):
        read_target(tmp_path / (name or "fo.txt"))
