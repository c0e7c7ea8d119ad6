"""Standard output: UTF-8 for programs, tables for people."""

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table

from candgen.errors import CandgenError

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_EIGHTHS = " ▏▎▍▌▋▊▉"


def write(text: str) -> None:
    """Write to stdout, in UTF-8 whatever the locale, and let the reader have it at once."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        # Part of a path that is no UTF-8 becomes \udcff, which JSON can read.
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise CandgenError(f"standard output cannot be written: {reason}") from error


def note(sentence: str) -> None:
    """Tell a person something on stderr, if there is one that takes it."""
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(f"{sentence}\n")
            sys.stderr.flush()


def write_json(value: object) -> None:
    """Write one JSON document, indented."""
    write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def show(*pieces: RenderableType, whole: bool = False) -> None:
    """Write pieces for a person to read; in colour only on a terminal, and there as wide as it.

    With ``whole`` they are rather too wide for it than cut.
    """
    console = Console(markup=False, emoji=False, highlight=False)
    room = console.options.update(max_width=10_000)
    needed = [Measurement.get(console, room, piece) for piece in pieces]
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max([console.width, *(each.maximum for each in needed)])
    elif whole:
        console.width = max([console.width, *(each.minimum for each in needed)])
    # Not console.capture(), which writes to stdout, if only nothing: that, too, can fail.
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
    """An empty table; the columns named in ``right`` hold numbers."""
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        justify = "right" if column in right else "left"
        made.add_column(column, justify=justify, overflow="fold")  # type: ignore[arg-type]
    return made


def visible(text: str) -> str:
    """The text without what would steer a terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def bar(share: float, width: int = 20) -> str:
    """A bar that is full at 1.

    >>> bar(0.5, 4), bar(0.001, 4), bar(0, 4)
    ('██', '▏', '')
    """
    eighths = max(round(share * width * 8), int(share > 0))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
