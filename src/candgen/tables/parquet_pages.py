"""The headers of the pages of a Parquet file: how large its columns are when they are unpacked.

A few bytes of a Parquet file can say that a page has two billion values or two gigabytes, and the
sizes in the footer need not be true. The header of each page is what Arrow goes by when it reads,
so that the sizes here are those of the memory that Arrow is going to use. The format is Thrift's
compact protocol, of which only integers are looked at.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

_MAX_HEADER = 1 << 24  # bytes, as in Arrow
_FIRST_LOOK = 1 << 12
_MAX_DEPTH = 16

_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_HEADER_OF = {_DATA: 5, _DICTIONARY: 7, _DATA_V2: 8}
"""The field of a page header that describes a page of this type; its field 1 has the values."""


class Page(NamedTuple):
    """What the header of a page says; sizes are in bytes."""

    is_dictionary: bool
    values: int
    packed: int
    unpacked: int


class PageError(ValueError):
    """A page header that is not what the format says."""


def read_pages(file: BinaryIO, column: Any, size: int) -> Iterator[Page]:  # noqa: ANN401
    """Yield the pages of a column chunk, those that Arrow reads, in their order.

    ``column`` is the chunk's metadata, and ``size`` that of the file.
    """
    place = column.data_page_offset
    if column.has_dictionary_page and 0 < column.dictionary_page_offset < place:
        place = column.dictionary_page_offset
    seen = 0
    while seen < column.num_values:
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
    described = fields.get(_HEADER_OF[kind])
    values = described.get(1) if isinstance(described, dict) else None
    if not isinstance(values, int) or values < 0:
        raise PageError("a page header lacks its number of values")
    return Page(kind == _DICTIONARY, values, packed, unpacked), end + packed


# Thrift's compact protocol. An IndexError means that the data ends too early.

_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12


def _read_struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the integers and structs of a struct by the numbers of their fields, and its end."""
    if not depth:
        raise PageError("a page header is nested too deep")
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
        return None, _skip(data, at, length)
    if kind in (_LIST, _SET):
        return None, _skip_list(data, at, depth)
    raise PageError(f"a page header has a field of the type {kind}")


def _skip_list(data: bytes, at: int, depth: int) -> int:
    if not depth:
        raise PageError("a page header is nested too deep")
    length, kind = data[at] >> 4, data[at] & 15
    at += 1
    if length == 15:
        length, at = _read_varint(data, at)
    if kind in (_TRUE, _FALSE):
        return _skip(data, at, length)
    for _ in range(length):
        _, at = _read_value(data, at, kind, depth - 1)
    return at


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
            raise PageError("a page header has a number beyond 64 bits")
