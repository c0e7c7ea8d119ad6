"""Tiers: what is asked, what is passed on, and that scores keep the order of each tier."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import CandgenError, Cascade
from candgen.generators.candidate import check_query
from candgen.generators.conformance import check_generator
from candgen.generators.tiers import tier_scores
from tests.generators.test_cascade import CLOSE, Listed
from tests.support.worlds import ENTITIES


def test_only_who_needs_it_is_passed_on():
    first = Listed(("Q1", 2.0), ("Q2", 1.0), deaf=("a", "b"))
    for fill, passed in [(False, [["a", "b"]]), (True, [["a", "x", "b"]])]:
        then, last = Listed(("Q3", 1.0), deaf=("b",)), Listed(("Q4", 1.0))
        answers = Cascade(first, then, last, fill=fill).candidates(["a", "x", "b"], 3)
        assert then.asked == [(passed[0], 3)]
        assert last.asked == [(["a", "b"] if fill else ["b"], 3)]
        assert [c.entity for c in answers[1]] == (["Q1", "Q2", "Q3"] if fill else ["Q1", "Q2"])
    # Where nothing is left to do, nobody is asked.
    never = Listed()
    assert Cascade(Listed(("Q1", 1.0)), never, fill=True).candidates(["a"], 1) == [[("Q1", 1.5)]]
    assert Cascade(first, never).candidates([]) == []
    assert never.asked == []


def test_what_is_no_candidate_is_not_passed_on():
    odd = Listed(
        ("Q1", float("inf")),
        ("Q1", 5.0),
        ("Q2", np.float32(1.0)),
        ("Q3", 0.0),
        ("Q4", -1.0),
        ("Q5", float("nan")),
    )
    cascade = Cascade(odd, Listed(("Q3", 1.0)), fill=True)
    (answer,) = cascade.candidates(["Vín"])
    assert answer == [("Q1", 2.0), ("Q2", 1.5), ("Q3", 0.5)]
    assert {type(candidate.score) for candidate in answer} == {float}
    # A generator that has nothing positive has found nothing.
    cascade = Cascade(Listed(("Q3", 0.0)), Listed(("Q4", 1.0)))
    assert cascade.candidates(["Vín"]) == [[("Q4", 0.5)]]

    class Generous:
        def candidates(self, mentions, k=30):
            return [[(f"Q{number}", 1.0) for number in range(9)] for _ in mentions]

    assert len(Cascade(Generous(), Generous(), fill=True).candidates(["Vín"], 2)[0]) == 2


@pytest.mark.parametrize("answer", [None, iter([[]])])
def test_an_answer_that_is_no_list_is_refused(answer):
    class Mine:
        def candidates(self, mentions, k=30):
            return answer

    with pytest.raises(CandgenError, match=r"generator 1 gave .*: expected a list"):
        Cascade(Mine(), Mine()).candidates(["Vín"])


@given(
    st.lists(st.dictionaries(ENTITIES, CLOSE, max_size=8), min_size=2, max_size=3), st.booleans()
)
def test_what_a_generator_tells_apart_stays_apart(answers, fill):
    """However close its scores are: order and ties are those of the generator."""

    class Mine:
        def __init__(self, scores):
            self.ranked = sorted(scores.items(), key=lambda c: (-c[1], len(c[0]), c[0]))

        def candidates(self, mentions, k=30):
            check_query(mentions, k)
            return [self.ranked[:k] for _ in mentions]

    parts = [Mine(scores) for scores in answers]
    check_generator(Cascade(*parts, fill=fill), ["Vín", "Wien"], k=5)
    (found,) = Cascade(*parts, fill=fill).candidates(["Vín"], 30)
    by_hand = []
    for part in parts:
        if fill or not by_hand:
            by_hand += [e for e, _ in part.ranked if e not in by_hand]
    assert [entity for entity, _ in found] == by_hand


@given(st.lists(st.floats(1e-30, 1e30), max_size=9), st.integers(0, 3))
def test_scores_of_a_tier_keep_its_order(scores, left):
    ordered = sorted(scores, reverse=True)
    found = list(tier_scores(ordered, left, last=left + 1.0))
    # Different scores stay different: those that round to ``left`` are a few steps under it.
    assert all(left - 1e-12 <= each <= left + 1 for each in found)
    for (one, other), (first, second) in zip(pairwise(ordered), pairwise(found), strict=True):
        assert (first > second) == (one > other)
        assert first >= second


def test_a_tier_with_an_infinite_score_stays_below_the_one_before():
    assert list(tier_scores([math.inf, 1.0], 2, last=3.0)) == [3.0, 2.5]
