"""English names, the pairs that are drawn, and the golds of dev: what training starts from."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from candgen.generators.neural.english_names import Names
from candgen.generators.neural.training_pairs import draw_pairs, find_golds, number_names
from candgen.tables.mention_table import MentionTable


def drawn(tables, english, **options):
    names = Names.of(english, normalizer="default")
    defaults = {"target": None, "mu": 0.1, "pairs": 10, "normalizer": "default", "seed": 0}
    found = draw_pairs(tables, names, **{**defaults, **options})
    entities = names.entities.to_pylist()
    rows = zip(found.pairs.mention, found.pairs.place.tolist(), found.weight.tolist(), strict=True)
    return [(m, entities[place], round(weight, 6)) for m, place, weight in rows], found.used


SMALL_ENGLISH = MentionTable.from_pairs([("One", "Q1"), ("Two", "Q2"), ("Three", "Q3")])


def test_pairs_are_distinct_named_and_not_empty():
    tables = {
        "da": MentionTable.from_pairs([("En", "Q1"), ("EN", "Q1"), ("to", "Q2"), ("x", "Q9")]),
        "no": MentionTable.from_pairs([("en", "Q1"), ("en", "Q2"), ("\u200b", "Q3")]),
    }
    pairs, used = drawn(tables, SMALL_ENGLISH)
    assert sorted(pairs) == [("en", "Q1", 1.0), ("en", "Q2", 1.0), ("to", "Q2", 1.0)]
    assert used == {"da": 2, "no": 1}


def test_the_target_weighs_one_and_pivots_mu():
    tables = {
        "fo": MentionTable.from_pairs([("ein", "Q1"), ("tvey", "Q2"), ("trý", "Q3")]),
        "da": MentionTable.from_pairs([("en", "Q1"), ("to", "Q2"), ("tre", "Q3")]),
    }
    pairs, used = drawn(tables, SMALL_ENGLISH, target="fo", pairs=2, mu=0.2)
    assert [pair for pair in pairs if pair[2] == 1] == [
        ("ein", "Q1", 1.0),
        ("try", "Q3", 1.0),
        ("tvey", "Q2", 1.0),
    ]
    assert [weight for *_, weight in pairs[3:]] == [0.2, 0.2]
    assert used == {"fo": 3, "da": 2}
    alone, used = drawn({"fo": tables["fo"]}, SMALL_ENGLISH, target="fo", pairs=2, mu=0.2)
    assert [weight for *_, weight in alone] == [1.0, 1.0]
    assert used == {"fo": 2}
    zero_shot, _ = drawn({"da": tables["da"]}, SMALL_ENGLISH, mu=0.2)
    assert {weight for *_, weight in zero_shot} == {1.0}


def test_draws_differ_by_seed_and_not_by_the_order_of_rows():
    english = MentionTable.from_pairs([(f"n{at}", f"Q{at}") for at in range(200)])
    rows = [(f"m{at}", f"Q{at}") for at in range(200)]
    some = [
        drawn({"da": MentionTable.from_pairs(each)}, english, pairs=20, seed=seed)[0]
        for each, seed in [(rows, 0), (rows[::-1], 0), (rows, 1)]
    ]
    assert some[0] == some[1] != some[2]
    assert len(set(some[0])) == 20
    most, _ = drawn({"da": MentionTable.from_pairs(rows)}, english, pairs=199)
    assert len(set(most)) == 199


def test_a_target_without_a_named_entity_leaves_the_pivots_alone():
    tables = {
        "fo": MentionTable.from_pairs([("onkur", "Q9")]),
        "da": MentionTable.from_pairs([("en", "Q1"), ("to", "Q2")]),
    }
    pairs, used = drawn(tables, SMALL_ENGLISH, target="fo", mu=0.2)
    assert {weight for *_, weight in pairs} == {1.0}
    assert used == {"fo": 0, "da": 2}


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=8),
    st.sets(st.integers(0, 7)),
    st.sets(st.integers(0, 7)),
)
def test_golds_are_where_a_list_has_them(texts, inside, used):
    """The number of the name, and how many of the space with that name come before."""
    rows = [(text, f"Q{at}") for at, text in enumerate(texts)]
    names = Names.of(MentionTable.from_pairs(rows), normalizer="none")
    space = np.array(sorted(place for place in inside if place < len(texts)), np.int64)
    others = np.array(sorted(place for place in used if place < len(texts)), np.int64)
    numbered = number_names(names, space, others)
    of_space = {texts[place] for place in space.tolist()}
    assert set(numbered.text[: len(numbered.entities)]) == of_space
    assert set(numbered.text) == of_space | {texts[place] for place in others.tolist()}
    assert len(set(numbered.text)) == len(numbered.text)
    found = find_golds([*(f"Q{at}" for at in range(len(texts))), "Q99"], names, numbered, space)
    for place, (name, before) in enumerate(zip(*found, strict=True)):
        if place not in space.tolist():
            assert name == -1
            continue
        assert numbered.text[name] == texts[place]
        same = [other for other in space.tolist() if texts[other] == texts[place]]
        assert numbered.entities[name] == len(same)
        assert before == same.index(place)
