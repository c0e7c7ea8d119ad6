"""Dumps for tests: pages in the XML that MediaWiki writes, plain or compressed in every way.

>>> xml = dump_xml([WrittenPage("Føroyar", "Eitt [[land]]."), WrittenPage("Land", "")])
>>> xml.count(b"<page>"), xml.endswith(b"</mediawiki>\\n")
(2, True)
>>> bz2.decompress(multistream(cut(xml, 100, 200))) == xml
True
"""

import bz2
import gzip
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

FAROESE = {
    -2: "Miðil",
    -1: "Serstakt",
    0: "",
    1: "Kjak",
    2: "Brúkari",
    3: "Brúkarakjak",
    4: "Wikipedia",
    5: "Wikipedia-kjak",
    6: "Mynd",
    7: "Myndakjak",
    8: "MediaWiki",
    9: "MediaWiki-kjak",
    10: "Fyrimynd",
    11: "Fyrimyndakjak",
    12: "Hjálp",
    13: "Hjálparkjak",
    14: "Bólkur",
    15: "Bólkakjak",
    828: "Module",
    829: "Module talk",
}
"""The namespaces of the Faroese Wikipedia, as its dumps have them."""
ENGLISH = {
    -2: "Media",
    -1: "Special",
    0: "",
    1: "Talk",
    2: "User",
    3: "User talk",
    4: "Wikipedia",
    5: "Wikipedia talk",
    6: "File",
    7: "File talk",
    8: "MediaWiki",
    9: "MediaWiki talk",
    10: "Template",
    11: "Template talk",
    12: "Help",
    13: "Help talk",
    14: "Category",
    15: "Category talk",
    828: "Module",
    829: "Module talk",
}

HEADER = """\
<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" \
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.mediawiki.org/xml/export-0.11/ \
http://www.mediawiki.org/xml/export-0.11.xsd" version="0.11" xml:lang="{language}">
  <siteinfo>
    <sitename>{name}</sitename>
    <dbname>{wiki}</dbname>
    <base>https://{language}.wikipedia.org/wiki/Main_Page</base>
    <generator>MediaWiki 1.41.0-wmf.10</generator>
    <case>{case}</case>
    <namespaces>
{namespaces}    </namespaces>
  </siteinfo>
"""
NAMESPACE = '      <namespace key="{number}" case="{case}">{name}</namespace>\n'
NAMELESS = '      <namespace key="{number}" case="{case}" />\n'
PAGE = """\
  <page>
    <title>{title}</title>
    <ns>{namespace}</ns>
    <id>{id}</id>
{redirect}    <revision>
      <id>{revision}</id>
      <parentid>{parent}</parentid>
      <timestamp>{timestamp}</timestamp>
      <contributor>
        <username>Rannvá &amp; Jógvan</username>
        <id>77</id>
      </contributor>
      <minor />
      <comment>/* Søga */ &lt;text&gt;</comment>
      <origin>{revision}</origin>
      <model>{model}</model>
      <format>text/x-wiki</format>
      {text}
      <sha1>6exdjgf2w9tqowqym474gzmndm3cqxi</sha1>
    </revision>
  </page>
"""
END = b"</mediawiki>\n"


class WrittenPage(NamedTuple):
    """A page that a dump is made of."""

    title: str
    """With the name of its namespace."""
    text: str
    namespace: int = 0
    id: int | None = None
    """None: dump_xml numbers such pages from 1."""
    redirect: str | None = None
    model: str = "wikitext"
    timestamp: str = "2023-05-01T12:00:00Z"


def header_xml(
    language: str = "fo",
    *,
    wiki: str | None = None,
    name: str = "Wikipedia",
    case: str = "first-letter",
    namespaces: Mapping[int, str] | None = None,
) -> bytes:
    """The start of a dump, to the line of </siteinfo>; with Faroese or else English namespaces."""
    if namespaces is None:
        namespaces = FAROESE if language == "fo" else ENGLISH
    lines = [
        (NAMESPACE if named else NAMELESS).format(number=number, case=case, name=escape(named))
        for number, named in namespaces.items()
    ]
    wiki = language.replace("-", "_") + "wiki" if wiki is None else wiki
    return HEADER.format(
        language=language, wiki=wiki, name=escape(name), case=case, namespaces="".join(lines)
    ).encode()


def page_xml(page: WrittenPage, number: int = 1) -> bytes:
    """A page, from the two spaces before <page> to the end of the line of </page>."""
    quoted = None if page.redirect is None else '"' + _written(page.redirect) + '"'
    size = len(page.text.encode())
    attributes = f'bytes="{size}" sha1="6exdjgf2w9tqowqym474gzmndm3cqxi" xml:space="preserve"'
    text = _written(page.text)
    return PAGE.format(
        title=_written(page.title),
        namespace=page.namespace,
        id=number if page.id is None else page.id,
        redirect=f"    <redirect title={quoted} />\n" if quoted else "",
        revision=1000 + number,
        parent=900 + number,
        timestamp=page.timestamp,
        model=page.model,
        text=f"<text {attributes}>{text}</text>" if text else f"<text {attributes} />",
    ).encode()


def _written(text: str) -> str:
    """MediaWiki writes &quot; for every quotation mark."""
    return escape(text, {'"': "&quot;"})


def dump_xml(pages: Iterable[WrittenPage], language: str = "fo", **site: object) -> bytes:
    """A whole dump; ``site`` are the options of `header_xml`."""
    return b"".join(pieces(pages, language, **site))


def pieces(
    pages: Iterable[WrittenPage], language: str = "fo", *, together: int = 100, **site: object
) -> list[bytes]:
    """A dump cut as Wikimedia's are into streams: the header, so many pages each, the end."""
    written = [page_xml(page, number) for number, page in enumerate(pages, start=1)]
    groups = [b"".join(written[at : at + together]) for at in range(0, len(written), together)]
    return [header_xml(language, **site), *groups, END]


def cut(xml: bytes, *places: int) -> list[bytes]:
    """Bytes cut at places, as pbzip2 cuts them: whatever stands there."""
    return [xml[start:end] for start, end in pairwise([0, *places, len(xml)])]


def cut_every(xml: bytes, size: int) -> list[bytes]:
    """Bytes cut into pieces of one size."""
    return cut(xml, *range(size, len(xml), size))


def multistream(pieces: Iterable[bytes], *, level: int = 1) -> bytes:
    """A bzip2 file in which every piece is a stream; dumps have level 9, which takes longer."""
    return b"".join(bz2.compress(piece, level) for piece in pieces)


def members(pieces: Iterable[bytes]) -> bytes:
    """A gzip file in which every piece is a member."""
    return b"".join(gzip.compress(piece, mtime=0) for piece in pieces)


def compressed(pieces: Sequence[bytes], suffix: str) -> bytes:
    """A file of the kind that its suffix says: ".xml", ".xml.gz" or ".xml.bz2"."""
    if suffix.endswith(".bz2"):
        return multistream(pieces)
    return members(pieces) if suffix.endswith(".gz") else b"".join(pieces)


def write_dump(
    path: Path,
    pages: Iterable[WrittenPage],
    language: str = "fo",
    *,
    together: int = 100,
    **site: object,
) -> Path:
    """Write a dump as its name's suffix says; so many pages are together in a stream."""
    path.write_bytes(compressed(pieces(pages, language, together=together, **site), path.suffix))
    return path
