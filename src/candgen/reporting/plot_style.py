"""How figures look: colours, marks, sizes, and what goes where. Nothing here draws.

Nothing rests on colour alone: series differ in marker and dash, or in hatching, too, so that they
can be told apart in grey, and by the colour-blind.
"""

import math
import textwrap
from collections.abc import Mapping
from typing import Any, NamedTuple

from candgen.reporting.figure import Figure

PANELS, ACROSS = 12, 3
"""At most so many panels, and so many of them side by side."""
TICKS = 12
"""Of more values than these, an axis of powers of ten shows the powers."""

INK, GREY, PALE = "#1a1a1a", "#595959", "#dddddd"

STYLE: Mapping[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "figure.labelsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlepad": 7,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.borderaxespad": 0.6,
    "legend.columnspacing": 1.6,
    "figure.constrained_layout.w_pad": 0.06,
    "figure.constrained_layout.h_pad": 0.06,
    "text.parse_math": False,
    "svg.hashsalt": "candgen",
}
"""Settings of matplotlib. Sizes are in points, at the size at which figures are printed."""

_WIDTHS = {1: 5.2, 2: 6.4, 3: 7.0}  # of a figure, by the number of panels side by side
_HEIGHTS = {1: 2.4, 2: 2.0, 3: 1.75}  # of a panel
_LETTER = 0.075  # inches that a letter takes across, about


class Look(NamedTuple):
    """What one series looks like, in colours of Okabe and Ito; lines need the darker ones."""

    line: str
    marker: str
    inside: str
    dashes: tuple[float, ...]
    fill: str
    hatch: str


LOOKS = (
    Look("#0072b2", "o", "#0072b2", (), "#0072b2", ""),
    Look("#d55e00", "s", "white", (4, 1.6), "#e69f00", "////"),
    Look("#000000", "^", "#000000", (1.2, 1.4), "#56b4e9", "...."),
    Look("#009e73", "D", "white", (6, 1.6, 1.2, 1.6), "#009e73", "xxxx"),
    Look("#cc79a7", "v", "#cc79a7", (2.5, 1.2), "#cc79a7", "----"),
    Look("#e69f00", "x", "white", (7, 1.4, 1.2, 1.4, 1.2, 1.4), "#d55e00", "\\\\\\\\"),
)
"""As many series as one figure can have."""


class Plan(NamedTuple):
    """What goes where: sizes are in inches, ``places`` are along the axis of x."""

    across: int
    down: int
    width: float
    row: float
    places: dict[float | str, float]
    ends: tuple[float, float]
    ticks: dict[float, str]
    upright: bool

    @property
    def panel(self) -> float:
        """The width of a panel, with what stands beside it."""
        return self.width / self.across


def plan(figure: Figure) -> Plan:
    """Decide all that does not need a drawing to be measured."""
    count, dots = len(figure.panels), figure.kind == "dots"
    across = 2 if count == 4 else min(count, ACROSS)
    width = _WIDTHS[max(across, 2) if dots else across]  # names beside dots need room too
    places = _places(figure)
    shown = places
    if figure.kind == "lines":
        shown = _apart(figure, _round(figure, places), width / across)
    room = 1.8 if dots else 0.85 * width / across / len(shown)
    ticks = {place: wrapped(_short(x), room) for x, place in shown.items()}
    upright = not dots and any(
        len(word) * _LETTER > room for text in ticks.values() for word in text.split()
    )
    titles = [wrapped(panel.title, 0.85 * width / across) for panel in figure.panels]
    row = _HEIGHTS[across] + 0.15 * max(title.count("\n") for title in titles)
    if dots:
        row = 0.3 + (0.16 + 0.07 * len(figure.labels())) * len(places)
    down, ends = math.ceil(count / across), _ends(figure, places)
    return Plan(across, down, width, row, places, ends, ticks, upright)


def wrapped(text: str, inches: float) -> str:
    """The text on so many lines that it is about so wide; a word is never cut."""
    return textwrap.fill(text, max(int(inches / _LETTER), 8), break_long_words=False)


def _places(figure: Figure) -> dict[float | str, float]:
    """Where each x is: numbers where they are, categories in their order."""
    values = [x for panel in figure.panels for series in panel.series for x in series.x]
    if figure.kind == "lines" and not any(isinstance(x, str) for x in values):
        return {x: float(x) for x in sorted(values, key=float)}
    return {x: place for place, x in enumerate(dict.fromkeys(values))}


def _ends(figure: Figure, places: dict[float | str, float]) -> tuple[float, float]:
    """The ends of the axis of x: every place, and a margin for markers."""
    low, high = min(places.values()), max(places.values())
    if figure.log_x:
        margin = (high / low) ** 0.05 if low < high else 2
        return low / margin, high * margin
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def _round(figure: Figure, places: dict[float | str, float]) -> dict[float | str, float]:
    """Powers of ten, where an axis of them has more values than anyone wants to read."""
    if not figure.log_x or len(places) <= TICKS:
        return places
    low, high = min(places.values()), max(places.values())
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    return {10.0**n: 10.0**n for n in powers} or places


def _apart(
    figure: Figure, places: dict[float | str, float], width: float
) -> dict[float | str, float]:
    """The places whose labels do not touch; the last one is always among them."""
    at = {x: math.log(place) if figure.log_x else place for x, place in places.items()}
    inch = (max(at.values()) - min(at.values())) / width

    def clear(left: float | str, right: float | str) -> bool:
        letters = (len(_short(left)) + len(_short(right))) / 2 + 1
        return at[right] - at[left] >= 1.3 * letters * _LETTER * inch

    *others, last = places
    chosen: list[float | str] = []
    for x in others:
        if clear(x, last) and (not chosen or clear(chosen[-1], x)):
            chosen.append(x)
    return {x: places[x] for x in [*chosen, last]}


def _short(x: float | str) -> str:
    """A label for a tick: 80k for 80000."""
    if isinstance(x, str):
        return x
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(x) >= size:
            return f"{x / size:g}{letter}"
    return f"{x:g}"
