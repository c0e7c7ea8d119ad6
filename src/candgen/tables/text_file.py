"""Reading a text table: gzip, UTF-8, byte order marks and line ends; errors name file and line."""

import contextlib
import errno
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from candgen.errors import ParameterError, TableError, shown
from candgen.tables.limits import row_too_large, table_limits, table_too_large

FilePath = str | os.PathLike[str]
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BLOCK = 1 << 23  # bytes
_OPEN_FILES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def as_path(path: FilePath) -> Path:
    """Return the path; raise ParameterError if it cannot be one."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path) or not str(path):
        raise ParameterError(f"path is {shown(path)}, expected the name of a file")
    return Path(path)


def reason(error: BaseException) -> str:
    """Return the first line of what an error says."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0].rstrip(".")


@contextlib.contextmanager
def table_errors(path: Path) -> Iterator[None]:
    """Raise the errors of the block that are about the file as TableError."""
    try:
        yield
    except FileNotFoundError as error:
        raise TableError(f"{path} does not exist: check the name and the folder") from error
    except gzip.BadGzipFile as error:
        raise TableError(
            f"{path} is not a valid gzip file: copy it again, or drop .gz from its name if it is "
            "not compressed"
        ) from error
    except (EOFError, zlib.error) as error:
        raise TableError(f"{path} is cut short or damaged: copy or download it again") from error
    except OSError as error:
        raise TableError(f"{path} cannot be read: {reason(error)}") from error


def is_gzip(path: Path) -> bool:
    """Return whether the name says that a file is compressed."""
    return path.name.lower().endswith(".gz")


def check_is_file(path: Path) -> int:
    """Return the bytes of a file on the disk; raise TableError for a device or a named pipe.

    Opening a named pipe waits for its other end, and a device may never end. A pipe that a shell
    has opened, as in ``<(zcat a.gz)``, is read; its size is not known, and counts as unlimited.
    """
    found = path.stat()
    if stat.S_ISREG(found.st_mode):
        return found.st_size
    if stat.S_ISFIFO(found.st_mode) and str(path).startswith(_OPEN_FILES):
        return sys.maxsize
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise TableError(f"{path} is not a regular file: copy what it holds to a file, and name that")


def read_whole_lines(path: Path) -> Iterator[bytes]:
    """Yield blocks of whole lines without a byte order mark; a name that ends in .gz is unpacked.

    Raise TableError as soon as a line or the file is larger than the limits.
    """
    limits = table_limits()
    with table_errors(path):
        limit = limits.table(check_is_file(path))
        with gzip.open(path) if is_gzip(path) else path.open("rb") as file:
            start = file.peek(3)
            if start.startswith(b"\x1f\x8b") and not is_gzip(path):
                raise TableError(f"{path} is compressed by gzip: add .gz to its name")
            if start.startswith(BYTE_ORDER_MARK):
                file.read(len(BYTE_ORDER_MARK))
            total, line = 0, 1
            pending: list[bytes] = []  # the start of a line
            while data := file.read(_BLOCK):
                total += len(data)
                end = data.rfind(b"\n") + 1
                if end:
                    block = b"".join([*pending, data[:end]])
                    _check_lines(path, block, line, limits.row)
                    pending, data = [], data[end:]
                    line += block.count(b"\n")
                pending.append(data)
                if sum(map(len, pending)) > limits.row:
                    raise row_too_large(f"{path} line {line}", limits.row)
                if total > limit:
                    raise table_too_large(path, limit, f" (line {line})")
                if end:
                    yield block
            if last := b"".join(pending):
                yield last


def _check_lines(path: Path, block: bytes, first: int, limit: int) -> None:
    """Raise TableError for a line longer than the limit, with a look at few bytes of the block."""
    start = 0
    while len(block) - start > limit:
        end = block.rfind(b"\n", start, start + limit + 1)
        if end < 0:
            line = first + block.count(b"\n", 0, start)
            raise row_too_large(f"{path} line {line}", limit)
        start = end + 1


def read_blocks(path: Path) -> Generator[bytes, None, None]:
    """Yield the UTF-8 text of a file, a few megabytes of whole lines at a time; raise TableError.

    Line ends are plain, and there is neither a byte order mark nor the last line end.
    """
    line = 1
    before: bytes | None = None
    for block in read_whole_lines(path):
        if not _is_utf8(block):
            for number, each in enumerate(io.BytesIO(block), start=line):
                if problem := utf8_problem(each):
                    raise TableError(f"{path} line {number}: {problem}")
        line += block.count(b"\n")
        if before is not None:
            yield before
        before = block.replace(b"\r\n", b"\n")
    if before and (last := before.removesuffix(b"\n")):
        yield last


def _is_utf8(data: bytes) -> bool:
    """Do what data.decode() does, without making the string."""
    offsets = pa.py_buffer(np.array([0, len(data)], dtype=np.int64))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def utf8_problem(line: bytes) -> str | None:
    """Return why a line is not UTF-8, or None."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte 0x{line[error.start]:02x} is not UTF-8: save the file as UTF-8"
    return None


def split_lines(text: bytes) -> Iterator[str]:
    """Yield the lines; U+2028 and the like, where str.splitlines cuts, are ordinary characters."""
    for line in io.BytesIO(text):
        yield line.decode("utf-8").removesuffix("\n")


def parse_columns(
    block: bytes,
    names: Sequence[str],
    wanted: Sequence[str],
    *,
    delimiter: str = "\t",
    skip_empty_lines: bool = False,
) -> pa.Table | None:
    """Return columns of strings from whole lines without quoting, by Arrow, which is fast.

    An empty line gives a row of empty strings, or none with ``skip_empty_lines``.
    Return None for lines that have to be read one by one: the number of fields is wrong, or Arrow
    would not cut the text like `split_lines` (it skips a byte order mark, and a lone carriage
    return ends a line).
    """
    if b"\r" in block or block.startswith(BYTE_ORDER_MARK):
        return None
    try:
        columns = pa.csv.read_csv(
            pa.BufferReader(block),
            read_options=pa.csv.ReadOptions(column_names=names, block_size=1 << 21),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter,
                quote_char=False,
                escape_char=False,
                newlines_in_values=False,
                ignore_empty_lines=skip_empty_lines,
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.large_string()),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        return None
    lines = block.count(b"\n") + (not block.endswith(b"\n"))
    return columns if skip_empty_lines or len(columns) == lines else None
