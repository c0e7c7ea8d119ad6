"""Dump files decompressed: plain, gzip or bzip2, whole or in parts.

A bzip2 file of many streams is cut between streams, so that several processes can read it. Where
a stream is damaged, the other streams are read.
"""

import mmap
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from candgen.dumps.bzip2 import Decompressor
from candgen.dumps.file_errors import explain_read_errors
from candgen.errors import TableError

STDIN = "-"
MIN_PART = 4 << 20
"""The fewest bytes of the file in a part, except for the last part."""
MAX_PARTS = 256
"""The approximate greatest number of parts of a file."""

_STREAM = re.compile(rb"BZh[1-9]1AY&SY")  # the start of a stream and of its first block
_LONGEST_MAGIC = 10
_READ_BYTES = 1 << 18
_MAX_OUTPUT = 1 << 23  # bytes that are decompressed at a time


class Part(NamedTuple):
    """A range of bytes of a file; in a bzip2 file it begins and ends between two streams."""

    path: str
    start: int = 0
    end: int | None = None
    """None is the end of the file, which may be a pipe."""

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return "stdin" if self.path == STDIN else Path(self.path).name


class Fault(NamedTuple):
    """Something that could not be read."""

    kind: str
    place: str
    detail: str


TRUNCATED = "truncated"
DAMAGED = "damaged stream"


class _Decompressor(Protocol):
    """A decompressor of one stream; empty data where it needs input means the file has ended."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes) -> bytes: ...


def cut_into_parts(paths: Sequence[str], *, size: int | None = None) -> list[Part]:
    """Return the parts of files; only a bzip2 file of many streams has more than one."""
    return [part for path in paths for part in _cut_file(path, size)]


def _cut_file(path: str, size: int | None) -> list[Part]:
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
            least = max(MIN_PART, length // MAX_PARTS) if size is None else size
            cuts = [0]
            for stream in _STREAM.finditer(data):
                if stream.start() - cuts[-1] >= least:
                    cuts.append(stream.start())
    ends = [*cuts[1:], length]
    return [Part(path, start, end) for start, end in zip(cuts, ends, strict=True)]


def align_part(part: Part) -> Part | None:
    """Let a range of a file, cut anywhere, begin with its first stream; None if it has none."""
    if part.start == 0 or part.end is None:
        return part
    with open_dump(part.path) as file:
        file.seek(part.start)
        source = _Source(file, part.start)
        found = source.skip_to(_STREAM, before=part.end)
    return part._replace(start=source.at) if found and source.at < part.end else None


def open_dump(path: str) -> BinaryIO:
    """Open a dump without decompressing it."""
    with explain_read_errors(path):
        return Path(path).open("rb")


class Reading(NamedTuple):
    """Decompressed bytes, and whether they come from before the end of the part."""

    data: bytes
    inside: bool
    at: int
    """The place in the file up to which it was read for them."""


def read(part: Part) -> Iterator[Reading | Fault]:
    """Decompress a part, and after it the rest of the file, for as long as the caller iterates.

    Between the two is an empty reading, at which the caller can stop.
    """
    if part.path == STDIN:
        yield from _read_file(sys.stdin.buffer, part)
        return
    with open_dump(part.path) as file:
        file.seek(part.start)
        yield from _read_file(file, part)


def _read_file(file: BinaryIO, part: Part) -> Iterator[Reading | Fault]:
    source = _Source(file, part.start)
    kind = source.peek(4)
    if kind.startswith(b"BZh"):
        yield from _read_streams(source, part, Decompressor, b"BZh")
    elif kind.startswith(b"\x1f\x8b"):
        yield from _read_streams(source, part, _Gunzip, b"\x1f\x8b")
    else:
        while data := source.take():  # such a file has one part
            yield Reading(data, inside=True, at=source.at)


def _read_streams(
    source: "_Source", part: Part, kind: Callable[[], _Decompressor], magic: bytes
) -> Iterator[Reading | Fault]:
    """Decompress stream after stream, and go on after damaged or foreign bytes."""
    inside = True
    while head := source.peek(len(magic)):
        start = source.at
        if inside and part.end is not None and start >= part.end:
            inside = False
            yield Reading(b"", inside, start)
        try:
            if head == magic:
                for made in _read_stream(source, kind()):
                    yield Reading(made, inside, source.at)
                continue
            if source.rest_is_padding():
                return
            detail = "expected another stream, found something else"
            truncated = magic.startswith(head)
        except (EOFError, OSError, zlib.error) as error:
            truncated = isinstance(error, EOFError)
            detail = f"{error}" if truncated else f"{error}, so the rest of it is lost"
        # If another stream follows, this one is damaged and not cut off.
        more = magic == b"BZh" and source.skip_to(_STREAM)
        kind_of_fault = TRUNCATED if truncated and not more else DAMAGED
        yield Fault(kind_of_fault, f"{part.name}, byte {start:,}", detail)
        if not more:
            return


def _read_stream(source: "_Source", stream: _Decompressor) -> Iterator[bytes]:
    """Decompress one stream; bytes that it does not use are given back, even if it is damaged."""
    try:
        while not stream.eof:
            if made := stream.decompress(source.take() if stream.needs_input else b""):
                yield made
    finally:
        source.give_back(stream.unused_data)


class _Source:
    """A file that is read once from its start to its end, and the place up to which it was."""

    def __init__(self, file: BinaryIO, at: int) -> None:
        self._file = file
        self._waiting = b""
        self.at = at
        """The place in the file of the next byte."""

    def take(self) -> bytes:
        data = self._waiting or self._file.read(_READ_BYTES)
        self._waiting = b""
        self.at += len(data)
        return data

    def give_back(self, data: bytes) -> None:
        self._waiting = data + self._waiting
        self.at -= len(data)

    def peek(self, length: int) -> bytes:
        while len(self._waiting) < length and (more := self._file.read(_READ_BYTES)):
            self._waiting += more
        return self._waiting[:length]

    def rest_is_padding(self) -> bool:
        """Return whether only zeros follow, which tapes and some tools append."""
        while data := self.take():
            if data.strip(b"\0"):
                self.give_back(data)
                return False
        return True

    def skip_to(self, pattern: re.Pattern[bytes], *, before: int | None = None) -> bool:
        """Go to the next match of the pattern; return whether there is one.

        It may be after ``before``, but the search does not go much farther.
        """
        while before is None or self.at < before:
            self.peek(_READ_BYTES)
            found = pattern.search(self._waiting)
            if found is None and len(self._waiting) <= _LONGEST_MAGIC:
                return False
            # A match may begin in these bytes and end in the next ones.
            skipped = found.start() if found else len(self._waiting) - _LONGEST_MAGIC
            self._waiting = self._waiting[skipped:]
            self.at += skipped
            if found:
                return True
        return False


class _Gunzip:
    """zlib's decompressor of gzip, with the interface of bz2's."""

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
        made = self._inner.decompress(self._tail + data, _MAX_OUTPUT)
        self._tail = self._inner.unconsumed_tail
        if not data and not made and not self.eof:
            raise EOFError("the file ends in the middle of a stream")
        return made
