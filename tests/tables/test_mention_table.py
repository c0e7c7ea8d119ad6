"""MentionTable: contents, canonical order, every file format, and each way in which one is bad."""

import errno
import gzip
import hashlib
import json
import logging
import os
import pickle
import random
import stat
import struct
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from candgen.errors import ParameterError, TableError
from candgen.tables import rows as table_rows
from candgen.tables import table_files
from candgen.tables.mention_table import MentionTable

SUFFIXES = [".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".parquet"]
MAX = 2**63 - 1
TOY = [("Havnin", "Q10704", 12), ("Tórshavn", "Q10704", 1), ("Tórshavn", "Q2", 3)]

# Characters that a parser or a sort may stumble over, all of them legal.
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
counts = st.one_of(st.integers(1, 9), st.integers(1, 2**53))
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


# Contents and order


def test_pairs_are_sorted_and_summed():
    table = MentionTable.from_pairs(
        [
            ("Tórshavn", "Q2", 3),
            ("Tórshavn", "Q10704"),
            ("Havnin", "Q10704", 5),
            ["Havnin", "Q10704", 7],
        ]
    )
    assert list(table) == TOY
    assert len(table) == 3
    assert table.total == 16
    assert table.mentions == ["Havnin", "Tórshavn"]
    assert table.entities == ["Q10704", "Q2"]
    assert all([type(m), type(e), type(n)] == [str, str, int] for m, e, n in table)


def test_arrow_columns_have_the_promised_types():
    for table in (toy(), MentionTable.from_pairs([])):
        assert table.arrow.schema.equals(
            pa.schema(
                [
                    ("mention", pa.large_string()),
                    ("entity", pa.large_string()),
                    ("count", pa.int64()),
                ]
            ),
            check_metadata=True,
        )


def test_order_is_that_of_code_points_not_of_utf_16_or_of_a_language():
    mentions = [
        "\U0001f600",
        "\uffff",
        "z",
        "é",
        "Z",
        "a\0",
        "a",
        "a\x01",
        "ab",
        "12345678",
        "123456789",
    ]
    table = MentionTable.from_pairs((m, "Q1") for m in mentions)
    assert table.mentions == sorted(mentions)
    assert [m for m, _, _ in table] == sorted(mentions)


@given(rows_of_a_table)
def test_a_table_is_a_sorted_counter(rows):
    expected = Counter()
    for mention, entity, count in rows:
        expected[mention, entity] += count
    table = MentionTable.from_pairs(rows)
    assert list(table) == [(m, e, n) for (m, e), n in sorted(expected.items())]
    assert table.mentions == sorted({m for m, _, _ in rows})
    assert table.entities == sorted({e for _, e, _ in rows})
    assert table.total == sum(expected.values())


@given(rows_of_a_table, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(rows, chance):
    shuffled = rows[:]
    chance.shuffle(shuffled)
    first, second = MentionTable.from_pairs(rows), MentionTable.from_pairs(shuffled)
    assert first == second
    assert first.digest == second.digest
    assert hash(first) == hash(second)


def test_many_rows_are_sorted_like_python_does():
    chance = random.Random(7)
    rows = [
        ("".join(chance.choices("abé中𝔘\0 ", k=chance.randint(1, 24))), f"Q{chance.randint(1, 40)}")
        for _ in range(30_000)
    ]
    expected = sorted(Counter(rows).items())
    assert list(MentionTable.from_pairs(rows)) == [(m, e, n) for (m, e), n in expected]


def test_an_empty_table_is_a_table():
    table = MentionTable.from_pairs([])
    assert len(table) == 0
    assert list(table) == []
    assert table.mentions == table.entities == []
    assert table.total == 0
    assert repr(table) == "MentionTable(0 pairs)"
    assert table == MentionTable.from_arrow(pa.table({"mention": [], "entity": []}))
    assert table != toy()
    assert table.merge(toy()) == toy()


def test_iteration_is_lazy_and_can_be_repeated():
    table = MentionTable.from_pairs((f"m{n:05}", "Q1") for n in range(20_000))
    iterator = iter(table)
    assert next(iterator) == ("m00000", "Q1", 1)
    assert sum(1 for _ in iterator) == 19_999
    assert sum(1 for _ in table) == 20_000


def test_a_table_cannot_be_changed():
    table = toy()
    for name in ("arrow", "skipped", "metadata", "mentions", "entities"):
        with pytest.raises(AttributeError):
            setattr(table, name, None)
    table.entities.clear()
    table.mentions.append("x")
    table.metadata["x"] = "y"
    assert table.entities == ["Q10704", "Q2"]
    assert table.mentions == ["Havnin", "Tórshavn"]
    assert table.metadata == {}


def test_repr_and_equality():
    assert repr(toy()) == "MentionTable(3 pairs)"
    assert (
        repr(MentionTable.from_pairs((str(n), "Q1") for n in range(2422)))
        == "MentionTable(2,422 pairs)"
    )
    assert repr(MentionTable.from_pairs([("a", "Q1")])) == "MentionTable(1 pair)"
    assert toy() == toy()
    assert toy() != MentionTable.from_pairs(TOY[:2])
    assert toy() != MentionTable.from_pairs([*TOY[:2], ("Tórshavn", "Q2", 4)])
    assert toy() != TOY
    assert pickle.loads(pickle.dumps(toy())) == toy()


def test_the_constructor_points_to_the_others():
    assert "from_pairs" in refusal(MentionTable, TOY, kind=ParameterError)


# From pairs


def test_pairs_may_come_from_anything_iterable():
    assert MentionTable.from_pairs(row for row in TOY) == toy()
    assert MentionTable.from_pairs(toy()) == toy()
    assert MentionTable.from_pairs(zip(["a", "b"], ["Q1", "Q2"], strict=True)).total == 2
    assert MentionTable.from_pairs([(np.str_("a"), "Q1", np.uint64(3))]) == MentionTable.from_pairs(
        [("a", "Q1", 3)]
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (("a",), "pairs[2]: found ('a',), expected (mention, entity) and maybe a count"),
        (("a", "b", 1, 2), "pairs[2]: found ('a', 'b', 1, 2), expected (mention, entity)"),
        ("ab", "pairs[2]: found 'ab', expected (mention, entity)"),
        (7, "pairs[2]: found 7"),
        (("", "Q1"), "pairs[2]: mention is empty"),
        (("a", ""), "pairs[2]: entity is empty"),
        ((None, "Q1"), "pairs[2]: mention is missing"),
        ((b"a", "Q1"), "pairs[2]: mention is b'a', expected a string"),
        (("a", 7), "pairs[2]: entity is 7, expected a string"),
        (("a\tb", "Q1"), r"pairs[2]: mention is 'a\tb', expected text without a tab or line break"),
        (("a", "Q\n1"), r"pairs[2]: entity is 'Q\n1', expected text without a tab or line break"),
        (("a\r", "Q1"), r"pairs[2]: mention is 'a\r', expected text without a tab or line break"),
        (("a\ud800", "Q1"), r"pairs[2]: mention is 'a\ud800', expected text without a lone surrog"),
        (("a", "Q1", 0), "pairs[2]: count is 0, expected a whole number of at least 1"),
        (("a", "Q1", -3), "pairs[2]: count is -3, expected a whole number of at least 1"),
        (("a", "Q1", 1.0), "pairs[2]: count is 1.0, expected a whole number of at least 1"),
        (("a", "Q1", True), "pairs[2]: count is True, expected a whole number of at least 1"),
        (("a", "Q1", "1"), "pairs[2]: count is '1', expected a whole number of at least 1"),
        (("a", "Q1", None), "pairs[2]: count is None, expected a whole number of at least 1"),
        (("a", "Q1", MAX + 1), f"pairs[2]: count is {MAX + 1}, expected at most {MAX}"),
    ],
)
def test_a_bad_pair_is_named_by_position_and_value(row, expected):
    assert refusal(MentionTable.from_pairs, [*TOY[:2], row, *TOY]).startswith(expected)


def test_a_bad_pair_far_on_is_found():
    rows = [("a", "Q1")] * 70_000 + [("a", "Q1", 0)]
    assert refusal(MentionTable.from_pairs, rows).startswith("pairs[70000]: count is 0")


def test_a_long_value_is_cut_in_the_message():
    assert (
        len(refusal(MentionTable.from_pairs, [("x" * 10_000, "Q1", 0), ("y\t" * 9999, "Q1")])) < 200
    )
    assert len(refusal(MentionTable.from_pairs, [("y\t" * 9999, "Q1")])) < 200


@pytest.mark.parametrize("mistake", ["Tórshavn", b"x", 7, None, {("a", "Q1"): 3}])
def test_what_is_no_iterable_of_pairs_gets_one_sentence(mistake):
    message = refusal(MentionTable.from_pairs, mistake, kind=ParameterError)
    assert repr(mistake) in message
    assert "iterable of (mention, entity)" in message


def test_counts_may_be_large_but_must_not_overflow(tmp_path):
    assert list(MentionTable.from_pairs([("a", "Q1", MAX)])) == [("a", "Q1", MAX)]
    assert MentionTable.from_pairs([("a", "Q1", MAX - 1), ("a", "Q1")]).total == MAX
    for rows in ([("a", "Q1", MAX), ("a", "Q1")], [("a", "Q1", MAX), ("b", "Q2")]):
        assert "add up to more than 9223372036854775807" in refusal(MentionTable.from_pairs, rows)
    huge = MentionTable.from_pairs([("a", "Q1", MAX)])
    assert "add up to more" in refusal(huge.merge, huge)
    path = write(tmp_path / "fo.tsv", f"mention\tentity\tcount\na\tQ1\t{MAX}\na\tQ1\t1\n")
    assert refusal(MentionTable.read, path).startswith(f"{path}: the counts add up to more")


# From Arrow


@pytest.mark.parametrize(
    "text",
    [pa.string(), pa.large_string(), pa.string_view(), "dictionary", "large dictionary"],
    ids=str,
)
@pytest.mark.parametrize(
    "whole", [pa.int8(), pa.uint16(), pa.int32(), pa.uint64(), pa.int64(), "dictionary"], ids=str
)
def test_arrow_types_that_hold_strings_and_whole_numbers(text, whole, tmp_path):
    kinds = {
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
        "large dictionary": pa.dictionary(pa.int8(), pa.large_string()),
    }
    mention = pa.array([m for m, _, _ in TOY]).cast(kinds.get(text, text))
    entity = pa.array([e for _, e, _ in TOY]).cast(kinds.get(text, text))
    count = pa.array([n for _, _, n in TOY])
    count = count.dictionary_encode() if whole == "dictionary" else count.cast(whole)
    table = pa.table({"other": [1.5] * 3, "count": count, "entity": entity, "mention": mention})
    assert MentionTable.from_arrow(table) == toy()
    assert MentionTable.from_arrow(pa.concat_tables([table.slice(2), table.slice(0, 2)])) == toy()
    pq.write_table(table, tmp_path / "toy.parquet")
    assert MentionTable.read(tmp_path / "toy.parquet") == toy()


def test_arrow_table_without_count_and_with_other_metadata():
    fields = [pa.field("mention", pa.string(), nullable=False), pa.field("entity", pa.string())]
    table = pa.table([["b", "a"], ["Q2", "Q1"]], schema=pa.schema(fields, metadata={"x": "y"}))
    made = MentionTable.from_arrow(table)
    assert list(made) == [("a", "Q1", 1), ("b", "Q2", 1)]
    assert made.arrow.schema.equals(toy().arrow.schema, check_metadata=True)
    assert made.metadata == {}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"mention": ["a"]}, "the Arrow table has no column entity, only ['mention']"),
        ({"x": ["a"]}, "the Arrow table has no column mention and no column entity"),
        ({"mention": [b"a"], "entity": ["Q1"]}, "column mention holds binary, expected strings"),
        ({"mention": ["a"], "entity": [1]}, "column entity holds int64, expected strings"),
        ({"mention": ["a"], "entity": ["Q1"], "count": [1.0]}, "column count holds double"),
        ({"mention": ["a"], "entity": ["Q1"], "count": ["1"]}, "column count holds string"),
        ({"mention": ["a"], "entity": ["Q1"], "count": [True]}, "column count holds bool"),
        ({"mention": ["a", None], "entity": ["Q1", "Q1"]}, "row 2: mention is missing"),
        ({"mention": ["a", "b"], "entity": ["Q1", ""]}, "row 2: entity is empty"),
        ({"mention": ["a", "b\r"], "entity": ["Q1", "Q1"]}, "row 2: mention is 'b\\r'"),
        ({"mention": ["a"], "entity": ["Q1"], "count": [None]}, "row 1: count is None"),
        ({"mention": ["a"], "entity": ["Q1"], "count": [0]}, "row 1: count is 0"),
        (
            {"mention": ["a"], "entity": ["Q1"], "count": pa.array([2**63], pa.uint64())},
            f"row 1: count is {2**63}, expected at most {MAX}",
        ),
    ],
)
def test_bad_arrow_tables(columns, expected):
    assert expected in refusal(MentionTable.from_arrow, pa.table(columns))


def test_arrow_strings_that_are_not_utf_8():
    bad = pa.array([b"a", b"\xff"]).view(pa.string())
    table = pa.table({"mention": bad, "entity": ["Q1", "Q2"]})
    assert r"row 2: mention is b'\xff', expected a string" in refusal(
        MentionTable.from_arrow, table
    )


def test_arrow_column_twice_and_no_arrow_at_all():
    table = pa.table([["a"], ["b"], ["c"]], names=["mention", "entity", "mention"])
    assert "more than one column 'mention'" in refusal(MentionTable.from_arrow, table)
    assert "pyarrow.Table" in refusal(MentionTable.from_arrow, TOY, kind=ParameterError)


# Reading TSV


@pytest.mark.parametrize(
    "content",
    [
        "mention\tentity\tcount\nTórshavn\tQ10704\t1\nHavnin\tQ10704\t12\nTórshavn\tQ2\t3\n",
        "mention\tentity\tcount\nTórshavn\tQ10704\t1\nHavnin\tQ10704\t12\nTórshavn\tQ2\t3",
        "mention\tentity\tcount\nTórshavn\tQ10704\t1\nHavnin\tQ10704\t12\nTórshavn\tQ2\t3\n\n",
        "\ufeffmention\tentity\tcount\r\nTórshavn\tQ10704\t1\r\nHavnin\tQ10704\t12\r\nTórshavn\tQ2\t3\r\n",
        "x\tcount\tentity\ty\tmention\n\t12\tQ10704\t\tHavnin\n?\t1\tQ10704\t\tTórshavn\n\t003\tQ2\t\tTórshavn\n",
        "mention\tentity\nTórshavn\tQ10704\n" + 12 * "Havnin\tQ10704\n" + 3 * "Tórshavn\tQ2\n",
    ],
    ids=["plain", "no last line end", "empty last line", "Windows", "other columns", "no count"],
)
@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz", ".TSV", ".Tsv.GZ"])
def test_tsv_variants(content, suffix, tmp_path):
    path = tmp_path / f"fo{suffix}"
    path.write_bytes(
        gzip.compress(content.encode()) if suffix.lower().endswith("gz") else content.encode()
    )
    table = MentionTable.read(path)
    assert table == toy()
    assert MentionTable.read(str(path)) == toy()
    assert table.skipped == 0
    assert table.metadata == {}


def test_nothing_is_quoted_escaped_null_or_trimmed(tmp_path):
    odd = [
        '"a"',
        '"',
        "'",
        "\\t",
        "NA",
        "null",
        "#N/A",
        " a ",
        " ",
        "#",
        "a,b",
        "\ufeffa",
        "a\0b",
        "\u2028",
    ]
    content = "mention\tentity\n" + "".join(f"{text}\t{text}\n" for text in odd)
    table = MentionTable.read(write(tmp_path / "odd.tsv", content))
    assert list(table) == [(text, text, 1) for text in sorted(odd)]


def test_a_header_alone_is_an_empty_table(tmp_path):
    for content in ("mention\tentity", "mention\tentity\n", "entity\tmention\tcount\n\n"):
        assert len(MentionTable.read(write(tmp_path / "fo.tsv", content))) == 0


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "is empty, expected a header row with mention, entity and optionally count"),
        ("\ufeff\n", "is empty, expected a header row"),
        ("a\tb\nx\ty\n", "has no column mention and no column entity, only ['a', 'b']"),
        ("mention,entity\nx,y\n", "has no column mention and no column entity"),
        ("mention\tcount\nx\t1\n", "has no column entity, only ['mention', 'count']"),
        ("\nmention\tentity\nx\ty\n", "has no column mention"),
        ("mention\tentity\tmention\nx\ty\tz\n", "has more than one column 'mention': rename"),
        ("mention\tentity\tx\tx\na\tb\tc\td\n", "has more than one column 'x': rename"),
        (
            b"mention\tentity\nx\ty\n\xff\ty\n",
            "line 3: byte 0xff is not UTF-8: save the file as UTF-8",
        ),
        (b"mention\tentity\tz\nx\ty\t\xed\xa0\x80\n", "line 2: byte 0xed is not UTF-8"),
        (b"mention\xc3\tentity\nx\ty\n", "line 1: byte 0xc3 is not UTF-8"),
        ("mention\tentity".encode("utf-16"), "line 1: byte 0xff is not UTF-8"),
    ],
)
@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz"])
def test_bad_tsv_files(content, expected, suffix, tmp_path):
    path = write(tmp_path / f"fo{suffix}", content)
    for skip_bad_rows in (False, True):  # that is about rows, not about files
        message = refusal(MentionTable.read, path, skip_bad_rows=skip_bad_rows)
        assert message.startswith(f"{path} {expected}")


BAD_LINES = [
    ("a\tQ1", "expected 3 columns, found 2"),
    ("a\tQ1\t1\t", "expected 3 columns, found 4"),
    ("", "expected 3 columns, found an empty line"),
    ("\tQ1\t1", "mention is empty, expected at least one character"),
    ("a\t\t1", "entity is empty, expected at least one character"),
    ("\t\t", "mention is empty, expected at least one character"),
    ("a\rb\tQ1\t1", r"mention is 'a\rb', expected text without a tab or line break"),
    ("a\tQ1\t1\r", r"count is '1\r', expected a whole number of at least 1"),
    ("a\tQ1\tx", "count is 'x', expected a whole number of at least 1"),
    ("a\tQ1\t", "count is '', expected a whole number of at least 1"),
    ("a\tQ1\t0", "count is 0, expected a whole number of at least 1"),
    ("a\tQ1\t-1", "count is '-1', expected a whole number of at least 1"),
    ("a\tQ1\t+1", "count is '+1', expected a whole number of at least 1"),
    ("a\tQ1\t 1", "count is ' 1', expected a whole number of at least 1"),
    ("a\tQ1\t1.0", "count is '1.0', expected a whole number of at least 1"),
    ("a\tQ1\t1e3", "count is '1e3', expected a whole number of at least 1"),
    ("a\tQ1\t0x1F", "count is '0x1F', expected a whole number of at least 1"),
    ("a\tQ1\t1_0", "count is '1_0', expected a whole number of at least 1"),
    ("a\tQ1\t٣", "count is '٣', expected a whole number of at least 1"),
    (f"a\tQ1\t{MAX + 1}", f"count is {MAX + 1}, expected at most {MAX}"),
    ("a\tQ1\t" + "9" * 5000, "count is '99999"),
]


@pytest.mark.parametrize(("line", "expected"), BAD_LINES)
def test_a_bad_row_is_named_or_skipped(line, expected, tmp_path, caplog):
    content = f"mention\tentity\tcount\nTórshavn\tQ10704\t1\n{line}\r\nHavnin\tQ10704\t12\n"
    path = write(tmp_path / "fo.tsv.gz", content + "Tórshavn\tQ2\t3\n")
    message = refusal(MentionTable.read, path)
    assert message.startswith(f"{path} line 3: {expected}")
    assert message.endswith("(skip_bad_rows=True, or --skip-bad-rows, leaves such rows out)")

    with caplog.at_level(logging.WARNING, logger="candgen"):
        table = MentionTable.read(path, skip_bad_rows=True)
    assert table == toy()
    assert table.skipped == 1
    (record,) = caplog.records
    assert record.name == "candgen"
    assert f"bad rows left out: 1, the first: {path} line 3: {expected}" in record.getMessage()


def test_several_bad_rows_are_counted(tmp_path, caplog):
    content = "mention\tentity\tcount\n" + "a\tQ1\t1\nbad\n" * 3 + "\tQ1\t1\n" + "b\tQ1\t2\n"
    table = MentionTable.read(write(tmp_path / "fo.tsv", content), skip_bad_rows=True)
    assert list(table) == [("a", "Q1", 3), ("b", "Q1", 2)]
    assert table.skipped == 4
    assert "left out: 4, the first" in caplog.text
    assert "line 3: expected 3 columns, found 1" in caplog.text


def test_good_files_log_nothing(tmp_path, caplog):
    path = write(tmp_path / "fo.tsv", "mention\tentity\na\tQ1\n")
    assert MentionTable.read(path, skip_bad_rows=True).skipped == 0
    assert caplog.records == []


def test_a_file_of_only_bad_rows(tmp_path):
    path = write(tmp_path / "fo.tsv", "mention\tentity\n\n\n\n")
    table = MentionTable.read(path, skip_bad_rows=True)  # of three empty lines, the last is none
    assert (len(table), table.skipped) == (0, 2)


def test_line_numbers_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "_BLOCK", 64)
    lines = [f"mention {n}\tQ{n}\t{n}" for n in range(1, 1001)]
    path = write(tmp_path / "fo.tsv", "mention\tentity\tcount\n" + "\n".join(lines) + "\n")
    assert MentionTable.read(path).total == 500_500
    for bad in (0, 500, 999):
        changed = [*lines[:bad], "x", *lines[bad + 1 :]]
        write(path, "mention\tentity\tcount\n" + "\n".join(changed) + "\n")
        assert f"line {bad + 2}: expected 3 columns, found 1" in refusal(MentionTable.read, path)
        table = MentionTable.read(path, skip_bad_rows=True)
        assert (len(table), table.skipped, table.total) == (999, 1, 500_500 - bad - 1)


def test_a_row_longer_than_the_parser_likes(tmp_path):
    path = write(tmp_path / "fo.tsv", f"mention\tentity\n{'x' * (5 << 20)}\tQ1\na\tQ2\n")
    assert [(len(m), e) for m, e, _ in MentionTable.read(path)] == [(1, "Q2"), (5 << 20, "Q1")]


tsv_bodies = st.lists(
    st.sampled_from(
        [*ODD, "\t", "\t", "\t", "\n", "\n", "\r", "\r\n", "0", "1", "7", "-", "Q1\t", "x"]
    ),
    max_size=40,
).map("".join)
near_tsv_bodies = st.lists(
    st.one_of(
        st.tuples(texts, texts, counts).map(lambda row: "\t".join(map(str, row))),
        st.tuples(texts, texts, texts).map("\t".join),
        st.sampled_from([line for line, _ in BAD_LINES]),
    ),
    max_size=6,
).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: "".join(s + end for s in lines))
)


@given(
    st.one_of(tsv_bodies, near_tsv_bodies),
    st.sampled_from(["mention entity count", "count x mention entity", "entity mention"]),
)
@example("\ufeffa\tQ1\t1\n", "mention entity count")
@example("a\tQ1\t1\n\n\n", "mention entity count")
@example("\n\n", "mention entity")
def test_the_fast_parser_agrees_with_the_plain_one(body, header):
    content = header.replace(" ", "\t") + "\n" + body
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = write(Path(folder) / "fo.tsv", content)
        outcomes = []
        for _ in range(2):
            for skip_bad_rows in (False, True):
                try:
                    table = MentionTable.read(path, skip_bad_rows=skip_bad_rows)
                    outcomes.append((list(table), table.skipped))
                except TableError as error:
                    outcomes.append(str(error))
            patch.setattr(table_files, "_parse_tsv", lambda block, header: None)
    assert outcomes[:2] == outcomes[2:]
    assert outcomes[1] == plain_reading(content)


def plain_reading(content: str) -> tuple[list[tuple[str, str, int]], int]:
    """What a TSV file may hold, for skip_bad_rows, with nothing of candgen."""
    header, *lines = content.replace("\r\n", "\n").split("\n")
    for _ in range(2):  # the line end of the last line, and one empty line
        if lines and not lines[-1]:
            lines.pop()
    names, found, skipped = header.split("\t"), Counter(), 0
    for line in lines:
        fields = dict(zip(names, line.split("\t"), strict=False))
        count = fields.get("count", "1")
        good = (
            line.count("\t") + 1 == len(names) and "\r" not in fields["mention"] + fields["entity"]
        )
        good = good and fields["mention"] and fields["entity"]
        if good and count.isascii() and count.isdecimal() and 1 <= int(count[:4000]) <= MAX:
            found[fields["mention"], fields["entity"]] += int(count)
        else:
            skipped += 1
    return [(m, e, n) for (m, e), n in sorted(found.items())], skipped


@given(st.lists(st.tuples(texts, texts, st.integers(1, 10**17)), min_size=1, max_size=8))
def test_the_fast_parser_takes_every_ordinary_block(rows):
    assume(not rows[0][0].startswith("\ufeff"))
    block = "".join(f"{m}\t{e}\t{n}\n" for m, e, n in rows).encode()
    columns = table_files._parse_tsv(block, ["mention", "entity", "count"])
    assert columns is not None
    assert [tuple(row.values()) for row in columns.to_pylist()] == rows


anything = st.one_of(
    texts, st.text(max_size=3), st.none(), st.integers(), st.binary(max_size=2), st.floats()
)


@given(st.tuples(anything, anything, st.one_of(st.integers(-1, 2), st.integers(), anything)))
def test_the_check_of_columns_agrees_with_the_check_of_a_row(row):
    plain = [type(value) for value in row] == [str, str, int]
    legal = table_rows.row_problem(*row) is None
    assert (table_rows._columns_if_legal([row]) is not None) == legal
    assert plain or not legal


# Reading JSON Lines


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"])
def test_json_lines(suffix, tmp_path):
    content = (
        '\ufeff{"mention": "T\\u00f3rshavn", "entity": "Q10704"}\r\n'
        '{"count": 12, "entity": "Q10704", "x": [1], "mention": "Havnin"}\n'
        ' {"mention":"Tórshavn","entity":"Q2","count":3} \n\n'
    )
    assert MentionTable.read(write(tmp_path / f"fo{suffix}", content)) == toy()


def test_an_empty_json_lines_file_is_an_empty_table(tmp_path):
    assert len(MentionTable.read(write(tmp_path / "fo.jsonl", ""))) == 0


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", "found '', expected a JSON object with mention and entity"),
        ("{", "found '{', expected a JSON object"),
        ('["a", "Q1"]', 'found \'["a", "Q1"]\', expected a JSON object'),
        ("[" * 100_000, "found '[[[["),
        ('{"mention": "a", "entity": "Q1", "count": ' + "9" * 5000 + "}", "found '{"),
        ('{"entity": "Q1"}', "mention is missing, expected a string"),
        ('{"mention": "a"}', "entity is missing, expected a string"),
        ('{"mention": 1, "entity": "Q1"}', "mention is 1, expected a string"),
        ('{"mention": "", "entity": "Q1"}', "mention is empty"),
        (r'{"mention": "a\tb", "entity": "Q1"}', r"mention is 'a\tb', expected text without a tab"),
        (
            r'{"mention": "a", "entity": "\ud800"}',
            r"entity is '\ud800', expected text without a lone",
        ),
        ('{"mention": "a", "entity": "Q1", "count": "1"}', "count is '1', expected a whole number"),
        ('{"mention": "a", "entity": "Q1", "count": 1.0}', "count is 1.0, expected a whole number"),
        (
            '{"mention": "a", "entity": "Q1", "count": true}',
            "count is True, expected a whole number",
        ),
        (
            '{"mention": "a", "entity": "Q1", "count": null}',
            "count is None, expected a whole number",
        ),
        (
            '{"mention": "a", "entity": "Q1", "count": 1e400}',
            "count is inf, expected a whole number",
        ),
        (f'{{"mention": "a", "entity": "Q1", "count": {2**63}}}', f"count is {2**63}, expected at"),
    ],
)
def test_bad_json_lines(line, expected, tmp_path):
    good = '{"mention": "b", "entity": "Q2"}'
    path = write(tmp_path / "fo.jsonl", f"{good}\n{line}\n{good}\n")
    message = refusal(MentionTable.read, path)
    assert message.startswith(f"{path} line 2: {expected}")
    assert "--skip-bad-rows" in message
    table = MentionTable.read(path, skip_bad_rows=True)
    assert (list(table), table.skipped) == ([("b", "Q2", 2)], 1)


def test_json_lines_that_are_not_utf_8(tmp_path):
    path = write(tmp_path / "fo.jsonl", b'{"mention": "\xe9", "entity": "Q1"}\n')
    assert "line 1: byte 0xe9 is not UTF-8" in refusal(MentionTable.read, path)


# Reading Parquet


def parquet(path: Path, **columns) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def test_bad_parquet_rows(tmp_path):
    mentions = [f"m{n}" for n in range(20_000)]
    mentions[15_000] = ""
    path = parquet(tmp_path / "fo.parquet", mention=mentions, entity=["Q1"] * 20_000)
    message = refusal(MentionTable.read, path)
    assert message.startswith(
        f"{path} row 15001: mention is empty, expected at least one character"
    )
    assert "--skip-bad-rows" in message
    table = MentionTable.read(path, skip_bad_rows=True)
    assert (len(table), table.skipped) == (19_999, 1)


def test_bad_parquet_files(tmp_path):
    path = parquet(tmp_path / "fo.parquet", mention=["a"], name=["b"])
    assert f"{path} has no column entity, only ['mention', 'name']" in refusal(
        MentionTable.read, path
    )
    parquet(path, mention=["a"], entity=["Q1"], count=[0.5])
    assert "column count holds double, expected whole numbers" in refusal(MentionTable.read, path)
    for content in (b"", b"mention\tentity\n", b"PAR1" + b"\0" * 40 + b"PAR1"):
        assert "is not a sound Parquet file" in refusal(MentionTable.read, write(path, content))


def test_damaged_parquet_is_refused_or_read_but_never_a_traceback(tmp_path):
    path = tmp_path / "fo.parquet"
    MentionTable.from_pairs((f"m{n}", f"Q{n % 7}", n + 1) for n in range(200)).write(path)
    sound = path.read_bytes()
    chance = random.Random(3)
    for _ in range(300):
        damaged = bytearray(sound)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged[: chance.choice([len(damaged), chance.randrange(len(damaged))])])
        try:
            MentionTable.read(path)
        except TableError as error:
            assert str(path) in str(error)


def test_a_folder_of_parquet_files(tmp_path):
    folder = tmp_path / "names.parquet"
    parquet(folder / "lang=fo" / "part-0.parquet", mention=["Havnin"], entity=["Q10704"], count=[5])
    parquet(folder / "lang=fo" / "part-1.parquet", mention=["Havnin"], entity=["Q10704"], count=[7])
    parquet(folder / "count=9" / "part-0.snappy.parquet", mention=["Tórshavn"], entity=["Q10704"])
    parquet(
        folder / "part-0.parquet",
        mention=pa.array(["Tórshavn"]).dictionary_encode(),
        entity=pa.array(["Q2"], pa.large_string()),
        count=pa.array([3], pa.uint8()),
    )
    for ignored in (
        "_SUCCESS",
        ".part-0.parquet.crc",
        "_temporary/0.parquet",
        ".x/1.parquet",
        "a.txt",
    ):
        (folder / ignored).parent.mkdir(exist_ok=True)
        (folder / ignored).write_bytes(b"not Parquet")
    assert MentionTable.read(folder) == toy()

    bad = parquet(folder / "part-1.parquet", mention=["a", ""], entity=["Q1", "Q1"])
    assert f"{bad} row 2: mention is empty" in refusal(MentionTable.read, folder)
    assert MentionTable.read(folder, skip_bad_rows=True).skipped == 1
    parquet(bad, mention=["a"])
    assert f"{bad} has no column entity" in refusal(MentionTable.read, folder)


def test_a_folder_without_parquet_files(tmp_path):
    (tmp_path / "x.tsv").write_text("mention\tentity\n", encoding="utf-8")
    message = refusal(MentionTable.read, tmp_path)
    assert f"{tmp_path} is a folder without .parquet files" in message


# Files that are not what they should be


@pytest.mark.parametrize(
    "name", ["fo", "fo.csv", "fo.tsv.bz2", "fo.gz", "fo.parquet.gz", "fo.txt", ".tsv"]
)
def test_unknown_suffixes(name, tmp_path):
    path = write(tmp_path / name, "")
    for call in (MentionTable.read, toy().write):
        message = refusal(call, path)
        assert f"{path} has an unknown suffix" in message
        assert ".tsv, .jsonl, .ndjson" in message
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file(suffix, tmp_path):
    path = tmp_path / "nowhere" / f"fo{suffix}"
    assert refusal(MentionTable.read, path).startswith(f"{path} does not exist: check the name")


@pytest.mark.parametrize("mistake", [None, 7, b"fo.tsv", "", "a\0.tsv"])
def test_what_is_no_path(mistake):
    assert "path is" in refusal(MentionTable.read, mistake, kind=ParameterError)
    assert "path is" in refusal(toy().write, mistake, kind=ParameterError)


def test_files_that_are_not_gzip_or_not_whole(tmp_path):
    content = b"mention\tentity\n" + b"".join(b"m%d\tQ%d\n" % (n, n) for n in range(5000))
    path = tmp_path / "fo.tsv.gz"
    path.write_bytes(content)
    assert f"{path} is not a sound gzip file" in refusal(MentionTable.read, path)
    packed = gzip.compress(content)
    for cut in (5, 15, len(packed) // 2, len(packed) - 8, len(packed) - 1):
        path.write_bytes(packed[:cut])
        assert f"{path} is cut short or damaged" in refusal(MentionTable.read, path)
    path.write_bytes(packed[:-8] + b"\0" + packed[-7:])
    assert f"{path} is not a sound gzip file" in refusal(MentionTable.read, path)
    path.write_bytes(packed[:100] + b"\xff\xff\xff\xff" + packed[104:])
    assert str(path) in refusal(MentionTable.read, path)
    path.write_bytes(packed + gzip.compress(b"last\tQ0\n"))  # two members are one file
    assert len(MentionTable.read(path)) == 5001
    plain = tmp_path / "fo.tsv"
    plain.write_bytes(packed)
    assert f"{plain} is compressed by gzip: add .gz" in refusal(MentionTable.read, plain)


def test_an_unreadable_file(tmp_path, monkeypatch):
    path = write(tmp_path / "fo.tsv", "mention\tentity\n")

    def denied(self):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert refusal(MentionTable.read, path) == f"{path} cannot be read: Permission denied"


# Writing


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(rows=rows_of_a_table)
def test_every_format_gives_back_what_it_was_given(suffix, rows):
    table = MentionTable.from_pairs(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"fo{suffix}"
        table.write(path)
        back = MentionTable.read(path)
        assert back == table
        assert back.digest == table.digest
        assert list(Path(folder).iterdir()) == [path]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_table_gives_the_same_bytes(suffix, tmp_path):
    rows = [(f"m{n % 977}é", f"Q{n % 31}", n + 1) for n in range(40_000)]
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    MentionTable.from_pairs(rows).write(first)
    random.Random(1).shuffle(rows)
    os.utime(first, (0, 0))
    arrow = pa.Table.from_pylist(
        [dict(zip(("mention", "entity", "count"), r, strict=True)) for r in rows]
    )
    cut = pa.concat_tables([arrow.slice(0, 10_000), arrow.slice(10_000)])
    MentionTable.from_arrow(cut).write(second)
    assert first.read_bytes() == second.read_bytes()
    MentionTable.read(first).write(second)
    assert first.read_bytes() == second.read_bytes()


def test_what_the_text_formats_look_like(tmp_path):
    toy().write(tmp_path / "fo.tsv")
    assert (tmp_path / "fo.tsv").read_bytes().decode() == (
        "mention\tentity\tcount\nHavnin\tQ10704\t12\nTórshavn\tQ10704\t1\nTórshavn\tQ2\t3\n"
    )
    toy().write(tmp_path / "fo.jsonl")
    lines = (tmp_path / "fo.jsonl").read_bytes().decode().split("\n")
    assert lines[0] == '{"mention": "Havnin", "entity": "Q10704", "count": 12}'
    assert [tuple(json.loads(line).values()) for line in lines[:-1]] == TOY
    toy().write(tmp_path / "fo.tsv.gz")
    packed = (tmp_path / "fo.tsv.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "fo.tsv").read_bytes()
    flags, time = struct.unpack("<3xBI", packed[:8])
    assert (flags, time) == (0, 0)  # no name, no time
    toy().write(tmp_path / "fo.parquet")
    group = pq.read_metadata(tmp_path / "fo.parquet").row_group(0)
    assert {group.column(n).compression for n in range(3)} == {"ZSTD"}


def test_metadata_lives_in_parquet(tmp_path):
    path, copy, text = tmp_path / "fo.parquet", tmp_path / "copy.parquet", tmp_path / "fo.tsv"
    toy().write(path, metadata={"source": "føroyska", "language": "fo"})
    table = MentionTable.read(path)
    assert table.metadata == {"language": "fo", "source": "føroyska"}
    assert table == toy()
    assert pq.read_schema(path).metadata[b"language"] == b"fo"
    table.write(copy)
    assert copy.read_bytes() == path.read_bytes()
    table.write(copy, metadata={})
    assert MentionTable.read(copy).metadata == {}
    table.write(text)
    assert MentionTable.read(text).metadata == {}
    assert table.merge(table).metadata == {}


def test_metadata_of_a_folder_is_what_its_files_share(tmp_path):
    toy().write(tmp_path / "1.parquet", metadata={"language": "fo", "part": "1"})
    toy().write(tmp_path / "2.parquet", metadata={"language": "fo", "part": "2"})
    assert MentionTable.read(tmp_path).metadata == {"language": "fo"}


def test_metadata_of_other_programs_is_not_ours(tmp_path):
    table = toy().arrow.replace_schema_metadata(
        {"pandas": "{}", "org.apache.spark.x": "1", "a": "b"}
    )
    pq.write_table(table, tmp_path / "fo.parquet")
    assert MentionTable.read(tmp_path / "fo.parquet").metadata == {"a": "b"}


@pytest.mark.parametrize(
    "metadata", [{"a": 1}, {1: "a"}, {"a": "\ud800"}, {"pandas": "x"}, {"ARROW:schema": "x"}, "ab"]
)
def test_bad_metadata(metadata, tmp_path):
    message = refusal(toy().write, tmp_path / "fo.parquet", metadata=metadata, kind=ParameterError)
    assert message.startswith("metadata")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("broken", ["fsync", "replace", "write"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(suffix, broken, tmp_path, monkeypatch):
    path = tmp_path / f"fo{suffix}"
    MentionTable.from_pairs([("old", "Q1")]).write(path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if broken == "write":
        really_open = Path.open

        def open_on_full_disk(self, mode="r", *arguments, **keywords):
            file = really_open(self, mode, *arguments, **keywords)
            return FullDisk(file) if mode == "xb" else file

        monkeypatch.setattr(Path, "open", open_on_full_disk)
    else:
        monkeypatch.setattr(os, broken, full)
    table = MentionTable.from_pairs((f"m{n}", f"Q{n}") for n in range(3000))
    message = refusal(table.write, path)
    assert message == (
        f"{path} cannot be written: No space left on device; make room or choose another place"
    )
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


class FullDisk:
    """A file on a disk that has room for 100 bytes."""

    def __init__(self, file):
        self.file, self.room, self.closed = file, 100, False

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(data)

    def writelines(self, pieces):
        for piece in pieces:
            self.write(piece)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        toy().write(tmp_path / "fo.tsv")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path):
    path = tmp_path / "missing" / "fo.tsv"
    assert refusal(toy().write, path) == (
        f"{path} cannot be written: {path.parent} is not a folder, make it first"
    )
    (tmp_path / "file").write_bytes(b"")
    assert "is not a folder" in refusal(toy().write, tmp_path / "file" / "fo.tsv")
    (tmp_path / "folder.tsv").mkdir()
    assert "Is a directory" in refusal(toy().write, tmp_path / "folder.tsv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder.tsv"]


def test_a_folder_without_permission(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
        assert "Permission denied" in refusal(toy().write, folder / "fo.tsv")
    finally:
        folder.chmod(0o700)


def test_a_written_file_has_ordinary_permissions_and_links_stay_links(tmp_path):
    mask = os.umask(0o022)
    try:
        toy().write(tmp_path / "fo.tsv")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fo.tsv").stat().st_mode) == 0o644
    (tmp_path / "link.tsv").symlink_to(tmp_path / "fo.tsv")
    MentionTable.from_pairs([("a", "Q1")]).write(tmp_path / "link.tsv")
    assert (tmp_path / "link.tsv").is_symlink()
    assert len(MentionTable.read(tmp_path / "fo.tsv")) == 1


# Merging and digests


@given(st.lists(rows_of_a_table, min_size=1, max_size=4))
def test_merging_adds_counts(parts):
    tables = [MentionTable.from_pairs(rows) for rows in parts]
    expected = MentionTable.from_pairs(row for rows in parts for row in rows)
    assert tables[0].merge(*tables[1:]) == expected
    assert MentionTable.merge(*tables) == expected


def test_merging_what_is_no_table():
    for mistake in ("fo.tsv", TOY, [toy()]):
        assert "expected mention tables" in refusal(toy().merge, mistake, kind=ParameterError)


def test_the_digest_is_what_its_documentation_says():
    table = MentionTable.from_pairs([("é", "Q1", 2), ("ab", "Q22")])
    content = b"candgen mention table 1\n" + struct.pack("<q", 2)
    content += struct.pack("<3q", 0, 2, 4) + "abé".encode()
    content += struct.pack("<3q", 0, 3, 5) + b"Q22Q1"
    content += struct.pack("<2q", 1, 2)
    assert table.digest == hashlib.sha256(content).hexdigest()


def test_digests_of_different_tables_differ():
    tables = [[], [("a", "bc")], [("ab", "c")], [("a", "bc", 2)], [("a", "b"), ("c", "d")], TOY]
    assert len({MentionTable.from_pairs(rows).digest for rows in tables}) == len(tables)


def test_the_digest_does_not_depend_on_where_the_columns_lie():
    arrow = pa.concat_tables(
        [
            pa.table({"mention": ["x"], "entity": ["Q9"], "count": [1]}),
            toy().arrow.cast(
                pa.schema(
                    [("mention", pa.string()), ("entity", pa.string()), ("count", pa.int64())]
                )
            ),
        ]
    )
    sliced = MentionTable.from_arrow(arrow.combine_chunks().slice(1))
    assert sliced == toy()
    assert sliced.digest == toy().digest
    large = MentionTable.from_pairs([("A", "Q1"), *TOY]).arrow.slice(1)  # its offsets start late
    assert MentionTable.from_arrow(large).digest == toy().digest


# Real names


def test_real_names(shared_data, tmp_path):
    table = MentionTable.read(shared_data / "names" / "fo.tsv.gz")
    assert (len(table), len(table.entities)) == (2422, 2298)
    rows = []
    with gzip.open(
        shared_data / "names" / "fo.tsv.gz", "rt", encoding="utf-8", newline="\n"
    ) as file:
        next(file)
        for line in file:
            mention, entity, count = line.rstrip("\n").split("\t")
            rows.append((mention, entity, int(count)))
    assert list(table) == sorted(rows)
    for suffix in SUFFIXES:
        table.write(tmp_path / f"fo{suffix}")
        assert MentionTable.read(tmp_path / f"fo{suffix}") == table


@pytest.mark.parametrize(
    ("name", "pairs", "entities"),
    [("is", 12_717, 12_334), ("mk", 16_194, 15_171), ("hi", 9_632, 9_187), ("de", 107_591, 98_478)],
)
def test_sizes_of_real_tables(name, pairs, entities, shared_data):
    table = MentionTable.read(shared_data / "names" / f"{name}.tsv.gz")
    assert (len(table), len(table.entities)) == (pairs, entities)
    assert table.mentions == sorted({m for m, _, _ in table})


def test_a_table_with_an_extra_column(shared_data):
    assert len(MentionTable.read(shared_data / "splits" / "mk" / "test.tsv")) == 1500
