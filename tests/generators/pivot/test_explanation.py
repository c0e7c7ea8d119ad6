"""Explanations: the shares of several entities at once are those that `explain` gives for each."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import candgen
from candgen.errors import ParameterError
from tests.support import worlds
from tests.support.service_world import toy_index


def check(index, mention, entities, lam):
    found = index.shares(mention, entities, lam=lam)
    assert len(found) == len(entities)
    for entity, each in zip(entities, found, strict=True):
        explanation = index.explain(mention, entity, lam=lam)
        assert each.prior == pytest.approx(explanation.prior, rel=1e-12)
        assert each.posterior == pytest.approx(explanation.posterior, rel=1e-12)
        assert each.languages == pytest.approx(explanation.languages, rel=1e-9, abs=1e-12)


@given(worlds.worlds(), worlds.mentions(), worlds.LAMS)
@settings(max_examples=60)
def test_they_are_what_explain_says(world, mention, lam):
    index = world.index()
    check(index, mention, index.token_index.entities[:], lam)


@given(worlds.worlds(), worlds.mentions())
@settings(max_examples=10)
def test_also_where_each_language_has_a_layer_of_its_own(world, mention):
    index = world.index(fusion="probabilities")
    check(index, mention, index.token_index.entities[:], 1.0)


def test_in_many_blocks():
    world = worlds.large_world(3, entities=300, letters="abcd", threshold=0.01)
    index = world.index()
    for mention in ("abca", "dd", "", "x", "abcdabcdabcd"):
        check(index, mention, index.token_index.entities[::7], 0.4)


@given(st.text(max_size=5))
def test_nothing_is_shared_with_nobody(mention):
    assert toy_index().shares(mention, []) == []


def test_names_are_folded_as_in_a_query():
    index = toy_index()
    assert index.shares(" VÍN ", ["Q282"]) == index.shares("Vín", ["Q282"])


def test_strangers_are_refused():
    with pytest.raises(ParameterError, match="'Q1' is not in this index"):
        toy_index().shares("Vín", ["Q282", "Q1"])
    with pytest.raises(candgen.CandgenError, match="lam"):
        toy_index().shares("Vín", ["Q282"], lam=-1.0)
