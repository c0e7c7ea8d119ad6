"""Ranks under many weights at once are those that indexes built one by one give."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import CharNgrams, MentionTable, Words
from candgen.errors import ParameterError
from candgen.generators import METHODS
from candgen.protocols import Method, Size, Training, gold_rank, rank_golds
from candgen.tables.queries import Query
from tests.support.worlds import ENTITIES, large_world, mentions, tables

PTI = METHODS["pti"]
ALPHAS = st.sampled_from([0.0, 0.1, 0.4, 1.0, 1 / 3, 2.5])
LAMS = st.sampled_from([0.0, 0.2, 0.4, 1.0, 7.0])


def golds(queries, training, choices, k):
    """Ranks by building an index for each choice and asking it."""
    return [rank_golds(PTI(training, choice), queries, k).tolist() for choice in choices]


@st.composite
def trials(draw):
    names = draw(st.lists(st.sampled_from(["is", "da", "no"]), max_size=2, unique=True))
    target = draw(tables()) if not names or draw(st.booleans()) else None
    # Lam 0 and alpha 0 leave entities, languages and tokens without any weight.
    choices = [
        {"alpha": {name: draw(ALPHAS) for name in names}, "lam": draw(LAMS)}
        for _ in range(draw(st.integers(1, 5)))
    ]
    if target is None:
        for choice in choices:
            choice["alpha"][names[0]] = 0.5
    pivots = {name: MentionTable.from_pairs(draw(tables())) for name in names}
    fixed = draw(
        st.fixed_dictionaries(
            {"normalizer": st.sampled_from(["none", "default"])},
            optional={
                "threshold": st.sampled_from([0.1, 0.5]),
                "tokenizer": st.sampled_from([CharNgrams(1, 3), Words()]),
            },
        )
    )
    training = Training(pivots, None if target is None else MentionTable.from_pairs(target), "fo")
    queries = draw(st.lists(st.builds(Query, mentions(), ENTITIES), min_size=1, max_size=12))
    return training, [{**fixed, **choice} for choice in choices], queries, draw(st.integers(1, 5))


@given(trials())
def test_ranks_equal_those_of_indexes(trial):
    training, choices, queries, k = trial
    try:
        expected = golds(queries, training, choices, k)
    except ValueError:  # no mention of the languages that are left has a token
        with pytest.raises(ValueError):
            PTI.ranks(training, choices, queries, k)
        return
    assert [ranks.tolist() for ranks in PTI.ranks(training, choices, queries, k)] == expected


@pytest.mark.parametrize("letters", ["ab", "abcdefgh"])
def test_ranks_equal_those_of_indexes_where_much_can_be_left_out(letters):
    world = large_world(3, entities=3000, letters=letters)
    pivots = {name: MentionTable.from_pairs(rows) for name, rows in world.pivots.items()}
    training = Training(pivots, MentionTable.from_pairs(world.target), "fo")
    rows = random.Random(1).sample([row for rows in world.pivots.values() for row in rows], 200)
    queries = [Query(mention, entity) for mention, entity, _ in rows]
    queries += [Query(mention[::-1], entity) for mention, entity, _ in rows[:50]]
    choices = PTI.choices(training, {"lam": (0.0, 0.2, 1.0)})
    ranks = PTI.ranks(training, choices, queries, 30)
    assert [some.tolist() for some in ranks] == golds(queries, training, choices, 30)
    assert len({tuple(some) for some in ranks}) > 1  # the choices are not all the same


@pytest.mark.parametrize("seed", range(4))
def test_ranks_where_tokens_repeat(seed):
    """Names such as abababab: a token that occurs often may bring up who has nothing else."""
    rng = random.Random(seed)
    rows = []
    for entity in range(300):
        for _ in range(rng.choice([1, 1, 2])):
            ending = "".join(rng.choices("abcdef", k=rng.choice([0, 0, 1, 3])))
            name = rng.choice(["a", "ab", "aab", "abc"]) * rng.randint(1, 6) + ending
            rows.append((name, f"Q{entity}", rng.choice([1, 1, 5, 50])))
    training = Training({"is": MentionTable.from_pairs(rows)}, None, "fo")
    queries = [
        Query(rng.choice("ab") * rng.randint(2, 9) + rng.choice(["", "b", "cd"]), f"Q{entity}")
        for entity in rng.sample(range(300), 100)
    ]
    fixed = {"normalizer": "none", "tokenizer": CharNgrams(2, 3)}
    choices = [{**fixed, "lam": lam} for lam in (0.0, 0.05, 0.2, 1.0)]
    ranks = PTI.ranks(training, choices, queries, 300)
    assert [some.tolist() for some in ranks] == golds(queries, training, choices, 300)


def test_choices_are_the_papers_grid():
    table = MentionTable.from_pairs([("Vín", "Q282")])
    joint = PTI.choices(Training({"is": table}, table, "fo"))
    assert [(choice["alpha"], choice["lam"]) for choice in joint] == [
        (alpha, lam) for alpha in (0.1, 0.4, 1.0) for lam in (0.2, 0.4, 1.0)
    ]
    # Without a target, or without a pivot, alpha weighs nothing against nothing.
    only_lam = [{"lam": 0.2}, {"lam": 0.4}, {"lam": 1.0}]
    assert PTI.choices(Training({"is": table}, None, "fo")) == only_lam
    assert PTI.choices(Training({}, table, "fo")) == only_lam
    assert PTI.choices(Training({}, table, "fo"), {"lam": [3]}) == [{"lam": 3}]


def test_a_method_without_a_grid_has_one_choice():
    method = Method(build=PTI.build, size=PTI.size)
    assert method.choices(Training()) == [{}]


def test_size_counts_priors_and_posteriors():
    table = MentionTable.from_pairs([("ab", "Q1"), ("ac", "Q2", 9)])
    training = Training({"is": table}, None, "fo")
    every = PTI.size(PTI(training, {"tokenizer": CharNgrams(2, 2)}))
    # ^a ab b$ and ^a ac c$: six postings, a prior and a posterior each.
    assert every == Size(12, 0.0)
    # ^a is Q1's in one of ten cases: that prior goes, its posterior 1/3 stays, and so do others.
    some = PTI.size(PTI(training, {"tokenizer": CharNgrams(2, 2), "threshold": 0.2}))
    assert some == Size(11, pytest.approx(1 / 12))


def test_place_is_counted_from_one():
    assert gold_rank("b", [("a", 2.0), ("b", 1.0)]) == 2
    assert gold_rank("c", [("a", 2.0)]) == 0


def test_a_bad_weight_is_refused():
    table = MentionTable.from_pairs([("Vín", "Q282")])
    with pytest.raises(ParameterError, match="lam is -1"):
        PTI.ranks(Training({"is": table}), [{"lam": -1}], [Query("Vín", "Q282")], 3)
    with pytest.raises(ParameterError, match=r"threshold is 1\.5: expected a probability"):
        PTI.ranks(Training({"is": table}), [{"threshold": 1.5}], [Query("Vín", "Q282")], 3)
