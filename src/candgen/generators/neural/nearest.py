"""The nearest vectors by cosine, exactly, in blocks: memory does not grow with their number.

    score = (1 + cos) / 2, computed in float64 and rounded to float32

A product in float32 says which vectors may be among the best, with a slack that is wider than its
error; one function scores those. Equal scores have the order of the vectors.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.index.cancellation import check_cancellation

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

VECTORS_AT_ONCE = 1 << 15
QUERIES_AT_ONCE = 256
SCORED_AT_ONCE = 1 << 13
PLACES_AT_ONCE = 1 << 22
"""Places kept for all queries that are answered at a time: with a large k, those are fewer."""


class Nearest(NamedTuple):
    """What a query found, the best first."""

    score: Floats
    place: npt.NDArray[np.int64]


NO_NEIGHBORS = Nearest(np.zeros(0, np.float32), np.zeros(0, np.int64))


def nearest(queries: Doubles, vectors: Floats, k: int) -> Iterator[Nearest]:
    """Yield the k nearest vectors of each query; all have length 1. Scores of 0 are left out.

    What a query finds does not depend on the others.
    """
    k = min(k, len(vectors))
    at_once = max(1, min(QUERIES_AT_ONCE, PLACES_AT_ONCE // max(k, 1)))
    for first in range(0, len(queries), at_once):
        yield from _some(queries[first : first + at_once], vectors, k)


def score(query: Doubles, vectors: Floats) -> Floats:
    """Return (1 + cos) / 2 of each vector, independent of the other vectors."""
    scores = np.empty(len(vectors), np.float32)
    for first in range(0, len(vectors), SCORED_AT_ONCE):
        part = slice(first, first + SCORED_AT_ONCE)
        # Not a matrix product: the order in which that adds up depends on its shape.
        cosine = (vectors[part] * query).sum(axis=1)
        scores[part] = (1 + np.clip(cosine, -1, 1)) / 2
    return scores


def slack(dimensions: int) -> float:
    """Return an upper bound of the error of a cosine in float32, so that no score is missed.

    In units of 2^-24, half the distance between float32 numbers near 1: a product of rounded
    vectors is off by at most dimensions + 2 and a little, in whatever order it is summed; rounding
    two scores, and what is longer than 1, hides 4 more. This is twice the first and 16.
    """
    return (dimensions + 8) * 2.0**-23


def _some(queries: Doubles, vectors: Floats, k: int) -> list[Nearest]:
    best = [NO_NEIGHBORS] * len(queries)
    rough = queries.astype(np.float32)
    for first in range(0, len(vectors), VECTORS_AT_ONCE):
        check_cancellation()
        block = vectors[first : first + VECTORS_AT_ONCE]
        cosines = rough @ block.T
        for row, query in enumerate(queries):
            chosen = np.flatnonzero(cosines[row] >= _least(cosines[row], best[row], k, len(query)))
            if len(chosen):
                found = Nearest(score(query, block[chosen]), chosen + first)
                best[row] = _merge(best[row], found, k)
    return best


def _least(cosines: Floats, best: Nearest, k: int, dimensions: int) -> float:
    """Return the rough cosine below which a vector of this block is not among the k best."""
    if len(best.score) == k:
        return 2 * float(best.score[-1]) - 1 - slack(dimensions)
    if len(cosines) <= k:
        return -np.inf
    # The k vectors above this one may all be worse than they look, and others better.
    return float(np.partition(cosines, -k)[-k]) - 2 * slack(dimensions)


def _merge(best: Nearest, found: Nearest, k: int) -> Nearest:
    """Return the k best of both, without scores of 0; what was found stands after the others."""
    scores = np.concatenate((best.score, found.score))
    places = np.concatenate((best.place, found.place))
    order = np.argsort(-scores, kind="stable")[:k]
    order = order[scores[order] > 0]
    return Nearest(scores[order], places[order])
