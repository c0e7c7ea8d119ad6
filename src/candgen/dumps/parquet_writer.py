"""Parquet files written piece by piece, in row groups of equal size."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from candgen.dumps.file_errors import explain_write_errors
from candgen.tables.mention_table import MentionTable
from candgen.tables.rows import SCHEMA

ROW_GROUP = 1 << 20
"""Rows in each group but the last, so that the file does not depend on the pieces."""


class RowGroupWriter:
    """Writes the rows of many tables to one file."""

    def __init__(self, target: Path | BinaryIO, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(target, schema, compression="zstd")
        self._waiting = schema.empty_table()
        self.rows = 0

    def write(self, table: pa.Table) -> None:
        """Add rows; those of the last, incomplete group wait in memory."""
        self.rows += table.num_rows
        self._waiting = pa.concat_tables([self._waiting, table])
        while self._waiting.num_rows >= ROW_GROUP:
            self.write_group()

    def write_group(self) -> None:
        """Write the next row group, which may have no rows."""
        self._writer.write_table(self._waiting.slice(0, ROW_GROUP), ROW_GROUP)
        self._waiting = self._waiting.slice(ROW_GROUP)

    def close(self, metadata: Mapping[str, str] | None = None) -> None:
        """Write the last group and, if given, metadata of the file."""
        if self._waiting.num_rows:
            self.write_group()
        if metadata is not None:
            self._writer.add_key_value_metadata(dict(sorted(metadata.items())))
        self._writer.close()


class MentionTableWriter:
    """Writes a mention table in pieces, as `MentionTable.write` writes a whole one.

    The mentions of the pieces are in order, and no mention is in two of them. All methods raise
    StorageError if the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self.occurrences = 0
        with self._explain_errors():
            self._groups = RowGroupWriter(path, SCHEMA)

    def _explain_errors(self) -> AbstractContextManager[None]:
        return explain_write_errors(self._name, "make room or choose another place")

    @property
    def pairs(self) -> int:
        """The number of rows so far."""
        return self._groups.rows

    def write(self, rows: pa.Table, *, minimum: int = 1) -> int:
        """Add rows, summed by pair; return the occurrences of pairs below the minimum."""
        rows = MentionTable.from_arrow(rows).arrow
        counts = rows["count"].to_numpy()
        rare = counts < minimum
        if rare.any():
            rows = rows.filter(pa.array(~rare))
        self.occurrences += int(counts[~rare].sum())
        with self._explain_errors():
            self._groups.write(rows)
        return int(counts[rare].sum())

    def close(self, metadata: Mapping[str, str]) -> None:
        """Write the last rows and the metadata of the file."""
        with self._explain_errors():
            self._groups.close(metadata)
