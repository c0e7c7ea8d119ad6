"""Figures: what they may hold, how they are described, and how they are drawn."""

import hashlib
import math
import re
import subprocess
import sys
import threading
import warnings
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from importlib import resources
from itertools import pairwise
from pathlib import Path

import pytest

from candgen.errors import MissingExtraError, ParameterError
from candgen.reporting import plot
from candgen.reporting.figure import Figure, Panel, Series, alt_text
from candgen.reporting.plot_style import SERIES_STYLES, lay_out, wrap

TYPES = ("easy", "medium", "hard")


def figure(kind="lines", *panels, **options):
    defaults = {"name": "recall", "title": "Recall", "x_label": "k", "y_label": "recall@k, %"}
    return Figure(kind=kind, panels=panels or (panel("fo"),), **{**defaults, **options})


def panel(title, *series):
    return Panel(title, series or (Series("PTI", (10, 30), (65.2, 81.0)),))


def many(count, x=TYPES):
    return [
        Series(f"method {n}", x, tuple(10.0 * n + i for i in range(len(x)))) for n in range(count)
    ]


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


@pytest.mark.parametrize("kind", ["lines", "bars", "dots"])
def test_too_many_series_and_panels_are_refused(kind):
    with pytest.raises(ParameterError, match="has 7 series, more than can be told apart: draw 6"):
        plot.draw(figure(kind, panel("a", *many(4)), panel("b", *many(7)[4:])))
    with pytest.raises(ParameterError, match="has 13 panels"):
        plot.draw(figure(kind, *[panel(str(n)) for n in range(13)]))


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


# How they are drawn


def draw(what):
    pytest.importorskip("matplotlib")
    return plot.draw(what)


def size(png):
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


KINDS = {
    "lines": figure(
        "lines", *[panel(f"p{n}", *many(6, (1, 10, 100))) for n in range(5)], log_x=True
    ),
    "categories": figure("lines", panel("", *many(2))),
    "bars": figure("bars", *[panel(f"p{n}", *many(5)) for n in range(2)], y_range=None),
    "dots": figure("dots", panel("", *many(3))),
}


@pytest.mark.parametrize("name", KINDS)
def test_files_are_valid_and_always_the_same(name):
    svg, png = draw(KINDS[name])
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.find("{http://www.w3.org/2000/svg}title").text == "Recall"
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    inches = [float(root.get(side).removesuffix("pt")) / 72 for side in ("width", "height")]
    assert size(png) == pytest.approx([200 * inch for inch in inches], abs=1.5)
    assert draw(KINDS[name]) == (svg, png)
    for volatile in (b"date", b"creator", b"Matplotlib", b"matplotlib.org", b"Software", b"tIME"):
        assert volatile not in svg
        assert volatile not in png


def test_another_program_with_other_settings_draws_the_same(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": "x", "axes.facecolor": "red"}):
        before = dict(matplotlib.rcParams)
        drawn = draw(KINDS["dots"])
        assert dict(matplotlib.rcParams) == before
    assert drawn == draw(KINDS["dots"])
    code = (
        "import sys, hashlib\n"
        f"from {__name__} import KINDS, draw\n"
        "for file in draw(KINDS['dots']): print(hashlib.sha256(file).hexdigest())\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        env={"MPLCONFIGDIR": str(tmp_path), "PATH": ""},
    )
    assert done.stdout.split() == [hashlib.sha256(file).hexdigest() for file in drawn]


def test_threads_draw_the_same():
    expected = draw(KINDS["dots"]), draw(KINDS["categories"])
    found = {}

    def work(place):
        found[place] = draw(KINDS["dots"]), draw(KINDS["categories"])

    threads = [threading.Thread(target=work, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [expected] * 3


def test_a_legend_makes_a_figure_higher_not_its_panels_smaller():
    one, six = (size(draw(figure("bars", panel("", *many(n)))).png) for n in (1, 6))
    assert one[0] == six[0]
    assert six[1] >= one[1] + 30


def test_odd_figures_are_drawn():
    """Two values at one place, a panel without series, one value, and no title."""
    twice = Series("a", (5, 5, 7), (1.0, 2.0, 3.0))
    drawn = draw(figure("lines", panel("p", twice), Panel("none", ()), title=""))
    assert ElementTree.fromstring(drawn.svg).find("{http://www.w3.org/2000/svg}title") is None
    one = panel("p", Series("a", (5,), (1.0,)))
    for options in ({"log_x": True}, {"y_range": None}):
        assert draw(figure("lines", one, **options)).png != drawn.png


@pytest.mark.parametrize("kind", ["lines", "bars", "dots"])
def test_values_that_are_not_there(kind):
    whole = Series("a", TYPES, (10.0, 20.0, 30.0), (5.0, 15.0, 25.0), (15.0, 25.0, 35.0))
    holed = replace(whole, y=(10.0, None, 30.0))
    nan = replace(whole, y=(10.0, math.nan, 30.0))
    zero = replace(whole, y=(10.0, 0.0, 30.0))
    nothing = replace(whole, y=(None,) * 3)
    svgs = [
        draw(figure(kind, panel("p", series))).svg for series in (whole, holed, nan, zero, nothing)
    ]
    assert svgs[1] == svgs[2]
    assert len({*svgs}) == 4


def test_no_data_is_said_where_a_bar_is_missing(monkeypatch):
    """Text is drawn as outlines: leave it as text, to read it."""
    monkeypatch.setattr("candgen.reporting.plot._fonts", lambda _: {"svg.fonttype": "none"})
    holed = Series("a", TYPES, (10.0, None, math.nan))
    texts = re.findall(rb"<text[^>]*>([^<]*)</text>", draw(figure("bars", panel("p", holed))).svg)
    assert texts.count(b"no data") == 2
    assert {b"easy", b"medium", b"hard", b"k", b"recall@k, %", b"p"} <= set(texts)
    both = [Series("a", TYPES, (10.0, None, None)), Series("b", TYPES, (10.0, 20.0, None))]
    texts = re.findall(rb"<text[^>]*>([^<]*)</text>", draw(figure("bars", panel("p", *both))).svg)
    assert texts.count(b"no data") == 2  # once for a's medium, once for all of hard
    empty = draw(figure("lines", panel("p", replace(holed, y=(None,) * 3))))
    assert empty.svg.count(b">no data<") == 1


def test_text_is_never_read_as_mathematics(monkeypatch):
    monkeypatch.setattr("candgen.reporting.plot._fonts", lambda _: {"svg.fonttype": "none"})
    drawn = draw(figure("bars", panel("cost $x_1$ & <b>", *many(2, ("$1", "$2", "\\alpha")))))
    assert b"cost $x_1$ &amp; &lt;b&gt;" in drawn.svg


def test_other_scripts_are_left_to_the_readers_fonts_if_ours_have_them_not():
    private = "\ue123"  # no font has it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svg = draw(figure("dots", panel("", *many(1, ("मराठी", "東京", private))))).svg
    assert f">{private}<".encode() in svg
    outlines = draw(figure("dots", panel("Føroyar", *many(1)))).svg
    assert b"<text" not in outlines


def test_without_matplotlib_the_way_out_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError) as error:
        plot.draw(figure())
    assert str(error.value) == "figures need matplotlib: pip install 'candgen[plots]'"


def test_importing_does_not_need_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import candgen.reporting.plot, candgen.reporting.html\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
