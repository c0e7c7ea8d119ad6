"""JSON Lines: one object a line; mention tables and other columns in them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json

from candgen.errors import TableError, shown
from candgen.tables.rows import RawRows, Rows, collect_lines
from candgen.tables.text_file import read_text, reason, split_lines

_BATCH = 1 << 13  # rows


def read_rows(path: Path, *, skip_bad_rows: bool) -> Rows:
    """Read a mention table: objects with mention, entity and, if there is one, count."""
    rows = _plain_rows(read_text(path))
    return collect_lines(path, rows, first=1, skip_bad_rows=skip_bad_rows)


def _plain_rows(text: bytes) -> RawRows:
    for line in split_lines(text):
        found = _parse_object(line)
        if found is None:
            yield f"found {shown(line)}, expected a JSON object with mention and entity"
        else:
            yield found.get("mention"), found.get("entity"), found.get("count", 1)


def _parse_object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_columns(path: Path) -> pa.Table:
    """Return the fields of all objects as columns, of the types that they have in the file."""
    text = read_text(path)
    try:
        return pyarrow.json.read_json(pa.BufferReader(text))
    except pa.ArrowException as error:
        for number, line in enumerate(split_lines(text), start=1):
            if line.strip() and _parse_object(line) is None:
                raise TableError(
                    f"{path} line {number}: found {shown(line)}, expected a JSON object"
                ) from error
        raise TableError(f"{path} cannot be read as JSON Lines: {reason(error)}") from error


def render_rows(columns: pa.Table) -> Iterator[bytes]:
    """Yield the lines of a mention table, many at a time."""
    quoted = json.JSONEncoder(ensure_ascii=False).encode
    for batch in columns.to_batches(max_chunksize=_BATCH):
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        yield "".join(
            f'{{"mention": {quoted(m)}, "entity": {quoted(e)}, "count": {n}}}\n' for m, e, n in rows
        ).encode("utf-8")
