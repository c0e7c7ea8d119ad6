"""Ranks among rivals are those of indexes where all rivals are known, and never worse elsewhere."""

from hypothesis import given, settings
from hypothesis import strategies as st

from candgen import MentionTable, Query
from candgen.generators import METHODS
from candgen.generators.pivot.parameters import Choice, prepare_ranks
from candgen.index.gold_ranks import Weights
from candgen.index.rivals import Rivals
from candgen.protocols import Training, rank_golds
from tests.support.worlds import ENTITIES, mentions, tables

PTI = METHODS["pti"]
CHOICES = [
    Weights({"fo": 1.0, "is": alpha, "da": beta}, lam)
    for alpha, beta in ((0.0, 1.0), (0.1, 3.0), (1.0, 1.0))
    for lam in (0.0, 0.4, 1.0)
]


@st.composite
def worlds(draw):
    fo, is_, da = (MentionTable.from_pairs(draw(tables())) for _ in range(3))
    queries = draw(st.lists(st.builds(Query, mentions(), ENTITIES), min_size=1, max_size=8))
    return Training({"is": is_, "da": da}, fo, "fo"), queries, draw(st.integers(1, 4))


def prepare(training, queries):
    return prepare_ranks(training, Choice.of(training, {"normalizer": "none"}), queries)


def expected(training, queries, weights, k):
    alpha = {name: weights.alpha[name] for name in training.pivots}
    index = PTI(training, {"normalizer": "none", "alpha": alpha, "lam": weights.lam})
    return rank_golds(index, queries, k).tolist()


@given(worlds())
@settings(max_examples=60)
def test_ranks_are_exact_with_all_entities_as_rivals(world):
    training, queries, k = world
    rivals = Rivals.of(prepare(training, queries), CHOICES, 1000, fraction=1e-30)
    for weights, ranks in zip(CHOICES, rivals.ranks(CHOICES, k), strict=True):
        assert ranks.tolist() == expected(training, queries, weights, k)


@given(worlds(), st.integers(0, len(CHOICES) - 1))
@settings(max_examples=60)
def test_ranks_are_exact_under_the_weights_of_the_rivals_and_optimistic_under_others(world, at):
    training, queries, k = world
    rivals = Rivals.of(prepare(training, queries), [CHOICES[at]], k + 1)
    for number, ranks in enumerate(rivals.ranks(CHOICES, k)):
        true = expected(training, queries, CHOICES[number], k)
        if number == at:
            assert ranks.tolist() == true
        for rank, other in zip(ranks.tolist(), true, strict=True):
            assert other == 0 or 0 < rank <= other
    extended = rivals.extend(CHOICES)
    for weights, ranks in zip(CHOICES, extended.ranks(CHOICES, k), strict=True):
        assert ranks.tolist() == expected(training, queries, weights, k)
    assert extended.extend(CHOICES) is extended
