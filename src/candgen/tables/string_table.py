"""Many strings in two arrays, UTF-8 bytes and offsets, as they are stored on the disk."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError
from candgen.kernels.strings import find_sorted, gather_strings
from candgen.storage.validation import check_offsets

_BATCH = 4096


class StringTable(Sequence[str]):
    """A read-only sequence of strings over two arrays, which may be memory-mapped.

    String i is ``bytes[offsets[i]:offsets[i + 1]]``. A string is decoded when it is used, so
    opening a table of millions of strings takes no time and reads only two pages.

    >>> table = StringTable(**StringTable.pack(["Tórshavn", "Føroyar", ""]))
    >>> table[0], table[1:], len(table)
    ('Tórshavn', ['Føroyar', ''], 3)
    """

    def __init__(self, bytes: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:  # noqa: A002
        if bytes.dtype != np.uint8 or bytes.ndim != 1:
            raise ParameterError(
                f"the bytes of a string table are {bytes.ndim}-d {bytes.dtype}, expected 1-d uint8"
            )
        if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
            raise ParameterError(
                f"the offsets of a string table are {len(offsets) if offsets.ndim else 0} "
                f"{offsets.dtype} values, expected a 1-d int64 array of at least one"
            )
        if offsets[0] != 0 or offsets[-1] != len(bytes):
            raise ParameterError(
                f"the offsets of a string table run from {offsets[0]} to {offsets[-1]}, "
                f"expected 0 to the number of its bytes, {len(bytes)}"
            )
        self.bytes = _read_only(bytes)
        self.offsets = _read_only(offsets)

    @staticmethod
    def pack(strings: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays `bytes` and `offsets` of a table of these strings."""
        if isinstance(strings, str):
            raise ParameterError(f"expected several strings, found one: {strings!r}")
        packed = bytearray()
        offsets = array("q", [0])
        for string in strings:
            try:
                packed += string.encode("utf-8")
            except UnicodeEncodeError as error:
                raise ParameterError(
                    f"string {len(offsets) - 1}, {string!r}, is not valid Unicode: {error.reason}"
                ) from None
            offsets.append(len(packed))
        return {
            "bytes": np.frombuffer(packed, dtype=np.uint8),
            "offsets": np.frombuffer(offsets, dtype=np.int64),
        }

    @classmethod
    def from_arrow(cls, strings: pa.LargeStringArray) -> "StringTable":
        """Make a table over the buffers of an Arrow array, which must have no nulls."""
        offsets, text = string_buffers(strings)
        return cls(text, offsets)

    def to_arrow(self) -> pa.LargeStringArray:
        """Return the same strings as an Arrow array over the same memory."""
        buffers = pa.py_buffer(self.offsets), pa.py_buffer(self.bytes)
        return pa.LargeStringArray.from_buffers(len(self), *buffers)

    def validate(self, name: str, *, items: int | None = None, is_sorted: bool = False) -> None:
        """Raise ValueError unless every string is valid UTF-8 and, if asked, they are sorted.

        ``items`` is how many there must be; sorted ones are distinct, in the order of their bytes.
        """
        check_offsets(f"{name}.offsets", self.offsets, len(self), len(self.bytes))
        if items is not None and len(self) != items:
            raise ValueError(f"{name} has {len(self)} strings, expected {items}")
        strings = self.to_arrow()
        try:
            strings.validate(full=True)
        except pa.ArrowException as error:
            raise ValueError(f"{name} has a string that is not UTF-8") from error
        if is_sorted and not pc.all(pc.less(strings[:-1], strings[1:])).as_py() and len(self) > 1:
            raise ValueError(f"{name} is not sorted")

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays `bytes` and `offsets`, to store them."""
        return {"bytes": self.bytes, "offsets": self.offsets}

    def take(self, indices: Iterable[int] | npt.NDArray[np.integer[Any]]) -> list[str]:
        """Return the strings at these places; raise IndexError for one outside the table."""
        at = np.asarray(indices if isinstance(indices, np.ndarray) else list(indices), np.int64)
        gathered, ends = gather_strings(self.bytes, self.offsets, at)
        text = str(gathered.data, "utf-8")
        return [text[start:end] for start, end in pairwise([0, *ends.tolist()])]

    def places(self, strings: Iterable[str]) -> npt.NDArray[np.int64]:
        """Return the places of strings in a table that is sorted by bytes; -1 for missing ones.

        >>> StringTable(**StringTable.pack(["a", "b", "é"])).places(["é", "x", "a"]).tolist()
        [2, -1, 0]
        """
        if isinstance(strings, StringTable):
            offsets, text = strings.offsets, strings.bytes
        else:
            # A lone surrogate, which UTF-8 cannot hold, is in no table, but a query may have one.
            encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
            # Not pa.array, which imports pandas where that is installed: longer than a query takes.
            text = np.frombuffer(b"".join(encoded), np.uint8)
            ends = [0, *accumulate(map(len, encoded))]
            offsets = np.frombuffer(array("q", ends).tobytes(), np.int64)
        places = np.empty(len(offsets) - 1, np.int64)
        find_sorted(text, offsets, self.bytes, self.offsets, places)
        return places

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self.take(np.arange(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"string {index} of a table of {len(self)} strings")
        start, end = self.offsets.item(place), self.offsets.item(place + 1)
        return str(self.bytes[start:end].data, "utf-8")

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _BATCH):
            yield from self[start : start + _BATCH]

    def __repr__(self) -> str:
        return f"<StringTable of {len(self)} strings, {len(self.bytes)} bytes>"


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array like those of a stored index, so that kernels compile once."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.setflags(write=False)
    return view


def string_buffers(
    array: pa.LargeStringArray | pa.LargeBinaryArray,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return the offsets, from 0, and the UTF-8 bytes of an array without nulls."""
    _, offsets_buffer, text_buffer = array.buffers()
    if offsets_buffer is None or len(array) == 0:
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    offsets = np.frombuffer(offsets_buffer, dtype=np.int64)
    offsets = offsets[array.offset : array.offset + len(array) + 1]
    text = np.frombuffer(text_buffer or b"", dtype=np.uint8)
    from_zero = offsets - offsets[0] if offsets[0] else offsets
    return from_zero, text[offsets[0] : offsets[-1]]
