"""Columns of a Parquet file, read within the limits of tables whatever the file says of itself."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from candgen.errors import TableError, shown
from candgen.tables.limits import row_too_large, table_limits, table_too_large
from candgen.tables.parquet_pages import Page, PageError, read_chunks, read_pages
from candgen.tables.text_file import check_is_file, reason, table_errors

_MAX_BATCH = 1 << 17  # rows
_BATCH_BYTES = 1 << 26
_BYTES_A_VALUE = 8  # a number, or an offset


class ParquetTable:
    """An open Parquet file, of which columns can be read."""

    def __init__(self, path: Path, file: pq.ParquetFile, size: int) -> None:
        self.path = path
        self.schema: pa.Schema = file.schema_arrow
        self.metadata: dict[bytes, bytes] = file.metadata.metadata or {}
        self._file = file
        self._size = size
        self._limits = table_limits()

    def read(self, names: Sequence[str]) -> pa.Table:
        """Return columns; raise TableError if they are larger than the limits."""
        batches = list(self.batches(names))
        if batches:
            return pa.Table.from_batches(batches)
        return pa.table({name: pa.array([], self.schema.field(name).type) for name in names})

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield columns, some rows at a time; text is large_string, and has no dictionaries."""
        for name in names:
            if self.schema.get_field_index(name) < 0:  # so it is for a name that occurs twice
                raise TableError(f"{self.path} has more than one column {shown(name)}: drop one")
        limit = self._limits.table(self._size)
        longest = self._check_pages(names, limit)
        rows = max(1, min(_MAX_BATCH, _BATCH_BYTES // max(longest, 1)))
        total = 0
        row = 1
        with table_errors(self.path), parquet_errors(self.path):
            for stored in self._file.iter_batches(rows, columns=list(names)):
                batch = pa.RecordBatch.from_arrays(
                    [_decoded(stored.column(name)) for name in names], list(names)
                )
                self._check_rows(batch, row)
                total += batch.nbytes
                row += len(batch)
                if total > limit:
                    raise table_too_large(self.path, limit, f" (row {row})")
                yield batch

    def _check_rows(self, batch: pa.RecordBatch, first: int) -> None:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if pa.types.is_large_string(column.type):
                lengths = pc.fill_null(pc.binary_length(column), 0).to_numpy()
                if lengths.max(initial=0) > self._limits.row:
                    place = f"{self.path} row {first + int(lengths.argmax())}: {name}"
                    raise row_too_large(place, self._limits.row)

    def _check_pages(self, names: Sequence[str], limit: int) -> int:
        """Return the bytes of the longest value that may repeat, after a look at all pages.

        A dictionary holds a value once that a column has a million times, and in other pages a
        value may be said to begin like the one before it. Raise TableError if the columns are
        larger than the limit even without such repetitions.
        """
        wanted = set(names)
        schema = self._file.schema
        places = [
            place
            for place in range(len(schema))
            if schema.column(place).path.split(".")[0] in wanted
        ]
        total = longest = 0
        with table_errors(self.path), parquet_errors(self.path), self.path.open("rb") as raw:
            for group, chunks in enumerate(read_chunks(raw, places)):
                lengths = dict.fromkeys(places, 0)
                dictionaries: dict[int, Page] = {}
                for place, chunk in zip(places, chunks, strict=True):
                    for page in read_pages(raw, chunk):
                        total += max(page.unpacked, _BYTES_A_VALUE * page.values)
                        if total > limit:
                            raise table_too_large(self.path, limit)
                        if page.has_prefixes or (page.is_dictionary and chunk.is_bytes):
                            lengths[place] = max(lengths[place], page.unpacked)
                        elif page.is_dictionary and chunk.is_text:
                            dictionaries[place] = page
                for place, length in self._longest_values(group, dictionaries).items():
                    lengths[place] = max(lengths[place], length)
                for place, chunk in zip(places, chunks, strict=True):
                    nested = schema.column(place).max_repetition_level > 0
                    if nested and lengths[place] * chunk.values > limit:
                        raise table_too_large(self.path, limit)
                longest = max(longest, 0, *lengths.values())
        return longest

    def _longest_values(self, group: int, dictionaries: dict[int, Page]) -> dict[int, int]:
        """Return the bytes of the longest value of each dictionary of a row group, by column.

        Arrow unpacks a dictionary with the first row. Should that not be the one of the page
        header, all its bytes may be one value.
        """
        if not dictionaries:
            return {}
        paths = {place: self._file.schema.column(place).path for place in dictionaries}
        options = {"read_dictionary": list(paths.values()), "pre_buffer": False}
        with pq.ParquetFile(self.path, metadata=self._file.metadata, **options) as file:
            batches = file.iter_batches(1, row_groups=[group], columns=list(paths.values()))
            first = next(batches, None)
        found = {}
        for place, page in dictionaries.items():
            column = None if first is None else first.column(paths[place].split(".")[0])
            lengths = _dictionary_lengths(column)
            exact = len(lengths) == page.values and page.unpacked == lengths.sum() + 4 * page.values
            found[place] = int(lengths.max(initial=0)) if exact else page.unpacked
        return found


@contextlib.contextmanager
def open_parquet(path: Path) -> Iterator[ParquetTable]:
    """Open a Parquet file; raise TableError if it is not one."""
    with table_errors(path), parquet_errors(path):
        size = check_is_file(path)
        # Not pq.read_table, which makes columns of the folders that the path goes through.
        opened = pq.ParquetFile(path)
    with opened as file:
        yield ParquetTable(path, file, size)


@contextlib.contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Raise what Arrow says about a file as TableError, but not what the system says."""
    try:
        yield
    except TableError:
        raise
    except MemoryError as error:
        raise TableError(f"{path} needs more memory than there is: {reason(error)}") from error
    except (pa.ArrowException, PageError, OSError, UnicodeDecodeError, OverflowError) as error:
        if getattr(error, "errno", None):
            raise
        raise TableError(
            f"{path} is not a valid Parquet file ({reason(error)}): copy or write it again"
        ) from error


def _decoded(column: Any) -> Any:  # noqa: ANN401
    """Return a column without a dictionary; text as large_string."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    kind = pa.large_string() if str(kind) in ("string", "string_view") else kind
    return column.cast(kind)


def _dictionary_lengths(column: Any) -> "np.ndarray[Any, np.dtype[np.int64]]":  # noqa: ANN401
    """Return the bytes of each value of the dictionary of a column; none without one."""
    while column is not None and str(column.type).startswith(("list", "large_list")):
        column = column.values
    if column is None or not pa.types.is_dictionary(column.type):
        return np.zeros(0, np.int64)
    lengths: np.ndarray[Any, np.dtype[np.int64]] = pc.binary_length(column.dictionary).to_numpy()
    return lengths
