"""The weights of the second stage: what they weigh, and how dev chooses them."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

STRENGTH = 1.0
"""How strongly the weights are held to the fixed ones: as by so many queries."""
STEPS = 50


class Weights(NamedTuple):
    """What each property of a candidate weighs; a candidate's value is the sum of the products.

    - ``score``: log of its score in the first stage over the best one's;
    - ``likeness``: how likely the mention, or its translation, is a copy of its likeliest name, see
      ``EditModel``;
    - ``frequency``: log(1 + count) of that name;
    - ``popularity``: log(1 + count) of all its names together;
    - ``languages``: how many languages have it;
    - ``same``: 1 if the mention is one of its names.
    """

    score: float
    likeness: float
    frequency: float
    popularity: float
    languages: float
    same: float


FIXED = Weights(score=1.5, likeness=4.0, frequency=0.2, popularity=0.0, languages=3.0, same=1.5)
"""Where there is no dev data. Rounded from what dev chose for several languages."""


def learn_weights(
    features: Floats, starts: Integers, gold: Integers, *, fixed: Weights = FIXED
) -> Weights:
    """The weights under which the golds are likeliest, held to the fixed ones.

    Rows ``starts[q]`` to ``starts[q + 1] - 1`` of ``features`` are the candidates of query q, and
    ``gold[q]`` the row of its gold, -1 if it is not among them. The probability of the gold is its
    softmax among its rivals (a conditional logit), which is maximised by Newton's method:

        minimise  sum over queries of -log P(gold)  +  strength / 2 * |(w - fixed) * spread|^2
    """
    found = gold >= 0
    sizes = np.diff(starts)[found]
    if not len(sizes):
        return fixed
    rows = np.repeat(found, np.diff(starts))
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    golds = gold[found] - starts[:-1][found] + first
    kept = features[rows]
    spread = kept.std(axis=0)
    spread[spread == 0.0] = 1.0
    # Each less its gold: what is equal for all candidates of a query has no say.
    ahead = (kept - np.repeat(kept[golds], sizes, axis=0)) / spread
    start = np.array(fixed) * spread
    learned = _newton(ahead, first, sizes, start) / spread
    return Weights(*learned.tolist())


def _newton(ahead: Floats, first: Integers, sizes: Integers, start: Floats) -> Floats:
    """Newton's method with steps that are halved until they help; the function is convex."""
    weights = start
    loss, share = _loss(ahead, first, sizes, weights, start)
    for _ in range(STEPS):
        weighted = ahead * share[:, np.newaxis]
        means = np.add.reduceat(weighted, first, axis=0)
        gradient = means.sum(axis=0) + STRENGTH * (weights - start)
        curvature = _products(weighted, ahead) - _products(means, means)
        curvature += STRENGTH * np.eye(len(weights))
        step = np.linalg.solve(curvature, -gradient)
        size = 1.0
        while True:
            tried, tried_share = _loss(ahead, first, sizes, weights + size * step, start)
            if tried <= loss or size < 1e-6:
                break
            size /= 2
        gained = loss - tried
        if gained < 0.0:  # rounding: it cannot be better than this
            break
        weights, loss, share = weights + size * step, tried, tried_share
        if gained <= 1e-12 * abs(loss):
            break
    return weights


def _products(one: Floats, other: Floats) -> Floats:
    """The products of columns; not by a library that rounds otherwise with other threads."""
    products: Floats = np.einsum("ri,rj->ij", one, other)
    return products


def _loss(
    ahead: Floats, first: Integers, sizes: Integers, weights: Floats, start: Floats
) -> tuple[float, Floats]:
    """Minus the log-likelihood with its penalty, and the probability of each candidate."""
    value = np.einsum("ri,i->r", ahead, weights)
    most = np.maximum.reduceat(value, first)
    raised = np.exp(value - np.repeat(most, sizes))
    total = np.add.reduceat(raised, first)
    loss = float((np.log(total) + most).sum() + STRENGTH / 2 * ((weights - start) ** 2).sum())
    return loss, raised / np.repeat(total, sizes)
