"""Kernels that look strings up, and collect some of them, all of them UTF-8 with offsets."""

import numpy as np

from candgen.kernels import kernel
from candgen.kernels.prefetch import prefetch


@kernel
def _compare(text, start, end, other, other_start, other_end):
    """Return a number below, equal to or above 0 as the first string is less, equal or greater."""
    length = min(end - start, other_end - other_start)
    for i in range(length):
        difference = np.int64(text[start + i]) - np.int64(other[other_start + i])
        if difference != 0:
            return difference
    return (end - start) - (other_end - other_start)


@kernel
def find_sorted(text, offsets, among, among_offsets, places):
    """Write where each string stands among others, which are sorted and distinct; -1 if nowhere."""
    for string in range(len(offsets) - 1):
        low, high = 0, len(among_offsets) - 1
        start, end = offsets[string], offsets[string + 1]
        places[string] = -1
        while low < high:
            middle = (low + high) // 2
            order = _compare(
                text, start, end, among, among_offsets[middle], among_offsets[middle + 1]
            )
            if order == 0:
                places[string] = middle
                break
            if order < 0:
                high = middle
            else:
                low = middle + 1


@kernel
def gather_strings(text, offsets, places):
    """Return the text of the strings at these places, one after another, and where each ends.

    The ends are counted in characters. Places are far apart, so all are asked for before one is
    read.
    """
    size = len(offsets) - 1
    for i in range(len(places)):
        if not 0 <= places[i] < size:
            raise IndexError("a place is outside the table of strings")
        prefetch(offsets, places[i])
    length = 0
    for i in range(len(places)):
        start, end = offsets[places[i]], offsets[places[i] + 1]
        if not 0 <= start <= end <= len(text):
            raise IndexError("an offset is outside the text of the strings")
        prefetch(text, start)
        length += end - start
    gathered, ends = np.empty(length, np.uint8), np.empty(len(places), np.int64)
    filled, characters = 0, 0
    for i in range(len(places)):
        for at in range(offsets[places[i]], offsets[places[i] + 1]):
            gathered[filled] = text[at]
            filled += 1
            characters += text[at] & 0xC0 != 0x80  # all bytes but the later ones of a character
        ends[i] = characters
    return gathered, ends
