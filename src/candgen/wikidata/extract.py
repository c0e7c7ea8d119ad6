"""From Wikidata's JSON dump to mention tables, one a language, and a table of entities to show."""

import json
import logging
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from candgen.dumps.processes import in_parallel
from candgen.errors import ParameterError, StorageError, TableError
from candgen.protocols import Progress
from candgen.storage.atomic import write_text
from candgen.storage.versions import version
from candgen.wikidata.items import BAD
from candgen.wikidata.lines import STDIN, Cut, Part
from candgen.wikidata.names import Selection
from candgen.wikidata.read_part import PartReader, Result
from candgen.wikidata.statistics import Tally
from candgen.wikidata.tables import write_entities, write_names
from candgen.wikidata.work_folder import Work, fingerprint, publish

ENTITIES = "entities.parquet"
REPORT = "report.json"

_LOG = logging.getLogger("candgen")

FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class WikidataReport:
    """What was read, and what became of it; ``report.json`` has the same."""

    dump: str
    candgen_version: str
    options: dict[str, Any]
    newest_change: str
    """When the item that was changed last was changed; empty if the dump does not say."""
    truncated: bool
    """Whether the end of the dump is missing; all that is before it is in the tables."""
    faults: list[str]
    """What else of the file could not be read; the first few."""
    counts: dict[str, int]
    """Lines, items, items kept, texts of these that are none, and damaged parts of the file."""
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
        """Whether all of the file could be read; bad lines are told apart from that."""
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
    progress: Progress = lambda _doing, _share: None,
) -> WikidataReport:
    """Write to a folder what `Selection` wants of a dump; all files, or none.

    The dump is ``.json.bz2``, ``.json.gz`` or plain, told by its content, or ``-`` for stdin. For
    each language there is ``LANG.parquet``, a mention table whose counts say from how many of
    label, aliases and title a name comes. ``entities.parquet`` has a row for each language in
    which an item has a name: its label, or else the title of its page, or else its first alias;
    and a row of the language ``mul`` for a name that holds in all languages. Then its description,
    the classes that it is an instance of, and the number of its pages in all Wikimedia projects.

    Several workers are processes: a script that calls this needs ``if __name__ == "__main__"``.
    What was done is kept beside the output if this is interrupted, for ``resume``. With ``items``
    only the first so many are read. The rows do not depend on workers, nor on ``part_size``.
    """
    _check(workers, items, resume=resume, dump=str(dump))
    folder = _output_folder(Path(output))
    cut = Cut(str(dump), size=part_size, whole=items is not None)
    options = {**asdict(selection), "items": items}
    again = str(dump) != STDIN and items is None  # could be read once more
    work = Work(folder)
    facts = {**options, "part size": part_size, "candgen version": version()}
    made_from = fingerprint(Path(dump), facts) if again else None
    work.begin(made_from, resume=resume)
    try:
        _harvest(cut, PartReader(selection), work, workers=workers, items=items, progress=progress)
        report = _report(str(dump), options, work.tally, sampled=work.tally.items == items)
        made = _write(folder, work, report, selection, progress)
    except BaseException:
        work.fail(keep=again)
        raise
    work.remove()
    _warn(made)
    return made


def _check(workers: int, items: int | None, *, resume: bool, dump: str) -> None:
    for name, number in (("workers", workers), ("items", items)):
        if number is not None and number < 1:
            raise ParameterError(f"{name} is {number}, expected a number of at least 1")
    if resume and items is not None:
        raise ParameterError("a sample of the first items cannot be resumed: drop one of the two")
    if resume and dump == STDIN:
        raise ParameterError("what comes from stdin cannot be resumed: name a file, or start over")


def _output_folder(path: Path) -> Path:
    folder = Path(os.path.realpath(path))
    if folder.exists() and not folder.is_dir():
        raise StorageError(f"{path} is a file: remove it, or choose another folder")
    if not folder.parent.is_dir():
        raise StorageError(
            f"{path} cannot be written: there is no folder {folder.parent}, make it first"
        )
    return folder


def _harvest(
    cut: Cut, reader: PartReader, work: Work, *, workers: int, items: int | None, progress: Progress
) -> None:
    """Read all parts that are not done yet."""
    done = frozenset(work.tally.lines)
    parts = (part for part in cut if part.number not in done)
    if items is None:
        results = in_parallel(reader, parts, workers=workers)
    else:
        results = _sample(reader, parts, items)
    shown = _Shown(progress, cut.length, work.tally.items)
    for result in results:
        work.add(result)
        shown.add(result)
    work.flush()
    faults = Tally(faults=cut.faults, damaged=len(cut.faults), truncated=cut.truncated)
    work.tally.add(faults)


class _Shown:
    """Tells how far the reading is, how fast, and how long it will still take."""

    def __init__(self, progress: Progress, length: int, items: int) -> None:
        self._progress, self._length, self._items = progress, length, items
        self._read, self._first = 0, -1
        self._begun = time.monotonic()

    def add(self, result: Result) -> None:
        self._read = max(self._read, result.part.at)
        self._items += result.tally.items
        if self._first < 0:  # what an earlier run has read says nothing about the speed of this
            self._first = result.part.start
        rate = (self._read - self._first) / (time.monotonic() - self._begun + 1e-9)
        doing = f"{self._items:,} items, {rate / 1e6:,.1f} MB/s"
        if not self._length:
            self._progress(doing, 0.0)
            return
        left = round((self._length - self._read) / max(rate, 1e-9) / 60)
        doing += f", about {left // 60} h {left % 60:02} min left"
        self._progress(doing, self._read / self._length)


def _sample(reader: PartReader, parts: Iterator[Part], items: int) -> Iterator[Result]:
    for part in parts:
        result = reader(part, items=items)
        yield result
        items -= result.tally.items
        if not items:
            return


def _report(dump: str, options: dict[str, Any], tally: Tally, *, sampled: bool) -> WikidataReport:
    name = "stdin" if dump == STDIN else dump
    if not any(tally.lines.values()):
        raise TableError(f"{name} is cut off or damaged before its first line: download it again")
    if tally.bad and not tally.items and tally.skipped.keys() <= BAD:
        first = tally.bad_lines()[0]
        raise ParameterError(
            f"{name} has no entity, and line {first['line']} is {first['reason']}: expected "
            "Wikidata's JSON dump, with one entity a line"
        )
    return WikidataReport(
        dump=Path(name).name,
        candgen_version=version(),
        options=json.loads(json.dumps(options)),
        newest_change=tally.newest,
        truncated=tally.cut_short and not sampled,
        faults=tally.faults,
        counts={
            "lines": sum(tally.lines.values()),
            "items": tally.items,
            "items kept": tally.kept,
            "texts left out": tally.illegal,
            "damaged": tally.damaged,
        },
        skipped=dict(sorted(tally.skipped.items())),
        bad_lines=tally.bad_lines(),
        names={},
        entities=0,
    )


def _write(
    folder: Path, work: Work, report: WikidataReport, selection: Selection, progress: Progress
) -> WikidataReport:
    """Write the tables and the report beside the output, then put them there."""
    staged = work.folder / "output"
    shutil.rmtree(staged, ignore_errors=True)  # of a run that was killed while it wrote
    staged.mkdir()
    metadata = _metadata(report)
    progress("merging names", 0.0)
    names = write_names(staged, work.names, selection.languages, metadata)
    progress("merging entities", 0.0)
    entities = write_entities(staged / ENTITIES, work.entities, metadata)
    content = {**asdict(report), "names": names, "entities": entities}
    write_text(staged / REPORT, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    publish(staged, folder, last=REPORT)
    return WikidataReport(**content)


def _metadata(report: WikidataReport) -> dict[str, str]:
    """Say, in each Parquet file, what it was made from."""
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
        _LOG.warning("%s is cut short: the tables have what is before the cut", report.dump)
    for fault in report.faults[:3]:
        _LOG.warning("%s: %s, so its items are lost", report.dump, fault)
    if report.bad_lines:
        first = report.bad_lines[0]
        _LOG.warning(
            "%s: some lines could not be read, the first is line %d: %s",
            report.dump,
            first["line"],
            first["reason"],
        )
