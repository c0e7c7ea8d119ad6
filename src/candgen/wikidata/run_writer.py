"""The rows of finished parts as sorted runs in the work folder, from which a run is resumed."""

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from candgen.dumps.external_sort import write_run
from candgen.dumps.workspace import Workspace
from candgen.errors import StorageError
from candgen.wikidata.read_part import ENTITIES, NAMES, PartResult
from candgen.wikidata.statistics import ItemStatistics

MAX_RUN = 1 << 27
"""Rows are written to the disk when they have so many bytes,"""
MAX_SECONDS = 300
"""or when the last were written so many seconds ago."""

_EDGE = 1 << 20  # bytes at both ends of the dump that are hashed


def fingerprint(dump: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what rows are made from: rows made from something else are not reused."""
    digest = hashlib.sha256()
    with dump.open("rb") as file:
        length = file.seek(0, 2)
        for start in (0, max(0, length - _EDGE)):
            file.seek(start)
            digest.update(file.read(_EDGE))
    made: dict[str, Any] = json.loads(json.dumps(options))
    return {"dump": dump.name, "bytes": length, "sha256 of both ends": digest.hexdigest(), **made}


class RunWriter:
    """Writes sorted runs of rows and adds up statistics, from those of an earlier run on."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.statistics = ItemStatistics()
        self.names: list[Path] = []
        self.entities: list[Path] = []
        self._waiting: list[PartResult] = []
        self._bytes = 0
        self._written = time.monotonic()
        finished = workspace.finished_parts()
        self._next = max(finished, default=-1) + 1
        for number, statistics in finished.items():
            if all(path.exists() for path in self._paths(number)):
                self._count(number, ItemStatistics.from_json(statistics))

    def add(self, result: PartResult) -> None:
        """Take the rows of a part, and write them if many rows or seconds have passed."""
        self._waiting.append(result)
        self._bytes += result.names.nbytes + result.entities.nbytes
        if self._bytes >= MAX_RUN or time.monotonic() - self._written >= MAX_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the rows in memory, and their statistics last, which make them count."""
        if not self._waiting:
            return
        number, statistics = self._next, ItemStatistics()
        tables = [[NAMES.empty_table()], [ENTITIES.empty_table()]]
        for result in self._waiting:
            tables[0].append(result.names)
            tables[1].append(result.entities)
            statistics.add(result.statistics)
        for path, rows in zip(self._paths(number), tables, strict=True):
            write_run(path, pa.concat_tables(rows))
        self._workspace.finish_part(number, statistics.to_json())
        self._waiting, self._bytes = [], 0
        self._next, self._written = number + 1, time.monotonic()
        self._count(number, statistics)

    def _count(self, number: int, statistics: ItemStatistics) -> None:
        names, entities = self._paths(number)
        self.names.append(names)
        self.entities.append(entities)
        self.statistics.add(statistics)

    def _paths(self, number: int) -> tuple[Path, Path]:
        return self._workspace.table("names", number), self._workspace.table("entities", number)

    def abort(self, *, keep: bool) -> None:
        """Keep the finished rows for a run that resumes this one, or delete them."""
        if keep:
            with contextlib.suppress(OSError, StorageError):
                self.flush()
        if not keep or not self.statistics.items:
            self._workspace.discard()
        self._workspace.release()
