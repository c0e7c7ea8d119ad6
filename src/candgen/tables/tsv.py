"""TSV files: a header row and one line a row, without quoting; mention tables in them."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import TableError
from candgen.tables.rows import (
    SCHEMA,
    RawRows,
    Rows,
    check_columns,
    collect_lines,
    concat_rows,
    rows_are_valid,
)
from candgen.tables.string_table import string_buffers
from candgen.tables.text_file import parse_columns, read_blocks, split_lines

_DIGITS = re.compile("0*([0-9]+)")
_BATCH = 1 << 13  # rows


class TsvFile(NamedTuple):
    """The text of a TSV file."""

    path: Path
    header: list[str]
    blocks: Iterator[bytes]
    """The lines after the header, of which the first is line 2; they can be read once."""

    def rows(self, *, skip_empty_lines: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Yield line numbers and fields; raise TableError if the number of fields is wrong."""
        for number, line in enumerate(chain.from_iterable(map(split_lines, self.blocks)), start=2):
            fields = split_fields(line, len(self.header))
            if not isinstance(fields, str):
                yield number, fields
            elif line or not skip_empty_lines:
                raise TableError(f"{self.path} line {number}: {fields}")

    def columns(self, wanted: Sequence[int]) -> list[pa.ChunkedArray]:
        """Return the columns at these places as strings; empty lines are left out.

        Raise TableError for the first line with the wrong number of fields.
        """
        places = [str(place) for place in range(len(self.header))]  # names may occur twice
        names = [places[place] for place in wanted]
        schema = pa.schema([(name, pa.large_string()) for name in dict.fromkeys(names)])
        parts = [schema.empty_table()]
        line = 2
        for block in self.blocks:
            part = parse_columns(block, places, names, skip_empty_lines=True)
            if part is None:
                part = pa.Table.from_pylist(self._plain_rows(block, line, wanted), schema=schema)
            parts.append(part)
            line += block.count(b"\n")
        table = pa.concat_tables(parts)
        return [table[name] for name in names]

    def _plain_rows(self, block: bytes, line: int, wanted: Sequence[int]) -> list[dict[str, str]]:
        rows = []
        for number, text in enumerate(split_lines(block), start=line):
            if not text:
                continue
            fields = split_fields(text, len(self.header))
            if isinstance(fields, str):
                raise TableError(f"{self.path} line {number}: {fields}")
            if any("\r" in fields[place] for place in wanted):
                raise TableError(
                    f"{self.path} line {number}: found a carriage return, expected text"
                )
            rows.append({str(place): fields[place] for place in wanted})
        return rows


def read_tsv(path: Path, expected: str) -> TsvFile:
    """Read a TSV file with a header row; raise TableError.

    ``expected`` says which columns the header should have, for the message about an empty file.
    """
    blocks = read_blocks(path)
    first = next(blocks, b"")
    header, _, body = first.partition(b"\n")
    if not header and not body.strip(b"\n"):
        raise TableError(
            f"{path} is empty, expected a header row with {expected}, separated by tabs"
        )
    rest = chain([body] if body else [], blocks)
    return TsvFile(path, header.decode("utf-8").split("\t"), rest)


def split_fields(line: str, columns: int) -> list[str] | str:
    """Return the fields of a line, or what is wrong with their number.

    >>> split_fields("Tórshavn", 3)
    'expected 3 columns, found 1'
    """
    fields = line.split("\t")
    if len(fields) == columns:
        return fields
    return f"expected {columns} columns, found {len(fields) if line else 'an empty line'}"


def read_rows(path: Path, *, skip_bad_rows: bool) -> Rows:
    """Read a mention table: the columns mention and entity, and count if there is one."""
    file = read_tsv(path, "mention, entity and optionally count")
    check_columns(str(path), file.header, "in the header row, separated by tabs")
    parts: list[Rows] = []
    line = 2
    for block in file.blocks:
        columns = _parse_block(block, file.header)
        if columns is not None:
            parts.append(Rows(columns))
        else:
            rows = _plain_rows(block, file.header)
            parts.append(collect_lines(path, rows, first=line, skip_bad_rows=skip_bad_rows))
        line += block.count(b"\n")
    return concat_rows(parts)


def _plain_rows(block: bytes, header: list[str]) -> RawRows:
    mention, entity = header.index("mention"), header.index("entity")
    count = header.index("count") if "count" in header else None
    for line in split_lines(block):
        fields = split_fields(line, len(header))
        if isinstance(fields, str):
            yield fields
        else:
            number = 1 if count is None else _parse_count(fields[count])
            yield fields[mention], fields[entity], number


def _parse_count(text: str) -> int | str:
    found = _DIGITS.fullmatch(text)
    # int() raises ValueError for more than 4,300 digits; 4,000 are too many for a count, too.
    return text if found is None else int(found[1][:4000])


def _parse_block(block: bytes, header: list[str]) -> pa.Table | None:
    """Parse like `_plain_rows`, ten times faster; None if the rows must be read one by one."""
    names = [name for name in SCHEMA.names if name in header]
    text = parse_columns(block, header, names)
    if text is None:
        return None
    if "count" in names:
        counts = _parse_counts(text["count"])
    else:
        counts = pa.chunked_array([np.ones(len(text), dtype=np.int64)])
    if counts is None:
        return None
    columns = pa.table([text["mention"], text["entity"], counts], schema=SCHEMA)
    return columns if rows_are_valid(columns) else None


def _parse_counts(texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return decimal numbers; None if there is anything else, such as Arrow's hexadecimals."""
    for chunk in texts.chunks:
        offsets, digits = string_buffers(chunk)
        lengths = np.diff(offsets)
        if not ((lengths >= 1) & (lengths <= 18)).all():  # 18 digits always fit 64 bits
            return None
        if not ((digits >= ord("0")) & (digits <= ord("9"))).all():
            return None
    return texts.cast(pa.int64())


def render_rows(columns: pa.Table) -> Iterator[bytes]:
    """Yield the lines of a mention table, many at a time."""
    # Not pyarrow.csv, which raises for a quotation mark in an unquoted field.
    yield b"mention\tentity\tcount\n"
    tab, end, empty = (pa.scalar(text, pa.large_string()) for text in ("\t", "\n", ""))
    for batch in columns.to_batches(max_chunksize=_BATCH):
        counts = batch["count"].cast(pa.large_string())
        last = pc.binary_join_element_wise(counts, empty, end)
        lines = pc.binary_join_element_wise(batch["mention"], batch["entity"], last, tab)
        yield string_buffers(lines)[1].tobytes()
