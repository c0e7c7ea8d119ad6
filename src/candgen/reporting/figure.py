"""What a figure shows: data only, so that it can be drawn, described or tabulated."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from candgen.errors import ParameterError

Kind = Literal["lines", "bars", "dots"]
Value = float | None

DESCRIBED = 30
"""How many values a description spells out; of more it says the lowest and the highest."""

_CALLED = {"lines": "Line chart", "bars": "Bar chart", "dots": "Dot plot"}


@dataclass(frozen=True)
class Series:
    """Values of one thing, such as a method, at numbers or for categories.

    None, and what is not a number, say that there is no value. ``low`` and ``high`` are the ends
    of an interval around each value; both are empty if there are none.
    """

    label: str
    x: tuple[float | str, ...]
    y: tuple[Value, ...]
    low: tuple[Value, ...] = ()
    high: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        """Refuse lengths that differ and values that cannot be drawn."""
        expected = {"y": (len(self.x),), "low": (0, len(self.x)), "high": (len(self.low),)}
        for name, lengths in expected.items():
            if len(values := getattr(self, name)) not in lengths:
                raise ParameterError(
                    f"{name} of {self.label!r} has {len(values)} values: "
                    f"expected {' or '.join(map(str, lengths))}"
                )
            for value in values:
                _check_number(value, f"{name} of {self.label!r}")

    def points(self) -> "Iterator[Point]":
        """Every x with its value, and the ends of its interval, if there is one."""
        none = (None,) * len(self.x)
        for x, *values in zip(self.x, self.y, self.low or none, self.high or none, strict=True):
            y, low, high = (_known(value) for value in values)
            if y is None or low is None or high is None:
                yield Point(x, y, None)
            else:
                yield Point(x, y, (low, high))


class Point(NamedTuple):
    """One value of a series; None is what is not known."""

    x: float | str
    y: Value
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Panel:
    """Series that are drawn on the same axes."""

    title: str
    series: tuple[Series, ...]

    def __post_init__(self) -> None:
        """Refuse two series of one name."""
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
    of categories; dots have the categories down the page and the values, ``y_label`` and
    ``y_range``, across. Without a ``y_range`` the values decide.
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
        """Refuse what cannot be drawn."""
        if self.kind not in get_args(Kind):
            raise ParameterError(
                f"kind of {self.name!r} is {self.kind!r}: expected {' or '.join(get_args(Kind))}"
            )
        if not any(series.x for panel in self.panels for series in panel.series):
            raise ParameterError(f"the figure {self.name!r} has no values: give it some to draw")
        if self.y_range is not None:
            low, high = self.y_range
            if not -math.inf < low < high < math.inf:
                raise ParameterError(
                    f"y_range of {self.name!r} is {self.y_range}: expected (lowest, highest)"
                )
        _check_x(self)

    def labels(self) -> list[str]:
        """The labels of all series, each once, in the order in which panels have them."""
        found = (series.label for panel in self.panels for series in panel.series)
        return list(dict.fromkeys(found))


def alt_text(figure: Figure) -> str:
    """What somebody who cannot see the figure should know of it: axes, panels and values.

    >>> series = Series("PTI", (10, 30), (65.25, None))
    >>> alt_text(Figure("recall", "Recall", "lines", "k", "recall, %", (Panel("", (series,)),)))
    'Line chart: Recall. Across: k. Upwards: recall, %. PTI: 10 65.2, 30 no data.'
    """
    axes = "Across: {y}. Down: {x}." if figure.kind == "dots" else "Across: {x}. Upwards: {y}."
    title = figure.title.rstrip(".")
    parts = [
        _CALLED[figure.kind] + (f": {title}." if title else "."),
        axes.format(x=figure.x_label or "categories", y=figure.y_label),
    ]
    titles = [panel.title for panel in figure.panels if panel.title]
    if len(figure.panels) > 1:
        parts.append(f"{len(figure.panels)} panels: {', '.join(titles)}.")
    count = sum(len(series.x) for panel in figure.panels for series in panel.series)
    parts += _every_value(figure) if count <= DESCRIBED else _extremes(figure)
    return " ".join(parts)


def _every_value(figure: Figure) -> Iterator[str]:
    for panel in figure.panels:
        for series in panel.series:
            values = (f"{_name(x)} {_number(y)}" for x, y, _ in series.points())
            yield f"{_of(panel, series.label)}: {', '.join(values)}."


def _extremes(figure: Figure) -> Iterator[str]:
    for label in figure.labels():
        known = [
            (y, _of(panel, _name(x)))
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
        yield f"{label}: from {_number(low)} ({at}) to {_number(high)} ({there})."


def _of(panel: Panel, text: str) -> str:
    return f"{panel.title}, {text}" if panel.title else text


def _name(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:,g}" if abs(x) < 1e6 else f"{x:,.0f}"


def _number(y: Value) -> str:
    return "no data" if y is None else f"{y:,.1f}"


def _known(value: Value) -> Value:
    return None if value is None or math.isnan(value) else float(value)


def _check_number(value: object, where: str) -> None:
    if value is None:
        return
    if isinstance(value, bool | str) or not hasattr(value, "__float__") or math.isinf(value):
        raise ParameterError(f"{where} has {value!r}: expected finite numbers or None")


def _check_x(figure: Figure) -> None:
    """All are numbers, positive on a logarithmic axis, or all are categories, each once."""
    for series in (series for panel in figure.panels for series in panel.series):
        if figure.kind != "lines" and len(set(series.x)) < len(series.x):
            raise ParameterError(f"x of {series.label!r} is {series.x}: expected each value once")
    values = [x for panel in figure.panels for series in panel.series for x in series.x]
    are_text = {isinstance(x, str) for x in values}
    if len(are_text) > 1:
        raise ParameterError(f"x of {figure.name!r} has numbers and strings: choose one")
    for x in values:
        if isinstance(x, str):
            if figure.log_x:
                raise ParameterError(f"x of {figure.name!r} has {x!r}: log_x needs numbers")
        elif x is None or not math.isfinite(x) or (figure.log_x and x <= 0):
            raise ParameterError(
                f"x of {figure.name!r} has {x!r}: expected "
                f"{'positive' if figure.log_x else 'finite'} numbers"
            )
