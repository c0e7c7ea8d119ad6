"""The conditional logit: which of several rows is the right one, learned from groups of rows."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

STRENGTH = 1.0
"""How strongly the weights are held to those they start from: as by so many groups."""
STEPS = 50


def learn(features: Floats, starts: Integers, gold: Integers, start: Floats) -> Floats:
    """The weights under which the golds are likeliest, held to those that they start from.

    Rows ``starts[q]`` to ``starts[q + 1] - 1`` of ``features`` are the choices of group q, and
    ``gold[q]`` the row of the right one, -1 if it is not among them: such a group has no say. The
    probability of the gold is its softmax among its rivals, which is maximised by Newton's method:

        minimise  sum over groups of -log P(gold)  +  strength / 2 * |(w - start) * spread|^2
    """
    found = gold >= 0
    sizes = np.diff(starts)[found]
    if not len(sizes):
        return start
    rows = np.repeat(found, np.diff(starts))
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    golds = gold[found] - starts[:-1][found] + first
    kept = features[rows]
    spread = kept.std(axis=0)
    spread[spread == 0.0] = 1.0
    # Each less its gold: what is equal for all rows of a group has no say.
    ahead = (kept - np.repeat(kept[golds], sizes, axis=0)) / spread
    learned: Floats = _newton(ahead, first, sizes, start * spread) / spread
    return learned


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
    """Minus the log-likelihood with its penalty, and the probability of each row."""
    value = np.einsum("ri,i->r", ahead, weights)
    most = np.maximum.reduceat(value, first)
    raised = np.exp(value - np.repeat(most, sizes))
    total = np.add.reduceat(raised, first)
    loss = float((np.log(total) + most).sum() + STRENGTH / 2 * ((weights - start) ** 2).sum())
    return loss, raised / np.repeat(total, sizes)
