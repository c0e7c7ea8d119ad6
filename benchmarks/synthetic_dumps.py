"""Synthetic dumps made from the pages of a real one: complete, cut, repeated, or numbered.

Every dump made here is well-formed, since some peers stop at the first malformed tag: the last page
of a truncated dump is left out.
"""

import bz2
import multiprocessing
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import NamedTuple

CHUNK = 1 << 20
PAGES_A_STREAM = 100
"""As in the multistream dumps that Wikimedia publishes."""
PAGE_END, DUMP_END = b"</page>\n", b"</mediawiki>\n"
ID = re.compile(rb"<id>\d+</id>")

OF_ANCHOR, OF_TITLE = b"\x00", b"\x01"
"""Placeholders for numbers; XML has no such characters."""
LINK = re.compile(rb"\[\[([^\[\]{}|#:\n]+)(?:\|([^\[\]{}|\n]+))?\]\]")
TITLE = re.compile(rb'(?<=<title>)[^<:]+(?=<)|(?<=<redirect title=")[^"#:]+(?=")')
TEXT = re.compile(rb"(<text[^>]*[^>/]>)(.*)(?=</text>)", re.DOTALL)


class Size(NamedTuple):
    """Of a dump: its pages, and its bytes before compression."""

    pages: int
    xml: int


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a dump, decompressed: bz2 with one stream or several, or plain."""
    with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def header(path: Path) -> bytes:
    """Return a dump up to the end of its siteinfo."""
    start = b""
    for chunk in chunks(path):
        start += chunk
        if b"</siteinfo>" in start:
            return start.partition(b"</siteinfo>")[0] + b"</siteinfo>\n"
    raise ValueError(f"{path}: no </siteinfo>; expected an XML dump of a wiki")


def language(start: bytes) -> str:
    """Return the language in the first tag of a dump, such as xml:lang="mr"."""
    found = re.search(rb'xml:lang="([^"]+)"', start)
    if found is None:
        raise ValueError("no xml:lang in the first tag of the dump")
    return found[1].decode()


def pages(path: Path) -> Iterator[bytes]:
    """Yield every complete page of a dump."""
    rest = b""
    for chunk in chunks(path):
        *whole, rest = (rest + chunk).split(PAGE_END)
        yield from (b"  " + page[page.index(b"<page>") :] + PAGE_END for page in whole)


def repeated(path: Path, times: int) -> Iterator[bytes]:
    """Yield the pages of a dump several times, each with a new id and otherwise unchanged."""
    every = chain.from_iterable(pages(path) for _ in range(times))
    for page, number in zip(every, count(1), strict=False):
        yield ID.sub(b"<id>%d</id>" % number, page, count=1)


def with_places(page: bytes) -> bytes:
    """Return a page with a placeholder after every title and every anchor of a plain link."""
    page = TITLE.sub(lambda title: title[0] + OF_TITLE, page)
    return LINK.sub(
        lambda link: b"[[%b%b|%b%b]]" % (link[1], OF_TITLE, link[2] or link[1], OF_ANCHOR), page
    )


def bare(page: bytes) -> bytes:
    """Return a page whose text is its plain links, one a line; a redirect stays as it is."""
    if b"<redirect " in page:
        return page
    return TEXT.sub(lambda text: text[1] + b"\n".join(m[0] for m in LINK.finditer(text[2])), page)


def numbered(templates: Iterable[bytes], times: int, *, worlds: int = 1) -> Iterator[bytes]:
    """Yield pages several times with numbers in the placeholders, so that pairs do not repeat.

    An anchor gets the number of the copy. A title gets one of ``worlds`` numbers, and none in the
    first of them.
    """
    templates = list(templates)
    ids = count(1)
    for copy in range(times):
        world = copy % worlds
        title, anchor = b" %d" % world if world else b"", b" %d" % copy
        for page, number in zip(templates, ids, strict=False):
            new = page.replace(OF_ANCHOR, anchor).replace(OF_TITLE, title)
            yield ID.sub(b"<id>%d</id>" % number, new, count=1)


def write(path: Path, start: bytes, content: Iterable[bytes]) -> Size:
    """Write a dump of these pages as one bz2 stream; return its size."""
    compressor = bz2.BZ2Compressor()
    number, size = 0, len(start) + len(DUMP_END)
    with path.open("wb") as file:
        file.write(compressor.compress(start))
        for page in content:
            file.write(compressor.compress(page))
            number, size = number + 1, size + len(page)
        file.write(compressor.compress(DUMP_END) + compressor.flush())
    return Size(number, size)


def write_multistream(
    path: Path, start: bytes, content: Iterable[bytes], *, level: int = 9
) -> Size:
    """Write a dump in streams of 100 pages, compressed by two processes; return its size."""
    content = iter(content)
    groups = iter(lambda: list(islice(content, PAGES_A_STREAM)), [])
    number, size = 0, len(start) + len(DUMP_END)
    with path.open("wb") as file, multiprocessing.get_context("spawn").Pool(2) as pool:
        file.write(bz2.compress(start, level))
        for made, squeezed in pool.imap(partial(compressed, level), groups):
            number, size = number + made.pages, size + made.xml
            file.write(squeezed)
        file.write(bz2.compress(DUMP_END, level))
    return Size(number, size)


def compressed(level: int, group: list[bytes]) -> tuple[Size, bytes]:
    """Return the size of some pages, and the pages as one bz2 stream."""
    return Size(len(group), sum(map(len, group))), bz2.compress(b"".join(group), level)
