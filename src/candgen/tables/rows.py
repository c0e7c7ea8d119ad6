"""What a row of a mention table may hold, and many rows as Arrow columns.

The rule for a row is `row_problem`; `rows_are_valid` is the same rule over whole Arrow columns.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import TableError, shown
from candgen.tables.string_table import string_buffers

MAX_COUNT = 10**15
"""The largest count of a row, and the largest sum of all counts of a table.

So no sum of counts overflows 64 bits, and each count is exact in float64 and in JSON (up to 2**53,
about 9 * 10**15). `MAX_TABLES` tables together have at most 10**18, less than 2**63, about 9.2 *
10**18. Where counts are multiplied by numbers of tokens, `candgen.index.counts` checks the result.
"""

MAX_TABLES = 1000
"""The largest number of tables that one generator is built from."""

SCHEMA = pa.schema(
    [("mention", pa.large_string()), ("entity", pa.large_string()), ("count", pa.int64())]
)

SKIP_HINT = " (skip_bad_rows=True, or --skip-bad-rows, leaves such rows out)"

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""JSON can write half a character, and UTF-8 cannot."""

_NOT_IN_A_FIELD = re.compile("[\t\n\r\ud800-\udfff]")
_BATCH = 1 << 13  # rows

Row = tuple[Any, Any, Any]
RawRows = Iterable[Row | str]  # not checked yet; a str is what is wrong with the row


class Rows(NamedTuple):
    """Valid rows in no particular order, and the bad ones that were left out."""

    columns: pa.Table
    skipped: int = 0
    first_skipped: str | None = None
    metadata: Mapping[str, str] = {}


def check_columns(
    place: str,
    names: Sequence[str],
    where: str,
    *,
    optional: str = "count",
    unique: Sequence[str] | None = None,
) -> None:
    """Raise TableError unless mention and entity are among the names, and no name occurs twice.

    ``unique`` are the names that must not occur twice, if not all of them.
    """
    counts = Counter(names)
    repeated = sorted(name for name in set(unique or names) if counts[name] > 1)
    if repeated:
        raise TableError(
            f"{place} has more than one column {shown(repeated[0])}: rename or drop one"
        )
    missing = [name for name in ("mention", "entity") if name not in names]
    if missing:
        raise TableError(
            f"{place} has no column {' and no column '.join(missing)}, only {shown(names)}: "
            f"name the columns mention, entity and optionally {optional} {where}"
        )


def row_problem(mention: object, entity: object, count: object) -> str | None:
    """Return what is wrong with a row, or None if it is valid.

    >>> row_problem("Tórshavn", "Q10704", 0)
    'count is 0, expected a whole number of at least 1'
    """
    for name, text in (("mention", mention), ("entity", entity)):
        if text is None:
            return f"{name} is missing, expected a string"
        if not isinstance(text, str):
            return f"{name} is {shown(text)}, expected a string"
        if not text:
            return f"{name} is empty, expected at least one character"
        if (found := _NOT_IN_A_FIELD.search(text)) is not None:
            what = "tab or line break" if found[0] in "\t\n\r" else "lone surrogate"
            return f"{name} is {shown(text)}, expected text without a {what}"
    if isinstance(count, bool) or not isinstance(count, Integral) or int(count) < 1:
        return f"count is {shown(count)}, expected a whole number of at least 1"
    if int(count) > MAX_COUNT:
        return f"count is {shown(count)}, expected at most {MAX_COUNT}"
    return None


def rows_are_valid(columns: pa.Table) -> bool:
    """Return whether every row of a table in SCHEMA is valid."""
    counts = columns["count"]
    if counts.null_count:
        return False
    if len(counts):
        ends = pc.min_max(counts).as_py()
        if ends["min"] < 1 or ends["max"] > MAX_COUNT:
            return False
    return all(_text_is_valid(chunk) for name in SCHEMA.names[:2] for chunk in columns[name].chunks)


def _text_is_valid(array: pa.LargeStringArray) -> bool:
    if array.null_count:
        return False
    offsets, text = string_buffers(array)
    if (np.diff(offsets) == 0).any() or any((text == byte).any() for byte in b"\t\n\r"):
        return False
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:  # not UTF-8
        return False
    return True


def collect(
    rows: RawRows,
    place: Callable[[int], str],
    *,
    first: int,
    skip_bad_rows: bool = False,
    hint: str = "",
) -> Rows:
    """Check rows, numbered from `first`; raise TableError for a bad one, or leave it out."""
    parts: list[Rows] = []
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        columns = _columns_if_valid(batch)
        if columns is not None:
            parts.append(Rows(columns))
        else:
            good, problems = _separate(batch)
            bad = [f"{place(first + index)}: {problem}" for index, problem in problems]
            if bad and not skip_bad_rows:
                raise TableError(bad[0] + hint)
            parts.append(Rows(_columns(good), len(bad), bad[0] if bad else None))
        first += len(batch)
    return concat_rows(parts)


def collect_lines(path: Path, rows: RawRows, *, first: int, skip_bad_rows: bool) -> Rows:
    """Check the rows of a file, of which the first is on this line."""
    return collect(
        rows,
        lambda line: f"{path} line {line}",
        first=first,
        skip_bad_rows=skip_bad_rows,
        hint=SKIP_HINT,
    )


def _separate(rows: Sequence[Row | str]) -> tuple[list[Row], list[tuple[int, str]]]:
    good: list[Row] = []
    problems: list[tuple[int, str]] = []
    for index, row in enumerate(rows):
        problem = row if isinstance(row, str) else row_problem(*row)
        if problem is not None:
            problems.append((index, problem))
        else:
            good.append(cast("Row", row))
    return good, problems


def concat_rows(parts: Sequence[Rows]) -> Rows:
    """Return the rows of all parts, one after the other."""
    return Rows(
        pa.concat_tables([SCHEMA.empty_table(), *(part.columns for part in parts)]),
        sum(part.skipped for part in parts),
        next((part.first_skipped for part in parts if part.skipped), None),
    )


def _columns_if_valid(rows: Sequence[Row | str]) -> pa.Table | None:
    """Return rows as columns if all are valid and of the types str, str and int."""
    if str in set(map(type, rows)):
        return None
    mentions, entities, counts = zip(*rows, strict=True)
    if {*map(type, mentions), *map(type, entities)} != {str} or {*map(type, counts)} != {int}:
        return None
    try:
        columns = _columns(cast("Sequence[Row]", rows))
    except (ValueError, OverflowError):  # a lone surrogate; a number beyond 64 bits
        return None
    return columns if rows_are_valid(columns) else None


def _columns(rows: Sequence[Row]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        [pa.array(c, type=f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )
