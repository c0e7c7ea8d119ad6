"""Standard output: UTF-8 for programs, tables for people."""

import contextlib
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table

from candgen.errors import CandgenError

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
LONGEST_EXAMPLE = 100
_EIGHTHS = " ▏▎▍▌▋▊▉"


def write(text: str) -> None:
    """Write to stdout in UTF-8, whatever the locale, and flush."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        # A byte of a path that is not UTF-8 becomes \udcff, which JSON can read.
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise CandgenError(f"standard output cannot be written: {reason}") from error


def note(sentence: str) -> None:
    """Print a line to stderr for people; do nothing if stderr is closed."""
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(f"{sentence}\n")
            sys.stderr.flush()


def suggest_query(output: Path, mention: str) -> None:
    """Print a command that queries a new index, unless the mention is very long."""
    if len(shlex.quote(mention)) <= LONGEST_EXAMPLE:
        note(f"try: {shlex.join(['candgen', 'query', str(output), mention, '-k', '5'])}")


def write_json(value: object) -> None:
    """Write one JSON document, indented."""
    write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def show(*pieces: RenderableType, whole: bool = False) -> None:
    """Write pieces for people to read: on a terminal, in colour and as wide as the terminal.

    With ``whole`` they may be wider than the terminal, but are not cut.
    """
    console = Console(markup=False, emoji=False, highlight=False)
    room = console.options.update(max_width=10_000)
    needed = [Measurement.get(console, room, piece) for piece in pieces]
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max([console.width, *(each.maximum for each in needed)])
    elif whole:
        console.width = max([console.width, *(each.minimum for each in needed)])
    # Not console.capture(), which writes an empty string to stdout: even that can fail.
    text = io.StringIO()
    paper = Console(
        file=text,
        width=console.width,
        force_terminal=console.is_terminal,
        color_system=console.color_system,  # type: ignore[arg-type]
        no_color=console.no_color,
        markup=False,
        emoji=False,
        highlight=False,
    )
    for piece in pieces:
        paper.print(piece)
    write(text.getvalue())


def table(*columns: str, right: Iterable[str] = ()) -> Table:
    """Return an empty table; the columns named in ``right`` hold numbers."""
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        justify = "right" if column in right else "left"
        made.add_column(column, justify=justify, overflow="fold")  # type: ignore[arg-type]
    return made


def visible(text: str) -> str:
    """Return the text without control characters, which a terminal would obey."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def bar(share: float, width: int = 20) -> str:
    """Return a bar that is full at 1.

    >>> bar(0.5, 4), bar(0.001, 4), bar(0, 4)
    ('██', '▏', '')
    """
    eighths = max(round(share * width * 8), int(share > 0))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
