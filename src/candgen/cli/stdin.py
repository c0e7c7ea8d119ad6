"""Lines of standard input, as they arrive."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import cast

from candgen.errors import ParameterError
from candgen.tables.limits import row_too_large, table_limits

_CHUNK = 1 << 16
_MARK = b"\xef\xbb\xbf"  # a byte order mark


def stdin_lines(at_most: int) -> Iterator[list[str]]:
    """Yield the lines of standard input without their line ends, in batches.

    Lines are yielded as soon as they arrive, so that a program that sends one and waits gets its
    answer. A line ends in ``\\n`` or ``\\r\\n``; a byte order mark before the first is dropped.
    """
    if sys.stdin is None:
        raise ParameterError(
            "standard input is closed: give mentions as arguments, or through a pipe"
        )
    with contextlib.suppress(OSError):  # not a file of the operating system
        # In non-blocking mode, "no data yet" looks like the end.
        os.set_blocking(sys.stdin.fileno(), True)
    before = 0
    for piece in _whole_lines(cast("io.BufferedReader", sys.stdin.buffer)):
        data = piece if before else piece.removeprefix(_MARK)
        good = _valid(data)
        lines = good.decode("utf-8").removesuffix("\n").split("\n") if good else []
        for first in range(0, len(lines), at_most):
            yield [line.removesuffix("\r") for line in lines[first : first + at_most]]
        before += len(lines)
        if len(good) < len(data):
            raise ParameterError(
                f"line {before + 1} of standard input is not UTF-8: convert it, as iconv does"
            )


def _whole_lines(stream: io.BufferedReader) -> Iterator[bytes]:
    """Yield what can be read, cut after the last line end; the last piece may lack one."""
    pending = bytearray()
    line = 1
    limit = table_limits().row
    while chunk := stream.read1(_CHUNK):
        end = chunk.rfind(b"\n") + 1
        if end:
            piece = bytes(pending) + chunk[:end]
            for number, text in enumerate(piece.split(b"\n") if len(piece) > limit else (), line):
                if len(text) > limit:
                    raise row_too_large(f"line {number} of standard input", limit)
            yield piece
            line += piece.count(b"\n")
            pending = bytearray(chunk[end:])
        else:
            pending += chunk
        if len(pending) > limit:
            raise row_too_large(f"line {line} of standard input", limit)
    if pending:
        yield bytes(pending)


def _valid(data: bytes) -> bytes:
    """Return the lines before the first that is not UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: data.rfind(b"\n", 0, error.start) + 1]
    return data
