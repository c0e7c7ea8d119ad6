"""TSV: what is read, what is refused by line; the fast parser agrees with the plain one."""

import gzip
import logging
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from candgen.errors import TableError
from candgen.tables import text_file, tsv
from candgen.tables.mention_table import MentionTable
from tests.support.mention_tables import MAX, ODD, counts, refusal, texts, toy, write


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
    (f"a\tQ1\t{2**63}", f"count is {2**63}, expected at most {MAX}"),
    ("a\tQ1\t" + "9" * 5000, f"count is {'9' * 77}..., expected at most {MAX}"),
    ("a\tQ1\t" + "0" * 5000, "count is 0, expected a whole number of at least 1"),
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
    monkeypatch.setattr(text_file, "_BLOCK", 64)
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
    table = MentionTable.read(path, max_row_bytes=6 << 20)
    assert [(len(m), e) for m, e, _ in table] == [(1, "Q2"), (5 << 20, "Q1")]


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
            patch.setattr(tsv, "_parse_block", lambda block, header: None)
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
        if (
            good
            and count.isascii()
            and count.isdecimal()
            and 1 <= int(count.lstrip("0")[:4000] or 0) <= MAX
        ):
            found[fields["mention"], fields["entity"]] += int(count)
        else:
            skipped += 1
    return [(m, e, n) for (m, e), n in sorted(found.items())], skipped


@given(st.lists(st.tuples(texts, texts, st.integers(1, MAX)), min_size=1, max_size=8))
def test_the_fast_parser_takes_every_ordinary_block(rows):
    assume(not rows[0][0].startswith("\ufeff"))
    block = "".join(f"{m}\t{e}\t{n}\n" for m, e, n in rows).encode()
    columns = tsv._parse_block(block, ["mention", "entity", "count"])
    assert columns is not None
    assert [tuple(row.values()) for row in columns.to_pylist()] == rows


@given(
    st.lists(st.tuples(texts, texts), max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)
def test_columns_are_what_the_plain_reader_finds(rows, end, blank, plain):
    lines = "".join(f"{a}\t{b}{end}{end if blank else ''}" for a, b in rows)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = write(Path(folder) / "x.tsv", f"x\tx{end}{lines}")
        if plain:
            patch.setattr(tsv, "parse_columns", lambda *_, **__: None)
        first, second = tsv.read_tsv(path, "x").columns([1, 0])
    assert list(zip(second.to_pylist(), first.to_pylist(), strict=True)) == rows


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a\tb\n\nc\n", "line 4: expected 2 columns, found 1"),
        ("a\tb\nc\td\te\n", "line 3: expected 2 columns, found 3"),
        ("a\tb\nc\rd\te\n", "line 3: found a carriage return, expected text"),
    ],
)
def test_columns_name_the_first_bad_line(body, expected, tmp_path):
    path = write(tmp_path / "x.tsv.gz", "x\ty\n" + body)
    assert refusal(tsv.read_tsv(path, "x").columns, [0, 1]) == f"{path} {expected}"
