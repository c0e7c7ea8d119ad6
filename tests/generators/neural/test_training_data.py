"""Negatives, early stopping and progress: what needs no framework."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.generators.neural.training_data import Plan, other_names, run_epochs


@given(st.lists(st.integers(0, 9), min_size=2).filter(lambda own: len(set(own)) > 1), st.integers())
def test_negatives_are_never_the_positive(own, seed):
    name = np.array(own)
    names = np.unique(name)
    rng = np.random.default_rng(abs(seed))
    drawn = np.array([other_names(name, names, rng) for _ in range(20)])
    assert not (drawn == name).any()
    assert set(drawn.ravel().tolist()) <= set(own)


def test_every_other_name_is_as_likely():
    name = np.full(30_000, 5)
    drawn = other_names(name, np.array([1, 5, 7, 20]), np.random.default_rng(0))
    found, times = np.unique(drawn, return_counts=True)
    assert found.tolist() == [1, 7, 20]
    assert times == pytest.approx(10_000, rel=0.05)


def plan(**changes):
    return Plan("ngrams", (4, 3), 8, 5, 9, 0, "cpu")._replace(**changes)


def nothing(_doing, _share):
    pass


def studied(recalls, **changes):
    kept, left = [], list(recalls)
    said = []

    def judge(show):
        show(1.0)
        return left.pop(0)

    history = run_epochs(
        plan(**changes),
        learn=lambda _: 1.0,
        judge=judge,
        keep=lambda: kept.append(len(recalls) - len(left)),
        progress=lambda doing, share: said.append((doing, share)),
    )
    return history, kept, said


@given(st.lists(st.integers(0, 5), min_size=12, max_size=12), st.integers(1, 5), st.integers(1, 12))
def test_study_stops_when_patience_ends(recalls, patience, epochs):
    history, kept, _ = studied(recalls, patience=patience, epochs=epochs)
    best, ran = 1, 0
    for epoch in range(1, epochs + 1):
        ran = epoch
        if recalls[epoch - 1] > max([-1, *recalls[: epoch - 1]]):
            best = epoch
        if epoch - best >= patience:
            break
    assert history.recalls == recalls[:ran]
    assert len(history.losses) == ran
    assert history.best == kept[-1] == best
    assert recalls[best - 1] == max(recalls[:ran])


def test_study_says_how_far_it_is():
    _, _, said = studied([61.24, 50.0], epochs=2)
    assert said == [("epoch 1 of 2", 0.5), ("epoch 2 of 2, dev recall@30 61.2", 1.0)]


def test_without_a_judge_the_last_epoch_is_the_best():
    history = run_epochs(
        plan(epochs=3, patience=1),
        learn=lambda _: 2.0,
        judge=None,
        keep=lambda: pytest.fail("nothing to keep"),
        progress=nothing,
    )
    assert history == ([2.0, 2.0, 2.0], [], 3)
