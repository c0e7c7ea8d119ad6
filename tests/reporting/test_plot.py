"""Figures drawn as SVG and PNG."""

import hashlib
import math
import re
import subprocess
import sys
import threading
import warnings
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from candgen.errors import MissingExtraError, ParameterError, StorageError
from candgen.reporting import plot
from candgen.reporting.figure import Panel, Series
from tests.support.figures import TYPES, figure, many, panel


@pytest.mark.parametrize("kind", ["lines", "bars", "dots"])
def test_too_many_series_and_panels_are_refused(kind):
    with pytest.raises(ParameterError, match="has 7 series, more than can be told apart: draw 6"):
        plot.draw(figure(kind, panel("a", *many(4)), panel("b", *many(7)[4:])))
    with pytest.raises(ParameterError, match="has 13 panels"):
        plot.draw(figure(kind, *[panel(str(n)) for n in range(13)]))


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


def test_a_drawing_is_written_in_the_form_of_the_suffix(tmp_path):
    drawing = plot.Drawing(b"<svg/>", b"PNG")
    for suffix, content in (("svg", b"<svg/>"), ("png", b"PNG")):
        drawing.write(tmp_path / f"figure.{suffix}")
        assert (tmp_path / f"figure.{suffix}").read_bytes() == content
    with pytest.raises(StorageError, match=r"figure\.svg cannot be written"):
        drawing.write(tmp_path / "no" / "figure.svg")
