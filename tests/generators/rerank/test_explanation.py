"""Explanations of the second stage."""

import pytest

import candgen
from candgen import CandgenError, MentionTable, Query
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.rerank.weights import Weights
from tests.generators.rerank.test_rerank import Listed, pti


def test_an_explanation_adds_up():
    rerank = Rerank(pti(), dev=[Query("Wienn", "Q1741", "hard")])
    for mention in ("Vín", "Wienn", "Rúmenien"):
        before = [c.entity for c in pti().candidates([mention], rerank.depth)[0]]
        after = rerank.candidates([mention])[0]
        for place, (entity, score) in enumerate(after, start=1):
            told = rerank.explain(mention, entity)
            v = sum(each.weight * each.value for each in told.properties)
            assert told.score == score == pytest.approx(1 + (1 + v / (1 + abs(v))) / 2)
            assert (told.before, told.after) == (before.index(entity) + 1, place)
            assert [each.name for each in told.properties] == list(Weights._fields)
            assert tuple(each.weight for each in told.properties) == rerank.weights
            assert "".join(edit.after for edit in told.edits) == told.normalized
            assert "".join(edit.before for edit in told.edits) == told.spelling
            assert told.first == rerank.first_stage.explain(mention, entity)
            behind = sum(each.ahead for each in told.properties)
            leader = rerank.explain(mention, told.leader)
            assert behind == pytest.approx(
                v - sum(each.weight * each.value for each in leader.properties)
            )
            assert behind <= 1e-12 or place == 1


def test_whom_an_entity_is_compared_with():
    names = MentionTable.from_pairs([("abc", "Q1"), ("abd", "Q2"), ("xyz", "Q3")])
    rerank = Rerank(Listed(("Q3", 3.0), ("Q2", 2.0), ("Q1", 1.9)), pivots={"is": names})
    assert [c.entity for c in rerank.candidates(["abc"])[0]] == ["Q1", "Q2", "Q3"]
    assert rerank.explain("abc", "Q2").leader == rerank.explain("abc", "Q3").leader == "Q1"
    assert rerank.explain("abc", "Q1").leader == "Q3"  # which stood first before
    assert rerank.explain("abd", "Q2").leader == "Q3"
    same = rerank.explain("xyz", "Q3")
    assert (same.before, same.after, same.leader) == (1, 1, rerank.candidates(["xyz"])[0][1].entity)
    assert rerank.explain("abc", "Q1").first is None
    alone = Rerank(Listed(("Q9", 1.0)), pivots={"is": names}).explain("abc", "Q9")
    assert (alone.leader, alone.spelling, alone.edits) == (None, "", [])
    assert sum(each.ahead for each in alone.properties) == 0.0


def test_what_cannot_be_explained():
    with pytest.raises(
        CandgenError,
        match=r"'Q1' is not among the 4 candidates that the second stage compared for 'Vín'",
    ):
        Rerank(pti(tokenizer=candgen.CharNgrams(1, 2))).explain("Vín", "Q1")
    with pytest.raises(CandgenError, match=r"mention 0 is 7: expected a string"):
        Rerank(pti()).explain(7, "Q1741")
