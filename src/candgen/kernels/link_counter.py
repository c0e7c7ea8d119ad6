"""The kernel that counts equal slices of bytes: a hash table in arrays, without Python objects."""

import numpy as np

from candgen.kernels import kernel

_SEED, _FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a


@kernel
def _hash(text, start, end):
    value = _SEED
    for i in range(start, end):
        value = (value ^ np.uint64(text[i])) * _FACTOR
    return value


@kernel
def _same(text, start, kept, kept_start, length):
    i = 0
    while i < length and text[start + i] == kept[kept_start + i]:
        i += 1
    return i == length


@kernel
def count_slices(text, first, last, begin, slots, kept, ends, hashes, counts, size):
    """Count slices from ``begin`` on; returns the first without room, and the new size.

    Distinct slices lie one after the other in ``kept``, as ``ends`` tells, with their ``hashes``
    and ``counts``; there are ``size`` of them. ``slots``, a power of two of them and more than
    twice as many as ``counts``, hold their numbers by hash, or -1.
    """
    mask = np.uint64(len(slots) - 1)
    for link in range(begin, len(first)):
        start, length = first[link], last[link] - first[link]
        value = _hash(text, start, last[link])
        slot = value & mask
        while True:
            number = slots[slot]
            if number < 0:
                used = ends[size - 1] if size else 0
                if size == len(counts) or used + length > len(kept):
                    return link, size
                for i in range(length):
                    kept[used + i] = text[start + i]
                slots[slot], hashes[size], counts[size] = size, value, 1
                ends[size] = used + length
                size += 1
                break
            kept_start = ends[number - 1] if number else 0
            if (
                hashes[number] == value
                and ends[number] - kept_start == length
                and _same(text, start, kept, kept_start, length)
            ):
                counts[number] += 1
                break
            slot = (slot + np.uint64(1)) & mask
    return len(first), size


@kernel
def fill_slots(slots, hashes, size):
    """Write the numbers of distinct slices into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for number in range(size):
        slot = hashes[number] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number
