"""A page is read alike by the fast way, by an XML parser, and by an independent one."""

import re
from html import unescape as html_unescape
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from candgen.dumps.compressed_streams import Fault, Part
from candgen.kernels.xml import unescape
from candgen.wikipedia import page_xml as module
from candgen.wikipedia.page_xml import Page, parse_page, title_of
from candgen.wikipedia.pages import read_pages
from tests.support.dumps import WrittenPage, page_xml

DUMPS = ("fowiki-two-pages", *(f"{wiki}wiki-202305-first100k-lines" for wiki in ("el", "hy", "mr")))


def by_elementtree(raw):
    """A page of sound XML as ElementTree reads it."""
    page = ElementTree.fromstring(raw)
    redirect, namespace = page.find("redirect"), page.findtext("ns")
    revision = page.findall("revision")[-1]
    return Page(
        id=int(page.findtext("id")),
        namespace=int(namespace) if namespace else None,
        title=page.findtext("title"),
        redirect=None if redirect is None else redirect.get("title"),
        text=(revision.findtext("text") or "").encode(),
        model=revision.findtext("model") or "wikitext",
        timestamp=revision.findtext("timestamp") or "",
    )


# -- pages that MediaWiki could write, and those that only XML allows

ALLOWED = st.characters(
    exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff", include_characters="\t\n"
)
TEXTS = st.text(ALLOWED | st.sampled_from("<>&\"'[]|= \n#;"), max_size=30)
NAMES = TEXTS.filter(str.strip)


@given(
    title=NAMES.map(lambda title: title.replace("\n", " ").replace("\t", " ")).filter(str.strip),
    text=TEXTS.filter(bool),
    namespace=st.integers(-2, 2600),
    redirect=st.none() | st.text(st.characters(exclude_categories=["C"]), max_size=9),
    model=st.sampled_from(["wikitext", "json", "sanitized-css"]),
)
def test_what_mediawiki_writes_is_read_the_fast_way(title, text, namespace, redirect, model):
    written = WrittenPage(title, text, namespace, redirect=redirect, model=model)
    raw = page_xml(written).strip()
    page = module._read_plain(raw)
    assert page == module._read_xml(raw) == by_elementtree(raw) == parse_page(raw)
    assert page.title == title
    assert page.text == text.encode()
    assert (page.namespace, page.redirect, page.model) == (namespace, redirect, model)
    assert not page.mended


@st.composite
def contents(draw, characters=TEXTS):
    """Text in any form that XML has for it."""
    made = []
    for piece in draw(st.lists(characters, max_size=5)):
        form = draw(st.sampled_from(["plain", "decimal", "hexadecimal", "cdata", "comment", "pi"]))
        if form == "plain":
            made.append(escape(piece, {'"': "&quot;", "'": "&apos;"}))
        elif form == "decimal":
            made.append("".join(f"&#{ord(character)};" for character in piece))
        elif form == "hexadecimal":
            made.append("".join(f"&#x{ord(character):05X};" for character in piece))
        elif form == "cdata":
            made.append(f"<![CDATA[{piece.replace(']]>', '')}]]>")
        elif form == "comment":
            made.append(f"<!--{piece.replace('-', '')} <text> -->")
        else:
            made.append(f"<?php {piece.replace('?>', '')} </text> ?>")
    return "".join(made)


SPACE = st.sampled_from(["", " ", "\n   ", "\r\n", "\t"])
ATTRIBUTES = st.sampled_from(
    [
        'bytes="12"',
        "bytes='12'",
        'xml:space="preserve"',
        'sha1="a\'b"',
        'deleted="deleted"',
        'a=">"',
    ]
)
TIMES = st.sampled_from(["", "<timestamp>2023-05-01T12:00:00Z</timestamp>", "<timestamp/>"])
MODELS = st.sampled_from(["", "<model>wikitext</model>", "<model>json</model>", "<model />"])
SLOT = "<content><role>x</role><model>y</model><text>[[z]]</text></content>"


@st.composite
def revisions(draw):
    unlike = st.lists(ATTRIBUTES, max_size=3, unique_by=lambda each: each[0])
    attributes = "".join(f" {each}" for each in draw(unlike))
    text = draw(contents())
    texts = [
        f"<text{attributes}>{text}</text>",
        f"<text{attributes}/>",
        f"<text{attributes} />",
        "",
    ]
    comment = draw(st.sampled_from(["", "<comment>&lt;text&gt;</comment>", "<comment/>"]))
    parts = [
        draw(TIMES),
        "<contributor><id>9</id></contributor>",
        comment,
        draw(st.sampled_from(texts)),
    ]
    model = draw(MODELS)
    before = draw(st.booleans())
    parts.insert(3 if before else 4, model)
    slot = draw(st.sampled_from(["", "", SLOT, SLOT.replace("<text>[[z]]</text>", "<text/>")]))
    parts.append(slot)
    return f"<revision><id>5</id>{draw(SPACE).join(parts)}</revision>"


@st.composite
def written_pages(draw):
    """Any sound XML of a page."""
    title = draw(contents(NAMES))
    quoted = quoteattr(draw(TEXTS))
    parts = [
        f"<title>{title}</title>",
        draw(st.sampled_from(["<ns>0</ns>", "<ns>14</ns>", "<ns> 4 </ns>", "", "<ns></ns>"])),
        "<id>12</id>",
        draw(st.sampled_from(["", "<redirect />", f"<redirect title={quoted} />"])),
        draw(st.sampled_from(["", "<restrictions>edit=sysop:move=sysop</restrictions>"])),
        *draw(st.lists(revisions(), min_size=1, max_size=3)),
        draw(st.sampled_from(["", "<!-- <text>x</text> -->", "<upload><comment/></upload>"])),
    ]
    return f"<page>{draw(SPACE).join(parts)}</page>".encode()


@given(written_pages())
def test_any_sound_xml_is_read_as_elementtree_reads_it(raw):
    expected = by_elementtree(raw)
    assume(expected.title)
    assert parse_page(raw) == expected
    assert module._read_plain(raw) in (None, expected)
    assert module._read_xml(raw) == expected


PLAIN = page_xml(WrittenPage("Føroyar", "Eitt [[land]].")).strip()
EMPTY = page_xml(WrittenPage("Land", "")).strip()
REVISION = PLAIN[PLAIN.index(b"<revision>") : PLAIN.index(b"</page>")]


def revised(old, new):
    """The page with another revision, newer than its own."""
    assert old in REVISION
    return PLAIN.replace(b"</page>", REVISION.replace(old, new) + b"</page>")


TEXT = re.search(rb"<text.*</text>", PLAIN)[0]
MODEL = b"<model>css</model>"
PLAIN_CSS = PLAIN.replace(b"<model>wikitext</model>", MODEL)
SUBTLE = {
    "CDATA with a tag": PLAIN.replace(b"Eitt", b"<![CDATA[<text>]]>"),
    "CDATA around a start": PLAIN.replace(b"Eitt", b"<![CDATA[ ]]> <![CDATA[ <text> ]]>"),
    "a comment with a text": PLAIN.replace(TEXT, TEXT + b"<!-- <text>another</text> -->"),
    "a comment with an end": PLAIN.replace(TEXT, TEXT + b"<!-- </text> -->"),
    "a newer revision": revised(b"Eitt", b"Stort"),
    "a newer one, of another kind": revised(b"wikitext", b"json"),
    "a newer one without text": revised(TEXT, b'<text deleted="deleted" />'),
    "a newer one with no text at all": revised(TEXT, b""),
    "another slot": PLAIN.replace(TEXT, TEXT + SLOT.encode()),
    "the model behind the text": PLAIN_CSS.replace(MODEL, b"").replace(TEXT, TEXT + MODEL),
    "lines of another system": PLAIN.replace(b"\n", b"\r\n").replace(b"Eitt", b"Eitt\r\n\r"),
    "a line in an attribute": PLAIN.replace(b"<revision>", b'<redirect title="a\nb" /><revision>'),
    "a > in an attribute": PLAIN.replace(b"<text ", b'<text a="x>y" '),
    "single quotes": PLAIN.replace(b"<text ", b"<text a='\"' "),
    "empty": EMPTY,
    "no namespace": PLAIN.replace(b"<ns>0</ns>", b""),
    "a tag with a space": PLAIN.replace(b"</text>", b"</text >"),
}


@pytest.mark.parametrize("raw", SUBTLE.values(), ids=SUBTLE)
def test_subtle_pages(raw):
    expected = by_elementtree(raw)
    assert parse_page(raw) == expected == module._read_xml(raw)
    assert module._read_plain(raw) in (None, expected)


def test_what_the_newest_revision_says_counts():
    assert parse_page(SUBTLE["a newer revision"]).text == b"Stort [[land]]."
    assert parse_page(SUBTLE["a newer one without text"]).text == b""
    assert parse_page(SUBTLE["another slot"]).text == b"Eitt [[land]]."
    assert parse_page(SUBTLE["the model behind the text"]).model == "css"


@pytest.mark.parametrize("wiki", DUMPS)
def test_real_pages_are_read_alike_in_both_ways(shared_data, monkeypatch, wiki):
    dump = Part(str(shared_data / "dumps" / f"{wiki}.xml.bz2"))
    seen = []
    parse = parse_page

    def compared(raw):
        assert module._read_plain(raw) is not None or b"</text>" not in raw
        assert module._read_plain(raw) in (None, module._read_xml(raw))
        assert parse(raw) == by_elementtree(raw)
        seen.append(raw)
        return parse(raw)

    monkeypatch.setattr("candgen.wikipedia.pages.parse_page", compared)
    found = list(read_pages(dump))
    assert sum(isinstance(item, Page) for item in found) == len(seen) > 1
    assert {item.kind for item in found if isinstance(item, Fault)} <= {"truncated", "page cut off"}


# -- pages that are not sound XML


def test_a_page_is_mended():
    raw = PLAIN.replace(b"Eitt", b"R&B &nbsp;&eacute;&unknown; &copy=1 &#0;&amp;lt; \xff")
    page = parse_page(raw)
    assert page.mended
    assert page.text.decode() == "R&B \xa0é&unknown; &copy=1 �&lt; � [[land]]."
    assert page._replace(text=b"", mended=False) == by_elementtree(PLAIN)._replace(text=b"")


def test_text_whose_markup_was_not_escaped_is_whole():
    page = parse_page(PLAIN.replace(b"Eitt", b"Eitt <b>stort</b> og <ref name='x'/>"))
    assert page.text.decode() == "Eitt <b>stort</b> og <ref name='x'/> [[land]]."
    assert page.mended


def test_of_a_page_that_is_mended_the_last_revision_counts_too():
    page = parse_page(revised(b"Eitt", b"Stort &nbsp;").replace(b"<minor />", b"<minor>"))
    assert page.mended
    assert page.text.decode() == "Stort \xa0 [[land]]."
    page = parse_page(EMPTY.replace(b"<minor />", b"<minor>"))
    assert (page.text, page.mended, page.title) == (b"", True, "Land")


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        (b"<id>1</id>", b"<id>" + b"9" * 30 + b"</id>", "id", 0),
        (b"<id>1</id>", b"<id>" + b"9" * 5000 + b"</id>", "id", 0),
        (b"<id>1</id>", b"<id>one</id>", "id", 0),
        (b"<ns>0</ns>", b"<ns>99999999999</ns>", "namespace", None),
        (b"<ns>0</ns>", b"<ns>main</ns>", "namespace", None),
    ],
)
def test_numbers_that_no_column_holds_are_left_out(old, new, field, value):
    page = parse_page(PLAIN.replace(old, new, 1))
    assert getattr(page, field) == value
    assert page.title == "Føroyar"
    assert page.mended


@pytest.mark.parametrize(
    "raw",
    [
        b"<page></page>",
        b"<page><title></title><revision><text>x</text></revision></page>",
        b"<page><title>a</title><revision><text>x</revision></page>",
        b"<page><title>a<b></title><revision><text>x</text></revision></page>",
        b"<page>\x00\xff</page>",
    ],
)
def test_what_has_no_title_or_an_endless_text_is_no_page(raw):
    assert parse_page(raw) is None


def test_a_page_without_a_text_is_empty():
    assert parse_page(b"<page><title>a</title></page>").text == b""


@given(st.data())
def test_no_bytes_raise(data):
    raw = bytearray(data.draw(st.sampled_from([PLAIN, EMPTY, *SUBTLE.values()])))
    for _ in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, len(raw)))
        wrong = st.binary(max_size=3) | st.sampled_from(
            [b"<", b"&", b"<![CDATA[", b"</text>", b"\r"]
        )
        raw[start : start + data.draw(st.integers(0, 9))] = data.draw(wrong)
    page = parse_page(bytes(raw))
    if page is not None:
        assert page.title
        assert (page.title + (page.redirect or "") + page.model + page.timestamp).encode()
        assert page.namespace is None or abs(page.namespace) < 2**31
        assert 0 <= abs(page.id) < 2**63


def test_deep_nesting_takes_little_memory_and_time():
    depth = 50_000
    comment = b"<comment>" + b"<a>" * depth + b"</a>" * depth + b"</comment>"
    page = parse_page(PLAIN.replace(b"<minor />", comment + b"<!-- -->"))
    assert page == by_elementtree(PLAIN)


def test_the_name_of_a_page_that_cannot_be_read():
    assert title_of(b"<page><title>R&amp;B</title>") == "'R&B'"
    assert title_of(b"<page><title>" + b"a" * 100 + b"</title>") == repr("a" * 80)
    assert title_of(b"<page>") == title_of(b"") == "a page without a title"


# -- references


def by_hand(raw):
    """References replaced as XML 1.0 says; None where one is none of its own."""
    names = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"quot": b'"', b"apos": b"'"}
    first, *rest = raw.split(b"&")
    made = [first]
    for each in rest:
        name, semicolon, after = each.partition(b";")
        if not semicolon:
            return None
        if name in names:
            made.append(names[name])
        elif re.fullmatch(rb"#[0-9]+|#x[0-9a-fA-F]+", name):
            point = int(name[2:], 16) if name[1:2] == b"x" else int(name[1:])
            allowed = point in (9, 10, 13) or 0x20 <= point < 0xD800 or 0xE000 <= point < 0xFFFE
            if not (allowed or 0x10000 <= point <= 0x10FFFF):
                return None
            made.append(chr(point).encode())
        else:
            return None
        made.append(after)
    return b"".join(made)


def by_kernel(raw):
    target = np.full(len(raw) + 8, 0xAA, dtype=np.uint8)
    length = unescape(np.frombuffer(raw, dtype=np.uint8), target[: len(raw)])
    assert bytes(target[len(raw) :]) == b"\xaa" * 8  # never behind its end
    return None if length < 0 else target[:length].tobytes()


POINTS = st.integers(0, 0x110010) | st.sampled_from([9, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800])
REFERENCES = st.one_of(
    st.sampled_from([b"&lt;", b"&gt;", b"&amp;", b"&quot;", b"&apos;"]),
    POINTS.map(lambda point: b"&#%d;" % point),
    POINTS.map(lambda point: b"&#x%x;" % point),
    POINTS.map(lambda point: b"&#x%X;" % point),
)
PIECES = REFERENCES | st.text(max_size=4).map(lambda text: text.replace("&", "").encode())
WRONG = [
    *(b"&", b"&;", b"&#;", b"&#x;", b"&#X41;", b"&nbsp;", b"&LT;", b"&l", b"&\0lt;", b"&#-1;"),
    *(b"&lt ;", b"&quott;", b"&#1 2;", b"&#x110000;", b"&#xFFFFFFFFF;", b"&#99999999999;"),
]
ODD = st.sampled_from([*WRONG, b";", b"\xff", b"\0"])
EDGES = [9, 10, 13, 0x20, 0x7F, 0x80, 0x7FF, 0x800, 0xD800, 0xE000, 0xFFFE, 0x10000, 0x110000]


@pytest.mark.parametrize("edge", [0, *EDGES])
def test_characters_at_the_edges_of_what_xml_allows(edge):
    for point in {max(0, edge - 1), edge, edge + 1}:
        for raw in (b"&#%d;" % point, b"&#x%x;" % point):
            assert by_kernel(raw) == by_hand(raw)


@pytest.mark.parametrize("raw", WRONG)
def test_what_is_no_reference_is_refused(raw):
    assert by_kernel(b"a" + raw + b"b") is None is by_hand(b"a" + raw + b"b")


@given(st.lists(PIECES, max_size=8).map(b"".join))
def test_references_are_replaced(raw):
    assert by_kernel(raw) == by_hand(raw)


@given(st.lists(PIECES | ODD, max_size=8).map(b"".join))
def test_references_that_are_none_are_refused(raw):
    made = by_kernel(raw)
    longest = max((len(name) for name in re.findall(rb"&([^;]*)", raw)), default=0)
    if made is not None or longest <= 11:  # longer ones are left to the parser
        assert made == by_hand(raw)


@given(st.integers(1, 0x10FFFF))
def test_every_character_fits_in_the_place_of_its_reference(point):
    for reference in (f"&#{point};", f"&#x{point:x};"):
        raw = reference.encode()
        assert by_kernel(raw) == by_hand(raw)
        if by_hand(raw) is not None and not 0x7F <= point < 0xA0 and point != 13:
            assert by_hand(raw).decode() == html_unescape(reference) or point & 0xFFFE == 0xFFFE
            assert len(by_hand(raw)) <= len(raw)
