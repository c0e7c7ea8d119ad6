"""Progress on stderr while a long command runs; nothing is shown if stderr is not a terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from candgen.cli.output import visible

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

    from candgen.wikipedia.read_parts import ReadingProgress


NEARLY_FULL = 0.99
"""Rich counts a task that has reached its total as finished, and stops its clock."""
ROOM_BESIDE, MIN_ROOM = 38, 20
"""Columns that a description leaves to the bar and the times, and those that it always has."""


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
    left = ("TimeLeft",) if whole else ()
    with _on_stderr("Spinner", "Bar", "TimeElapsed", *left) as bar:
        task = bar.add_task("", total=1.0 if whole else None)
        reached = 0.0

        def show(doing: str, fraction: float) -> None:
            nonlocal reached
            # What reports nothing about the whole, such as saving, leaves the bar as it is.
            reached = max(fraction, reached) if whole else fraction
            bar.update(task, description=visible(doing), completed=min(reached, NEARLY_FULL))
            bar.tasks[0].total = 1.0 if whole or reached else None

        yield show


@contextmanager
def mention_counter() -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of mentions that were just answered.

    Nothing is shown if the answers themselves go to the terminal.
    """
    if is_terminal(sys.stdout) or not is_terminal(sys.stderr):
        yield lambda _answered: None
        return
    start, total = time.perf_counter(), 0
    with _on_stderr("Spinner") as line:
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
    with _on_stderr("Spinner", "Bar", "TransferSpeed", "TimeRemaining") as bar:
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
    tasks: dict[str, TaskID] = {}
    with _on_stderr("Bar", "Download", "TransferSpeed", "TimeRemaining") as bars:

        def update(name: str, done: int, size: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(visible(name), total=size)
            bars.update(tasks[name], completed=done, visible=done < size)

        yield update


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal; a stream that was closed at the start is None."""
    return stream is not None and stream.isatty()


def _on_stderr(*columns: str) -> "Progress":
    """Return bars of these columns of rich, with the task's description before all but a spinner.

    Rich is imported here, so that a command without a terminal does not wait for it.
    """
    from rich import progress  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Column  # noqa: PLC0415

    from candgen.cli.time_left import TimeLeftColumn  # noqa: PLC0415

    known = {**vars(progress), "TimeLeftColumn": TimeLeftColumn}
    made: list[ProgressColumn] = [known[f"{name}Column"]() for name in columns]
    # stdout is not rich's to redirect: programs read it.
    console = Console(stderr=True, markup=False)
    room = max(console.width - ROOM_BESIDE, MIN_ROOM)
    cut = Column(no_wrap=True, overflow="ellipsis", max_width=room)
    description = progress.TextColumn("{task.description}", markup=False, table_column=cut)
    made.insert(int(columns[0] == "Spinner"), description)
    return progress.Progress(*made, console=console, transient=True, redirect_stdout=False)
