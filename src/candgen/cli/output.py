"""Standard output: UTF-8 for programs, tables for people."""

import contextlib
import json
import re
import shlex
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from candgen.errors import CandgenError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""C0 and C1 controls, and the overrides and isolates that change the direction of text."""
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


def note(text: str, *, wrap: bool = False) -> None:
    """Print a line to stderr for people; do nothing if stderr is closed.

    With ``wrap``, a long one becomes several lines if stderr is a terminal.
    """
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            shown = visible(text)
            if wrap and sys.stderr.isatty():
                shown = textwrap.fill(
                    shown,
                    80,
                    subsequent_indent="  ",
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            sys.stderr.write(f"{shown}\n")
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
    return CONTROL.sub(
        lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text
    )


def show(*pieces: "RenderableType", whole: bool = False) -> None:
    """Write pieces for people to read: on a terminal, in colour and as wide as the terminal.

    With ``whole`` they may be wider than the terminal, but are not cut.
    """
    from candgen.cli.console import show as show_with_rich  # noqa: PLC0415

    show_with_rich(*pieces, whole=whole)


def table(*columns: str, right: Iterable[str] = ()) -> "Table":
    """Return an empty table; the columns named in ``right`` hold numbers."""
    from candgen.cli.console import table as rich_table  # noqa: PLC0415

    return rich_table(*columns, right=right)


def visible(text: str) -> str:
    """Return the text with a replacement for each control character that a terminal would obey.

    >>> visible("\x1b[2J \u202eWien")
    '�[2J �Wien'
    """
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def bar(share: float, width: int = 20) -> str:
    """Return a bar that is full at 1.

    >>> bar(0.5, 4), bar(0.001, 4), bar(0, 4)
    ('██', '▏', '')
    """
    eighths = max(round(share * width * 8), int(share > 0))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
