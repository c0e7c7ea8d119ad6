"""Any bzip2 file read from any byte on, also a file that is a single stream.

A stream is a sequence of blocks of at most 900 kB, each compressed by itself. A block begins at any
bit with a marker of 48 bits, and a stream ends with another marker. So a block can be found and
decompressed without the data before it, and its checksum is part of it.
"""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from candgen.dumps.bzip2 import END_MARKER, MARKER, MARKER_BITS, read_bits, read_block

_MAX_BLOCK = 1 << 20  # bytes; no compressed block is longer
_MAX_GAP = 4 * _MAX_BLOCK  # a longer stretch without a marker is a hole, and is not kept
_READ_BYTES = 1 << 22


class Marker(NamedTuple):
    """The place in the file, in bits, of the marker of a block or of the end of a stream."""

    bit: int
    block: bool


class Text(NamedTuple):
    """A decompressed block, and the byte of the file at which the block begins."""

    data: bytes
    start: int


class Damage(NamedTuple):
    """A block that cannot be read, or a file without an end marker."""

    start: int
    truncated: bool


# For each marker and each of the 8 bits at which it may begin: the five bytes that hold only bits
# of the marker, by which it is searched. The bits before and after are compared when it is found.
_NEEDLES = [
    ((marker << (8 - shift)).to_bytes(7, "big")[1:6], shift, marker)
    for marker in (MARKER, END_MARKER)
    for shift in range(8)
]


def read_blocks(file: BinaryIO, start: int) -> Iterator[Text | Damage]:
    """Decompress, one by one, the blocks that begin at a byte of the file or after it."""
    window = _Window(file, start)
    held: Marker | None = None  # a block whose end was not found yet
    ended = start > 0  # a whole file has at least one marker
    for marker in window.find_markers():
        ended = not marker.block
        if held is not None:
            near = marker.bit - held.bit < 8 * _MAX_GAP  # else there is a hole between them
            text = window.decompress(held.bit, marker.bit) if near else b""
            if text is None and marker.bit - held.bit < 8 * _MAX_BLOCK:
                continue  # bits inside a block that look like a marker
            yield Text(text, held.bit // 8) if text else Damage(held.bit // 8, truncated=False)
        held = marker if marker.block else None
        window.needed = marker.bit // 8
    if held is not None and 8 * window.end - held.bit < 8 * _MAX_GAP:
        text = window.decompress(held.bit, 8 * window.end)
        if text:
            yield Text(text, held.bit // 8)
    if not ended:
        yield Damage(window.end, truncated=True)


class _Window:
    """The bytes of a file that are in memory, from ``needed`` on."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file = file
        self._start = start
        self.needed = start
        self._data = b""
        file.seek(start)

    @property
    def end(self) -> int:
        return self._start + len(self._data)

    def find_markers(self) -> Iterator[Marker]:
        """Yield all markers in the order of the file."""
        searched = self._start
        while more := self._file.read(_READ_BYTES):
            self._data = self._data[self.needed - self._start :] + more
            self._start = self.needed
            yield from self._search(searched - self._start)
            # A marker that has not ended yet begins in the last seven bytes.
            searched = max(searched, self.end - 6)
            self.needed = max(self.needed, searched - _MAX_GAP)

    def _search(self, position: int) -> list[Marker]:
        """Return the markers that begin at a position or later and end in the window."""
        found = []
        for needle, shift, marker in _NEEDLES:
            at = self._data.find(needle, position + 1)
            while at >= 0:
                bit = 8 * (at - 1) + shift
                if at + 6 <= len(self._data) and read_bits(self._data, bit, MARKER_BITS) == marker:
                    found.append(Marker(8 * self._start + bit, marker == MARKER))
                at = self._data.find(needle, at + 1)
        return sorted(found)

    def decompress(self, first: int, last: int) -> bytes | None:
        """Decompress the block between two bits: b"" if it is damaged, None if it ends later."""
        begin, end = first // 8 - self._start, (last + 7) // 8 - self._start
        try:
            block = read_block(self._data[begin:end], first % 8)
        except OSError:
            return b""
        return block.text if block else None
