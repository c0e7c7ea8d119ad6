"""Figures drawn as SVG and PNG.

This is the only file that imports matplotlib, which is optional.
"""

import contextlib
import io
import math
import threading
import warnings
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from candgen.errors import MissingExtraError, ParameterError, StorageError
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.plot_style import (
    GREY,
    INK,
    MAX_PANELS,
    SERIES_STYLES,
    Layout,
    SeriesStyle,
    lay_out,
    wrap,
)
from candgen.storage.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

DPI = 200

# The settings of matplotlib and the warnings of Python are global: one thread draws at a time.
_LOCK = threading.Lock()


class Drawing(NamedTuple):
    """A figure as the content of two files."""

    svg: bytes
    png: bytes

    def write(self, path: Path) -> None:
        """Write one of the files atomically: SVG if the suffix is .svg, else PNG."""
        try:
            with atomic_write(path) as file:
                file.write(self.svg if path.suffix == ".svg" else self.png)
        except OSError as error:
            raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error


def draw(figure: Figure) -> Drawing:
    """Draw a figure as SVG and PNG; the same figure always gives the same bytes.

    Text in the SVG is drawn as outlines, the same on every system, unless no font of this system
    has all of its characters: then it stays text, for the fonts of the reader.
    """
    for count, most, what in (
        (len(figure.labels()), len(SERIES_STYLES), "series"),
        (len(figure.panels), MAX_PANELS, "panels"),
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
    # Settings that the user has made for other figures do not apply.
    ours: list[Any] = ["default", str(files(__package__) / "plot.mplstyle"), _fonts(figure)]
    with _LOCK, style.context(ours), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"(?s)Glyph .* missing from", UserWarning)
        return _render(_make_canvas(figure), figure)


def _fonts(figure: Figure) -> dict[str, Any]:
    """Return DejaVu Sans, which comes with matplotlib, and fonts for characters it lacks."""
    from matplotlib.font_manager import fontManager, get_font  # noqa: PLC0415

    xs = (str(x) for series in figure.series() for x in series.x)
    titles = (panel.title for panel in figure.panels)
    text = "".join([figure.x_label, figure.y_label, *figure.labels(), *titles, *xs])
    missing = {ord(character) for character in text if character.isprintable()}
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
    return {"font.family": families, "svg.fonttype": "none" if missing else "path"}


def _make_canvas(figure: Figure) -> "Canvas":
    """Draw all panels with one legend, and one label for each axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

    layout, count = lay_out(figure), len(figure.panels)
    canvas = Canvas(figsize=(layout.width, 0.5 + layout.down * layout.row), layout="constrained")
    FigureCanvasAgg(canvas)
    grid = canvas.subplots(layout.down, layout.across, sharex=True, sharey=True, squeeze=False)
    axes: list[Axes] = list(grid.ravel())
    for place, (ax, panel) in enumerate(zip(axes, figure.panels, strict=False)):
        _DRAW[figure.kind](ax, panel, figure, layout)
        _set_axes(ax, figure, layout)
        ax.set_title(wrap(panel.title, 0.85 * layout.panel))
        ax.tick_params(labelbottom=place + layout.across >= count)
    for ax in axes[count:]:
        ax.remove()
    canvas.set_figheight(canvas.get_figheight() + _add_legend(canvas, figure, layout))
    lowest = axes[(layout.down - 1) * layout.across]
    _add_labels(canvas, figure, axes[0], axes[layout.across - 1], lowest)
    return canvas


def _draw_lines(ax: "Axes", panel: Panel, figure: Figure, layout: Layout) -> None:
    for series, look in _styled(panel, figure):
        points = sorted(series.points(), key=lambda point: layout.places[point.x])
        x = [layout.places[point.x] for point in points]
        y = [math.nan if point.y is None else point.y for point in points]
        ax.plot(x, y, clip_on=False, **_line(look))
        for place, point in zip(x, points, strict=True):
            if point.interval:
                ax.plot([place, place], point.interval, color=look.line, linewidth=0.9)
    if all(point.y is None for series in panel.series for point in series.points()):
        ax.text(0.5, 0.5, "no data", transform=ax.transAxes, ha="center", color=GREY)


def _draw_bars(ax: "Axes", panel: Panel, figure: Figure, layout: Layout) -> None:
    width = min(0.84 / len(figure.labels()), 0.5)
    known = {point.x for series in panel.series for point in series.points() if point.y is not None}
    without = [place for name, place in layout.places.items() if name not in known]
    for series, look in _styled(panel, figure):
        for point in series.points():
            x = layout.places[point.x] + width * _shift(series, figure)
            if point.y is None and point.x in known:
                without.append(x)
            elif point.y is not None:
                ax.bar(x, point.y, width, **_bar(look))
            if point.interval:
                ax.plot([x, x], point.interval, color=INK, linewidth=0.9)
    style: dict[str, Any] = {"rotation": 90, "ha": "center", "va": "bottom", "color": GREY}
    for x in without:
        ax.text(x, 0.03, "no data", transform=ax.get_xaxis_transform(), **style)


def _draw_dots(ax: "Axes", panel: Panel, figure: Figure, layout: Layout) -> None:
    apart = 0.6 / len(figure.labels())
    for series, look in _styled(panel, figure):
        for point in series.points():
            y = layout.places[point.x] + apart * _shift(series, figure)
            if point.interval:
                ax.plot(point.interval, [y, y], color=look.line, linewidth=0.9)
            if point.y is not None:
                ax.plot([point.y], [y], clip_on=False, **{**_line(look), "linestyle": "none"})


_DRAW = {"lines": _draw_lines, "bars": _draw_bars, "dots": _draw_dots}


def _styled(panel: Panel, figure: Figure) -> list[tuple[Series, SeriesStyle]]:
    """Return the series with their styles; a series looks the same in every panel."""
    labels = figure.labels()
    return [(series, SERIES_STYLES[labels.index(series.label)]) for series in panel.series]


def _shift(series: Series, figure: Figure) -> float:
    """Return how many steps a series is beside the middle of its category."""
    labels = figure.labels()
    return labels.index(series.label) - (len(labels) - 1) / 2


def _line(look: SeriesStyle) -> dict[str, Any]:
    return {
        "color": look.line,
        "marker": look.marker,
        "markeredgewidth": 1.1,
        "linestyle": (0, look.dashes) if look.dashes else "-",
        "markerfacecolor": look.inside,
        "zorder": 3,
    }


def _bar(look: SeriesStyle) -> dict[str, Any]:
    return {"facecolor": look.fill, "hatch": look.hatch, "edgecolor": "white", "linewidth": 0.6}


def _set_axes(ax: "Axes", figure: Figure, layout: Layout) -> None:
    """Set scales, ticks and grid lines."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    dots = figure.kind == "dots"
    values, names = (ax.xaxis, ax.yaxis) if dots else (ax.yaxis, ax.xaxis)
    values.set_major_locator(MaxNLocator(5))
    values.grid(visible=True)
    if figure.y_range is not None:
        (ax.set_xlim if dots else ax.set_ylim)(*figure.y_range)
    if figure.log_x and figure.kind == "lines":
        ax.set_xscale("log")
    names.set_ticks(list(layout.ticks), list(layout.ticks.values()))
    names.set_ticks([], minor=True)
    if dots:
        names.grid(visible=True, linestyle=(0, (1, 2)))
        ax.set_ylim(len(layout.places) - 0.4, -0.6)
    elif figure.kind == "bars":
        ax.set_xlim(-0.5, len(layout.places) - 0.5)
        ax.tick_params(axis="x", length=0, labelrotation=90 if layout.upright else 0)
    else:
        ax.set_xlim(*layout.ends)


def _add_legend(canvas: "Canvas", figure: Figure, layout: Layout) -> float:
    """Add one legend for all panels, on as few lines as possible; return its height in inches."""
    from matplotlib.lines import Line2D  # noqa: PLC0415
    from matplotlib.patches import Patch  # noqa: PLC0415

    labels = [wrap(label, 0.8 * layout.width) for label in figure.labels()]
    if len(labels) == 1:
        return 0.0
    dots = figure.kind == "dots"
    handles: list[Artist] = []
    for look in SERIES_STYLES[: len(labels)]:
        line = {**_line(look), **({"linestyle": "none"} if dots else {})}
        handles.append(Patch(**_bar(look)) if figure.kind == "bars" else Line2D([], [], **line))
    options: dict[str, Any] = {"loc": "outside upper center", "handlelength": 1.0 if dots else 2.6}
    for columns in range(len(labels), 0, -1):
        legend = canvas.legend(handles, labels, ncols=columns, **options)
        size = legend.get_window_extent()
        if columns == 1 or size.width < canvas.bbox.width:
            break
        legend.remove()
    return float(size.height / canvas.dpi)


def _add_labels(
    canvas: "Canvas", figure: Figure, first: "Axes", right: "Axes", lowest: "Axes"
) -> None:
    """Add one label for each axis, in the middle of the panels rather than of the page."""
    texts = (figure.x_label, figure.y_label)
    across, upwards = reversed(texts) if figure.kind == "dots" else texts
    horizontal = canvas.supxlabel(across)
    vertical = canvas.supylabel(wrap(upwards, 0.8 * canvas.get_figheight()))
    canvas.draw_without_rendering()  # this computes the positions of the panels
    corner = first.get_position()
    horizontal.set_x((corner.x0 + right.get_position().x1) / 2)
    vertical.set_y((corner.y1 + lowest.get_position().y0) / 2)


def _render(canvas: "Canvas", figure: Figure) -> Drawing:
    """Return both files, without the date and the name of the program."""
    svg, png = io.BytesIO(), io.BytesIO()
    title = {"Title": figure.title} if figure.title else {}
    canvas.savefig(svg, format="svg", metadata={**title, "Date": None, "Creator": None})
    canvas.savefig(png, format="png", dpi=DPI, metadata={**title, "Software": None})
    return Drawing(svg.getvalue(), png.getvalue())
