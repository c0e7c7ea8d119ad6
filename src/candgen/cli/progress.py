"""Progress on stderr while a long command runs; nothing is shown if stderr is not a terminal."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from candgen.cli.output import visible

if TYPE_CHECKING:
    from candgen.wikipedia.read_parts import ReadingProgress


NEARLY_FULL = 0.99
"""Rich counts a task that has reached its total as finished, and stops its clock."""
MIN_FRACTION = 0.05
"""Before so much is done, nobody can tell how long the rest takes."""


@contextmanager
def progress_bar(*, whole: bool = False) -> Iterator[Callable[[str, float], None]]:
    """Yield a function to call with the current step and the fraction of it that is done.

    With ``whole``, fractions are those of all steps together, and the time left is shown. Else a
    fraction of 0 shows a bar that only moves: many steps do not know their length. The bar is full
    when everything is done, and never before.
    """
    if not is_terminal(sys.stderr):
        yield lambda _doing, _fraction: None
        return
    left = (TimeLeftColumn(),) if whole else ()
    with _on_stderr(SpinnerColumn(), BarColumn(), TimeElapsedColumn(), *left) as bar:
        task = bar.add_task("", total=1.0 if whole else None)
        reached = 0.0

        def show(doing: str, fraction: float) -> None:
            nonlocal reached
            # What reports nothing about the whole, such as saving, leaves the bar as it is.
            reached = max(fraction, reached) if whole else fraction
            bar.update(task, description=visible(doing), completed=min(reached, NEARLY_FULL))
            bar.tasks[0].total = 1.0 if whole or reached else None

        yield show


class TimeLeftColumn(ProgressColumn):
    """How long the rest takes if it goes on as fast as until now."""

    def render(self, task: Task) -> Text:
        """Return the time left, in words; nothing at the beginning."""
        if task.completed < MIN_FRACTION or task.elapsed is None:
            return Text("")
        return Text(f"about {_in_words(task.elapsed * (1 / task.completed - 1))} left")


def _in_words(seconds: float) -> str:
    """Return a duration, as exact as an estimate can be.

    >>> _in_words(7), _in_words(48), _in_words(200)
    ('10 s', '50 s', '4 min')
    """
    if seconds <= 90:
        return f"{10 * math.ceil(seconds / 10)} s"
    return f"{math.ceil(seconds / 60)} min"


@contextmanager
def mention_counter() -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of mentions that were just answered.

    Nothing is shown if the answers themselves go to the terminal.
    """
    if is_terminal(sys.stdout) or not is_terminal(sys.stderr):
        yield lambda _answered: None
        return
    start, total = time.perf_counter(), 0
    with _on_stderr(SpinnerColumn()) as line:
        task = line.add_task("no mentions yet", total=None)

        def count(answered: int) -> None:
            nonlocal total
            total += answered
            rate = total / (time.perf_counter() - start)
            line.update(task, description=f"{total:,} mentions, {rate:,.0f} per second")

        yield count


@contextmanager
def byte_bar() -> Iterator[Callable[["ReadingProgress"], None]]:
    """Yield a function to call with the progress of reading a dump: speed, pages, time left."""
    if not is_terminal(sys.stderr):
        yield lambda _reading: None
        return
    columns = (SpinnerColumn(), BarColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with _on_stderr(*columns) as bar:
        task = bar.add_task("", total=None)
        doing = ""

        def show(reading: "ReadingProgress") -> None:
            nonlocal doing
            if reading.doing != doing:  # a new step has its own speed
                doing = reading.doing
                bar.reset(task, total=reading.total)
            pages = f", {reading.pages:,} pages" if reading.pages else ""
            description = f"{visible(reading.doing)}{pages}"
            bar.update(task, description=description, total=reading.total, completed=reading.done)

        yield show


@contextmanager
def file_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function to call, in any thread, with a file's name, bytes so far, and size."""
    if not is_terminal(sys.stderr):
        yield lambda _name, _done, _size: None
        return
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with _on_stderr(*columns) as bars:

        def update(name: str, done: int, size: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(visible(name), total=size)
            bars.update(tasks[name], completed=done, visible=done < size)

        yield update


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal; a stream that was closed at the start is None."""
    return stream is not None and stream.isatty()


def _on_stderr(*columns: ProgressColumn) -> Progress:
    """Return bars with the description of the task before all columns but a spinner."""
    at = int(isinstance(columns[0], SpinnerColumn))
    described = (*columns[:at], TextColumn("{task.description}", markup=False), *columns[at:])
    # stdout is not rich's to redirect: programs read it.
    console = Console(stderr=True, markup=False)
    return Progress(*described, console=console, transient=True, redirect_stdout=False)
