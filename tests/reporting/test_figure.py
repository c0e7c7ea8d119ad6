"""Figures: what they may hold, and how they are described."""

import math

import pytest

from candgen.errors import ParameterError
from candgen.reporting.figure import Panel, Series, alt_text
from tests.support.figures import TYPES, figure, many, panel

# What they may hold


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Series("a", (1, 2), (1,)), "y of 'a' has 1 values: expected 2"),
        (lambda: Series("a", (1,), (1,), (0, 0)), "low of 'a' has 2 values: expected 0 or 1"),
        (lambda: Series("a", (1,), (1,), (0,)), "high of 'a' has 0 values: expected 1"),
        (lambda: figure("bars", panel("", *many(1, ("x", "x")))), "expected each value once"),
        (lambda: Series("a", (1,), (math.inf,)), "y of 'a' has inf"),
        (lambda: Series("a", (1,), ("2",)), "y of 'a' has '2': expected finite numbers or None"),
        (lambda: panel("p", *many(1), *many(1)), "the series of the panel 'p'"),
        (lambda: figure("pie"), "kind of 'recall' is 'pie': expected lines or bars or dots"),
        (lambda: figure("bars", Panel("", ())), "has no values"),
        (lambda: figure("lines", panel("", Series("a", (), ()))), "has no values"),
        (lambda: figure(y_range=(1, 1)), r"y_range of 'recall' is \(1, 1\)"),
        (lambda: figure(y_range=(0, math.nan)), "y_range of 'recall'"),
        (lambda: figure("lines", panel("", Series("a", (1, "b"), (1, 1)))), "numbers and strings"),
        (lambda: figure("lines", panel("", Series("a", (0,), (1,))), log_x=True), "positive"),
        (lambda: figure("lines", panel("", Series("a", (math.nan,), (1,)))), "finite numbers"),
        (lambda: figure("lines", panel("", *many(1)), log_x=True), "log_x needs numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, sentence):
    with pytest.raises(ParameterError, match=sentence):
        make()


def test_points_have_an_interval_only_if_all_of_it_is_known():
    series = Series("a", (1, 2, 3, 4), (5, None, 5, 5), (4, 4, math.nan, 4), (6, 6, 6, None))
    assert [(p.y, p.interval) for p in series.points()] == [
        (5, (4, 6)),
        (None, None),
        (5, None),
        (5, None),
    ]


# How they are described


def test_few_values_are_described_one_by_one():
    series = Series("PTI", TYPES, (99.96, None, math.nan))
    described = alt_text(figure("dots", panel("fo", series), panel("mk", *many(1)), x_label="type"))
    assert described == (
        "Dot plot: Recall. Across: recall@k, %. Down: type. 2 panels: fo, mk. "
        "fo, PTI: easy 100.0, medium no data, hard no data. "
        "mk, method 0: easy 0.0, medium 1.0, hard 2.0."
    )


def test_many_values_are_described_by_their_extremes():
    ks = tuple(range(1000, 1020))
    up = Series("PTI", ks, tuple(float(k - 990) for k in ks))
    none = Series("other", ks, (None,) * 20)
    assert alt_text(figure("bars", panel("fo", up, none))) == (
        "Bar chart: Recall. Across: k. Upwards: recall@k, %. "
        "PTI: from 10.0 (fo, 1,000) to 29.0 (fo, 1,019). other: no data."
    )


def test_a_figure_without_a_title_is_described():
    assert alt_text(figure(title="")).startswith("Line chart. Across: k.")
