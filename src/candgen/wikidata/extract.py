"""Wikidata's JSON dump to mention tables, one for each language, and a table of entities."""

import json
import logging
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from candgen.dumps.processes import run_in_parallel
from candgen.dumps.workspace import Workspace
from candgen.errors import ParameterError, StorageError, TableError, check_whole_number
from candgen.protocols import Progress, no_progress
from candgen.storage.atomic import write_text
from candgen.storage.versions import version
from candgen.wikidata.items import UNREADABLE
from candgen.wikidata.lines import STDIN, DumpParts, Part
from candgen.wikidata.names import Selection
from candgen.wikidata.read_part import PartReader, PartResult
from candgen.wikidata.run_writer import RunWriter, fingerprint
from candgen.wikidata.statistics import ItemStatistics
from candgen.wikidata.tables import write_entities, write_names

ENTITIES = "entities.parquet"
REPORT = "report.json"

_LOG = logging.getLogger("candgen")

FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class WikidataReport:
    """What was read, and what was written; ``report.json`` has the same."""

    dump: str
    candgen_version: str
    options: dict[str, Any]
    newest_change: str
    """The time of the last change of an item; empty if the dump does not have it."""
    truncated: bool
    """Whether the end of the dump is missing; the tables have everything before it."""
    faults: list[str]
    """Other damage of the file; the first few."""
    counts: dict[str, int]
    """Lines, items, items kept, invalid texts of these, and damaged parts of the file."""
    skipped: dict[str, int]
    """Lines and items that gave no names, by reason."""
    bad_lines: list[dict[str, Any]]
    """The first lines that could not be read: number, reason, beginning."""
    names: dict[str, int]
    """The rows of each mention table."""
    entities: int
    """The rows of the table of entities."""

    @property
    def complete(self) -> bool:
        """Whether the whole file could be read; it may have bad lines nevertheless."""
        return not self.truncated and not self.faults


def extract_wikidata(
    dump: FilePath,
    output: FilePath,
    *,
    selection: Selection,
    workers: int = 1,
    resume: bool = False,
    items: int | None = None,
    part_size: int | None = None,
    progress: Progress = no_progress,
) -> WikidataReport:
    """Write the tables that `Selection` describes to a folder; all files, or none.

    The dump is ``.json.bz2``, ``.json.gz`` or plain, recognized by its content, or ``-`` for stdin.
    For each language there is ``LANG.parquet``, a mention table in which the count of a name is
    the number of its sources: label, aliases and title. ``entities.parquet`` has a row for each
    language in which an item has a name: its label, or else the title of its page, or else its
    first alias; and a row of the language ``mul`` for a name for all languages. Further columns
    are its description, the classes that it is an instance of, and the number of its pages in all
    Wikimedia projects.

    Several workers are processes: a script that calls this needs ``if __name__ == "__main__"``.
    If this is interrupted, the finished work is kept beside the output for ``resume``. ``items``
    reads only the first items. The rows depend neither on ``workers`` nor on ``part_size``.
    """
    _check_parameters(workers, items, resume=resume, dump=str(dump))
    folder = _resolve_output(Path(output))
    parts = DumpParts(str(dump), size=part_size, whole=items is not None)
    options = {**asdict(selection), "items": items}
    plan: dict[str, Any] = {}
    resumable = str(dump) != STDIN and items is None
    if resumable:
        settings = {**options, "part size": part_size, "candgen version": version()}
        plan = fingerprint(Path(dump), settings)
    workspace = Workspace(folder)
    workspace.begin(plan, resume=resume and resumable)
    runs = RunWriter(workspace)
    try:
        _read_parts(
            parts, PartReader(selection), runs, workers=workers, items=items, progress=progress
        )
        sampled = runs.statistics.items == items
        report = _make_report(str(dump), options, runs.statistics, sampled=sampled)
        report = _write(folder, workspace, runs, report, selection, progress)
    except BaseException:
        runs.abort(keep=resumable)
        raise
    _warn(report)
    return report


def _check_parameters(workers: int, items: int | None, *, resume: bool, dump: str) -> None:
    check_whole_number("workers", workers)
    if items is not None:
        check_whole_number("items", items)
    if resume and items is not None:
        raise ParameterError("a sample of the first items cannot be resumed: drop one of the two")
    if resume and dump == STDIN:
        raise ParameterError("stdin cannot be read again to resume: name a file, or start over")


def _resolve_output(path: Path) -> Path:
    folder = Path(os.path.realpath(path))
    if folder.exists() and not folder.is_dir():
        raise StorageError(f"{path} is a file: remove it, or choose another folder")
    if not folder.parent.is_dir():
        raise StorageError(
            f"{path} cannot be written: there is no folder {folder.parent}, make it first"
        )
    return folder


def _read_parts(
    dump: DumpParts,
    reader: PartReader,
    runs: RunWriter,
    *,
    workers: int,
    items: int | None,
    progress: Progress,
) -> None:
    """Read all parts that are not finished yet."""
    done = frozenset(runs.statistics.lines)
    parts = (part for part in dump if part.number not in done)
    if items is None:
        results = run_in_parallel(reader, parts, workers=workers)
    else:
        results = _read_sample(reader, parts, items)
    reading = _ReadingProgress(progress, dump.length, runs.statistics.items)
    for result in results:
        runs.add(result)
        reading.add(result)
    runs.flush()
    faults = ItemStatistics(faults=dump.faults, damaged=len(dump.faults), truncated=dump.truncated)
    runs.statistics.add(faults)


class _ReadingProgress:
    """Shows how much has been read, how fast, and the time left."""

    def __init__(self, progress: Progress, length: int, items: int) -> None:
        self._progress, self._length, self._items = progress, length, items
        self._read, self._first = 0, -1
        self._begun = time.monotonic()

    def add(self, result: PartResult) -> None:
        self._read = max(self._read, result.part.at)
        self._items += result.statistics.items
        if self._first < 0:  # bytes that an earlier run has read do not count for the speed
            self._first = result.part.start
        rate = (self._read - self._first) / (time.monotonic() - self._begun + 1e-9)
        doing = f"{self._items:,} items, {rate / 1e6:,.1f} MB/s"
        if not self._length:
            self._progress(doing, 0.0)
            return
        left = round((self._length - self._read) / max(rate, 1e-9) / 60)
        doing += f", about {left // 60} h {left % 60:02} min left"
        self._progress(doing, self._read / self._length)


def _read_sample(reader: PartReader, parts: Iterator[Part], items: int) -> Iterator[PartResult]:
    for part in parts:
        result = reader(part, items=items)
        yield result
        items -= result.statistics.items
        if not items:
            return


def _make_report(
    dump: str, options: dict[str, Any], statistics: ItemStatistics, *, sampled: bool
) -> WikidataReport:
    name = "stdin" if dump == STDIN else dump
    if not any(statistics.lines.values()):
        raise TableError(f"{name} is cut off or damaged before its first line: download it again")
    if statistics.bad and not statistics.items and statistics.skipped.keys() <= UNREADABLE:
        first = statistics.bad_lines()[0]
        raise ParameterError(
            f"{name} has no entity, and line {first['line']} is {first['reason']}: expected "
            "Wikidata's JSON dump, with one entity a line"
        )
    return WikidataReport(
        dump=Path(name).name,
        candgen_version=version(),
        options=json.loads(json.dumps(options)),
        newest_change=statistics.newest,
        truncated=statistics.is_cut_short and not sampled,
        faults=statistics.faults,
        counts={
            "lines": sum(statistics.lines.values()),
            "items": statistics.items,
            "items kept": statistics.kept,
            "texts left out": statistics.invalid,
            "damaged": statistics.damaged,
        },
        skipped=dict(sorted(statistics.skipped.items())),
        bad_lines=statistics.bad_lines(),
        names={},
        entities=0,
    )


def _write(
    folder: Path,
    workspace: Workspace,
    runs: RunWriter,
    report: WikidataReport,
    selection: Selection,
    progress: Progress,
) -> WikidataReport:
    """Write the tables and the report into the work folder, then move them to the output."""
    staged = workspace.folder / "output"
    shutil.rmtree(staged, ignore_errors=True)  # of a run that was killed while it wrote
    staged.mkdir()
    metadata = _make_metadata(report)
    progress("merging names", 0.0)
    names = write_names(staged, runs.names, selection.languages, metadata)
    progress("merging entities", 0.0)
    entities = write_entities(staged / ENTITIES, runs.entities, metadata)
    content = {**asdict(report), "names": names, "entities": entities}
    write_text(staged / REPORT, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    workspace.merge_folder(staged, folder, last=REPORT)
    return WikidataReport(**content)


def _make_metadata(report: WikidataReport) -> dict[str, str]:
    """Return the metadata of each Parquet file: what it was made from."""
    return {
        "source": "Wikidata",
        "dump": report.dump,
        "newest_change": report.newest_change,
        "candgen_version": report.candgen_version,
        "truncated": json.dumps(report.truncated),
        "options": json.dumps(report.options),
        "counts": json.dumps({**report.counts, **report.skipped}),
    }


def _warn(report: WikidataReport) -> None:
    if report.truncated:
        _LOG.warning("%s is cut short: the tables have the items before the cut", report.dump)
    for fault in report.faults[:3]:
        _LOG.warning("%s: %s, so its items are lost", report.dump, fault)
    if report.bad_lines:
        first = report.bad_lines[0]
        message = "%s: some lines could not be read, the first is line %d: %s"
        _LOG.warning(message, report.dump, first["line"], first["reason"])
