"""One HTML page with tables, figures and how they were made.

The page is a single file that loads nothing else: no script, no font, no picture.
"""

import base64
import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from candgen.reporting.figure import Figure, alt_text
from candgen.reporting.plot import Drawing
from candgen.reporting.table import Table

_MADE = "How this page was made"
_SCALE = 1.5  # pixels for a point: what is legible on paper is small on a screen
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SIZE = re.compile(rb'<svg[^>]* width="([0-9.]+)pt" height="([0-9.]+)pt"')
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#results">Skip to the results</a>
<header>
<h1>{title}</h1>
{introduction}</header>
<div class="columns">
<nav aria-labelledby="contents">
<h2 id="contents">Contents</h2>
<ol>
{links}
</ol>
</nav>
<main id="results">
{sections}
</main>
</div>
</body>
</html>
"""


@dataclass(frozen=True)
class Exhibit:
    """Tables, a figure, or both, with a title; ``text`` is what to know before looking at them.

    The name becomes the id of the section. An empty line separates paragraphs of the text.
    """

    name: str
    title: str
    tables: tuple[Table, ...]
    figure: Figure | None = None
    drawing: Drawing | None = None
    text: str = ""


def page(
    title: str,
    exhibits: Sequence[Exhibit],
    *,
    facts: Iterable[tuple[str, object]],
    command: str,
    introduction: str = "",
) -> str:
    """Return a self-contained HTML page; ``facts`` are what makes the results reproducible."""
    contents = [(each.name, each.title, _exhibit(each)) for each in exhibits]
    contents.append(("made", _MADE, _made(facts, command)))
    links, sections = [], []
    for id_, (_, heading, content) in zip(
        _ids([name for name, _, _ in contents]), contents, strict=True
    ):
        links.append(f'<li><a href="#{id_}">{_escape(heading)}</a></li>')
        sections.append(f'<section id="{id_}">\n<h2>{_escape(heading)}</h2>\n{content}</section>')
    return _PAGE.format(
        title=_escape(title),
        style=files(__package__).joinpath("page.css").read_text(encoding="utf-8"),
        introduction=_paragraphs(introduction),
        links="\n".join(links),
        sections="\n".join(sections),
    )


def _ids(names: Iterable[str]) -> list[str]:
    """Return ids that differ from each other, and from those of the page itself."""
    taken = ["contents", "results"]
    for name in names:
        id_ = first = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "exhibit"
        number = 1
        while id_ in taken:
            number += 1
            id_ = f"{first}-{number}"
        taken.append(id_)
    return taken[2:]


def _exhibit(exhibit: Exhibit) -> str:
    tables = (_table(table, exhibit.title) for table in exhibit.tables)
    return _paragraphs(exhibit.text) + _figure(exhibit) + "".join(tables)


def _table(table: Table, heading: str) -> str:
    """Return a table in a box of its own, which scrolls if the table is wider than the page."""
    # A caption that repeats the heading above it is left out.
    shown = replace(table, title="" if table.title == heading else table.title, note="")
    note = f'<p class="note">{_escape(table.note)}</p>\n' if table.note else ""
    return (
        f'<div class="scroll" role="region" aria-label="{_escape(table.title or heading)}" '
        f'tabindex="0">\n{shown.to_html()}\n</div>\n{note}'
    )


def _figure(exhibit: Exhibit) -> str:
    figure, drawing = exhibit.figure, exhibit.drawing
    described, caption = exhibit.title, ""
    if figure is not None:
        described = alt_text(replace(figure, title=figure.title or exhibit.title))
        caption = _caption("" if figure.title == exhibit.title else figure.title, figure.note)
    if drawing is None:
        return f'<p class="note">{_escape(described)}</p>\n' if figure else ""
    data = base64.b64encode(drawing.svg).decode("ascii")
    size = ""
    if found := _SIZE.search(drawing.svg[:2000]):
        width, height = (round(float(points) * _SCALE) for points in found.groups())
        size = f' width="{width}" height="{height}"'
    image = f'<img src="data:image/svg+xml;base64,{data}"{size} alt="{_escape(described)}">'
    return f'<figure>\n<div class="card">{image}</div>\n{caption}</figure>\n'


def _caption(title: str, note: str) -> str:
    end = "." if note and title[-1:].isalnum() else ""
    parts = [f"<strong>{_escape(title)}{end}</strong>" if title else "", _escape(note)]
    text = " ".join(filter(None, parts))
    return f"<figcaption>{text}</figcaption>\n" if text else ""


def _made(facts: Iterable[tuple[str, object]], command: str) -> str:
    pairs = "\n".join(
        f"<dt>{_escape(name)}</dt>\n<dd>{_escape(str(value))}</dd>" for name, value in facts
    )
    listed = f"<dl>\n{pairs}\n</dl>\n" if pairs else ""
    return f'{listed}<pre tabindex="0"><code>{_escape(command)}</code></pre>\n'


def _paragraphs(text: str) -> str:
    parts = (part.strip() for part in re.split(r"\n\s*\n", text))
    return "".join(f"<p>{_escape(part)}</p>\n" for part in parts if part)


def _escape(text: str) -> str:
    """Escape text for HTML; characters that UTF-8 lacks, as in some paths, are spelled out."""
    encodable = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return html.escape(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", encodable))
