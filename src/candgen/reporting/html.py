"""One page with everything: tables, figures, and how they were made.

The page is a single file that asks for nothing else: no script, no font, no picture from elsewhere.
"""

import base64
import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from candgen.reporting.figure import Figure, alt_text
from candgen.reporting.plot import Drawing
from candgen.reporting.table import Table

_MADE = "How this page was made"
_ENLARGED = 1.5  # pixels for a point: what is legible on paper is small on a screen
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SIZE = re.compile(rb'<svg[^>]* width="([0-9.]+)pt" height="([0-9.]+)pt"')


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure of the paper, or both; ``text`` says what to know before looking.

    The name becomes the section's address. Paragraphs of the text are apart by an empty line.
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
    """A self-contained HTML page; ``facts`` are what makes the results reproducible."""
    addresses = _addresses([exhibit.name for exhibit in exhibits])
    sections = [
        _section(address, exhibit.title, _exhibit(exhibit))
        for address, exhibit in zip(addresses, exhibits, strict=True)
    ]
    last = _addresses([*addresses, "made"])[-1]
    sections.append(_section(last, _MADE, _made(facts, command)))
    headings = [*(exhibit.title for exhibit in exhibits), _MADE]
    links = "\n".join(
        f'<li><a href="#{address}">{_escape(heading)}</a></li>'
        for address, heading in zip([*addresses, last], headings, strict=True)
    )
    return _PAGE.format(
        title=_escape(title),
        style=_style(),
        introduction=_paragraphs(introduction),
        links=links,
        sections="\n".join(sections),
    )


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


@cache
def _style() -> str:
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def _addresses(names: Iterable[str]) -> list[str]:
    """Addresses that differ from each other, and from those of the page itself."""
    taken = ["contents", "results"]
    for name in names:
        address = first = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "exhibit"
        number = 1
        while address in taken:
            number += 1
            address = f"{first}-{number}"
        taken.append(address)
    return taken[2:]


def _section(address: str, heading: str, content: str) -> str:
    return f'<section id="{address}">\n<h2>{_escape(heading)}</h2>\n{content}</section>'


def _exhibit(exhibit: Exhibit) -> str:
    tables = (_table(table, exhibit.title) for table in exhibit.tables)
    return _paragraphs(exhibit.text) + _figure(exhibit) + "".join(tables)


def _table(table: Table, heading: str) -> str:
    """A table in a box of its own, which scrolls if the table is wider than the page."""
    # A caption that repeats the heading above it helps nobody.
    shown = replace(table, title="" if table.title == heading else table.title, note="")
    note = f'<p class="note">{_escape(table.note)}</p>\n' if table.note else ""
    return (
        f'<div class="scroll" role="region" aria-label="{_escape(table.title or heading)}" '
        f'tabindex="0">\n{shown.to_html()}\n</div>\n{note}'
    )


def _figure(exhibit: Exhibit) -> str:
    figure, drawing = exhibit.figure, exhibit.drawing
    described = exhibit.title
    if figure is not None:
        described = alt_text(replace(figure, title=figure.title or exhibit.title))
    if drawing is None:
        return f'<p class="note">{_escape(described)}</p>\n' if figure else ""
    data = base64.b64encode(drawing.svg).decode("ascii")
    image = (
        f'<img src="data:image/svg+xml;base64,{data}"{_size(drawing.svg)} '
        f'alt="{_escape(described)}">'
    )
    return f'<figure>\n<div class="card">{image}</div>\n{_caption(exhibit)}</figure>\n'


def _caption(exhibit: Exhibit) -> str:
    if exhibit.figure is None:
        return ""
    title, note = exhibit.figure.title, exhibit.figure.note
    if title == exhibit.title:  # as with tables
        title = ""
    end = "." if note and title[-1:].isalnum() else ""
    parts = [f"<strong>{_escape(title)}{end}</strong>" if title else "", _escape(note)]
    text = " ".join(filter(None, parts))
    return f"<figcaption>{text}</figcaption>\n" if text else ""


def _size(svg: bytes) -> str:
    """The size at which an image is shown, if it says its own."""
    found = _SIZE.search(svg[:2000])
    if found is None:
        return ""
    width, height = (round(float(points) * _ENLARGED) for points in found.groups())
    return f' width="{width}" height="{height}"'


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
    """Text that HTML shows as it is; what UTF-8 cannot hold, as in some paths, is spelled out."""
    held = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return html.escape(_STEERING.sub("\N{REPLACEMENT CHARACTER}", held))
