"""Queries: test mentions with their gold entities, and the files that hold them."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from candgen.errors import TableError, shown
from candgen.storage.atomic import write_text
from candgen.tables.rows import check_columns, row_problem
from candgen.tables.text_file import FilePath
from candgen.tables.tsv import read_tsv

EASY, MEDIUM, HARD = TYPES = ("easy", "medium", "hard")
"""In the target's training data, the gold occurs with this mention, only with others, or never."""


class Query(NamedTuple):
    """A ``mention``, its gold ``entity``, and its ``type``: easy, medium, hard, or None."""

    mention: str
    entity: str
    type: str | None = None


def read_queries(path: FilePath) -> list[Query]:
    """Read a TSV file with a header: mention, entity and, if there is one, type."""
    file = read_tsv(Path(path), "mention, entity and optionally type")
    where = "in the header row, separated by tabs"
    check_columns(str(path), file.header, where, optional="type", unique=Query._fields)
    queries = []
    for number, fields in file.rows():
        row = dict(zip(file.header, fields, strict=True))
        query = Query(row["mention"], row["entity"], row.get("type") or None)
        if (problem := query_problem(query)) is not None:
            raise TableError(f"{path} line {number}: {problem}")
        queries.append(query)
    return queries


def query_problem(query: Query) -> str | None:
    """Return what is wrong with a query, or None if it is valid.

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
