"""A heap of the best candidates so far: its first entry is the worst, which a better one replaces.

An entry is one whole number, in whose order candidates stand: the bits of the score, which for
positive numbers grow with it, and below them the tie order, reversed, since the lower one is
better. A heap has as many places as candidates are wanted.
"""

import numpy as np

from candgen.kernels import inner_kernel

LAST = np.uint32(0xFFFFFFFF)
HALF = np.uint64(32)


@inner_kernel
def entry(score, tie):
    """Return the entry of a score above 0, in single precision, and a tie order."""
    return np.uint64(np.float32(score).view(np.uint32)) << HALF | np.uint64(LAST - tie)


@inner_kernel
def score_of(kept):
    """Return the score of an entry."""
    return np.uint32(kept >> HALF).view(np.float32)


@inner_kernel
def _sift_down(heap, size, new):
    """Put a new entry in the place of the worst, which is the first, of a heap."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= new:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = new


@inner_kernel
def _sift_up(heap, size, new):
    """Put a new entry at the end of a heap, and up to where it belongs."""
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if new >= heap[parent]:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = new


@inner_kernel
def keep(heap, size, new):
    """Offer an entry to a heap of ``size`` entries; returns its size after that."""
    if size < len(heap):
        _sift_up(heap, size, new)
        return size + 1
    if heap[0] < new:
        _sift_down(heap, size, new)
    return size


@inner_kernel
def sort_heap(heap, size):
    """Turn a heap into a list, the best first."""
    for last in range(size - 1, 0, -1):
        worst = heap[0]
        _sift_down(heap, last, heap[last])
        heap[last] = worst


@inner_kernel
def write_entries(heap, size, score, tie):
    """Write scores and tie orders of the first ``size`` entries."""
    for i in range(size):
        score[i] = score_of(heap[i])
        tie[i] = LAST - np.uint32(heap[i] & np.uint64(LAST))
