"""The folder beside the output in which a long run keeps what is done, so that it can go on."""

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
from candgen.storage.atomic import write_text
from candgen.wikidata.read_part import ENTITIES, NAMES, Result
from candgen.wikidata.statistics import Tally

RUN = 1 << 27
"""Rows are written to the disk when they have so many bytes,"""
SECONDS = 300
"""or when the last were written so many seconds ago."""

_EDGE = 1 << 20  # bytes at both ends of the dump that must be as they were


def fingerprint(dump: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Describe what rows are made from: rows that were made from something else are of no use."""
    digest = hashlib.sha256()
    with dump.open("rb") as file:
        length = file.seek(0, 2)
        for start in (0, max(0, length - _EDGE)):
            file.seek(start)
            digest.update(file.read(_EDGE))
    made: dict[str, Any] = json.loads(json.dumps(options))
    return {"dump": dump.name, "bytes": length, "sha256 of both ends": digest.hexdigest(), **made}


class Work:
    """Sorted runs of rows, and what was seen on the way."""

    def __init__(self, output: Path) -> None:
        self._workspace = Workspace(output)
        self.folder = self._workspace.folder
        self.tally = Tally()
        self.names: list[Path] = []
        self.entities: list[Path] = []
        self._waiting: list[Result] = []
        self._bytes = 0
        self._runs = 0
        self._written = time.monotonic()

    def begin(self, made_from: Mapping[str, Any] | None, *, resume: bool) -> None:
        """Make the folder, or go on with what is in it if it was made from the same."""
        self._workspace.begin(made_from or {}, resume=resume and made_from is not None)
        for done in sorted(self.folder.glob("done-*.json")):
            number = int(done.stem.removeprefix("done-"))
            self._runs = max(self._runs, number + 1)
            if all(path.exists() for path in self._paths(number)):
                self._count(number, Tally.from_json(json.loads(done.read_text(encoding="utf-8"))))

    def add(self, result: Result) -> None:
        """Take what a part gave; now and then it is written."""
        self._waiting.append(result)
        self._bytes += result.names.nbytes + result.entities.nbytes
        if self._bytes >= RUN or time.monotonic() - self._written >= SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits; the tally comes last and makes it count."""
        if not self._waiting:
            return
        number, tally = self._runs, Tally()
        tables = [[NAMES.empty_table()], [ENTITIES.empty_table()]]
        for result in self._waiting:
            tables[0].append(result.names)
            tables[1].append(result.entities)
            tally.add(result.tally)
        for path, rows in zip(self._paths(number), tables, strict=True):
            write_run(path, pa.concat_tables(rows))
        write_text(self.folder / f"done-{number}.json", json.dumps(tally.as_json()))
        self._waiting, self._bytes = [], 0
        self._runs, self._written = number + 1, time.monotonic()
        self._count(number, tally)

    def _count(self, number: int, tally: Tally) -> None:
        names, entities = self._paths(number)
        self.names.append(names)
        self.entities.append(entities)
        self.tally.add(tally)

    def _paths(self, number: int) -> tuple[Path, Path]:
        return self.folder / f"names-{number}.arrow", self.folder / f"entities-{number}.arrow"

    def fail(self, *, keep: bool) -> None:
        """Keep what is done for another try, if it is of use to one."""
        if keep:
            with contextlib.suppress(OSError, StorageError):
                self.flush()
        if not keep or not self.tally.items:
            self.remove()
        self._workspace.release()

    def remove(self) -> None:
        """Take the folder away."""
        self._workspace.discard()


def publish(staged: Path, output: Path, *, last: str) -> None:
    """Put finished files into the output folder; the one that describes them comes last.

    A folder that does not exist yet appears whole.
    """
    try:
        if not output.exists():
            staged.rename(output)
            return
        with contextlib.suppress(FileNotFoundError):
            (output / last).unlink()  # it would not be true of the others
        for path in sorted(staged.iterdir(), key=lambda path: (path.name == last, path.name)):
            path.replace(output / path.name)
    except OSError as error:
        raise StorageError(f"{output} cannot be written: {error.strerror or error}") from error
