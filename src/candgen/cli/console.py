"""Tables for people, by rich; imported only by commands that print some."""

import io
import os
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table

from candgen.cli.output import CONTROL, visible, write


class _SafeConsole(Console):
    """A console that shows no control characters of data, wherever they come from."""

    def render(self, renderable: RenderableType, options: Any = None) -> Iterator[Segment]:  # noqa: ANN401
        """Yield segments; those of rich itself, such as colours, have no text."""
        for segment in super().render(renderable, options):
            if segment.control or not CONTROL.search(segment.text):
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
