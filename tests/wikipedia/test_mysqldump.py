"""The rows of INSERT statements, and damage of a dump."""

import io
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.errors import TableError
from candgen.wikipedia.mysqldump import read_rows
from tests.support.sql_dumps import PAGE_PROPS, REDIRECT


def parse(text, table="t", columns=("a",), **options):
    return list(read_rows(io.BytesIO(text), table, columns, **options))


def dump_of(statements, columns=("a", "b", "c")):
    created = b",\n".join(b"  `%s` blob" % column.encode() for column in columns)
    return b"CREATE TABLE `t` (\n%s\n) ENGINE=InnoDB;\n%s" % (created, statements)


def escaped(value, style):
    if value is None:
        return b"NULL"
    if isinstance(value, int | float):
        return repr(value).encode()
    if style == "hex" and value:
        return b"0x" + value.hex().encode()
    out = b""
    for byte in value:
        one = bytes([byte])
        if one == b"'":
            out += b"''" if style == "doubled" else b"\\'"
        elif one in b'\\"':
            out += b"\\" + one
        else:
            names = {b"\0": b"\\0", b"\n": b"\\n", b"\r": b"\\r", b"\x1a": b"\\Z", b"\t": b"\\t"}
            out += one if style == "raw" else names.get(one, one)
    return (b"_binary " if style == "binary" else b"") + b"'" + out + b"'"


BYTES = st.one_of(
    st.binary(max_size=8), st.text(alphabet="'\\(),; aø\n\t\"%_`-/*0", max_size=8).map(str.encode)
)
VALUES = st.one_of(
    BYTES, st.none(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False)
)
STYLES = st.sampled_from(["mysqldump", "raw", "doubled", "hex", "binary"])
TABLES = st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=12)


@st.composite
def dumps(draw):
    """The rows of a table and a dump of them, in statements of one or more rows."""
    made = draw(TABLES)
    comma = draw(st.sampled_from([b",", b",\n", b" , "]))
    statements, remaining = b"", list(made)
    while remaining:
        taken = draw(st.integers(1, len(remaining)))
        texts = [
            b"(%s)" % b",".join(escaped(value, draw(STYLES)) for value in row)
            for row in remaining[:taken]
        ]
        statements += b"INSERT INTO `t` VALUES %s;\n" % comma.join(texts)
        statements += draw(st.sampled_from([b"", b"-- a comment;'\n", b"/*!4 ALTER `t` */;\n"]))
        remaining = remaining[taken:]
    return made, dump_of(statements)


@given(dumps(), st.integers(1, 200))
def test_what_was_written_is_read(dump, piece):
    made, text = dump
    assert parse(text, columns=("a", "b", "c"), piece=piece) == made
    assert parse(text, columns=("c", "a"), piece=piece) == [(c, a) for a, _, c in made]


@given(TABLES, BYTES)
def test_only_rows_with_the_value(made, value):
    made = [*made, (1, value, 2)]
    text = dump_of(
        b"INSERT INTO `t` VALUES %s;"
        % b",".join(b"(%s)" % b",".join(escaped(cell, "doubled") for cell in row) for row in made)
    )
    expected = [(row[2],) for row in made if row[1] == value]
    assert parse(text, columns=("c",), where=("b", value)) == expected


@pytest.mark.parametrize("piece", range(1, 90))
def test_a_piece_may_end_anywhere(piece):
    found = parse(PAGE_PROPS, "page_props", ["pp_page", "pp_sortkey", "pp_value"], piece=piece)
    assert found == [
        (1, None, b"Q4628"),
        (1, -1.5, b"a),(b);"),
        (2, None, b"q1"),
        (3, 1e20, b"Q0"),
        (4, 0, b"Q10704"),
        (5, 0, None),
    ]


def test_a_file_that_gives_less_than_it_is_asked_for():
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 7))

    assert list(read_rows(Slow(REDIRECT), "redirect", ["rd_from"])) == [(n,) for n in range(10, 15)]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (rb"'\0\'\"\b\n\r\t\Z\\'", b"\0'\"\b\n\r\t\x1a\\"),
        (rb"'\%\_'", rb"\%\_"),  # MySQL keeps these backslashes outside of LIKE
        (rb"'\q'", b"q"),
        (rb"''", b""),
        (rb"''''", b"'"),
        (rb"'a''b'", b"a'b"),
        (rb"'\\'", b"\\"),
        (rb"'),('", b"),("),
        (rb"');\nINSERT INTO `t` VALUES ('", b");\nINSERT INTO `t` VALUES ("),
        (b"'\xff\xfe'", b"\xff\xfe"),
        (b"_binary 'x'", b"x"),
        (b"_utf8mb4'x'", b"x"),
        (b"0x41fF", b"A\xff"),
        (b"0x", b""),
        (b"0xF", b"\x0f"),
        (b"NULL", None),
        (b"'NULL'", b"NULL"),
        (b"-7", -7),
        (b"18446744073709551615", 2**64 - 1),
        (b"-1.25e-7", -1.25e-7),
        (b"3.", 3.0),
    ],
)
def test_values(literal, value):
    text = dump_of(b"INSERT INTO `t` VALUES (1,%s,NULL);" % literal)
    assert parse(text, columns=("a", "b", "c")) == [(1, value, None)]


@pytest.mark.parametrize(
    "statement",
    [
        b"INSERT INTO `t` (`b`,`a`) VALUES (2,1);",
        b"insert ignore into t (b, a) values (2, 1);",
        b"REPLACE INTO `fowiki`.`t` (`b`, `a`) VALUES\n(2, 1)\n;",
        b"INSERT INTO `t` (`b`,`a`) VALUES (2,1);\n-- the end, without a line end",
    ],
)
def test_columns_that_the_statement_names(statement):
    assert parse(statement, columns=("a", "b")) == [(1, 2)]
    assert parse(dump_of(statement, "abc"), columns=("a", "b")) == [(1, 2)]


def test_statements_may_name_other_columns_each():
    text = dump_of(
        b"INSERT INTO `t` VALUES (1,2,3);INSERT INTO `t` (c,a) VALUES (4,5),(6,7);"
        b"INSERT INTO `t` VALUES (8,9,10);"
    )
    assert parse(text, columns=("c", "a")) == [(3, 1), (4, 5), (6, 7), (10, 8)]


def test_a_column_that_old_dumps_do_not_have():
    text = dump_of(b"INSERT INTO `t` VALUES (1,2,3);")
    assert parse(text, columns=("a", "new"), optional=("new",)) == [(1, None)]


def test_a_table_without_rows():
    assert parse(dump_of(b"")) == []
    assert parse(dump_of(b"-- INSERT INTO `other` VALUES (1);\n")) == []


def test_every_cut_is_noticed():
    whole = parse(PAGE_PROPS, "page_props", ["pp_page"])
    assert len(whole) == 6
    for end in range(1, len(PAGE_PROPS) - len(b" on 2023-05-02 10:00:00\n")):
        with pytest.raises(TableError, match=r"^x\.sql (is cut off|has no table)"):
            parse(PAGE_PROPS[:end], "page_props", ["pp_page"], name="x.sql")


def test_how_many_rows_were_read_is_said():
    cut = REDIRECT[: REDIRECT.index(b"(13,") + 6]
    with pytest.raises(TableError, match="is cut off after 3 rows: download it again"):
        parse(cut, "redirect", ["rd_from"])


@pytest.mark.parametrize(
    "statements",
    [
        b"INSERT INTO `t` VALUES (1,2,3),(4,5);",  # a column too few
        b"INSERT INTO `t` VALUES (1,2,3),(4,5,6,7);",
        b"INSERT INTO `t` VALUES (1,2,3) (4,5,6);",
        b"INSERT INTO `t` VALUES (1,2,x);",
        b"INSERT INTO `t` VALUES (1,2,'x'y');",
        b"INSERT INTO `t` VALUES (1,2,--3);",
        b"INSERT INTO `t` VALUES ;",
        b"\x00\x01\x02",
    ],
)
def test_damage_is_noticed(statements):
    with pytest.raises(
        TableError, match=r"is (cut off|damaged)( after|, or is not a dump by mysqldump)"
    ):
        parse(dump_of(statements))


def test_damage_is_noticed_before_the_memory_is_full():
    read = 0

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            nonlocal read
            start = dump_of(b"INSERT INTO `t` VALUES (1,2,3),(bad") if read == 0 else b""
            read += size
            return start + b"x" * (size - len(start))

    with pytest.raises(TableError, match="is damaged after 1 rows"):
        list(read_rows(Endless(), "t", ["a"]))
    assert read < 1 << 27


def test_a_long_row_is_read():
    long = b"\\'" * 1_000_000 + b"x" * 3_000_000
    text = dump_of(b"INSERT INTO `t` VALUES (1,'%s',3),(4,5,6);" % long)
    found = parse(text, columns=("b",))
    assert found == [(b"'" * 1_000_000 + b"x" * 3_000_000,), (5,)]


def test_a_row_a_statement_costs_no_square():
    count = 200_000
    text = dump_of(b"".join(b"INSERT INTO `t` VALUES (%d,'x',NULL);\n" % i for i in range(count)))
    assert parse(text, piece=1 << 24) == [(i,) for i in range(count)]


def test_a_missing_create_table():
    with pytest.raises(TableError, match=r"^x has no CREATE TABLE before its rows"):
        parse(b"INSERT INTO `t` VALUES (1);", name="x")


def test_a_missing_column():
    with pytest.raises(
        TableError, match=r"has no column x and no column y, only \['a', 'b', 'c'\]"
    ):
        parse(dump_of(b"INSERT INTO `t` VALUES (1,2,3);"), columns=("x", "a", "y"))


@pytest.mark.parametrize("text", [b"", b"-- nothing\n", b"SELECT 1;"])
def test_no_table_at_all(text):
    with pytest.raises(TableError, match=r"has no table page_props: name the file \.\.\.-page"):
        parse(text, "page_props")


UNFINISHED = {
    "quotes": b"DROP " + b"''" * 100_000,
    "quotes in CREATE": b"CREATE TABLE `t` (" + b"''" * 100_000,
    "a comment": b"/*" + b"*" * 200_000,
    "space": b"INSERT INTO `t`" + b" " * 200_000,
    "quotes in a row": dump_of(b"INSERT INTO `t` VALUES ('" + b"''" * 100_000),
    "escapes in a row": dump_of(b"INSERT INTO `t` VALUES ('" + b"\\'" * 100_000),
}


@pytest.mark.parametrize("what", UNFINISHED)
def test_what_does_not_end_takes_linear_time_and_little_memory(what):
    """Quotes took exponential time; each escape took a hundred bytes."""
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(TableError, match="is cut off"):
        parse(UNFINISHED[what], columns=("a", "b", "c"))
    assert time.process_time() - start < 5
    assert tracemalloc.get_traced_memory()[1] < 8 * len(UNFINISHED[what])
    tracemalloc.stop()
