"""The footer and the page headers of a Parquet file: how large columns are when unpacked.

A few bytes of a Parquet file can say that a page has two billion values or two gigabytes, and the
sizes in the footer need not be true. The header of each page is what Arrow goes by when it reads,
so that the sizes here are those of the memory that Arrow is going to use. The format is Thrift's
compact protocol. PyArrow has the footer, too, but a damaged one ends the process.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

_MAX_FOOTER = 1 << 24  # bytes: 80,000 columns
_MAX_HEADER = 1 << 24  # bytes, as in Arrow
_FIRST_LOOK = 1 << 12
_MAX_DEPTH = 16
_MAGIC = b"PAR1"

_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_HEADER_OF = {_DATA: (5, 2), _DICTIONARY: (7, 2), _DATA_V2: (8, 4)}
"""The field of a page header that describes a page of this type, and its field of the encoding."""
_DELTA_BYTE_ARRAY = 7
_BYTE_ARRAY, _FIXED_BYTE_ARRAY = 6, 7


class Page(NamedTuple):
    """What the header of a page says; sizes are in bytes."""

    is_dictionary: bool
    values: int
    packed: int
    unpacked: int
    has_prefixes: bool
    """Whether a value may begin like the one before it, so that few bytes are many."""


class Chunk(NamedTuple):
    """What the footer says about a column in a row group; ``start`` is its first page."""

    is_text: bool
    is_bytes: bool
    values: int
    start: int


class PageError(ValueError):
    """A footer or a page header that is not what the format says."""


def read_chunks(file: BinaryIO, places: Sequence[int]) -> Iterator[list[Chunk]]:
    """Yield the chunks of the columns at these places, for each row group."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - 8, 0))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC or length > size - 8:
        raise PageError("it has no footer")
    if length > _MAX_FOOTER:
        raise PageError(f"its footer has more than {_MAX_FOOTER:,} bytes")
    file.seek(size - 8 - length)
    try:
        footer, _ = _read_struct(file.read(length), 0, _MAX_DEPTH)
    except IndexError:
        raise PageError("its footer is cut short") from None
    for group in _structs(footer.get(4, [])):
        columns = _structs(group.get(1, []))
        if any(place >= len(columns) for place in places):
            raise PageError("a row group lacks a column")
        yield [_read_chunk(columns[place]) for place in places]


def _structs(value: Any) -> list[dict[int, Any]]:  # noqa: ANN401
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise PageError("its footer has no row groups and columns")
    return value


def _read_chunk(column: dict[int, Any]) -> Chunk:
    metadata = column.get(3)
    if 8 in column or not isinstance(metadata, dict):
        raise PageError("a column is encrypted")
    kind, values, start, dictionary = (metadata.get(number) for number in (1, 5, 9, 11))
    if not isinstance(values, int) or not isinstance(start, int):
        raise PageError("a column lacks its number of values or its place")
    if isinstance(dictionary, int) and 0 < dictionary < start:
        start = dictionary
    return Chunk(kind == _BYTE_ARRAY, kind == _FIXED_BYTE_ARRAY, values, start)


def read_pages(file: BinaryIO, chunk: Chunk) -> Iterator[Page]:
    """Yield the pages of a column chunk, those that Arrow reads, in their order."""
    size = file.seek(0, os.SEEK_END)
    place, seen = chunk.start, 0
    while seen < chunk.values:
        if not 0 <= place < size:
            raise PageError("a page lies outside the file")
        page, length = _read_page(file, place)
        if page is not None:
            yield page
            seen += 0 if page.is_dictionary else page.values
        place += length


def _read_page(file: BinaryIO, place: int) -> tuple[Page | None, int]:
    """Return a page, None if it is one that readers skip, and its length with its header."""
    look = _FIRST_LOOK
    while True:
        file.seek(place)
        data = file.read(look)
        try:
            fields, end = _read_struct(data, 0, _MAX_DEPTH)
            break
        except IndexError:  # the header is longer than what was read
            if len(data) < look or look >= _MAX_HEADER:
                raise PageError("a page header is cut short") from None
            look *= 8
    kind, unpacked, packed = (fields.get(number) for number in (1, 2, 3))
    if not isinstance(kind, int) or not isinstance(unpacked, int) or not isinstance(packed, int):
        raise PageError("a page header lacks its type or size")
    if unpacked < 0 or packed < 0:
        raise PageError("a page has a negative size")
    if kind not in _HEADER_OF:
        return None, end + packed
    header, encoding = _HEADER_OF[kind]
    described = fields.get(header)
    values = described.get(1) if isinstance(described, dict) else None
    if described is None or not isinstance(values, int) or values < 0:
        raise PageError("a page header lacks its number of values")
    has_prefixes = described.get(encoding) == _DELTA_BYTE_ARRAY
    return Page(kind == _DICTIONARY, values, packed, unpacked, has_prefixes), end + packed


# Thrift's compact protocol. An IndexError means that the data ends too early.

_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12


def _read_struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the values of a struct by the numbers of their fields, and its end."""
    if not depth:
        raise PageError("a header is nested too deep")
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[at]) != 0:
        kind, step = head & 15, head >> 4
        at += 1
        if step:
            number += step
        else:
            number, at = _read_integer(data, at)
        fields[number], at = _read_value(data, at, kind, depth)
    return fields, at + 1


def _read_value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return None, at
    if kind == _BYTE:
        return data[at], at + 1
    if _BYTE < kind <= _I64:
        return _read_integer(data, at)
    if kind == _STRUCT:
        return _read_struct(data, at, depth - 1)
    if kind == _DOUBLE:
        return None, _skip(data, at, 8)
    if kind == _BINARY:
        length, at = _read_varint(data, at)
        return None, _skip(data, at, length)  # no text is needed
    if kind in (_LIST, _SET):
        return _read_list(data, at, depth)
    raise PageError(f"a header has a field of the type {kind}")


def _read_list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    if not depth:
        raise PageError("a header is nested too deep")
    length, kind = data[at] >> 4, data[at] & 15
    at += 1
    if length == 15:
        length, at = _read_varint(data, at)
    if kind in (_TRUE, _FALSE):
        return [], _skip(data, at, length)
    values = []
    for _ in range(length):
        value, at = _read_value(data, at, kind, depth - 1)
        values.append(value)
    return values, at


def _skip(data: bytes, at: int, length: int) -> int:
    if at + length > len(data):
        raise IndexError
    return at + length


def _read_integer(data: bytes, at: int) -> tuple[int, int]:
    zigzag, at = _read_varint(data, at)
    return (zigzag >> 1) ^ -(zigzag & 1), at


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise PageError("a header has a number beyond 64 bits")
