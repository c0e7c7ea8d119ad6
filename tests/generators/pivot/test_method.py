"""The other versions of PTI as methods: what dev chooses among is what would be built."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from candgen import MentionTable
from candgen.errors import ParameterError
from candgen.generators.pivot.method import FUSION, PTI, SMOOTHING, WILDCARDS
from candgen.protocols import Training, rank_golds
from candgen.tables.queries import Query
from tests.support.toy import FAROESE, ICELANDIC
from tests.support.worlds import ENTITIES, mentions, worlds

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
VERSIONS = {"pti": PTI, "wildcards": WILDCARDS, "fusion": FUSION, "smoothing": SMOOTHING}
QUERIES = st.lists(st.builds(Query, mentions() | st.just(""), ENTITIES), min_size=1, max_size=5)
TOY = Training(
    {"is": MentionTable.from_pairs(ICELANDIC)},
    MentionTable.from_pairs(FAROESE),
    "fo",
    dev=[Query("Vín", "Q282"), Query("Vínið", "Q1741")],
)


def training_of(world):
    pivots = {name: MentionTable.from_pairs(rows) for name, rows in world.pivots.items()}
    target = None if world.target is None else MentionTable.from_pairs(world.target)
    return Training(pivots, target)


@pytest.mark.parametrize("name", VERSIONS)
@given(worlds(), QUERIES, st.integers(1, 6))
@SLOW
def test_ranks_are_those_of_what_is_built(name, world, queries, k):
    method, training = VERSIONS[name], training_of(world)
    some = method.choices(training)[::4]
    fixed = {"normalizer": "none", "alpha": world.alpha}
    choices = [{**choice, **fixed} for choice in some]
    for choice, ranks in zip(choices, method.ranks(training, choices, queries, k), strict=True):
        assert np.array_equal(ranks, rank_golds(method(training, choice), queries, k)), choice


def test_choices_of_all_kinds_at_once():
    """Counted apart, indexed apart, and given back in the order they came in."""
    choices = [
        {"lam": 1.0, "threshold": 0.3},
        {"lam": 0.2},
        {"wildcards": True},
        {"fusion": "probabilities", "smoothing": 0.5, "lam": 1.0},
        {"normalizer": "none"},
        {"fusion": "probabilities"},
        {"lam": 0.0, "threshold": 0.3},
        {"lam": 0.2, "alpha": 1.0},
    ]
    for choice, ranks in zip(choices, PTI.ranks(TOY, choices, TOY.dev, 2), strict=True):
        assert ranks.tolist() == rank_golds(PTI(TOY, choice), TOY.dev, 2).tolist(), choice


def test_versions_are_what_they_are_called():
    wild, fused, smooth = (
        method(TOY, {"normalizer": "default"}).parameters
        for method in (WILDCARDS, FUSION, SMOOTHING)
    )
    assert wild["tokenizer"]["wildcards"] and wild["fusion"] == "counts"
    assert fused["fusion"] == "probabilities" and not fused["tokenizer"]["wildcards"]
    assert smooth["fusion"] == "probabilities" and smooth["smoothing"] > 0
    assert SMOOTHING(TOY, {"smoothing": 0.5}).parameters["smoothing"] == 0.5
    assert len(SMOOTHING.choices(TOY)) == 27


def test_a_version_does_not_take_what_it_fixes():
    with pytest.raises(ParameterError, match="'fusion' is not a parameter"):
        FUSION.check({"fusion"})
    with pytest.raises(ParameterError, match="'threshold' is not a parameter"):
        SMOOTHING.check({"threshold"})
    with pytest.raises(ParameterError, match="'wildcards' is not a parameter"):
        WILDCARDS(TOY, {"wildcards": False})
    with pytest.raises(
        ParameterError, match="'bogus' is not a parameter of this method: use alpha"
    ):
        PTI(TOY, {"bogus": 1})
