"""A pivot plays the target: its names are hidden, and its queries are like the target's names."""

import pytest

from candgen import MentionTable
from candgen.auto import choose_pivots
from candgen.auto.stand_in import MIN_PREFERRED, choose_stand_in, draw_queries, probable_entities
from candgen.integrations import cldr


@pytest.fixture(scope="module")
def names():
    return {code: cldr.names(code) for code in ("fo", "is", "da", "no")}


def chosen(names, *, seed=0):
    mentions = names["fo"].mentions
    others = {code: names[code] for code in ("is", "da", "no")}
    ranking, pivots = choose_pivots(mentions, others, language="fo")
    return ranking, choose_stand_in(ranking, pivots, mentions, seed)


def test_the_closest_pivot_is_hidden_and_the_others_are_its_pivots(names):
    ranking, found = chosen(names)
    closest = max(ranking.rows[: len(ranking.chosen())], key=lambda row: row.closeness)
    assert found.language == closest.language
    assert found.training.language == found.language and found.training.target is None
    assert set(found.training.pivots) == set(ranking.chosen()) - {found.language}


def test_one_name_of_each_entity_half_to_choose_on_and_half_to_measure(names):
    _, found = chosen(names)
    dev, queries = found.training.dev, found.queries
    assert abs(len(dev) - len(queries)) <= 1 and len(dev) + len(queries) <= 1000
    golds = [query.entity for query in (*dev, *queries)]
    assert len(set(golds)) == len(golds)
    pairs = {(mention, entity) for mention, entity, _ in names[found.language]}
    assert {(query.mention, query.entity) for query in (*dev, *queries)} <= pairs
    assert all(query.type == "hard" for query in dev)


def test_it_depends_on_the_seed_alone(names):
    assert chosen(names)[1] == chosen(names)[1]
    assert chosen(names)[1].queries != chosen(names, seed=1)[1].queries


def test_it_has_the_largest_alpha(names):
    _, found = chosen(names)
    others = sorted(found.training.pivots)
    assert found.complete(0.4) == {found.language: 1.0, **dict.fromkeys(others, 1.0)}
    uneven = dict(zip(others, (3.0, 0.3), strict=False))
    assert max(found.complete(uneven).values()) == 1.0 == found.complete(uneven)[found.language]


def test_a_single_pivot_has_none_to_find_its_names_with(names):
    mentions = names["fo"].mentions
    ranking, pivots = choose_pivots(mentions, {"is": names["is"]}, language="fo")
    assert choose_stand_in(ranking, pivots, mentions, 0) is None


def test_a_handful_of_names_cannot_stand_in(names):
    few = MentionTable.from_pairs(
        [(mention, f"Q{at}") for at, mention in enumerate(names["fo"].mentions[:20])]
    )
    ranking, pivots = choose_pivots(
        names["fo"].mentions, {"xx": few, "is": names["is"]}, language="fo"
    )
    found = choose_stand_in(ranking, pivots, names["fo"].mentions, 0)
    assert found is None or found.language == "is"


def test_the_entities_that_the_names_mean_come_first():
    table = MentionTable.from_pairs([(f"name {n}", f"Q{n}") for n in range(900)])
    wanted = {f"Q{n}" for n in range(300)}
    assert {query.entity for query in draw_queries(table, 0, wanted)} == wanted
    few = {f"Q{n}" for n in range(10)}
    drawn = {query.entity for query in draw_queries(table, 0, few)}
    assert few < drawn and len(drawn) == MIN_PREFERRED
    assert probable_entities({"xx": table}, ["name 7", "name 8", ""]) == {"Q7", "Q8"}
