"""How figures look: colours, markers, sizes and positions. Nothing here draws.

No distinction rests on colour alone: series also differ in marker and dash, or in hatching, so that
they can be distinguished in grey and by colour-blind readers. `plot.mplstyle` has the fonts and
lines.
"""

import math
import textwrap
from typing import NamedTuple

from candgen.reporting.figure import Figure

MAX_PANELS, MAX_ACROSS = 12, 3
"""The most panels of a figure, and the most of them side by side."""
MAX_TICKS = 12
"""A logarithmic axis with more values than these shows powers of ten."""

INK, GREY = "#1a1a1a", "#595959"

_WIDTHS = {1: 5.2, 2: 6.4, 3: 7.0}  # of a figure, by the number of panels side by side
_HEIGHTS = {1: 2.4, 2: 2.0, 3: 1.75}  # of a panel
_LETTER = 0.075  # inches: the approximate width of a letter


class SeriesStyle(NamedTuple):
    """How one series looks, in colours of Okabe and Ito; lines need the darker ones."""

    line: str
    marker: str
    inside: str
    dashes: tuple[float, ...]
    fill: str
    hatch: str


SERIES_STYLES = (
    SeriesStyle("#0072b2", "o", "#0072b2", (), "#0072b2", ""),
    SeriesStyle("#d55e00", "s", "white", (4, 1.6), "#e69f00", "////"),
    SeriesStyle("#000000", "^", "#000000", (1.2, 1.4), "#56b4e9", "...."),
    SeriesStyle("#009e73", "D", "white", (6, 1.6, 1.2, 1.6), "#009e73", "xxxx"),
    SeriesStyle("#cc79a7", "v", "#cc79a7", (2.5, 1.2), "#cc79a7", "----"),
    SeriesStyle("#e69f00", "x", "white", (7, 1.4, 1.2, 1.4, 1.2, 1.4), "#d55e00", "\\\\\\\\"),
)
"""As many series as one figure can have."""

Places = dict[float | str, float]


class Layout(NamedTuple):
    """Sizes in inches, and ``places`` along the axis of x."""

    across: int
    down: int
    width: float
    row: float
    places: Places
    ends: tuple[float, float]
    ticks: dict[float, str]
    upright: bool

    @property
    def panel(self) -> float:
        """The width of a panel with its margins."""
        return self.width / self.across


def lay_out(figure: Figure) -> Layout:
    """Return all sizes and places that can be computed without drawing."""
    count, dots = len(figure.panels), figure.kind == "dots"
    across = 2 if count == 4 else min(count, MAX_ACROSS)
    width = _WIDTHS[max(across, 2) if dots else across]  # names beside dots need room too
    places = shown = _places_of(figure)
    if figure.kind == "lines":
        shown = _drop_overlapping(figure, _powers_of_ten(figure, places), width / across)
    room = 1.8 if dots else 0.85 * width / across / len(shown)
    ticks = {place: wrap(_abbreviate(x), room) for x, place in shown.items()}
    upright = not dots and any(
        len(word) * _LETTER > room for text in ticks.values() for word in text.split()
    )
    titles = [wrap(panel.title, 0.85 * width / across) for panel in figure.panels]
    row = _HEIGHTS[across] + 0.15 * max(title.count("\n") for title in titles)
    if dots:
        row = 0.3 + (0.16 + 0.07 * len(figure.labels())) * len(places)
    down, ends = math.ceil(count / across), _ends_of(figure, places)
    return Layout(across, down, width, row, places, ends, ticks, upright)


def wrap(text: str, inches: float) -> str:
    """Return the text in lines of about this width; a word is never cut."""
    return textwrap.fill(text, max(int(inches / _LETTER), 8), break_long_words=False)


def _places_of(figure: Figure) -> Places:
    """Return the place of each x: a number is its own, categories are in their order."""
    values = [x for series in figure.series() for x in series.x]
    if figure.kind == "lines" and not any(isinstance(x, str) for x in values):
        return {x: float(x) for x in sorted(values, key=float)}
    return {x: place for place, x in enumerate(dict.fromkeys(values))}


def _ends_of(figure: Figure, places: Places) -> tuple[float, float]:
    """Return the ends of the axis of x: every place, and a margin for markers."""
    low, high = min(places.values()), max(places.values())
    if figure.log_x:
        margin = (high / low) ** 0.05 if low < high else 2
        return low / margin, high * margin
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def _powers_of_ten(figure: Figure, places: Places) -> Places:
    """Return powers of ten as places, where a logarithmic axis has too many values to read."""
    if not figure.log_x or len(places) <= MAX_TICKS:
        return places
    low, high = min(places.values()), max(places.values())
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    return {10.0**n: 10.0**n for n in powers} or places


def _drop_overlapping(figure: Figure, places: Places, width: float) -> Places:
    """Return the places whose labels do not overlap; the last one is always among them."""
    at = {x: math.log(place) if figure.log_x else place for x, place in places.items()}
    inch = (max(at.values()) - min(at.values())) / width

    def is_clear(left: float | str, right: float | str) -> bool:
        letters = (len(_abbreviate(left)) + len(_abbreviate(right))) / 2 + 1
        return at[right] - at[left] >= 1.3 * letters * _LETTER * inch

    *others, last = places
    chosen: list[float | str] = []
    for x in others:
        if is_clear(x, last) and (not chosen or is_clear(chosen[-1], x)):
            chosen.append(x)
    return {x: places[x] for x in [*chosen, last]}


def _abbreviate(x: float | str) -> str:
    """Return the label of a tick: 80k for 80000."""
    if isinstance(x, str):
        return x
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(x) >= size:
            return f"{x / size:g}{letter}"
    return f"{x:g}"
