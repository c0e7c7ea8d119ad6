"""JSON Lines: one object a line; mention tables and other columns in them."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from candgen.errors import TableError, shown
from candgen.tables.rows import RawRows, Rows, collect_lines, concat_rows
from candgen.tables.text_file import read_blocks, split_lines

_BATCH = 1 << 13  # rows


def read_rows(path: Path, *, skip_bad_rows: bool) -> Rows:
    """Read a mention table: objects with mention, entity and, if there is one, count."""
    parts: list[Rows] = []
    line = 1
    for block in read_blocks(path):
        rows = _plain_rows(block)
        parts.append(collect_lines(path, rows, first=line, skip_bad_rows=skip_bad_rows))
        line += block.count(b"\n")
    return concat_rows(parts)


def _plain_rows(block: bytes) -> RawRows:
    for line in split_lines(block):
        found = _parse_object(line)
        if isinstance(found, str):
            yield f"{found} with mention and entity"
        else:
            yield found.get("mention"), found.get("entity"), found.get("count", 1)


def _parse_object(line: str) -> dict[str, Any] | str:
    """Return the object in a line, or what is wrong with the line."""
    nested = ""
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    except RecursionError:
        found, nested = None, ", which is nested too deep"
    if isinstance(found, dict):
        return found
    return f"found {shown(line)}{nested}, expected a JSON object"


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line numbers and objects; empty lines are left out."""
    # Not pyarrow.json, which makes dates of text, and crashes on values that are nested deep.
    lines = chain.from_iterable(map(split_lines, read_blocks(path)))
    for number, line in enumerate(lines, start=1):
        found = _parse_object(line)
        if not isinstance(found, str):
            yield number, found
        elif line.strip():
            raise TableError(f"{path} line {number}: {found}")


def render_rows(columns: pa.Table) -> Iterator[bytes]:
    """Yield the lines of a mention table, many at a time."""
    quoted = json.JSONEncoder(ensure_ascii=False).encode
    for batch in columns.to_batches(max_chunksize=_BATCH):
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        yield "".join(
            f'{{"mention": {quoted(m)}, "entity": {quoted(e)}, "count": {n}}}\n' for m, e, n in rows
        ).encode("utf-8")
