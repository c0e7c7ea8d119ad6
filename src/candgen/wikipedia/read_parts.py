"""The first half of an extraction: parts of a dump become runs in the work folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from candgen.dumps.compressed_streams import Part
from candgen.dumps.external_sort import write_arrow, write_run
from candgen.dumps.processes import in_parallel
from candgen.dumps.workspace import Workspace
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.options import Options
from candgen.wikipedia.read_part import Links, harvest
from candgen.wikipedia.statistics import Tally


class Progress(NamedTuple):
    """How far an extraction is."""

    doing: str
    done: int = 0
    """Bytes of the dump files, as they lie on the disk."""
    total: int | None = None
    pages: int = 0


Watcher = Callable[[Progress], None]
_STARTING = "starting (kernels are compiled the first time: half a minute)"


class _Task(NamedTuple):
    number: int
    part: Part
    options: Options


class _Done(NamedTuple):
    number: int
    site: Site
    tally: Tally


def gather(
    parts: Sequence[Part],
    options: Options,
    *,
    site: Site | None,
    details: Mapping[str, Any] | None,
    workspace: Workspace,
    workers: int,
    progress: Watcher,
) -> tuple[Site, Tally]:
    """Harvest all parts that are not finished yet; give the tally of all.

    The site may be unknown if there is one part, which then tells it.
    """
    finished = ((number, workspace.finished(number)) for number in range(len(parts)))
    tallies = {number: Tally.from_json(text) for number, text in finished if text is not None}
    meter = _Meter(parts, tallies, progress)
    one_by_one = workers == 1 or len(parts) - len(tallies) <= 1 or options.pages is not None
    work = partial(
        _harvest,
        site=site,
        details=details,
        workspace=workspace,
        progress=meter.at if one_by_one else None,
    )
    tasks = _tasks(parts, options, tallies)
    meter.show()
    for done in in_parallel(work, tasks, workers=1 if one_by_one else workers):
        tallies[done.number] = done.tally
        site = done.site
        meter.show()
    if site is None:
        raise AssertionError("there was no part that could tell the site")
    total = Tally()
    for _, tally in sorted(tallies.items()):
        total.add(tally)
    return site, total


def _tasks(
    parts: Sequence[Part], options: Options, tallies: Mapping[int, Tally]
) -> Iterator[_Task]:
    """Give what is to be done; how many pages are still wanted is known when it is its turn."""
    for number, part in enumerate(parts):
        if number in tallies:
            continue
        left = options.pages
        if left is not None:
            left -= sum(tally.pages["read"] for tally in tallies.values())
            if left <= 0:
                return
        yield _Task(number, part, replace(options, pages=left))


def _harvest(
    task: _Task,
    *,
    site: Site | None,
    details: Mapping[str, Any] | None,
    workspace: Workspace,
    progress: Callable[[_Task, int, int], None] | None,
) -> _Done:
    """Write the tables of one part, and last its tally."""
    tables = 0
    tally = Tally()
    watch = partial(progress, task) if progress else lambda _at, _pages: None
    for found in harvest(task.part, task.options, site=site, details=details, progress=watch):
        if isinstance(found, Site):
            site = found
        elif isinstance(found, Tally):
            tally = found
        elif isinstance(found, Links):
            write_run(workspace.table("links", task.number, tables), found.table)
        else:
            write_arrow(workspace.table("pages", task.number, tables), found.table)
            tables += 1
    workspace.close_part(task.number, tally.to_json())
    if site is None:
        raise AssertionError("harvest gives the site if it was not told it")
    return _Done(task.number, site, tally)


class _Meter:
    """Tells how much has been read: the parts that are finished, and some of another."""

    def __init__(
        self, parts: Sequence[Part], tallies: Mapping[int, Tally], progress: Watcher
    ) -> None:
        ends = [part.end for part in parts]
        self._sizes = [(end or 0) - part.start for part, end in zip(parts, ends, strict=True)]
        self._total = None if None in ends else sum(self._sizes)
        self._tallies = tallies
        self._progress = progress

    def at(self, task: _Task, at: int, pages: int) -> None:
        end = at if task.part.end is None else min(at, task.part.end)  # it reads ahead
        self.show(end - task.part.start, pages)

    def show(self, further: int = 0, more: int = 0) -> None:
        done = sum(self._sizes[number] for number in self._tallies) + further
        pages = sum(tally.pages["read"] for tally in self._tallies.values()) + more
        self._progress(Progress("reading pages" if pages else _STARTING, done, self._total, pages))
