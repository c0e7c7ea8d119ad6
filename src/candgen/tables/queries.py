"""Queries: test mentions with their right entities, and the files they are kept in."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from candgen.errors import TableError, shown
from candgen.storage.atomic import write_text
from candgen.tables.rows import decoded, row_problem

EASY, MEDIUM, HARD = TYPES = ("easy", "medium", "hard")
"""Gold seen with this mention, seen with others only, never seen in the target's training data."""

FilePath = str | os.PathLike[str]


class Query(NamedTuple):
    """A mention, the entity that it means there, and how difficult that is to know."""

    mention: str
    entity: str
    type: str | None = None


def read_queries(path: FilePath) -> list[Query]:
    """Read a TSV file with a header: mention, entity and, if there is one, type."""
    where = Path(path)
    try:
        data = where.read_bytes()
    except OSError as error:
        raise TableError(f"{where} cannot be read: {error.strerror or error}") from error
    lines = decoded(where, data).removesuffix("\n").split("\n")
    columns = lines[0].removesuffix("\r").split("\t")
    *needed, types = (columns.count(name) for name in Query._fields)
    if needed != [1, 1] or types > 1:
        raise TableError(
            f"{where} line 1: expected a header with the columns mention, entity and type, "
            f"separated by tabs, found {shown(lines[0])}"
        )
    return list(parse_lines(where, lines[1:], columns, first=2))


def parse_lines(
    where: Path, lines: Iterable[str], columns: list[str], *, first: int
) -> Iterator[Query]:
    """Queries from lines, whose fields are named by ``columns``; a bad one is named by its line."""
    for number, line in enumerate(lines, start=first):
        fields = line.removesuffix("\r").split("\t")
        if len(fields) != len(columns):
            raise TableError(
                f"{where} line {number}: expected {len(columns)} columns, found {len(fields)}"
            )
        row = dict(zip(columns, fields, strict=True))
        query = Query(row["mention"], row["entity"], row.get("type") or None)
        if (problem := query_problem(query)) is not None:
            raise TableError(f"{where} line {number}: {problem}")
        yield query


def query_problem(query: Query) -> str | None:
    """Say what is wrong with a query, or None if it is legal.

    >>> query_problem(Query("Tórshavn", "Q10704", "simple"))
    "type is 'simple', expected easy, medium or hard"
    """
    mention, entity, kind = query
    if kind is not None and kind not in TYPES:
        return f"type is {shown(kind)}, expected easy, medium or hard"
    return row_problem(mention, entity, 1)


def write_queries(path: FilePath, queries: Iterable[Query]) -> None:
    """Write a TSV file that ``read_queries`` reads: the whole file, or nothing."""
    lines = ["mention\tentity\ttype\n"]
    for place, query in enumerate(queries):
        if (problem := query_problem(query)) is not None:
            raise TableError(f"queries[{place}]: {problem}")
        mention, entity, kind = query
        lines.append(f"{mention}\t{entity}\t{kind or ''}\n")
    write_text(Path(path), "".join(lines))
