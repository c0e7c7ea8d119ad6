"""Figures, drawn, for print and for the screen.

Everything that needs matplotlib, which is optional, is in this file.
"""

import contextlib
import io
import math
import threading
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from candgen.errors import MissingExtraError, ParameterError
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.plot_style import GREY, INK, LOOKS, PANELS, STYLE, Look, Plan, plan, wrapped

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

DPI = 200

# matplotlib keeps its settings in one place for all threads, and so does Python its warnings.
_LOCK = threading.Lock()


class Drawing(NamedTuple):
    """A figure as two files."""

    svg: bytes
    png: bytes


def draw(figure: Figure) -> Drawing:
    """Draw a figure as SVG and PNG; the same figure always gives the same bytes.

    Text in the SVG is drawn as outlines, the same everywhere, unless no font here has all of its
    characters: then it is left to the fonts of whoever opens it.
    """
    for count, most, what in (
        (len(figure.labels()), len(LOOKS), "series"),
        (len(figure.panels), PANELS, "panels"),
    ):
        if count > most:
            raise ParameterError(
                f"the figure {figure.name!r} has {count} {what}, more than can be told apart: "
                f"draw {most} at most, or make two figures of it"
            )
    try:
        from matplotlib import style  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("figures need matplotlib: pip install 'candgen[plots]'") from error
    # What the user has set for other figures does not count.
    with _LOCK, style.context(["default", {**STYLE, **_fonts(figure)}]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"(?s)Glyph .* missing from", UserWarning)
        return _files(_canvas(figure), figure)


def _fonts(figure: Figure) -> dict[str, Any]:
    """DejaVu Sans, which comes with matplotlib, and others for the characters that it has not."""
    from matplotlib.font_manager import fontManager, get_font  # noqa: PLC0415

    missing = {ord(character) for character in _text(figure) if character.isprintable()}
    families = ["DejaVu Sans"]
    faces = {
        face.name: face.fname
        for face in sorted(fontManager.ttflist, key=lambda face: (face.name, face.fname))
        # Fonts of last resort have a box for everything, and those of emoji cannot be drawn.
        if face.style == "normal" and "Last Resort" not in face.name and "Emoji" not in face.name
    }
    for name in [*families, *faces]:
        with contextlib.suppress(KeyError, OSError, RuntimeError):
            found = missing & get_font(faces[name]).get_charmap().keys() if missing else set()
            missing -= found
            families += [name] if found and name not in families else []
    kind = "none" if missing else "path"
    return {"font.family": families, "svg.fonttype": kind}


def _text(figure: Figure) -> str:
    xs = (str(x) for panel in figure.panels for series in panel.series for x in series.x)
    titles = (panel.title for panel in figure.panels)
    return "".join([figure.x_label, figure.y_label, *figure.labels(), *titles, *xs])


def _canvas(figure: Figure) -> "Canvas":
    """All panels with one legend, and one label for each axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

    made, count = plan(figure), len(figure.panels)
    canvas = Canvas(figsize=(made.width, 0.5 + made.down * made.row), layout="constrained")
    FigureCanvasAgg(canvas)
    grid = canvas.subplots(made.down, made.across, sharex=True, sharey=True, squeeze=False)
    axes: list[Axes] = list(grid.ravel())
    for place, (ax, panel) in enumerate(zip(axes, figure.panels, strict=False)):
        _DRAW[figure.kind](ax, panel, figure, made)
        _axes(ax, figure, made)
        ax.set_title(wrapped(panel.title, 0.85 * made.panel))
        ax.tick_params(labelbottom=place + made.across >= count)
    for ax in axes[count:]:
        ax.remove()
    canvas.set_figheight(canvas.get_figheight() + _legend(canvas, figure, made))
    _labels(canvas, figure, axes[0], axes[made.across - 1], axes[(made.down - 1) * made.across])
    return canvas


def _lines(ax: "Axes", panel: Panel, figure: Figure, made: Plan) -> None:
    for series, look in _looks(panel, figure):
        points = sorted(series.points(), key=lambda point: made.places[point.x])
        x = [made.places[point.x] for point in points]
        y = [math.nan if point.y is None else point.y for point in points]
        ax.plot(x, y, clip_on=False, **_line(look))
        for place, point in zip(x, points, strict=True):
            if point.interval:
                ax.plot([place, place], point.interval, color=look.line, linewidth=0.9)
    if all(point.y is None for series in panel.series for point in series.points()):
        ax.text(0.5, 0.5, "no data", transform=ax.transAxes, ha="center", color=GREY)


def _bars(ax: "Axes", panel: Panel, figure: Figure, made: Plan) -> None:
    width = min(0.84 / len(figure.labels()), 0.5)
    known = {point.x for series in panel.series for point in series.points() if point.y is not None}
    for name, place in made.places.items():
        if name not in known:
            _no_data(ax, place)
    for series, look in _looks(panel, figure):
        for point in series.points():
            x = made.places[point.x] + width * _shift(series, figure)
            if point.y is None and point.x in known:
                _no_data(ax, x)
            elif point.y is not None:
                ax.bar(x, point.y, width, **_bar(look))
            if point.interval:
                ax.plot([x, x], point.interval, color=INK, linewidth=0.9)


def _no_data(ax: "Axes", x: float) -> None:
    ax.text(
        x,
        0.03,
        "no data",
        transform=ax.get_xaxis_transform(),
        rotation=90,
        ha="center",
        va="bottom",
        color=GREY,
    )


def _dots(ax: "Axes", panel: Panel, figure: Figure, made: Plan) -> None:
    apart = 0.6 / len(figure.labels())
    for series, look in _looks(panel, figure):
        for point in series.points():
            y = made.places[point.x] + apart * _shift(series, figure)
            if point.interval:
                ax.plot(point.interval, [y, y], color=look.line, linewidth=0.9)
            if point.y is not None:
                ax.plot([point.y], [y], clip_on=False, **{**_line(look), "linestyle": "none"})


_DRAW = {"lines": _lines, "bars": _bars, "dots": _dots}


def _looks(panel: Panel, figure: Figure) -> list[tuple[Series, Look]]:
    """A series looks the same in every panel."""
    labels = figure.labels()
    return [(series, LOOKS[labels.index(series.label)]) for series in panel.series]


def _shift(series: Series, figure: Figure) -> float:
    """How many steps a series stands beside the middle of those of one category."""
    labels = figure.labels()
    return labels.index(series.label) - (len(labels) - 1) / 2


def _line(look: Look) -> dict[str, Any]:
    return {
        "color": look.line,
        "marker": look.marker,
        "markeredgewidth": 1.1,
        "linestyle": (0, look.dashes) if look.dashes else "-",
        "markerfacecolor": look.inside,
        "zorder": 3,
    }


def _bar(look: Look) -> dict[str, Any]:
    return {"facecolor": look.fill, "hatch": look.hatch, "edgecolor": "white", "linewidth": 0.6}


def _axes(ax: "Axes", figure: Figure, made: Plan) -> None:
    """Scales, ticks and guides."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    down = figure.kind == "dots"
    values, names = (ax.xaxis, ax.yaxis) if down else (ax.yaxis, ax.xaxis)
    values.set_major_locator(MaxNLocator(5))
    values.grid(visible=True)
    if figure.y_range is not None:
        (ax.set_xlim if down else ax.set_ylim)(*figure.y_range)
    if figure.log_x and figure.kind == "lines":
        ax.set_xscale("log")
    names.set_ticks(list(made.ticks), list(made.ticks.values()))
    names.set_ticks([], minor=True)
    if down:
        names.grid(visible=True, linestyle=(0, (1, 2)))
        ax.set_ylim(len(made.places) - 0.4, -0.6)
    elif figure.kind == "bars":
        ax.set_xlim(-0.5, len(made.places) - 0.5)
        ax.tick_params(axis="x", length=0, labelrotation=90 if made.upright else 0)
    else:
        ax.set_xlim(*made.ends)


def _legend(canvas: "Canvas", figure: Figure, made: Plan) -> float:
    """One for all panels, on as few lines as there is room for; its height in inches."""
    from matplotlib.lines import Line2D  # noqa: PLC0415
    from matplotlib.patches import Patch  # noqa: PLC0415

    labels = [wrapped(label, 0.8 * made.width) for label in figure.labels()]
    if len(labels) == 1:
        return 0.0
    handles: list[Artist] = []
    for look in LOOKS[: len(labels)]:
        line = {**_line(look), **({"linestyle": "none"} if figure.kind == "dots" else {})}
        handles.append(Patch(**_bar(look)) if figure.kind == "bars" else Line2D([], [], **line))
    for columns in range(len(labels), 0, -1):
        legend = canvas.legend(
            handles,
            labels,
            loc="outside upper center",
            ncols=columns,
            handlelength=1.0 if figure.kind == "dots" else 2.6,
        )
        size = legend.get_window_extent()
        if columns == 1 or size.width < canvas.bbox.width:
            break
        legend.remove()
    return float(size.height / canvas.dpi)


def _labels(canvas: "Canvas", figure: Figure, first: "Axes", right: "Axes", lowest: "Axes") -> None:
    """One label for each axis, in the middle of the panels rather than of the paper."""
    texts = (figure.x_label, figure.y_label)
    across, upwards = reversed(texts) if figure.kind == "dots" else texts
    horizontal = canvas.supxlabel(across)
    vertical = canvas.supylabel(wrapped(upwards, 0.8 * canvas.get_figheight()))
    canvas.draw_without_rendering()  # only now is it known where the panels are
    corner = first.get_position()
    horizontal.set_x((corner.x0 + right.get_position().x1) / 2)
    vertical.set_y((corner.y1 + lowest.get_position().y0) / 2)


def _files(canvas: "Canvas", figure: Figure) -> Drawing:
    """Both files, without the day and the program that made them."""
    svg, png = io.BytesIO(), io.BytesIO()
    title = {"Title": figure.title} if figure.title else {}
    canvas.savefig(svg, format="svg", metadata={**title, "Date": None, "Creator": None})
    canvas.savefig(png, format="png", dpi=DPI, metadata={**title, "Software": None})
    return Drawing(svg.getvalue(), png.getvalue())
