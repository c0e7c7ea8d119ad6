"""A heap of the best candidates so far: its first entry is the worst, which a better one replaces.

An entry is a score and a tie order; of equal scores, the lower tie order is better. ``score`` and
``tie`` have as many places as candidates are wanted.
"""

from candgen.kernels import inner_kernel


@inner_kernel
def _worse(score, tie, other_score, other_tie):
    return score < other_score or (score == other_score and tie > other_tie)


@inner_kernel
def _sift_down(score, tie, size, new_score, new_tie):
    """Put a new entry in the place of the worst, which is the first, of a heap."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        other = child + 1
        if other < size and _worse(score[other], tie[other], score[child], tie[child]):
            child = other
        if not _worse(score[child], tie[child], new_score, new_tie):
            break
        score[i], tie[i] = score[child], tie[child]
        i = child
    score[i], tie[i] = new_score, new_tie


@inner_kernel
def _sift_up(score, tie, size, new_score, new_tie):
    """Put a new entry at the end of a heap, and up to where it belongs."""
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if not _worse(new_score, new_tie, score[parent], tie[parent]):
            break
        score[i], tie[i] = score[parent], tie[parent]
        i = parent
    score[i], tie[i] = new_score, new_tie


@inner_kernel
def keep(score, tie, size, new_score, new_tie):
    """Offer an entry to a heap of ``size`` entries; returns its size after that."""
    if size < len(score):
        _sift_up(score, tie, size, new_score, new_tie)
        return size + 1
    if _worse(score[0], tie[0], new_score, new_tie):
        _sift_down(score, tie, size, new_score, new_tie)
    return size


@inner_kernel
def sort_heap(score, tie, size):
    """Turn a heap into a list, the best first."""
    for last in range(size - 1, 0, -1):
        worst_score, worst_tie = score[0], tie[0]
        _sift_down(score, tie, last, score[last], tie[last])
        score[last], tie[last] = worst_score, worst_tie
