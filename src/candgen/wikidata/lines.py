"""Wikidata's dump cut into parts for worker processes, and a part split into lines.

A bzip2 file, or a plain one, is cut anywhere: a part has the lines that begin after the first line
end in it, up to and including the line that its last byte belongs to or that begins right after it.
So each line is in exactly one part. Gzip files and pipes cannot be cut: one process reads them and
sends lines to the workers.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from candgen.dumps import compressed_streams
from candgen.dumps.bzip2_parts import Damage, read_blocks
from candgen.errors import ParameterError, TableError

MAX_LINE = 1 << 26
"""A line of more bytes is skipped; the longest of Wikidata have a few million."""
STDIN = compressed_streams.STDIN

_PART_BYTES = {b"BZh": 1 << 24, b"": 1 << 28}  # bytes of the file: about equal amounts of text
_BATCH_BYTES = 1 << 24  # of text
_READ_BYTES = 1 << 20

Line = bytes | None
"""Without its line end; None if it is too long."""


class Part(NamedTuple):
    """A range of bytes of a file, or some of its lines."""

    number: int
    path: str
    start: int = 0
    end: int = 0
    lines: tuple[Line, ...] | None = None
    at: int = 0
    """The place in the file at which the part ends."""


class Lines:
    """The lines of a part, and which damage was met."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self.faults: list[str] = []
        self.truncated = False

    def __iter__(self) -> Iterator[Line]:
        part = self._part
        if part.lines is not None:
            return iter(part.lines)
        return split_lines(self._read_chunks(), from_middle=part.start > 0)

    def _read_chunks(self) -> Iterator["Chunk"]:
        part = self._part
        with compressed_streams.open_dump(part.path) as file:
            if file.read(3) != b"BZh":
                file.seek(part.start)
                left = part.end - part.start
                while data := file.read(min(left, _READ_BYTES) or _READ_BYTES):
                    yield Chunk(data, inside=left > 0)
                    left -= min(left, len(data))
                return
            for found in read_blocks(file, part.start):
                if not isinstance(found, Damage):
                    yield Chunk(found.data, inside=found.start < part.end)
                elif found.truncated:
                    self.truncated = True
                elif part.start <= found.start < part.end:  # else another part reports it
                    self.faults.append(f"a block at byte {found.start} is damaged")


class Chunk(NamedTuple):
    """Some text, and whether it comes from before the end of the part."""

    data: bytes
    inside: bool


def split_lines(chunks: Iterable[Chunk], *, from_middle: bool = False) -> Iterator[Line]:
    """Split text at its line ends; of the text after the part, the end of its last line is read.

    >>> list(split_lines([Chunk(b"a", True), Chunk(b"b\\nc", True), Chunk(b"d\\ne", False)]))
    [b'ab', b'cd']
    """
    begun = _UnfinishedLine()
    waiting = from_middle  # for the first line end
    for data, inside in chunks:
        first = data.find(b"\n") if waiting or not inside else 0
        if first < 0:
            if not waiting:
                begun.add(data)
            elif not inside:
                return  # a line that began before the part ends after it
            continue
        if waiting and not inside:
            return
        start = first + 1 if waiting else 0
        waiting = False
        pieces = data[start : first if not inside else None].split(b"\n")
        for piece in pieces[:-1]:
            yield begun.end(piece)
        begun.add(pieces[-1])
        if not inside:
            yield begun.end(b"")
            return
    if not waiting and begun:
        yield begun.end(b"")


class _UnfinishedLine:
    """A line whose end was not read yet."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def __bool__(self) -> bool:
        return self._length > 0

    def add(self, piece: bytes) -> None:
        self._length += len(piece)
        self._pieces.append(piece)
        if self._length > MAX_LINE:
            self._pieces.clear()

    def end(self, piece: bytes) -> Line:
        self.add(piece)
        line = None if self._length > MAX_LINE else b"".join(self._pieces)
        self._pieces, self._length = [], 0
        return line


class DumpParts:
    """The parts of a dump, one after the other; ``faults`` are complete after the last."""

    def __init__(self, path: str, *, size: int | None = None, whole: bool = False) -> None:
        """With ``whole`` the parts have lines, in the order of the file."""
        self.path = path
        self.faults: list[str] = []
        self.truncated = False
        self.length = 0
        """The bytes of the file; 0 for a pipe."""
        self._size = size
        self._kind = b""
        self._whole = whole or path == STDIN
        if path != STDIN:
            self._inspect(path)

    def _inspect(self, path: str) -> None:
        if Path(path).is_fifo():  # it could be read once only
            raise ParameterError(f"{path} is a pipe: redirect it to stdin and name the dump -")
        with compressed_streams.open_dump(path) as file:
            head = file.read(3)
            self.length = file.seek(0, 2)
        if not head:
            raise TableError(f"{path} is empty, expected a dump: download it again")
        self._kind = b"BZh" if head == b"BZh" else b""
        self._whole = self._whole or head.startswith(b"\x1f\x8b")

    def __iter__(self) -> Iterator[Part]:
        if self._whole:
            yield from self._read_batches()
            return
        size = self._size or _PART_BYTES[self._kind]
        for number, start in enumerate(range(0, self.length, size)):
            end = min(start + size, self.length)
            yield Part(number, self.path, start, end, at=end)

    def _read_batches(self) -> Iterator[Part]:
        batch: list[Line] = []
        length = number = 0
        self._at = 0
        for line in split_lines(self._read_chunks()):
            batch.append(line)
            length += 1 + len(line or b"")
            if length >= (self._size or _BATCH_BYTES):
                yield Part(number, self.path, lines=tuple(batch), at=self._at)
                batch, length, number = [], 0, number + 1
        yield Part(number, self.path, lines=tuple(batch), at=self._at)

    def _read_chunks(self) -> Iterator[Chunk]:
        for found in compressed_streams.read(compressed_streams.Part(self.path)):
            if isinstance(found, compressed_streams.Reading):
                self._at = found.at
                yield Chunk(found.data, inside=True)
            elif found.kind == compressed_streams.TRUNCATED:
                self.truncated = True
            else:
                self.faults.append("a stream is damaged")
