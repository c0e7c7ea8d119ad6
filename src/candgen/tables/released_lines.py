"""Lines of the released layout, to rows and back; `released` has the files.

Fields are separated by blanks or tabs, and by nothing else: other white space is text.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import TableError, shown
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import TYPES, Query, query_problem
from candgen.tables.rows import SCHEMA, RawRows, Rows, collect_lines, concat_rows, rows_are_valid
from candgen.tables.text_file import parse_columns, read_whole_lines, utf8_problem

MAX_BAD_LINES = 1000
"""After so many bad lines the file has another format, and is not read on."""

_LINES_AT_ONCE = 1 << 19
_MAX_LINES = 1 << 32
_BLANKS = re.compile("[ \t]+")
_TRAINING = ("wikipedia-id", "entity", "mention")
_TYPED = ("entity", "mention", "type")


# Reading


def read_training_rows(path: Path, *, stop_early: bool) -> Rows:
    """Return the valid rows of a file, summed, with the number of bad lines and the first one."""
    parts: list[Rows] = []
    line, bad = 1, 0
    for block in read_whole_lines(path):
        columns = _parse_block(block)
        if columns is not None:
            parts.append(Rows(_sum_rows(columns)))
        else:
            parts.append(_parse_slowly(path, block, line))
            bad += parts[-1].skipped
        if stop_early and bad >= MAX_BAD_LINES:
            break
        line += block.count(b"\n")
    return concat_rows(parts)


def _parse_block(block: bytes) -> pa.Table | None:
    """Parse like `_parse_slowly`, many times faster; None if the lines must be read one by one."""
    # One blank between fields, none around them, and plain line ends.
    text = block.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    found = parse_columns(text, _TRAINING, _TRAINING, delimiter=" ")
    if found is None or len(found) != block.count(b"\n") + (not block.endswith(b"\n")):
        return None
    mentions = pc.replace_substring(found["mention"], "_", " ")
    ones = pa.chunked_array([np.ones(len(found), np.int64)])
    columns = pa.table([mentions, found["entity"], ones], schema=SCHEMA)
    return columns if rows_are_valid(columns) else None


def _sum_rows(columns: pa.Table) -> pa.Table:
    """Return equal rows as one: in real data most lines are repetitions."""
    grouped = columns.group_by(["mention", "entity"], use_threads=False)
    summed = grouped.aggregate([("count", "sum")])
    return pa.table([summed["mention"], summed["entity"], summed["count_sum"]], schema=SCHEMA)


def _parse_slowly(path: Path, block: bytes, line: int) -> Rows:
    return collect_lines(path, _training_rows(block), first=line, skip_bad_rows=True)


def _training_rows(block: bytes) -> RawRows:
    for line in block.removesuffix(b"\n").split(b"\n"):
        fields = _split_fields(line, _TRAINING)
        if isinstance(fields, str):
            yield fields
        else:
            yield fields[2].replace("_", " "), fields[1], 1


def _split_fields(line: bytes, names: tuple[str, ...]) -> list[str] | str:
    """Return the fields of a line, or what is wrong with it."""
    if problem := utf8_problem(line):
        return problem
    text = line.decode("utf-8").removesuffix("\r").strip(" \t")
    fields = _BLANKS.split(text) if text else []
    if len(fields) == len(names):
        return fields
    return f"found {shown(text)}, expected {len(names)} fields: {' '.join(names)}"


def parse_query(line: bytes) -> Query | str:
    """Return the query in a line ``entity mention type``, or what is wrong with the line.

    >>> parse_query(b"Q90 City_of_Light 1")
    Query(mention='City of Light', entity='Q90', type='medium')
    """
    fields = _split_fields(line, _TYPED)
    if isinstance(fields, str):
        return fields
    entity, mention, code = fields
    if code not in ("0", "1", "2"):
        return f"type is {shown(code)}, expected 0 (easy), 1 (medium) or 2 (hard)"
    query = Query(mention.replace("_", " "), entity, TYPES[int(code)])
    return query_problem(query) or query


# Writing


def render_training(table: MentionTable) -> Iterator[bytes]:
    """Return the lines of a table, each as often as its count, many lines at a time.

    Raise TableError at once if they would not read back the same.
    """
    if table.total > _MAX_LINES:
        raise TableError(
            f"the counts add up to {table.total}, and each becomes a line: expected at most "
            f"{_MAX_LINES}, scale them down"
        )
    bad = pc.or_(
        pc.match_substring(table.arrow["mention"], "_"),
        pc.match_substring(table.arrow["entity"], " "),
    )
    if (at := pc.index(bad, True).as_py()) >= 0:
        row = table.arrow.slice(at, 1).to_pylist()[0]
        raise TableError(f"row {at} of the table: {_problem(row['mention'], row['entity'])}")
    return _repeat_lines(table)


def _repeat_lines(table: MentionTable) -> Iterator[bytes]:
    zero, blank, end = (pa.scalar(text, pa.large_string()) for text in ("0", " ", "\n"))
    ends = np.cumsum(table.arrow["count"].to_numpy())
    for first in range(0, table.total, _LINES_AT_ONCE):
        numbers = np.arange(first, min(first + _LINES_AT_ONCE, table.total))
        rows = np.searchsorted(ends, numbers, side="right")
        some = table.arrow.slice(int(rows[0]), int(rows[-1] - rows[0]) + 1)
        mentions = pc.replace_substring(some["mention"], " ", "_")
        lines = pc.binary_join_element_wise(zero, some["entity"], mentions, blank)
        repeated = lines.take(rows - rows[0]).combine_chunks()
        whole = pa.LargeListArray.from_arrays([0, len(repeated)], repeated)
        yield pc.binary_join(whole, end)[0].as_buffer().to_pybytes() + b"\n"


def render_query(query: Query, place: str) -> str:
    """Return the line of a query; raise TableError if it would not read back the same."""
    mention, entity, kind = query
    if kind is None:
        raise TableError(f"{place}: type is missing, expected easy, medium or hard")
    if problem := query_problem(query) or _problem(mention, entity):
        raise TableError(f"{place}: {problem}")
    return f"{entity} {mention.replace(' ', '_')} {TYPES.index(kind)}\n"


def _problem(mention: str, entity: str) -> str | None:
    """Return what would not read back the same; blanks in a mention do, wherever they are."""
    if "_" in mention:
        return (
            f"mention is {shown(mention)}, and in the released layout an underscore is a blank: "
            "replace it, or write a dataset"
        )
    if " " in entity or entity.startswith("\ufeff"):
        return (
            f"entity is {shown(entity)}, and the released layout has no blanks in entities, nor a "
            "byte order mark before them: replace it, or write a dataset"
        )
    return None
