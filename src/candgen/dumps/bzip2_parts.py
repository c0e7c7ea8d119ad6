"""Any bzip2 file in parts, also one that is a single stream.

A stream is a sequence of blocks of at most 900 kB, each compressed on its own. They begin at any
bit, with 48 bits that announce a block, and a stream ends with 48 others. So a block is found
without reading what is before it, and decompressed by itself; its checksum is part of it.
"""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from candgen.dumps.bzip2 import END_MARKER, MARKER, MARKER_BITS, bits, read_block

_MOST = 1 << 20  # bytes; a block that was compressed to more does not exist
_FAR = 4 * _MOST  # what goes on so long without a marker is a hole, and is not kept
_READ = 1 << 22


class Marker(NamedTuple):
    """Where in the file, counted in bits, a block or the end of a stream is announced."""

    bit: int
    block: bool


class Text(NamedTuple):
    """What a block holds, and where in the file, in bytes, the block begins."""

    data: bytes
    start: int


class Damage(NamedTuple):
    """A block that cannot be read, or the want of an end where the file ends."""

    start: int
    truncated: bool


def _needles() -> list[tuple[bytes, int, bool]]:
    """Give, for each way a marker can lie, the five bytes that are all its own, and their offset.

    The bits before and after these are compared when they are found.
    """
    found = []
    for value, block in ((MARKER, True), (END_MARKER, False)):
        for shift in range(8):
            spread = (value << (8 - shift)).to_bytes(7, "big")
            found.append((spread[1:6], shift, block))
    return found


_NEEDLES = _needles()


def blocks(file: BinaryIO, start: int) -> Iterator[Text | Damage]:
    """Decompress, one by one, the blocks that begin at a byte of the file or after it."""
    window = _Window(file, start)
    held: Marker | None = None  # a block whose end was not found yet
    ended = start > 0  # who reads the whole file sees at least one marker
    for marker in window.markers():
        ended = not marker.block
        if held is not None:
            near = marker.bit - held.bit < 8 * _FAR  # else there is a hole between them
            text = window.decompressed(held.bit, marker.bit) if near else b""
            if text is None and marker.bit - held.bit < 8 * _MOST:
                continue  # bits inside a block that look like a marker
            yield Text(text, held.bit // 8) if text else Damage(held.bit // 8, truncated=False)
        held = marker if marker.block else None
        window.forget(marker.bit // 8)
    if held is not None and 8 * window.end - held.bit < 8 * _FAR:
        text = window.decompressed(held.bit, 8 * window.end)
        if text:
            yield Text(text, held.bit // 8)
    if not ended:
        yield Damage(window.end, truncated=True)


class _Window:
    """The part of a file that is needed at the moment."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file = file
        self._start = start
        self._needed = start
        self._data = b""
        file.seek(start)

    @property
    def end(self) -> int:
        """Where what was read of the file ends."""
        return self._start + len(self._data)

    def forget(self, until: int) -> None:
        """What is before this byte of the file is not needed any more."""
        self._needed = until

    def markers(self) -> Iterator[Marker]:
        """Find all markers in the order of the file."""
        searched = self._start
        while more := self._file.read(_READ):
            self._data = self._data[self._needed - self._start :] + more
            self._start = self._needed
            yield from self._found(searched - self._start)
            # A marker that has not ended yet begins in the last seven bytes.
            searched = max(searched, self.end - 6)
            self._needed = max(self._needed, searched - _FAR)

    def _found(self, position: int) -> list[Marker]:
        """Find the markers whose first bit is at a position or later, and whose last was read."""
        found = []
        for needle, shift, block in _NEEDLES:
            at = self._data.find(needle, position + 1)
            while at >= 0:
                if self._is_marker(at - 1, shift, block=block):
                    found.append(Marker(8 * (self._start + at - 1) + shift, block))
                at = self._data.find(needle, at + 1)
        return sorted(found)

    def _is_marker(self, at: int, shift: int, *, block: bool) -> bool:
        if len(self._data) < at + 7:
            return False
        return bits(self._data, 8 * at + shift, MARKER_BITS) == (MARKER if block else END_MARKER)

    def decompressed(self, first: int, last: int) -> bytes | None:
        """Decompress what is between two bits, b"" if it is damaged, None if that is not all."""
        begin, end = first // 8 - self._start, (last + 7) // 8 - self._start
        try:
            block = read_block(self._data[begin:end], first % 8)
        except OSError:
            return b""
        return block.text if block else None
