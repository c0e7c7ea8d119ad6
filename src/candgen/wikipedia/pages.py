"""The pages of a dump, one after the other, from bytes of XML.

A page that cannot be read is a `Fault`, and the next page follows.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from candgen.dumps.compressed_streams import DAMAGED, TRUNCATED, Fault, Part, read
from candgen.errors import TableError
from candgen.wikipedia.page_xml import Page, parse_page, title_of

BAD_PAGE = "bad page"
CUT_PAGE = "page cut off"
MAX_PAGE = 1 << 26
"""A page of more bytes is a fault: it is held in memory while it is read."""
MAX_HEADER = 1 << 20

_OPEN, _CLOSE = b"<page>", b"</page>"
_HEADER_END, _DUMP_END = b"</siteinfo>", b"</mediawiki>"
_NO_END = "the dump has no end, </mediawiki>"
_TAIL = 64  # bytes; the end of a dump is among the last ones


def read_header(path: str) -> bytes:
    """Return the start of a dump, up to the end of its siteinfo."""
    first = next(read_pages(Part(path)), None)
    if not isinstance(first, bytes):
        raise describe_invalid_dump(path, first)
    return first


def describe_invalid_dump(path: str, first: object) -> TableError:
    """Return the error for a file that does not begin with a header."""
    if isinstance(first, Fault) and first.kind in (DAMAGED, TRUNCATED) and first.detail != _NO_END:
        return TableError(f"{path} cannot be read, {first.detail}: download it again")
    return TableError(
        f"{path} does not begin as a dump of MediaWiki does, with <mediawiki> and <siteinfo>: "
        "expected a pages-articles file, .xml, .xml.bz2 or .xml.gz"
    )


def read_pages(
    part: Part, *, progress: Callable[[int], None] = lambda _at: None
) -> Iterator[Page | Fault | bytes]:
    """Yield the header, if the part begins the file, and every page that begins in the part.

    A page that ends after the part is read to its end; the next part does not have it.
    ``progress`` is called with the place in the file up to which it was read.
    """
    window = _Window(part, progress)
    if part.start == 0:
        yield from _find_header(window)
    while True:
        found = window.seek(_OPEN)
        yield from window.take_faults()
        if found:
            end = window.find(_CLOSE, most=MAX_PAGE)
            yield from window.take_faults()
            yield from _parse(window, end)
        elif window.over:
            break
    if window.truncated:
        yield Fault(TRUNCATED, window.place, _NO_END)


def _find_header(window: "_Window") -> Iterator[bytes]:
    end = window.find(_HEADER_END, most=MAX_HEADER)
    if end is not None and _OPEN not in (header := window.peek(end)):
        yield header
        window.drop(end)


def _parse(window: "_Window", end: int | None) -> Iterator[Page | Fault]:
    """Parse the page that begins the window; if it has no end, others may be inside it."""
    raw = window.peek(end)
    page = parse_page(raw) if end is not None else None
    if page is not None and not page.mended:
        yield page
        window.drop(end)
        return
    starts = [found.start() for found in re.finditer(_OPEN, raw)]
    for start, stop in pairwise([*starts, len(raw)]):
        if not window.is_inside(start):
            break  # the next part has it
        begun = raw[start:stop]
        if end is None or stop < len(raw):
            short = end is None and len(raw) <= MAX_PAGE
            why = "has no end" if short or end is not None else f"has no end in {MAX_PAGE:,} bytes"
            yield Fault(CUT_PAGE, window.place, f"{title_of(begun)} {why}")
            continue
        page = parse_page(begun) if start else page
        detail = f"{title_of(begun)} is not a valid page"
        yield page or Fault(BAD_PAGE, window.place, detail)
    window.drop(end)


class _Window:
    """The bytes of a dump that are in memory; it moves forward only."""

    def __init__(self, part: Part, progress: Callable[[int], None]) -> None:
        self._part = part
        self._progress = progress
        self._readings = read(part)
        self._bytes = bytearray()
        self._start = 0  # of the window, among the decompressed bytes
        self._limit: int | None = None  # among them, where the part ends
        self._faults: list[Fault] = []
        self._last = b""
        self._at = part.start
        self.over = False
        """Whether nothing of this part is left."""

    def seek(self, tag: bytes) -> bool:
        """Move to the next tag that begins in the part; False if a fault or its end is first."""
        while (at := self._bytes.find(tag)) < 0:
            self.drop(max(0, len(self._bytes) - len(tag) + 1))
            begun = any(self._bytes.endswith(tag[:length]) for length in range(1, len(tag)))
            if self._limit is not None and not begun:
                self.over = True
            if self.over or not self._read_more():
                self.drop()  # the start of a tag at the end of the file
                return False
        self.drop(at)
        self.over = not self.is_inside(0)
        return not self.over

    def find(self, tag: bytes, *, most: int) -> int | None:
        """Return where the next tag ends; None if a fault or so many bytes come first."""
        start = 0
        while (at := self._bytes.find(tag, start)) < 0:
            start = max(0, len(self._bytes) - len(tag) + 1)
            if len(self._bytes) > most or not self._read_more():
                return None
        return at + len(tag)

    def peek(self, end: int | None = None) -> bytes:
        with memoryview(self._bytes) as view:
            return bytes(view[:end])

    def is_inside(self, at: int) -> bool:
        """Return whether a place in the window belongs to the part."""
        return self._limit is None or self._start + at < self._limit

    def drop(self, length: int | None = None) -> None:
        length = len(self._bytes) if length is None else length
        del self._bytes[:length]
        self._start += length

    def take_faults(self) -> Iterator[Fault]:
        """Yield the faults since the last call."""
        yield from self._faults
        self._faults.clear()

    @property
    def place(self) -> str:
        return f"{self._part.name}, before byte {self._at:,}"

    @property
    def truncated(self) -> bool:
        """Whether the file has ended without a fault, but also without the end of a dump."""
        if self._limit is not None or _DUMP_END in self._last:
            return False
        rest = self._last.rstrip()  # the last part may begin in the middle of that end
        return not (self._part.start and len(rest) < len(_DUMP_END) and _DUMP_END.endswith(rest))

    def _read_more(self) -> bool:
        """Read on; False at a fault, after which other text follows, and at the end."""
        reading = next(self._readings, None)
        if reading is None:
            self.over = True
        elif isinstance(reading, Fault):
            if self._limit is None:  # else another part reports it
                self._faults.append(reading)
            self._last = _DUMP_END if reading.kind == TRUNCATED else self._last
        else:
            if not reading.inside and self._limit is None:
                self._limit = self._start + len(self._bytes)
            self._bytes += reading.data
            self._last = (self._last + reading.data[-_TAIL:])[-_TAIL:]
            self._at = reading.at
            self._progress(reading.at)
            return True
        return False
