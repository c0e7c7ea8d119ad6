"""What a person sees on stderr while a long command runs; where nobody looks, nothing is shown."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

if TYPE_CHECKING:
    from candgen.wikipedia.read_parts import ReadingProgress


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """A function to call with what is being done and the share of it that is done.

    A share of 0 shows a bar that only moves: many steps cannot tell how far they are.
    """
    if not is_terminal(sys.stderr):
        yield lambda _doing, _share: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with _on_stderr(*columns) as bar:
        task = bar.add_task("", total=None)

        def show(doing: str, share: float) -> None:
            bar.update(task, description=doing, total=1.0 if share else None, completed=share)

        yield show


@contextmanager
def mention_counter() -> Iterator[Callable[[int], None]]:
    """A function to call with the number of mentions that were just answered.

    Nothing is shown where the answers themselves go to the terminal.
    """
    if is_terminal(sys.stdout) or not is_terminal(sys.stderr):
        yield lambda _answered: None
        return
    start, total = time.perf_counter(), 0
    with _on_stderr(SpinnerColumn(), TextColumn("{task.description}")) as line:
        task = line.add_task("no mentions yet", total=None)

        def count(answered: int) -> None:
            nonlocal total
            total += answered
            rate = total / (time.perf_counter() - start)
            line.update(task, description=f"{total:,} mentions, {rate:,.0f} a second")

        yield count


@contextmanager
def byte_bar() -> Iterator[Callable[["ReadingProgress"], None]]:
    """A function to call with how far the reading of a dump is: MB a second, pages, time left."""
    if not is_terminal(sys.stderr):
        yield lambda _reading: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with _on_stderr(*columns) as bar:
        task = bar.add_task("", total=None)

        doing = ""

        def show(reading: "ReadingProgress") -> None:
            nonlocal doing
            if reading.doing != doing:  # its speed is not that of what was done before
                doing = reading.doing
                bar.reset(task, total=reading.total)
            pages = f", {reading.pages:,} pages" if reading.pages else ""
            bar.update(
                task,
                description=f"{reading.doing}{pages}",
                total=reading.total,
                completed=reading.done,
            )

        yield show


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at it; a stream that was closed before we started is None."""
    return stream is not None and stream.isatty()


def _on_stderr(*columns: ProgressColumn) -> Progress:
    # stdout is not rich's to redirect: programs read it.
    console = Console(stderr=True, markup=False)
    return Progress(*columns, console=console, transient=True, redirect_stdout=False)
