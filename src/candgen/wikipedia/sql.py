"""The tables of a wiki's database, from MySQL's dumps: whose entity, where to, what in English.

The functions on open files give rows one by one, for whoever makes something else of them than
Arrow tables.
"""

import bz2
import gzip
import logging
import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from candgen.errors import TableError, shown
from candgen.wikipedia.mysqldump import Value, rows

__all__ = [
    "Value",
    "langlink_rows",
    "langlinks",
    "open_dump",
    "page_entities",
    "page_entity_rows",
    "redirect_rows",
    "redirects",
    "rows",
]

FilePath = str | os.PathLike[str]

_LOG = logging.getLogger("candgen")
_BATCH = 1 << 16  # rows
_ENTITY = re.compile(rb"Q[1-9][0-9]*")


# The three tables


def page_entities(path: FilePath) -> pa.Table:
    """Read which page is about which entity from page_props: columns id and entity."""
    schema = pa.schema([("id", pa.int64()), ("entity", pa.large_string())])
    return _read(path, page_entity_rows, schema)


def redirects(path: FilePath) -> pa.Table:
    """Read where redirects lead from redirect: columns id, namespace, key and interwiki.

    The key is the title as the database has it, with underscores and without a namespace. The
    interwiki prefix is empty for the pages of the same wiki.
    """
    schema = pa.schema(
        [
            ("id", pa.int64()),
            ("namespace", pa.int32()),
            ("key", pa.large_string()),
            ("interwiki", pa.large_string()),
        ]
    )
    return _read(path, redirect_rows, schema)


def langlinks(path: FilePath, language: str) -> pa.Table:
    """Read what pages are called in another language's wiki from langlinks: columns id and title.

    The title is shown with spaces, and its namespace is part of it.
    """
    schema = pa.schema([("id", pa.int64()), ("title", pa.large_string())])

    def links(file: BinaryIO, *, name: str) -> Iterator[tuple[int, str]]:
        return langlink_rows(file, language, name=name)

    return _read(path, links, schema)


def page_entity_rows(file: BinaryIO, *, name: str) -> Iterator[tuple[int, str]]:
    """The rows of `page_entities`, from an open file; errors call it ``name``."""
    found = rows(
        file,
        "page_props",
        ("pp_page", "pp_value"),
        where=("pp_propname", b"wikibase_item"),
        name=name,
    )
    bad, looks_right = 0, _ENTITY.fullmatch
    for page, entity in found:
        if isinstance(entity, bytes) and looks_right(entity):
            yield _number(page, "pp_page", name), entity.decode("ascii")
        else:
            bad += 1
    _report(bad, "whose entity is not Q and a number", name)


def redirect_rows(file: BinaryIO, *, name: str) -> Iterator[tuple[int, int, str, str]]:
    """The rows of `redirects`, from an open file; errors call it ``name``."""
    columns = ("rd_from", "rd_namespace", "rd_title", "rd_interwiki")
    bad = 0
    # Wikis that are older than 2009 have no interwiki redirects, and no column for them.
    for page, namespace, key, interwiki in rows(
        file, "redirect", columns, optional=("rd_interwiki",), name=name
    ):
        title, prefix = _text(key), _text(interwiki or b"")
        if title and prefix is not None:
            number = _number(namespace, "rd_namespace", name)
            yield _number(page, "rd_from", name), number, title, prefix
        else:
            bad += 1
    _report(bad, "whose title is empty or not UTF-8", name)


def langlink_rows(file: BinaryIO, language: str, *, name: str) -> Iterator[tuple[int, str]]:
    """The rows of `langlinks`, from an open file; errors call it ``name``."""
    good = bad = 0
    for page, title in rows(
        file,
        "langlinks",
        ("ll_from", "ll_title"),
        name=name,
        where=("ll_lang", language.encode("utf-8", "replace")),
    ):
        if text := _text(title):
            good += 1
            yield _number(page, "ll_from", name), text.replace("_", " ")
        else:
            bad += 1
    _report(bad, "whose title is empty or not UTF-8", name)
    if not good:
        _LOG.warning("%s has no links to the language %s: check its code", name, shown(language))


def _read(
    path: FilePath, rows_of: Callable[..., Iterator[tuple[Any, ...]]], schema: pa.Schema
) -> pa.Table:
    with open_dump(path) as file:
        remaining = rows_of(file, name=str(path))
        batches = []
        while some := list(islice(remaining, _BATCH)):
            columns = zip(*some, strict=True)
            arrays = [pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)]
            batches.append(pa.record_batch(arrays, schema=schema))
    return pa.Table.from_batches(batches, schema=schema)


def _text(value: Value) -> str | None:
    try:
        return value.decode("utf-8") if isinstance(value, bytes) else None
    except UnicodeDecodeError:
        return None


def _number(value: Value, column: str, name: str) -> int:
    most = 2**31 if column.endswith("_namespace") else 2**63  # as the schemas have room for
    if isinstance(value, int) and -(2**31) <= value < most:
        return value
    raise TableError(
        f"{name}: a row has {shown(value)} in the column {column}, expected a whole number: "
        "download the file again"
    )


def _report(bad: int, which: str, name: str) -> None:
    if bad:
        _LOG.warning("%s: rows left out %s: %d", name, which, bad)


# Files


def open_dump(path: FilePath) -> BinaryIO:
    """Open .sql, .sql.gz or .sql.bz2, told by the suffix, to be read as plain SQL."""
    where = Path(path)
    try:
        if where.suffix.lower() == ".gz":
            return cast("BinaryIO", gzip.open(where, "rb"))
        if where.suffix.lower() == ".bz2":
            return cast("BinaryIO", bz2.open(where, "rb"))
        return where.open("rb")
    except FileNotFoundError as error:
        raise TableError(f"{where} does not exist: check the name and the folder") from error
    except OSError as error:
        raise TableError(f"{where} cannot be read: {error.strerror or error}") from error
