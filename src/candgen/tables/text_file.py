"""Reading a text table: gzip, UTF-8, byte order marks and line ends; errors name file and line."""

import contextlib
import gzip
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from candgen.errors import ParameterError, TableError, shown

FilePath = str | os.PathLike[str]
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BLOCK = 1 << 23  # bytes


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


def read_text(path: Path) -> bytes:
    """Return the UTF-8 text of a file, compressed if its name ends in .gz; raise TableError.

    Line ends are plain, and there is neither a byte order mark nor the last line end.
    """
    with table_errors(path):
        data = path.read_bytes()
        if path.name.lower().endswith(".gz"):
            data = gzip.decompress(data)
        elif data.startswith(b"\x1f\x8b"):
            raise TableError(f"{path} is compressed by gzip: add .gz to its name")
    if not _is_utf8(data):
        for number, line in enumerate(io.BytesIO(data), start=1):
            if problem := utf8_problem(line):
                raise TableError(f"{path} line {number}: {problem}")
    return data.removeprefix(BYTE_ORDER_MARK).replace(b"\r\n", b"\n").removesuffix(b"\n")


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


def iter_blocks(text: bytes) -> Iterator[bytes]:
    """Yield a few megabytes of whole lines at a time."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + _BLOCK) + 1 or len(text)
        yield text[start:end]
        start = end


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
