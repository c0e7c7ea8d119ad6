"""What a figure shows: data only, which `plot` draws and `alt_text` describes."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from candgen.errors import ParameterError

Kind = Literal["lines", "bars", "dots"]
Value = float | None

MAX_LISTED_VALUES = 30
"""An alternative text lists so many values; of more it gives the lowest and the highest."""

_KIND_NAMES = {"lines": "Line chart", "bars": "Bar chart", "dots": "Dot plot"}


class Point(NamedTuple):
    """One value of a series; None where it is not known."""

    x: float | str
    y: Value
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Series:
    """Values of one thing, such as a method, at numbers or for categories.

    None and nan mean: no value. ``low`` and ``high`` are the ends of an interval around each
    value; both are empty if there are no intervals.
    """

    label: str
    x: tuple[float | str, ...]
    y: tuple[Value, ...]
    low: tuple[Value, ...] = ()
    high: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        """Raise ParameterError for lengths that differ and for values that cannot be drawn."""
        expected = {"y": (len(self.x),), "low": (0, len(self.x)), "high": (len(self.low),)}
        for name, lengths in expected.items():
            values = getattr(self, name)
            if len(values) not in lengths:
                raise ParameterError(
                    f"{name} of {self.label!r} has {len(values)} values: "
                    f"expected {' or '.join(map(str, lengths))}"
                )
            for value in values:
                if not _is_drawable(value):
                    raise ParameterError(
                        f"{name} of {self.label!r} has {value!r}: expected finite numbers or None"
                    )

    def points(self) -> Iterator[Point]:
        """Yield every x with its value, and the ends of its interval if both are known."""
        none = (None,) * len(self.x)
        for x, *values in zip(self.x, self.y, self.low or none, self.high or none, strict=True):
            y, low, high = (
                None if value is None or math.isnan(value) else float(value) for value in values
            )
            known = y is not None and low is not None and high is not None
            yield Point(x, y, (low, high) if known else None)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Panel:
    """Series that are drawn on the same axes."""

    title: str
    series: tuple[Series, ...]

    def __post_init__(self) -> None:
        """Raise ParameterError for two series with the same label."""
        labels = [series.label for series in self.series]
        if len(set(labels)) < len(labels):
            raise ParameterError(
                f"the series of the panel {self.title!r} are {', '.join(labels)}: "
                "expected labels that differ"
            )


@dataclass(frozen=True)
class Figure:
    """Panels that share their axes.

    ``lines`` join values at numbers, or at categories in their order. ``bars`` and ``dots`` are
    of categories; dots have the categories down the page and the values, with ``y_label`` and
    ``y_range``, across. Without a ``y_range`` the axis follows the values.
    """

    name: str
    title: str
    kind: Kind
    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    log_x: bool = False
    y_range: tuple[float, float] | None = (0, 100)
    note: str = ""

    def __post_init__(self) -> None:
        """Raise ParameterError for what cannot be drawn."""
        if self.kind not in get_args(Kind):
            raise ParameterError(
                f"kind of {self.name!r} is {self.kind!r}: expected {' or '.join(get_args(Kind))}"
            )
        if not any(series.x for series in self.series()):
            raise ParameterError(f"the figure {self.name!r} has no values: give it some to draw")
        if self.y_range is not None:
            low, high = self.y_range
            if not -math.inf < low < high < math.inf:
                raise ParameterError(
                    f"y_range of {self.name!r} is {self.y_range}: expected (lowest, highest)"
                )
        self._check_x()

    def series(self) -> Iterator[Series]:
        """Yield the series of all panels."""
        return (series for panel in self.panels for series in panel.series)

    def labels(self) -> list[str]:
        """Return the labels of all series, each once, in the order of the panels."""
        return list(dict.fromkeys(series.label for series in self.series()))

    def _check_x(self) -> None:
        """Check that all x are numbers, positive on a logarithmic axis, or all are categories."""
        for series in self.series():
            if self.kind != "lines" and len(set(series.x)) < len(series.x):
                raise ParameterError(
                    f"x of {series.label!r} is {series.x}: expected each value once"
                )
        values = [x for series in self.series() for x in series.x]
        if len({isinstance(x, str) for x in values}) > 1:
            raise ParameterError(f"x of {self.name!r} has numbers and strings: choose one")
        for x in values:
            if isinstance(x, str):
                if self.log_x:
                    raise ParameterError(f"x of {self.name!r} has {x!r}: log_x needs numbers")
            elif x is None or not math.isfinite(x) or (self.log_x and x <= 0):
                raise ParameterError(
                    f"x of {self.name!r} has {x!r}: expected "
                    f"{'positive' if self.log_x else 'finite'} numbers"
                )


def alt_text(figure: Figure) -> str:
    """Return a description for a reader who cannot see the figure: axes, panels and values.

    >>> series = Series("PTI", (10, 30), (65.25, None))
    >>> alt_text(Figure("recall", "Recall", "lines", "k", "recall, %", (Panel("", (series,)),)))
    'Line chart: Recall. Across: k. Upwards: recall, %. PTI: 10 65.2, 30 no data.'
    """
    axes = "Across: {y}. Down: {x}." if figure.kind == "dots" else "Across: {x}. Upwards: {y}."
    title = figure.title.rstrip(".")
    parts = [
        _KIND_NAMES[figure.kind] + (f": {title}." if title else "."),
        axes.format(x=figure.x_label or "categories", y=figure.y_label),
    ]
    titles = [panel.title for panel in figure.panels if panel.title]
    if len(figure.panels) > 1:
        parts.append(f"{len(figure.panels)} panels: {', '.join(titles)}.")
    count = sum(len(series.x) for series in figure.series())
    parts += _list_values(figure) if count <= MAX_LISTED_VALUES else _list_extremes(figure)
    return " ".join(parts)


def _list_values(figure: Figure) -> Iterator[str]:
    for panel in figure.panels:
        for series in panel.series:
            values = (f"{_format_x(x)} {_format_y(y)}" for x, y, _ in series.points())
            yield f"{_in_panel(panel, series.label)}: {', '.join(values)}."


def _list_extremes(figure: Figure) -> Iterator[str]:
    for label in figure.labels():
        known = [
            (y, _in_panel(panel, _format_x(x)))
            for panel in figure.panels
            for series in panel.series
            if series.label == label
            for x, y, _ in series.points()
            if y is not None
        ]
        if not known:
            yield f"{label}: no data."
            continue
        (low, at), (high, there) = min(known), max(known)
        yield f"{label}: from {_format_y(low)} ({at}) to {_format_y(high)} ({there})."


def _in_panel(panel: Panel, text: str) -> str:
    return f"{panel.title}, {text}" if panel.title else text


def _format_x(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:,g}" if abs(x) < 1e6 else f"{x:,.0f}"


def _format_y(y: Value) -> str:
    return "no data" if y is None else f"{y:,.1f}"


def _is_drawable(value: object) -> bool:
    """Return whether a value is None, nan or a finite number."""
    if value is None:
        return True
    numeric = hasattr(value, "__float__") and not isinstance(value, bool | str)
    return numeric and not math.isinf(value)  # type: ignore[arg-type]
