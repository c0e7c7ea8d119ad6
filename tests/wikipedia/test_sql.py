"""MySQL dumps, written by a naive escaper of our own and read back."""

import bz2
import gzip
import io
import logging
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.errors import TableError
from candgen.wikipedia import sql
from candgen.wikipedia.mysqldump import rows

PAGE_PROPS = b"""-- MySQL dump 10.19  Distrib 10.3.38-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: 10.0.0.1    Database: fowiki
-- ------------------------------------------------------

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40103 SET TIME_ZONE='+00:00' */;

--
-- Table structure for table `page_props`; it's (only) a comment
--

DROP TABLE IF EXISTS `page_props`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE `page_props` (
  `pp_page` int(10) unsigned NOT NULL DEFAULT 0,
  `pp_propname` varbinary(60) NOT NULL DEFAULT '',
  `pp_value` blob NOT NULL COMMENT 'a; b, (c), it''s \\'d\\'',
  `pp_sortkey` float DEFAULT NULL,
  PRIMARY KEY (`pp_page`,`pp_propname`),
  UNIQUE KEY `pp_propname_page` (`pp_propname`,`pp_page`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `page_props` WRITE;
/*!40000 ALTER TABLE `page_props` DISABLE KEYS */;
INSERT INTO `page_props` VALUES (1,'wikibase_item','Q4628',NULL),\
(1,'defaultsort','a),(b);',-1.5),(2,'wikibase_item','q1',NULL);
INSERT INTO `page_props` VALUES
(3,'wikibase_item','Q0',1e20),
(4,'wikibase_item','Q10704',0),
(5,'wikibase_item',NULL,0);
/*!40000 ALTER TABLE `page_props` ENABLE KEYS */;
UNLOCK TABLES;
-- Dump completed on 2023-05-02 10:00:00
"""
ENTITIES = [{"id": 1, "entity": "Q4628"}, {"id": 4, "entity": "Q10704"}]

REDIRECT = b"""CREATE TABLE `redirect` (
  `rd_from` int(8) unsigned NOT NULL DEFAULT 0,
  `rd_namespace` int(11) NOT NULL DEFAULT 0,
  `rd_title` varbinary(255) NOT NULL DEFAULT '',
  `rd_interwiki` varbinary(32) DEFAULT NULL,
  `rd_fragment` varbinary(255) DEFAULT NULL,
  PRIMARY KEY (`rd_from`)
) ENGINE=InnoDB;
INSERT INTO `redirect` VALUES (10,0,'F\xc3\xb8royar','',''),(11,-1,'O\\'Neill_(x)',NULL,'S'),\
(12,0,'Main','de',NULL),(13,0,'\xff',NULL,NULL),(14,14,'A\\\\B',NULL,NULL);
"""

LANGLINKS = b"""CREATE TABLE `langlinks` (
  `ll_from` int(8) unsigned NOT NULL, `ll_lang` varbinary(35), `ll_title` varbinary(255));
INSERT INTO `langlinks` VALUES (1,'is','F\xc3\xa6reyjar'),(1,'da','F\xc3\xa6r\xc3\xb8erne'),\
(2,'is','A_b c'),(3,'is',''),(4,'ISO','x');
"""


def parse(text, table="t", columns=("a",), **options):
    return list(rows(io.BytesIO(text), table, columns, **options))


def dump_of(statements, columns=("a", "b", "c")):
    created = b",\n".join(b"  `%s` blob" % column.encode() for column in columns)
    return b"CREATE TABLE `t` (\n%s\n) ENGINE=InnoDB;\n%s" % (created, statements)


# Independent of the parser: a character at a time, as MySQL's manual lists them.


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

    assert list(rows(Slow(REDIRECT), "redirect", ["rd_from"])) == [(n,) for n in range(10, 15)]


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


# Damage


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
    with pytest.raises(TableError, match=r"is (cut off|damaged)( after|, or is not what)"):
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
        list(rows(Endless(), "t", ["a"]))
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


def test_swapped_files(tmp_path):
    path = tmp_path / "x.sql"
    path.write_bytes(REDIRECT)
    expected = r"x\.sql holds the table redirect, expected page_props: .* swapped"
    with pytest.raises(TableError, match=expected):
        sql.page_entities(path)


# The three tables


@pytest.fixture(params=["x.sql", "x.sql.gz", "x.sql.bz2"])
def written(request, tmp_path):
    def write(text):
        path = tmp_path / request.param
        pack = {"gz": gzip.compress, "bz2": bz2.compress, "sql": bytes}[
            request.param[-3:].strip(".")
        ]
        path.write_bytes(pack(text))
        return path

    return write


def test_page_entities(written, caplog):
    path = written(PAGE_PROPS)
    table = sql.page_entities(path)
    assert table.to_pylist() == ENTITIES
    assert table.schema == pa.schema([("id", pa.int64()), ("entity", pa.large_string())])
    assert caplog.messages == [f"{path}: rows left out whose entity is not Q and a number: 3"]


def test_page_entities_of_an_older_year(tmp_path):
    path = tmp_path / "x.sql"
    path.write_bytes(
        b"CREATE TABLE `page_props` (\n`pp_value` blob,\n`pp_propname` varbinary(60),\n"
        b"`pp_page` int(11));\nINSERT INTO `page_props` VALUES ('Q7','wikibase_item',9);"
    )
    assert sql.page_entities(path).to_pylist() == [{"id": 9, "entity": "Q7"}]


def test_redirects(written, caplog):
    table = sql.redirects(written(REDIRECT))
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (10, 0, "Føroyar", ""),
        (11, -1, "O'Neill_(x)", ""),
        (12, 0, "Main", "de"),
        (14, 14, "A\\B", ""),
    ]
    assert [str(field.type) for field in table.schema] == [
        "int64",
        "int32",
        "large_string",
        "large_string",
    ]
    assert len(caplog.messages) == 1


def test_redirects_of_an_older_year(tmp_path):
    path = tmp_path / "x.sql"
    path.write_bytes(
        b"CREATE TABLE `redirect` (`rd_from` int, `rd_namespace` int, `rd_title` varbinary(255));"
        b"INSERT INTO `redirect` VALUES (1,0,'A');"
    )
    expected = [{"id": 1, "namespace": 0, "key": "A", "interwiki": ""}]
    assert sql.redirects(path).to_pylist() == expected


def test_langlinks(written, caplog):
    path = written(LANGLINKS)
    expected = [{"id": 1, "title": "Færeyjar"}, {"id": 2, "title": "A b c"}]
    assert sql.langlinks(path, "is").to_pylist() == expected
    assert sql.langlinks(path, "da").to_pylist() == [{"id": 1, "title": "Færøerne"}]
    caplog.clear()
    assert len(sql.langlinks(path, "xx")) == 0
    assert caplog.messages == [f"{path} has no links to the language 'xx': check its code"]


def test_more_rows_than_a_batch(tmp_path):
    count = 70_000
    values = b",".join(b"(%d,0,'T%d',NULL,NULL)" % (i, i) for i in range(count))
    path = tmp_path / "x.sql"
    path.write_bytes(
        REDIRECT[: REDIRECT.index(b"INSERT")] + b"INSERT INTO redirect VALUES %s;" % values
    )
    table = sql.redirects(path)
    assert table["id"].to_pylist() == list(range(count))
    assert table["key"][-1].as_py() == f"T{count - 1}"


@pytest.mark.parametrize("cell", [b"NULL", b"'x'", b"1.5", b"99999999999999999999"])
def test_a_page_without_a_number(tmp_path, cell):
    path = tmp_path / "x.sql"
    path.write_bytes(
        REDIRECT[: REDIRECT.index(b"INSERT")]
        + b"INSERT INTO redirect VALUES (%s,0,'A','','');" % cell
    )
    with pytest.raises(TableError, match="in the column rd_from, expected a whole number"):
        sql.redirects(path)


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_compressed_files_that_are_cut_off_or_damaged(tmp_path, suffix, pack):
    path = tmp_path / f"x.sql.{suffix}"
    packed = pack(PAGE_PROPS)
    flipped = bytearray(packed)
    flipped[len(flipped) // 2] ^= 0x55
    for bad in (packed[:-9], packed[: len(packed) // 2], bytes(flipped), b"<html>404</html>"):
        path.write_bytes(bad)
        expected = (
            f"^{re.escape(str(path))} is cut off or damaged(, or is not .*| after .*): .*"
            "download it again$"
        )
        with pytest.raises(TableError, match=expected):
            sql.page_entities(path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(TableError, match=r"x\.sql does not exist: check the name"):
        sql.redirects(tmp_path / "x.sql")
    with pytest.raises(TableError, match="cannot be read: Is a directory"):
        sql.redirects(tmp_path)


def test_an_empty_table_is_a_table_without_rows(written, caplog):
    caplog.set_level(logging.WARNING)
    table = sql.redirects(written(REDIRECT[: REDIRECT.index(b"INSERT")]))
    assert len(table) == 0
    assert table.column_names == ["id", "namespace", "key", "interwiki"]
    assert not caplog.messages
