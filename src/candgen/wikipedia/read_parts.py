"""The first half of an extraction: parts of a dump become sorted runs in the work folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from candgen.dumps.compressed_streams import Part
from candgen.dumps.external_sort import write_arrow, write_run
from candgen.dumps.processes import run_in_parallel
from candgen.dumps.workspace import Workspace
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.options import Options
from candgen.wikipedia.read_part import read_part
from candgen.wikipedia.statistics import PageStatistics


class ReadingProgress(NamedTuple):
    """The progress of an extraction."""

    doing: str
    done: int = 0
    """Compressed bytes of the dump files."""
    total: int | None = None
    pages: int = 0


ProgressCallback = Callable[[ReadingProgress], None]


class _Task(NamedTuple):
    number: int
    part: Part
    options: Options


class _Result(NamedTuple):
    number: int
    site: Site
    statistics: PageStatistics


def read_parts(
    parts: Sequence[Part],
    options: Options,
    *,
    site: Site | None,
    details: Mapping[str, Any] | None,
    workspace: Workspace,
    workers: int,
    progress: ProgressCallback,
) -> tuple[Site, PageStatistics]:
    """Read all parts that are not finished yet; return the site and the statistics of all.

    The site may be unknown if there is one part, which then has it.
    """
    finished = workspace.finished_parts()
    statistics = {number: PageStatistics.from_json(text) for number, text in finished.items()}
    meter = _Meter(parts, statistics, progress)
    in_order = workers == 1 or len(parts) - len(statistics) <= 1 or options.pages is not None
    work = partial(
        _read_and_write,
        site=site,
        details=details,
        workspace=workspace,
        progress=meter.show_part if in_order else None,
    )
    meter.show()
    tasks = _make_tasks(parts, options, statistics)
    for result in run_in_parallel(work, tasks, workers=1 if in_order else workers):
        statistics[result.number] = result.statistics
        site = result.site
        meter.show()
    if site is None:
        raise AssertionError("no part had the site")
    total = PageStatistics()
    for _, each in sorted(statistics.items()):
        total.add(each)
    return site, total


def _make_tasks(
    parts: Sequence[Part], options: Options, statistics: Mapping[int, PageStatistics]
) -> Iterator[_Task]:
    """Yield the tasks; the number of pages left is known when each is taken."""
    for number, part in enumerate(parts):
        if number in statistics:
            continue
        left = options.pages
        if left is not None:
            left -= sum(each.pages["read"] for each in statistics.values())
            if left <= 0:
                return
        yield _Task(number, part, replace(options, pages=left))


def _read_and_write(
    task: _Task,
    *,
    site: Site | None,
    details: Mapping[str, Any] | None,
    workspace: Workspace,
    progress: Callable[[_Task, int, int], None] | None,
) -> _Result:
    """Write the tables of one part, and last its statistics."""
    tables = 0
    statistics = PageStatistics()
    show = partial(progress, task) if progress else lambda _at, _pages: None
    for found in read_part(task.part, task.options, site=site, details=details, progress=show):
        if isinstance(found, Site):
            site = found
        elif isinstance(found, PageStatistics):
            statistics = found
        else:
            kind, table = found
            write = write_run if kind == "links" else write_arrow
            write(workspace.table(kind, task.number, tables), table)
            tables += kind == "pages"
    workspace.finish_part(task.number, statistics.to_json())
    if site is None:
        raise AssertionError("read_part yields the site if it was not given")
    return _Result(task.number, site, statistics)


class _Meter:
    """Shows how much has been read: the finished parts, and some of another."""

    def __init__(
        self,
        parts: Sequence[Part],
        statistics: Mapping[int, PageStatistics],
        progress: ProgressCallback,
    ) -> None:
        ends = [part.end for part in parts]
        self._sizes = [(end or 0) - part.start for part, end in zip(parts, ends, strict=True)]
        self._total = None if None in ends else sum(self._sizes)
        self._statistics = statistics
        self._progress = progress

    def show_part(self, task: _Task, at: int, pages: int) -> None:
        end = at if task.part.end is None else min(at, task.part.end)  # it reads ahead
        self.show(end - task.part.start, pages)

    def show(self, further: int = 0, more: int = 0) -> None:
        done = sum(self._sizes[number] for number in self._statistics) + further
        pages = sum(each.pages["read"] for each in self._statistics.values()) + more
        doing = "reading pages" if pages else "starting"
        self._progress(ReadingProgress(doing, done, self._total, pages))
