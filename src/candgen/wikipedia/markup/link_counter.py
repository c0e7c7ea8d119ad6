"""Counts of equal links as bytes in arrays: millions of links without Python objects."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from candgen.kernels.link_counter import count_slices, fill_slots

Number = TypeVar("Number", bound=np.number[Any])

_CAPACITY = 1 << 12  # distinct slices, at first
_SLICE_BYTES = 48  # of memory for each


class Slices(NamedTuple):
    """Slices of bytes one after the other, and the end of each."""

    text: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]

    @classmethod
    def of(cls, slices: Sequence[bytes]) -> "Slices":
        """Join slices."""
        lengths = np.fromiter(map(len, slices), dtype=np.int64, count=len(slices))
        return cls(np.frombuffer(b"".join(slices), dtype=np.uint8), np.cumsum(lengths))

    def at(self, number: int) -> bytes:
        """Return one of them."""
        start = self.ends[number - 1] if number else 0
        return self.text[start : self.ends[number]].tobytes()


class SliceCounter:
    """Counts slices of texts.

    >>> counter = SliceCounter()
    >>> counter.add(b"[[a]] [[b]] [[a]]", np.array([0, 6, 12]), np.array([5, 11, 17]))
    >>> slices, counts = counter.take()
    >>> [(slices.at(number), count) for number, count in enumerate(counts.tolist())]
    [(b'[[a]]', 2), (b'[[b]]', 1)]
    """

    def __init__(self) -> None:
        self._size = 0
        self._kept = np.empty(0, dtype=np.uint8)
        self._ends = np.empty(0, dtype=np.int64)
        self._hashes = np.empty(0, dtype=np.uint64)
        self._counts = np.empty(0, dtype=np.int64)
        self._make_room(_CAPACITY, _CAPACITY * _SLICE_BYTES)

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """The bytes of all distinct slices."""
        return int(self._ends[self._size - 1]) if self._size else 0

    def add(self, text: bytes, first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]) -> None:
        """Count the slices of a text between these places."""
        page = np.frombuffer(text, dtype=np.uint8)
        begin = 0
        while True:
            begin, self._size = count_slices(
                page,
                first,
                last,
                begin,
                self._slots,
                self._kept,
                self._ends,
                self._hashes,
                self._counts,
                self._size,
            )
            if begin == len(first):
                return
            self._grow(int(last[begin] - first[begin]))

    def _grow(self, length: int) -> None:
        """Make room for another slice of this length, and for more."""
        room, text = len(self._counts), len(self._kept)
        used = self.nbytes
        self._make_room(
            2 * room if self._size == room else room,
            2 * (used + length) if used + length > text else text,
        )

    def take(self) -> tuple[Slices, npt.NDArray[np.int64]]:
        """Return the distinct slices and the count of each, and start over."""
        ends = self._ends[: self._size].copy()
        taken = Slices(self._kept[: self.nbytes].copy(), ends), self._counts[: self._size].copy()
        self._size = 0
        self._slots.fill(-1)
        return taken

    def _make_room(self, room: int, text: int) -> None:
        """Enlarge the arrays to so many slices and bytes."""
        self._kept = _enlarge(self._kept, text)
        self._ends = _enlarge(self._ends, room)
        self._hashes = _enlarge(self._hashes, room)
        self._counts = _enlarge(self._counts, room)
        self._slots = np.full(4 * room, -1, dtype=np.int32)
        fill_slots(self._slots, self._hashes, self._size)


def _enlarge(array: npt.NDArray[Number], length: int) -> npt.NDArray[Number]:
    made = np.empty(length, dtype=array.dtype)
    made[: len(array)] = array
    return made
