"""The page: one file, well formed, that asks for nothing else."""

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.reporting.figure import Figure, Panel, Series, alt_text
from candgen.reporting.html import Exhibit, page
from candgen.reporting.plot import Drawing
from candgen.reporting.table import Table

VOID = {"meta", "img", "br", "link", "input", "hr"}
SVG = b'<?xml version="1.0"?><svg viewBox="0 0 72 36" width="72pt" height="36pt"></svg>'
TABLE = Table("Recall@30", ("method", "recall"), (("PTI", 89.5),), note="Of 1,500 queries.")
FIGURE = Figure(
    "figure-1",
    "Ceilings",
    "bars",
    "type",
    "ceiling, %",
    (Panel("fo", (Series("pivot", ("easy", "hard"), (90.0, None)),)),),
    note="Pivots only.",
)
FACTS = [("seed", 0), ("candgen", "0.1.0")]
EXHIBITS = [
    Exhibit("table-1", "Recall", (TABLE, TABLE), text="First.\nStill first.\n\n\nSecond."),
    Exhibit("figure-1", "Where the ceilings are", (), FIGURE, Drawing(SVG, b"")),
]


class Document(HTMLParser):
    """What a page is made of; tags that do not match are refused."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]


def made(exhibits=EXHIBITS, **options):
    defaults = {"facts": FACTS, "command": "candgen reproduce all", "introduction": "Hello."}
    return page("Tables & figures", exhibits, **{**defaults, **options})


def test_the_page_has_what_it_should():
    text = made()
    assert text.startswith('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">')
    document = Document(text)
    names = [tag for tag, _ in document.tags]
    assert (names.count("h1"), names.count("nav"), names.count("main")) == (1, 1, 1)
    assert document.texts["title"] == document.texts["h1"] == ["Tables & figures"]
    assert document.texts["h2"] == [
        "Contents",
        "Recall",
        "Where the ceilings are",
        "How this page was made",
    ]
    assert document.texts["p"] == [
        "Hello.",
        "First.\nStill first.",
        "Second.",
        "Of 1,500 queries.",
        "Of 1,500 queries.",
    ]
    assert document.texts["code"] == ["candgen reproduce all"]
    assert document.texts["dt"] == ["seed", "candgen"]
    assert document.texts["dd"] == ["0", "0.1.0"]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in document.of(
        "meta"
    )
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_every_link_has_its_section():
    document = Document(made())
    sections = [attributes["id"] for attributes in document.of("section")]
    assert sections == ["table-1", "figure-1", "made"]
    links = [attributes["href"] for attributes in document.of("a")]
    assert links == ["#results", *(f"#{section}" for section in sections)]
    assert {link[1:] for link in links} <= set(document.ids)
    assert len(set(document.ids)) == len(document.ids)
    for attributes in document.of("nav"):
        assert attributes["aria-labelledby"] in document.ids


def test_nothing_is_loaded_from_elsewhere():
    text = made()
    document = Document(text)
    assert not {"script", "link", "iframe", "object", "base"} & {tag for tag, _ in document.tags}
    for _, attributes in document.tags:
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in ("src", "href", "srcset", "data"):
                assert value.startswith(("data:image/svg+xml;base64,", "#"))
    assert "http" not in text
    assert not re.search(r"@import|url\(", text)


def test_a_figure_is_an_image_with_its_description():
    document = Document(made())
    (image,) = document.of("img")
    assert base64.b64decode(image["src"].partition(",")[2]) == SVG
    assert image["alt"] == alt_text(FIGURE)
    assert (image["width"], image["height"]) == ("108", "54")
    assert document.texts["strong"] == ["Ceilings."]
    assert "".join(document.texts["figcaption"]) == " Pivots only."


def test_a_caption_does_not_repeat_the_heading():
    same = Exhibit("f", "Ceilings", (Table("Ceilings", ("a",), ()),), FIGURE, Drawing(SVG, b""))
    document = Document(made([same]))
    assert "strong" not in document.texts
    assert "caption" not in document.texts
    assert "".join(document.texts["figcaption"]) == "Pivots only."
    boxes = [attributes for attributes in document.of("div") if attributes.get("role") == "region"]
    assert [box["aria-label"] for box in boxes] == ["Ceilings"]
    assert all(box["tabindex"] == "0" for box in boxes)


def test_a_figure_without_a_title_has_that_of_its_exhibit():
    untitled = replace(FIGURE, title="", note="")
    document = Document(made([Exhibit("f", "Ceilings", (), untitled, Drawing(SVG, b""))]))
    assert document.of("img")[0]["alt"].startswith("Bar chart: Ceilings. Across")
    assert document.of("figcaption") == document.of("strong") == []


def test_a_figure_that_was_not_drawn_is_described():
    document = Document(made([Exhibit("f", "F", (), FIGURE)]))
    assert document.of("img") == []
    assert alt_text(FIGURE) in document.texts["p"]


def test_a_drawing_alone_needs_no_size_and_no_figure():
    drawing = Drawing(b"<svg></svg>", b"")
    (image,) = Document(made([Exhibit("f", "A drawing", (), drawing=drawing)])).of("img")
    assert image["alt"] == "A drawing"
    assert "width" not in image


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Table 1", "table-1", "TABLE  1!"], ["table-1", "table-1-2", "table-1-3", "made"]),
        (["made", "results", "contents"], ["made", "results-2", "contents-2", "made-2"]),
        (["मराठी", "", "exhibit-2"], ["exhibit", "exhibit-2", "exhibit-2-2", "made"]),
    ],
)
def test_addresses_differ(names, expected):
    document = Document(made([Exhibit(name, "T", ()) for name in names]))
    assert [attributes["id"] for attributes in document.of("section")] == expected
    assert len(set(document.ids)) == len(document.ids)


def test_a_page_of_nothing():
    document = Document(page("T", [], facts=[], command="candgen"))
    assert [attributes["id"] for attributes in document.of("section")] == ["made"]
    assert document.of("dl") == []


def test_the_same_exhibits_give_the_same_page():
    assert made() == made()


words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20
) | st.sampled_from(
    ["<script>alert(1)</script>", '"><img src=x onerror=y>', "{title}", "&amp;", "]]>", "</style>"]
)


@given(words, words, words, words)
def test_everything_is_shown_as_it_is(title, heading, value, command):
    exhibit = Exhibit(title, heading, (), FIGURE, Drawing(SVG, b""), text=value)
    document = Document(page(title, [exhibit], facts=[(heading, value)], command=command))
    shown = document.texts
    assert "".join(shown.get("h1", [])) == title
    assert "".join(shown.get("code", [])) == command
    assert "".join(shown.get("dt", [])) == heading
    assert "".join(shown.get("dd", [])) == value
    assert "script" not in {tag for tag, _ in document.tags}
    assert len(document.of("img")) == 1


def test_what_utf_8_cannot_hold_is_spelled_out():
    text = made(command="candgen reproduce all \udcff\x1b[31m")
    assert "all \\udcff\N{REPLACEMENT CHARACTER}[31m" in text
    assert text.encode("utf-8")
