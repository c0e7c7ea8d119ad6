"""The nearest vectors: exact, in defined order, in bounded memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.generators.neural import nearest as module
from candgen.generators.neural.nearest import nearest, score, slack
from candgen.index.cancellation import Cancellation, SearchCancelledError, cancelled_by
from tests.support import neural_oracle


def unit(vectors):
    vectors = np.asarray(vectors, np.float64)
    return vectors / np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))


@st.composite
def spaces(draw):
    """Vectors with many ties and near-ties, and queries among them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dimensions = draw(st.sampled_from([1, 2, 3, 16, 300]))
    base = rng.normal(size=(draw(st.integers(1, 6)), dimensions))
    chosen = base[rng.integers(0, len(base), draw(st.integers(1, 60)))]
    noise = draw(st.sampled_from([0.0, 1e-8, 1e-7, 1e-6, 1e-3]))
    vectors = unit(chosen + noise * rng.normal(size=chosen.shape)).astype(np.float32)
    signs = rng.choice([-1.0, 1.0], size=(3, 1))
    queries = unit(signs * base[rng.integers(0, len(base), 3)] + 1e-7 * rng.normal(size=dimensions))
    return queries, vectors


@given(spaces(), st.integers(1, 70), st.sampled_from([1, 3, 16, 1 << 15]))
def test_nearest_are_those_of_the_oracle(space, k, at_once):
    queries, vectors = space
    ids = [f"Q{number:03}" for number in range(len(vectors))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "VECTORS_AT_ONCE", at_once)
        found = list(nearest(queries, vectors, k))
    for query, (scores, places) in zip(queries, found, strict=True):
        expected = neural_oracle.candidates(query, vectors, ids, k)
        assert [ids[place] for place in places] == [entity for entity, _ in expected]
        assert scores.tolist() == [value for _, value in expected]


@given(spaces(), st.integers(1, 70))
def test_a_batch_finds_what_single_queries_find(space, k):
    queries, vectors = space
    alone = [next(nearest(query[np.newaxis], vectors, k)) for query in queries]
    for one, other in zip(nearest(queries, vectors, k), alone, strict=True):
        assert one.score.tobytes() == other.score.tobytes()
        assert one.place.tolist() == other.place.tolist()


@given(spaces())
def test_scores_do_not_depend_on_what_else_is_scored(space):
    (query, *_), vectors = space
    together = score(query, vectors)
    for place in range(len(vectors)):
        assert score(query, vectors[place : place + 1])[0] == together[place]


@given(spaces())
def test_the_slack_is_wider_than_the_error_and_the_rounding(space):
    queries, vectors = space
    rough = queries.astype(np.float32) @ vectors.T
    exact = queries @ vectors.astype(np.float64).T
    least = 2 * np.array([score(query, vectors) for query in queries], np.float64) - 1
    assert np.abs(rough - exact).max() < slack(vectors.shape[1]) - 2.0**-22
    assert np.abs(rough - least).max() < slack(vectors.shape[1])


def test_the_slack_holds_where_float32_is_at_its_worst():
    """All products have one sign, and every partial sum is rounded in the same direction."""
    for dimensions in (2, 300, 1024):
        value = np.float32(1 / np.sqrt(dimensions))
        vector = np.full(dimensions, value, np.float32)
        total = np.float32(0)
        for each in vector:
            total = np.float32(total + each * value)
        exact = float(value) ** 2 * dimensions
        assert abs(float(total) - exact) < slack(dimensions) / 2


def test_the_opposite_is_not_returned_and_the_order_breaks_ties():
    vectors = np.array([[-1, 0], [1, 0], [0, 1], [1, 0]], np.float32)
    (found,) = nearest(np.array([[1.0, 0.0]]), vectors, 9)
    assert found.place.tolist() == [1, 3, 2]
    assert found.score.tolist() == [1.0, 1.0, 0.5]
    (first,) = nearest(np.array([[1.0, 0.0]]), vectors, 1)
    assert first.place.tolist() == [1]


def test_no_queries_and_no_vectors():
    assert list(nearest(np.zeros((0, 3)), np.zeros((5, 3), np.float32), 2)) == []
    (nothing,) = nearest(np.ones((1, 3)), np.zeros((0, 3), np.float32), 2)
    assert len(nothing.place) == 0


@pytest.mark.parametrize("k", [30, 100_000])
def test_memory_is_that_of_a_few_blocks(k):
    """Not of queries x vectors, nor of all vectors in float64, nor of equal scores in one go."""
    rng = np.random.default_rng(0)
    vectors = unit(rng.normal(size=(100_000, 32))).astype(np.float32)
    vectors[50_000:] = vectors[0]
    queries = unit(rng.normal(size=(600 if k == 30 else 3, 32)))
    queries[0] = vectors[0]
    block = 4 * module.QUERIES_AT_ONCE * module.VECTORS_AT_ONCE
    kept = 12 * len(queries) * k
    tracemalloc.start()
    found = [places for _, places in nearest(queries, vectors, k)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[0][:3].tolist() == [0, 50_000, 50_001]
    assert peak < 3 * block + 4 * kept
    assert 4 * len(queries) * len(vectors) > 3 * block or k > 30


def test_a_cancelled_search_has_no_result():
    vectors = unit(np.eye(3)).astype(np.float32)
    cancellation = Cancellation()
    with cancelled_by(cancellation):
        assert len(list(nearest(unit(np.eye(3)), vectors, 2))) == 3
        cancellation.set()
        with pytest.raises(SearchCancelledError):
            list(nearest(unit(np.eye(3)), vectors, 2))
