"""How figures look: styles, sizes and places."""

import math
from importlib import resources
from itertools import pairwise

import pytest

from candgen.reporting.figure import Series
from candgen.reporting.plot_style import SERIES_STYLES, lay_out, wrap
from tests.support.figures import figure, many, panel

# What goes where


def test_series_differ_without_colour():
    for what in ("line", "marker", "dashes", "fill", "hatch"):
        assert len({getattr(look, what) for look in SERIES_STYLES}) == len(SERIES_STYLES)
    yellow = "#f0e442"
    assert yellow not in {look.line for look in SERIES_STYLES}


def test_no_text_is_smaller_than_eight_points():
    matplotlib = pytest.importorskip("matplotlib")
    path = resources.files("candgen.reporting") / "plot.mplstyle"
    style = matplotlib.rc_params_from_file(path, use_default_template=False)
    sizes = [size for name, size in style.items() if name.endswith(("font.size", "labelsize"))]
    assert min([*sizes, style["legend.fontsize"], style["axes.titlesize"]]) >= 8


@pytest.mark.parametrize(
    ("count", "shape"),
    [(1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 2)), (5, (2, 3)), (9, (3, 3)), (12, (4, 3))],
)
def test_panels_are_at_most_three_a_row(count, shape):
    made = lay_out(figure("bars", *[panel(str(n)) for n in range(count)]))
    assert (made.down, made.across) == shape


def test_labels_of_numbers_do_not_touch():
    ks = (1, 2, 3, 4, 5, 10, 20, 100, 1000, 80_000, 2_500_000)
    series = Series("PTI", ks, (1.0,) * len(ks))
    panels = [panel(str(n), series) for n in range(3)]
    assert list(lay_out(figure("lines", *panels)).ticks.values()) == ["1", "2.5M"]
    logarithmic = lay_out(figure("lines", *panels, log_x=True))
    assert len(logarithmic.ticks) >= 5
    assert list(logarithmic.ticks.items())[-2:] == [(80_000, "80k"), (2_500_000, "2.5M")]
    places = [math.log(place) for place in logarithmic.ticks]
    assert min(b - a for a, b in pairwise(places)) > 0.08 * (places[-1] - places[0])
    assert logarithmic.ends[0] < 1 < 2_500_000 < logarithmic.ends[1]


def test_categories_are_in_the_order_of_the_panels():
    first, second = Series("a", ("x", "z"), (1, 2)), Series("b", ("y", "x"), (1, 2))
    made = lay_out(figure("bars", panel("1", first), panel("2", second)))
    assert made.places == {"x": 0, "z": 1, "y": 2}
    assert list(made.ticks.values()) == ["x", "z", "y"]


def test_long_words_stand_upright_and_long_names_are_wrapped():
    short = lay_out(figure("bars", panel("", *many(1))))
    assert not short.upright
    names = ("incomprehensibilities" * 2, "b", "c")
    assert lay_out(figure("bars", panel("", *many(1, names)))).upright
    assert wrap("several words that are long", 1.0) == "several words\nthat are long"
