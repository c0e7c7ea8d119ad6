"""The kernel that looks strings up among sorted ones, all of them UTF-8 with offsets."""

import numpy as np

from candgen.kernels import kernel


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
