"""MySQL dumps, written by a naive escaper of our own and read back."""

import bz2
import gzip
import logging
import re

import pyarrow as pa
import pytest

from candgen.errors import TableError
from candgen.wikipedia import sql
from tests.support.sql_dumps import ENTITIES, LANGLINKS, PAGE_PROPS, REDIRECT


def test_swapped_files(tmp_path):
    path = tmp_path / "x.sql"
    path.write_bytes(REDIRECT)
    expected = r"x\.sql holds the table redirect, expected page_props: .* swapped"
    with pytest.raises(TableError, match=expected):
        sql.read_page_entities(path)


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
    table = sql.read_page_entities(path)
    assert table.to_pylist() == ENTITIES
    assert table.schema == pa.schema([("id", pa.int64()), ("entity", pa.large_string())])
    assert caplog.messages == [f"{path}: rows left out whose entity is not Q and a number: 3"]


def test_page_entities_of_an_older_year(tmp_path):
    path = tmp_path / "x.sql"
    path.write_bytes(
        b"CREATE TABLE `page_props` (\n`pp_value` blob,\n`pp_propname` varbinary(60),\n"
        b"`pp_page` int(11));\nINSERT INTO `page_props` VALUES ('Q7','wikibase_item',9);"
    )
    assert sql.read_page_entities(path).to_pylist() == [{"id": 9, "entity": "Q7"}]


def test_redirects(written, caplog):
    table = sql.read_redirects(written(REDIRECT))
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
    assert sql.read_redirects(path).to_pylist() == expected


def test_langlinks(written, caplog):
    path = written(LANGLINKS)
    expected = [{"id": 1, "title": "Færeyjar"}, {"id": 2, "title": "A b c"}]
    assert sql.read_langlinks(path, "is").to_pylist() == expected
    assert sql.read_langlinks(path, "da").to_pylist() == [{"id": 1, "title": "Færøerne"}]
    caplog.clear()
    assert len(sql.read_langlinks(path, "xx")) == 0
    assert caplog.messages == [f"{path} has no links to the language 'xx': check its code"]


def test_more_rows_than_a_batch(tmp_path):
    count = 70_000
    values = b",".join(b"(%d,0,'T%d',NULL,NULL)" % (i, i) for i in range(count))
    path = tmp_path / "x.sql"
    path.write_bytes(
        REDIRECT[: REDIRECT.index(b"INSERT")] + b"INSERT INTO redirect VALUES %s;" % values
    )
    table = sql.read_redirects(path)
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
        sql.read_redirects(path)


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
            sql.read_page_entities(path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(TableError, match=r"x\.sql does not exist: check the name"):
        sql.read_redirects(tmp_path / "x.sql")
    with pytest.raises(TableError, match="cannot be read: Is a directory"):
        sql.read_redirects(tmp_path)


def test_an_empty_table_is_a_table_without_rows(written, caplog):
    caplog.set_level(logging.WARNING)
    table = sql.read_redirects(written(REDIRECT[: REDIRECT.index(b"INSERT")]))
    assert len(table) == 0
    assert table.column_names == ["id", "namespace", "key", "interwiki"]
    assert not caplog.messages
