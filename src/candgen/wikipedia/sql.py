"""Tables of a wiki's database, from dumps of MySQL: entities of pages, redirects, language links.

The ``iterate_...`` functions yield rows as they are read, the ``read_...`` functions return tables.
"""

import bz2
import gzip
import logging
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from candgen.dumps.file_errors import explain_read_errors
from candgen.errors import TableError, shown
from candgen.wikipedia.mysqldump import Value, read_rows

FilePath = str | os.PathLike[str]

_PAGE_ENTITIES = pa.schema([("id", pa.int64()), ("entity", pa.large_string())])
_REDIRECTS = pa.schema(
    [
        ("id", pa.int64()),
        ("namespace", pa.int32()),
        ("key", pa.large_string()),
        ("interwiki", pa.large_string()),
    ]
)
_LANGLINKS = pa.schema([("id", pa.int64()), ("title", pa.large_string())])
_LOG = logging.getLogger("candgen")
_BATCH = 1 << 16  # rows
_ENTITY = re.compile(rb"Q[1-9][0-9]*")


def read_page_entities(path: FilePath) -> pa.Table:
    """Return the entity of each page from page_props: columns id and entity."""
    return _make_table(iterate_page_entities(path), _PAGE_ENTITIES)


def read_redirects(path: FilePath) -> pa.Table:
    """Return the targets of redirects from redirect: columns id, namespace, key and interwiki.

    The key is the title as the database has it, with underscores and without a namespace. The
    interwiki prefix is empty for the pages of the same wiki.
    """
    return _make_table(iterate_redirects(path), _REDIRECTS)


def read_langlinks(path: FilePath, language: str) -> pa.Table:
    """Return the titles of pages in another language's wiki from langlinks: columns id and title.

    The title has spaces, and its namespace is part of it.
    """
    return _make_table(_iterate_langlinks(path, language), _LANGLINKS)


def iterate_page_entities(path: FilePath) -> Iterator[tuple[int, str]]:
    """Yield the rows of `read_page_entities`."""
    bad, is_entity = 0, _ENTITY.fullmatch
    where = ("pp_propname", b"wikibase_item")
    with open_dump(path) as file:
        for page, entity in read_rows(
            file, "page_props", ("pp_page", "pp_value"), where=where, name=str(path)
        ):
            if isinstance(entity, bytes) and is_entity(entity):
                yield _check_number(page, "pp_page", path), entity.decode("ascii")
            else:
                bad += 1
    _warn_of_bad_rows(bad, "whose entity is not Q and a number", path)


def iterate_redirects(path: FilePath) -> Iterator[tuple[int, int, str, str]]:
    """Yield the rows of `read_redirects`."""
    columns = ("rd_from", "rd_namespace", "rd_title", "rd_interwiki")
    bad = 0
    with open_dump(path) as file:
        # Wikis that are older than 2009 have no interwiki redirects, and no column for them.
        for page, namespace, key, interwiki in read_rows(
            file, "redirect", columns, optional=("rd_interwiki",), name=str(path)
        ):
            title, prefix = _decode(key), _decode(interwiki or b"")
            if title and prefix is not None:
                number = _check_number(namespace, "rd_namespace", path)
                yield _check_number(page, "rd_from", path), number, title, prefix
            else:
                bad += 1
    _warn_of_bad_rows(bad, "whose title is empty or not UTF-8", path)


def _iterate_langlinks(path: FilePath, language: str) -> Iterator[tuple[int, str]]:
    good = bad = 0
    where = ("ll_lang", language.encode("utf-8", "replace"))
    with open_dump(path) as file:
        for page, title in read_rows(
            file, "langlinks", ("ll_from", "ll_title"), where=where, name=str(path)
        ):
            if text := _decode(title):
                good += 1
                yield _check_number(page, "ll_from", path), text.replace("_", " ")
            else:
                bad += 1
    _warn_of_bad_rows(bad, "whose title is empty or not UTF-8", path)
    if not good:
        _LOG.warning("%s has no links to the language %s: check its code", path, shown(language))


def batch_rows(rows: Iterator[tuple[Any, ...]], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield rows as tables of limited size."""
    while some := list(islice(rows, _BATCH)):
        columns = zip(*some, strict=True)
        arrays = [pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)]
        yield pa.table(arrays, schema=schema)


def _make_table(rows: Iterator[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *batch_rows(rows, schema)])


def _decode(value: Value) -> str | None:
    try:
        return value.decode("utf-8") if isinstance(value, bytes) else None
    except UnicodeDecodeError:
        return None


def _check_number(value: Value, column: str, path: FilePath) -> int:
    most = 2**31 if column.endswith("_namespace") else 2**63  # the types in the schemas
    if isinstance(value, int) and -(2**31) <= value < most:
        return value
    raise TableError(
        f"{path}: a row has {shown(value)} in the column {column}, expected a whole number: "
        "download the file again"
    )


def _warn_of_bad_rows(bad: int, which: str, path: FilePath) -> None:
    if bad:
        _LOG.warning("%s: rows left out %s: %d", path, which, bad)


def open_dump(path: FilePath) -> BinaryIO:
    """Open .sql, .sql.gz or .sql.bz2, recognized by the suffix, to be read as plain SQL."""
    where = Path(path)
    with explain_read_errors(where):
        match where.suffix.lower():
            case ".gz":
                return cast("BinaryIO", gzip.open(where, "rb"))
            case ".bz2":
                return cast("BinaryIO", bz2.open(where, "rb"))
            case _:
                return where.open("rb")
