"""Tables that do not fit into memory: sorted runs on the disk, and their merging.

A run is an Arrow file, sorted by its first column, in batches whose first values stand in its
metadata: they tell, before anything is read, where to cut so that each piece fits into memory.
"""

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import StorageError
from candgen.storage.atomic import atomic_write

ROWS = 1 << 19
"""About so many rows are merged at a time."""
_BATCH = 1 << 12  # rows; of each run that is being merged one batch may wait in memory
_FIRST = b"first values"


def write_run(path: Path, table: pa.Table) -> None:
    """Sort by the first column, strings without nulls, and write the run, whole or not at all."""
    table = _sorted(table).combine_chunks()
    first = [table[0][row].as_py() for row in range(0, table.num_rows, _BATCH)]
    write_arrow(path, table.replace_schema_metadata({_FIRST: json.dumps(first)}))


def write_arrow(path: Path, table: pa.Table) -> None:
    """Write an Arrow file, whole or not at all."""
    try:
        with atomic_write(path) as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=_BATCH)
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(
            f"{path} cannot be written: {reason}; make room or choose another place"
        ) from error


def read_arrow(path: Path) -> pa.Table:
    """Read what `write_arrow` or `write_run` wrote."""
    with pa.OSFile(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def merged(paths: Sequence[Path], *, rows: int | None = None) -> Iterator[pa.Table]:
    """Give the rows of all runs in tables of about ``rows`` each, ROWS unless it is said.

    Each is sorted by the first column. No value of that is in two tables, and the values of a
    table are greater than those of the one before: what is grouped or sorted within each is so
    altogether.
    """
    runs = [run for run in map(_Run, sorted(paths)) if run.first]
    for limit in [*_limits(runs, rows or ROWS), None]:
        together = pa.concat_tables([run.until(limit) for run in runs]) if runs else []
        if len(together):
            yield _sorted(together) if len(runs) > 1 else together


def _limits(runs: Sequence["_Run"], rows: int) -> list[str]:
    """Values that cut the rows of all runs into tables of about so many."""
    first = sorted(value for run in runs for value in run.first)
    every = max(1, rows // _BATCH)
    return sorted(set(first[every::every]))


def _sorted(table: pa.Table) -> pa.Table:
    name = table.column_names[0]
    return table.take(pc.sort_indices(table, [(name, "ascending")]))


class _Run:
    """A run that is read from its start to its end, no further than was asked for.

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

    def until(self, limit: str | None) -> pa.Table:
        """Give the rows that come next and are less than the limit; without one, all."""
        read = len(self.first) if limit is None else bisect_left(self.first, limit, self._read)
        batches = self._waiting.to_batches() + self._batches(read)
        table = pa.Table.from_batches(batches, self._schema)
        if limit is None:
            end = table.num_rows
        else:
            end = bisect_left(range(table.num_rows), limit, key=lambda at: table[0][at].as_py())
        self._waiting = table.slice(end)
        return table.slice(0, end)

    def _batches(self, end: int) -> list[pa.RecordBatch]:
        wanted = range(self._read, end)
        if not wanted:
            return []
        self._read = end
        with pa.OSFile(str(self._path)) as source:
            reader = pa.ipc.open_file(source)
            return [reader.get_batch(number).replace_schema_metadata(None) for number in wanted]
