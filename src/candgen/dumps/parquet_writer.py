"""A mention table written piece by piece, as `MentionTable.write` would write the whole."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from candgen.tables.mention_table import MentionTable
from candgen.tables.rows import SCHEMA

ROW_GROUP = 1 << 20
"""Rows in a group, all but the last: the file is the same however the pieces were cut."""


class TableWriter:
    """Writes pieces of a table whose mentions come in order; no mention is in two pieces."""

    def __init__(self, path: Path) -> None:
        self._writer = pq.ParquetWriter(path, SCHEMA, compression="zstd")
        self._waiting = SCHEMA.empty_table()
        self.pairs = 0
        self.occurrences = 0

    def write(self, rows: pa.Table, *, minimum: int = 1) -> int:
        """Add rows, summed by pair; how many occurrences pairs below the minimum had."""
        rows = MentionTable.from_arrow(rows).arrow
        counts = rows["count"].to_numpy()
        rare = counts < minimum
        if rare.any():
            rows = rows.filter(pa.array(~rare))
        self.pairs += rows.num_rows
        self.occurrences += int(counts[~rare].sum())
        self._put(rows)
        return int(counts[rare].sum())

    def _put(self, rows: pa.Table) -> None:
        waiting = pa.concat_tables([self._waiting, rows])
        whole = waiting.num_rows - waiting.num_rows % ROW_GROUP
        for start in range(0, whole, ROW_GROUP):
            self._writer.write_table(waiting.slice(start, ROW_GROUP), ROW_GROUP)
        self._waiting = waiting.slice(whole)

    def close(self, metadata: Mapping[str, str]) -> None:
        """Write what is left, and what the file says of itself."""
        if self._waiting.num_rows:
            self._writer.write_table(self._waiting, ROW_GROUP)
        self._writer.add_key_value_metadata(dict(sorted(metadata.items())))
        self._writer.close()
