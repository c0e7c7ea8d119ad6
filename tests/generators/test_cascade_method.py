"""Cascades as methods: the fast ranks are those of the generators that are built."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import CandgenError, MentionTable, PivotTokenIndex, Query, WikiPriors
from candgen.generators import METHODS
from candgen.protocols import Training, rank_golds
from tests.generators.test_cascade import ICELANDIC, JOINT, SLOW
from tests.support.worlds import ALPHAS, ENTITIES, LAMS, large_world, mentions, tables


@st.composite
def trials(draw):
    names = draw(st.lists(st.sampled_from(["is", "da"]), max_size=2, unique=True))
    target = draw(tables()) if not names or draw(st.booleans()) else None
    choices = []
    for _ in range(draw(st.integers(1, 4))):
        choice = draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "alpha": ALPHAS if target is not None else st.just(0.5),
                    "lam": LAMS,
                    "normalizer": st.sampled_from(["none", "default"]),
                    "threshold": st.sampled_from([0.1, 0.5]),
                },
            )
        )
        choices.append(choice)
    pivots = {name: MentionTable.from_pairs(draw(tables())) for name in names}
    training = Training(pivots, None if target is None else MentionTable.from_pairs(target), "fo")
    queries = draw(st.lists(st.builds(Query, mentions(), ENTITIES), min_size=1, max_size=12))
    return training, choices, queries, draw(st.integers(1, 5))


@given(trials(), st.sampled_from(["cascade", "cascade-fill"]))
@SLOW
def test_ranks_equal_those_of_generators(trial, name):
    training, choices, queries, k = trial
    method = METHODS[name]
    try:
        expected = [rank_golds(method(training, some), queries, k).tolist() for some in choices]
    except ValueError:  # no mention has a token
        with pytest.raises(ValueError):
            method.ranks(training, choices, queries, k)
        return
    assert [some.tolist() for some in method.ranks(training, choices, queries, k)] == expected


@pytest.mark.parametrize("name", ["cascade", "cascade-fill"])
def test_ranks_differ_where_it_matters(name):
    world = large_world(3, entities=400, letters="abcdefgh")
    pivots = {name: MentionTable.from_pairs(rows) for name, rows in world.pivots.items()}
    training = Training(pivots, MentionTable.from_pairs(world.target), "fo")
    rows = random.Random(1).sample([row for rows in world.pivots.values() for row in rows], 60)
    queries = [Query(mention[:-1] + "x", entity) for mention, entity, _ in rows]
    queries += [Query(mention, entity) for mention, entity, _ in rows]
    method = METHODS[name]
    choices = method.choices(training)
    ranks = [some.tolist() for some in method.ranks(training, choices, queries, 10)]
    assert ranks == [rank_golds(method(training, some), queries, 10).tolist() for some in choices]
    assert len({tuple(some) for some in ranks}) > 1


def test_ranks_of_choices_with_other_normalizers():
    """As it is written, vÍN is known to nobody; nor are its letters."""
    choices = [{"normalizer": "default"}, {"normalizer": "none"}, {"normalizer": "default"}]
    for name in ("cascade", "cascade-fill"):
        ranks = METHODS[name].ranks(JOINT, choices, [Query("vÍN", "Q1741")], 3)
        assert [some.tolist() for some in ranks] == [[2], [0], [2]]


def test_methods_have_the_grid_of_pti():
    for name, fill in [("cascade", False), ("cascade-fill", True)]:
        method = METHODS[name]
        assert method.choices(JOINT) == METHODS["pti"].choices(JOINT)
        assert method.choices(Training({"is": ICELANDIC})) == [
            {"lam": 0.2},
            {"lam": 0.4},
            {"lam": 1.0},
        ]
        built = method(JOINT, {"alpha": 0.1, "lam": 1.0, "normalizer": "paper"})
        assert [type(part) for part in built.nested] == [WikiPriors, PivotTokenIndex]
        assert [part.parameters["normalizer"] for part in built.nested] == ["paper", "paper"]
        assert built.nested[1].parameters["alpha"] == {"is": 0.1}
        assert built.fill is fill


def test_size_is_that_of_both():
    parameters = {"alpha": 0.4, "lam": 1.0, "threshold": 0.3}
    cascade = METHODS["cascade"](JOINT, parameters)
    alone = METHODS["pti"].size(METHODS["pti"](JOINT, parameters))
    size = METHODS["cascade"].size(cascade)
    assert size.parameters == 10 + alone.parameters
    every = alone.parameters / (1 - alone.removed)
    assert size.removed == pytest.approx(alone.removed * every / (10 + every))
    assert 0 < size.removed < alone.removed
    with pytest.raises(CandgenError, match="lam is -1"):
        METHODS["cascade"].ranks(JOINT, [{"lam": -1}], [Query("Vín", "Q282")], 3)


def test_ranks_of_a_choice_without_weights_are_those_of_what_is_built():
    queries = [Query("Vínið", "Q282"), Query("Vínið", "Q1741"), Query("Vín", "Q584")]
    for name in ("cascade", "cascade-fill"):
        method = METHODS[name]
        (ranks,) = method.ranks(JOINT, [{}], queries, 3)
        assert ranks.tolist() == rank_golds(method(JOINT, {}), queries, 3).tolist()
        _, then = method(JOINT, {}).nested
        assert then.lam == PivotTokenIndex.build({"is": ICELANDIC}).lam
