"""The conditional logit: learn from groups of rows which row of a group is the right one."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

STRENGTH = 1.0
"""Strength of the penalty for leaving the start weights; 1 is as strong as one group."""
STEPS = 50


def learn(
    features: Floats, starts: Integers, gold: Integers, start: Floats, *, strength: float = STRENGTH
) -> Floats:
    """Return the weights under which the golds are likeliest, held to those that they start from.

    Rows ``starts[q]`` to ``starts[q + 1] - 1`` of ``features`` are the choices of group q, and
    ``gold[q]`` the row of the right one, -1 if it is not among them: such a group is
    ignored. The probability of the gold is its softmax in the group, maximized by Newton's method:

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
    # Differences to the gold: a feature that is equal in all rows of a group has no effect.
    ahead = (kept - np.repeat(kept[golds], sizes, axis=0)) / spread
    learned: Floats = _newton(ahead, first, sizes, start * spread, strength) / spread
    return learned


def _newton(
    ahead: Floats, first: Integers, sizes: Integers, start: Floats, strength: float
) -> Floats:
    """Minimize by Newton's method, halving steps until they help; the function is convex."""
    weights = start
    loss, share = _loss(ahead, first, sizes, weights, start, strength)
    for _ in range(STEPS):
        weighted = ahead * share[:, np.newaxis]
        means = np.add.reduceat(weighted, first, axis=0)
        gradient = means.sum(axis=0) + strength * (weights - start)
        curvature = _products(weighted, ahead) - _products(means, means)
        curvature += strength * np.eye(len(weights))
        step = np.linalg.solve(curvature, -gradient)
        size = 1.0
        while True:
            tried, tried_share = _loss(ahead, first, sizes, weights + size * step, start, strength)
            if tried <= loss or size < 1e-6:
                break
            size /= 2
        gained = loss - tried
        if gained < 0.0:  # only rounding errors are left
            break
        weights, loss, share = weights + size * step, tried, tried_share
        if gained <= 1e-12 * abs(loss):
            break
    return weights


def _products(one: Floats, other: Floats) -> Floats:
    """Return the products of columns; not with BLAS, whose rounding depends on the threads."""
    products: Floats = np.einsum("ri,rj->ij", one, other)
    return products


def _loss(
    ahead: Floats, first: Integers, sizes: Integers, weights: Floats, start: Floats, strength: float
) -> tuple[float, Floats]:
    """Return minus the log-likelihood plus the penalty, and the probability of each row."""
    value = np.einsum("ri,i->r", ahead, weights)
    most = np.maximum.reduceat(value, first)
    raised = np.exp(value - np.repeat(most, sizes))
    total = np.add.reduceat(raised, first)
    loss = float((np.log(total) + most).sum() + strength / 2 * ((weights - start) ** 2).sum())
    return loss, raised / np.repeat(total, sizes)
