"""Tables that do not fit into memory: sorted runs on the disk, and how they are merged.

A run is an Arrow file, sorted by its first column, in batches. Its metadata holds the first value
of each batch, which shows where to cut all runs so that each piece fits into memory.
"""

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.dumps.file_errors import explain_write_errors
from candgen.storage.atomic import atomic_write

ROWS = 1 << 19
"""The approximate number of rows of a merged table."""
_BATCH = 1 << 12  # rows; one batch of each run may wait in memory
_FIRST = b"first values"


def write_run(path: Path, table: pa.Table) -> None:
    """Sort by the first column, strings without nulls, and write the run atomically."""
    table = sort_rows(table, table.column_names[:1]).combine_chunks()
    first = [table[0][row].as_py() for row in range(0, table.num_rows, _BATCH)]
    write_arrow(path, table.replace_schema_metadata({_FIRST: json.dumps(first)}))


def write_arrow(path: Path, table: pa.Table) -> None:
    """Write an Arrow file atomically."""
    with (
        explain_write_errors(path, "make room or choose another place"),
        atomic_write(path) as file,
        pa.ipc.new_file(file, table.schema) as writer,
    ):
        writer.write_table(table, max_chunksize=_BATCH)


def read_arrow(path: Path) -> pa.Table:
    """Read what `write_arrow` or `write_run` wrote."""
    with pa.OSFile(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def merge_runs(paths: Sequence[Path], *, rows: int | None = None) -> Iterator[pa.Table]:
    """Yield the rows of all runs in tables of about ``rows`` each, by default ROWS.

    Each is sorted by the first column, and the values of a table are greater than those of the one
    before: rows that are grouped or sorted within each table are so in all of them together.
    """
    runs = [run for run in map(_Run, sorted(paths)) if run.first]
    if not runs:
        return
    for limit in [*_find_limits(runs, rows or ROWS), None]:
        together = pa.concat_tables([run.read_until(limit) for run in runs])
        if len(together):
            names = together.column_names[:1]
            yield sort_rows(together, names) if len(runs) > 1 else together


def _find_limits(runs: Sequence["_Run"], rows: int) -> list[str]:
    """Return values that cut the rows of all runs into tables of about so many rows."""
    first = sorted(value for run in runs for value in run.first)
    every = max(1, rows // _BATCH)
    return sorted(set(first[every::every]))


def sort_rows(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the rows of a table sorted by some columns; rows that are equal keep their order."""
    return table.take(pc.sort_indices(table, [(name, "ascending") for name in names]))


def find_group_starts(table: pa.Table, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the first row of each group of adjacent rows that are equal in some columns."""
    differs = np.ones(len(table), dtype=np.bool_)
    columns = [table[name].combine_chunks() for name in names]
    changed = [pc.not_equal(c[1:], c[:-1]).to_numpy(zero_copy_only=False) for c in columns]
    differs[1:] = np.logical_or.reduce(changed)
    return np.flatnonzero(differs)


class _Run:
    """A run that is read from its start to its end.

    Its file is open only while it is read: there may be more runs than files that may be open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        with pa.OSFile(str(path)) as source:
            schema = pa.ipc.open_file(source).schema
        self.first: list[str] = json.loads(schema.metadata[_FIRST])
        self._schema = schema.remove_metadata()
        self._waiting = self._schema.empty_table()

    def read_until(self, limit: str | None) -> pa.Table:
        """Return the next rows that are less than the limit; without one, all."""
        read = len(self.first) if limit is None else bisect_left(self.first, limit, self._read)
        batches = self._waiting.to_batches() + self._read_batches(read)
        table = pa.Table.from_batches(batches, self._schema)
        end = table.num_rows
        if limit is not None:
            end = bisect_left(range(end), limit, key=lambda row: table[0][row].as_py())
        self._waiting = table.slice(end)
        return table.slice(0, end)

    def _read_batches(self, end: int) -> list[pa.RecordBatch]:
        wanted = range(self._read, end)
        if not wanted:
            return []
        self._read = end
        with pa.OSFile(str(self._path)) as source:
            reader = pa.ipc.open_file(source)
            return [reader.get_batch(number).replace_schema_metadata(None) for number in wanted]
