"""Standard output: UTF-8 for programs, tables for people."""

import contextlib
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table

from candgen.errors import CandgenError

# C0 and C1 controls, and the overrides and isolates that change the direction of text.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
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
            sys.stderr.write(f"{visible(sentence)}\n")
            sys.stderr.flush()


def suggest_query(output: Path, mention: str) -> None:
    """Print a command that queries a new index, unless the mention is very long or unprintable."""
    line = shlex.join(["candgen", "query", str(output), mention, "-k", "5"])
    if len(shlex.quote(mention)) <= LONGEST_EXAMPLE and visible(line) == line:
        note(f"try: {line}")


def write_json(value: object) -> None:
    """Write one JSON document, indented."""
    write(escape_controls(json.dumps(value, ensure_ascii=False, indent=2)) + "\n")


def escape_controls(text: str) -> str:
    """Return JSON that means the same, with escapes for control characters in its strings."""
    if text.isprintable():  # much faster, and true of nearly every line
        return text
    return _CONTROL.sub(
        lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text
    )


class _SafeConsole(Console):
    """A console that shows no control characters of data, wherever they come from."""

    def render(self, renderable: RenderableType, options: Any = None) -> Iterator[Segment]:  # noqa: ANN401
        """Yield segments; those of rich itself, such as colours, have no text."""
        for segment in super().render(renderable, options):
            if segment.control or not _CONTROL.search(segment.text):
                yield segment
            else:
                lines = map(visible, segment.text.split("\n"))
                yield Segment("\n".join(lines), segment.style)


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
    paper = _SafeConsole(
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
    """Return the text with a replacement for each control character that a terminal would obey.

    >>> visible("\x1b[2J \u202eWien")
    '�[2J �Wien'
    """
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def bar(share: float, width: int = 20) -> str:
    """Return a bar that is full at 1.

    >>> bar(0.5, 4), bar(0.001, 4), bar(0, 4)
    ('██', '▏', '')
    """
    eighths = max(round(share * width * 8), int(share > 0))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
