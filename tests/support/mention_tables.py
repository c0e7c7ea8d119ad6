"""A toy table, rows that hypothesis makes, and files to read."""

import gzip
from pathlib import Path

import pytest
from hypothesis import strategies as st

from candgen.errors import TableError
from candgen.tables.mention_table import MentionTable

SUFFIXES = [".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".parquet"]


MAX = 10**15


TOY = [("Havnin", "Q10704", 12), ("Tórshavn", "Q10704", 1), ("Tórshavn", "Q2", 3)]


# Valid characters that a parser or a sort may treat in a special way.
ODD = "aAzß \"'\\,#\0\x01\x1f\x7f\x85\xa0é\u2028\ufeff\uffff中𝔘\U0010ffff"


texts = st.one_of(
    st.text(st.sampled_from(ODD), min_size=1, max_size=12),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["NA", "NULL", "null", "nan", "#N/A", " ", "  ", "0x10", "1", "true", '"']),
)


counts = st.one_of(st.integers(1, 9), st.integers(1, MAX // 100))  # 80 rows are merged


rows_of_a_table = st.lists(st.tuples(texts, texts, counts), max_size=20)


def toy() -> MentionTable:
    return MentionTable.from_pairs(TOY)


def refusal(call, *arguments, kind=TableError, **keywords) -> str:
    """The message of the error that a call raises: one line, for a person."""
    with pytest.raises(kind) as caught:
        call(*arguments, **keywords)
    message = str(caught.value)
    assert "\n" not in message
    return message


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode("utf-8") if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return path
