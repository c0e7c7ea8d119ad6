"""Dump files as bytes of XML: plain, gzip or bzip2, whole or in parts.

A bzip2 file of many streams is cut between streams, so that several processes can read it. Where
a stream is damaged, what can be read of the others is read.
"""

import mmap
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from candgen.dumps.bzip2 import Decompressor
from candgen.errors import TableError

STDIN = "-"
PART = 4 << 20
"""A part has at least so many bytes of the file, but for the last."""
PARTS = 256
"""A file is cut into at most about so many parts."""

_STREAM = re.compile(rb"BZh[1-9]1AY&SY")  # the start of a stream and of its first block
_LONGEST_MAGIC = 10
_READ = 1 << 18
_MOST = 1 << 23  # bytes that are decompressed at a time, whatever they were compressed to


class Part(NamedTuple):
    """A range of bytes of a file; in a bzip2 file it begins and ends between two streams."""

    path: str
    start: int = 0
    end: int | None = None
    """None is the end of the file, which may be that of a pipe."""

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return "stdin" if self.path == STDIN else Path(self.path).name


class Fault(NamedTuple):
    """Something that could not be read, and what was lost by it."""

    kind: str
    place: str
    detail: str


TRUNCATED = "truncated"
DAMAGED = "damaged stream"


class _Decompressor(Protocol):
    """A decompressor of one stream; no data where it needs some is the end of the file."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes) -> bytes: ...


def parts(paths: Sequence[str], *, size: int | None = None) -> list[Part]:
    """Cut files into parts; only a bzip2 file of many streams has more than one."""
    return [part for path in paths for part in _parts_of(path, size)]


def _parts_of(path: str, size: int | None) -> list[Part]:
    if path == STDIN:
        return [Part(STDIN)]
    with open_dump(path) as file:
        if not file.seekable():
            raise TableError(f"{path} is a pipe, expected a file: let - read it from stdin")
        length = file.seek(0, 2)
        file.seek(0)
        if not length:
            raise TableError(f"{path} is empty, expected a dump: download it again")
        if not file.read(4).startswith(b"BZh"):
            return [Part(path, 0, length)]
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            least = max(PART, length // PARTS) if size is None else size
            cuts = [0]
            for stream in _STREAM.finditer(data):
                if stream.start() - cuts[-1] >= least:
                    cuts.append(stream.start())
    ends = [*cuts[1:], length]
    return [Part(path, start, end) for start, end in zip(cuts, ends, strict=True)]


def aligned(part: Part) -> Part | None:
    """Let a range of a file, cut anywhere, begin with the first stream in it; None if none is."""
    if part.start == 0 or part.end is None:
        return part
    with open_dump(part.path) as file:
        file.seek(part.start)
        source = _Source(file, part.start)
        found = source.skip_to(_STREAM, before=part.end)
    return part._replace(start=source.at) if found and source.at < part.end else None


def open_dump(path: str) -> BinaryIO:
    """Open a dump as it lies on the disk."""
    try:
        return Path(path).open("rb")
    except FileNotFoundError as error:
        raise TableError(f"{path} does not exist: check the name and the folder") from error
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}") from error


class Reading(NamedTuple):
    """Bytes of XML, and whether they come from before the end of the part."""

    data: bytes
    inside: bool
    at: int
    """How far the file was read for them."""


def read(part: Part) -> Iterator[Reading | Fault]:
    """Decompress a part and then, as long as somebody asks, what comes after it.

    Between the two is an empty reading, so that one who does not need more need not ask.
    """
    if part.path == STDIN:
        yield from _readings(sys.stdin.buffer, part)
        return
    with open_dump(part.path) as file:
        file.seek(part.start)
        yield from _readings(file, part)


def _readings(file: BinaryIO, part: Part) -> Iterator[Reading | Fault]:
    source = _Source(file, part.start)
    kind = source.peek(4)
    if kind.startswith(b"BZh"):
        yield from _streams(source, part, Decompressor, b"BZh")
    elif kind.startswith(b"\x1f\x8b"):
        yield from _streams(source, part, _Gunzip, b"\x1f\x8b")
    else:
        while data := source.take():  # such a file has one part
            yield Reading(data, inside=True, at=source.at)


def _inside(part: Part, at: int) -> bool:
    return part.end is None or at < part.end


def _streams(
    source: "_Source", part: Part, kind: Callable[[], _Decompressor], magic: bytes
) -> Iterator[Reading | Fault]:
    """Decompress stream after stream, and go on behind what is damaged or is none."""
    inside = True
    while head := source.peek(len(magic)):
        start = source.at
        if inside and not _inside(part, start):
            inside = False
            yield Reading(b"", inside, start)
        try:
            if head == magic:
                for made in _stream(source, kind()):
                    yield Reading(made, inside, source.at)
                continue
            if source.rest_is_padding():
                return
            detail = "expected another stream, found something else"
            truncated = magic.startswith(head)
        except (EOFError, OSError, zlib.error) as error:
            truncated = isinstance(error, EOFError)
            detail = f"{error}" if truncated else f"{error}, so the rest of it is lost"
        # If another follows, then the end was looked for too far away, in a damaged stream.
        more = magic == b"BZh" and source.skip_to(_STREAM)
        kind_of_fault = TRUNCATED if truncated and not more else DAMAGED
        yield Fault(kind_of_fault, f"{part.name}, byte {start:,}", detail)
        if not more:
            return


def _stream(source: "_Source", stream: _Decompressor) -> Iterator[bytes]:
    """Decompress one stream; what it does not need is given back, also where it is damaged."""
    try:
        while not stream.eof:
            if made := stream.decompress(source.take() if stream.needs_input else b""):
                yield made
    finally:
        source.give_back(stream.unused_data)


class _Source:
    """A file that is read once from its start to its end, and knows where it is."""

    def __init__(self, file: BinaryIO, at: int) -> None:
        self._file = file
        self._waiting = b""
        self.at = at
        """Where in the file the next byte is that was not taken yet."""

    def take(self) -> bytes:
        data = self._waiting or self._file.read(_READ)
        self._waiting = b""
        self.at += len(data)
        return data

    def give_back(self, data: bytes) -> None:
        self._waiting = data + self._waiting
        self.at -= len(data)

    def peek(self, length: int) -> bytes:
        while len(self._waiting) < length and (more := self._file.read(_READ)):
            self._waiting += more
        return self._waiting[:length]

    def rest_is_padding(self) -> bool:
        """Tell whether nothing but zeros follows, as tapes and some tools leave it."""
        while data := self.take():
            if data.strip(b"\0"):
                self.give_back(data)
                return False
        return True

    def skip_to(self, pattern: re.Pattern[bytes], *, before: int | None = None) -> bool:
        """Go to the next place where the pattern matches, if there is one.

        It may be behind ``before``, but is not looked for much farther.
        """
        while before is None or self.at < before:
            self.peek(_READ)
            found = pattern.search(self._waiting)
            if found is None and len(self._waiting) <= _LONGEST_MAGIC:
                return False
            # A match may begin in what was read and end in what comes next.
            skipped = found.start() if found else len(self._waiting) - _LONGEST_MAGIC
            self._waiting = self._waiting[skipped:]
            self.at += skipped
            if found:
                return True
        return False


class _Gunzip:
    """zlib's decompressor of gzip, with the names that others have."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._tail = b""

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes) -> bytes:
        made = self._inner.decompress(self._tail + data, _MOST)
        self._tail = self._inner.unconsumed_tail
        if not data and not made and not self.eof:
            raise EOFError("the file ends in the middle of a stream")
        return made
