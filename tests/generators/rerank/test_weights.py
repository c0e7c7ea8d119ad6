"""The weights of the second stage: what dev chooses is the best there is, and stays finite."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from candgen.generators.rerank.weights import (
    DEFAULT_WEIGHTS,
    PRIOR_STRENGTH,
    Weights,
    learn_weights,
)

SIZE = len(Weights._fields)


def world(seed, queries=40, most=12, noise=1.0):
    """Candidates with random properties, of which hidden weights and chance choose the gold."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most, queries)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    features = rng.normal(size=(starts[-1], SIZE)) * rng.uniform(0.1, 5, SIZE)
    value = features @ rng.normal(size=SIZE) + noise * rng.gumbel(size=starts[-1])
    gold = [a + int(value[a:b].argmax()) for a, b in pairwise(starts)]
    lost = rng.random(queries) < 0.2
    return features, starts, np.where(lost, -1, gold)


def loss(weights, features, starts, gold):
    """As the docstring has it, query by query."""
    rows = [
        np.arange(a, b) for a, b, g in zip(starts[:-1], starts[1:], gold, strict=True) if g >= 0
    ]
    spread = features[np.concatenate(rows)].std(axis=0)
    spread[spread == 0] = 1.0
    moved = (np.array(weights) - np.array(DEFAULT_WEIGHTS)) * spread
    total = PRIOR_STRENGTH / 2 * (moved**2).sum()
    for some, g in zip(rows, gold[gold >= 0], strict=True):
        values = [math.fsum(x * w for x, w in zip(features[r], weights, strict=True)) for r in some]
        most = max(values)
        total += most + math.log(math.fsum(math.exp(v - most) for v in values))
        total -= math.fsum(x * w for x, w in zip(features[g], weights, strict=True))
    return total


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_better(seed):
    """scipy, which knows nothing of it but the loss, finds the same place."""
    made = world(seed)
    learned = learn_weights(*made)
    found = minimize(
        loss, np.array(DEFAULT_WEIGHTS), args=made, method="BFGS", options={"gtol": 1e-6}
    )
    assert loss(learned, *made) <= found.fun + 1e-6
    assert list(learned) == pytest.approx(found.x.tolist(), rel=1e-3, abs=1e-3)


@given(st.integers(0, 10_000), st.integers(1, 30), st.sampled_from([0.0, 0.3, 3.0]))
@settings(max_examples=30)
def test_the_gradient_is_zero(seed, queries, noise):
    made = world(seed, queries, 9, noise)
    if (made[2] < 0).all():
        assert learn_weights(*made) == DEFAULT_WEIGHTS
        return
    learned = np.array(learn_weights(*made))
    here = loss(learned, *made)
    assert here <= loss(DEFAULT_WEIGHTS, *made) + 1e-9
    for at in range(SIZE):
        step = 1e-4 * np.eye(SIZE)[at]
        slope = (loss(learned + step, *made) - loss(learned - step, *made)) / 2e-4
        assert slope == pytest.approx(0.0, abs=1e-4 * max(1.0, here))


def test_without_queries_the_fixed_ones_stay():
    nothing = np.zeros((0, SIZE)), np.zeros(1, np.int64), np.zeros(0, np.int64)
    assert learn_weights(*nothing) == DEFAULT_WEIGHTS
    features, starts, gold = world(1)
    assert learn_weights(features, starts, np.full_like(gold, -1)) == DEFAULT_WEIGHTS
    own = Weights(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert learn_weights(*nothing, fixed=own) == own


def test_a_gold_without_rivals_teaches_nothing():
    features = np.arange(SIZE, dtype=float)[np.newaxis]
    one = learn_weights(features, np.array([0, 1]), np.array([0]))
    assert list(one) == pytest.approx(list(DEFAULT_WEIGHTS))


def test_one_query_moves_the_weights_a_little():
    features = np.zeros((2, SIZE))
    features[0, 1], features[1, 0] = 1.0, 1.0  # the gold is alike, its rival has the better score
    learned = learn_weights(features, np.array([0, 2]), np.array([0]))
    assert DEFAULT_WEIGHTS.likeness < learned.likeness < DEFAULT_WEIGHTS.likeness + 2
    assert DEFAULT_WEIGHTS.score - 2 < learned.score < DEFAULT_WEIGHTS.score
    assert learned[2:] == pytest.approx(DEFAULT_WEIGHTS[2:])


def test_what_can_be_told_apart_perfectly_stays_finite():
    features = np.zeros((200, SIZE))
    features[::2, 1] = 1e-3  # every gold is a little more alike
    learned = learn_weights(features, np.arange(0, 201, 2), np.arange(0, 200, 2))
    assert all(map(math.isfinite, learned))
    assert DEFAULT_WEIGHTS.likeness < learned.likeness
    large = learn_weights(1e9 * features, np.arange(0, 201, 2), np.arange(0, 200, 2))
    assert all(map(math.isfinite, large))


def test_a_property_that_is_the_same_for_all_keeps_its_weight():
    features, starts, gold = world(5)
    features[:, 3] = 7.0
    assert learn_weights(features, starts, gold)[3] == DEFAULT_WEIGHTS[3]


def test_queries_without_their_gold_do_not_count():
    features, starts, gold = world(6)
    kept = gold >= 0
    rows = np.repeat(kept, np.diff(starts))
    fewer = np.concatenate(([0], np.cumsum(np.diff(starts)[kept])))
    golds = gold[kept] - starts[:-1][kept] + fewer[:-1]
    assert learn_weights(features, starts, gold) == learn_weights(features[rows], fewer, golds)
