"""The candidates that the second stage compares."""

import pytest

from candgen import MentionTable
from candgen.generators.rerank.rerank import Rerank
from tests.generators.rerank.test_rerank_translations import Asked, rerank


@pytest.mark.parametrize("depth", [2, 3, 4, 7])
def test_the_translation_has_half_of_the_depth(depth):
    own = [(f"Q{n}", 9.0 - n) for n in range(1, 8)]
    first = Asked(नदी=own, river=[("Q3", 5.0), ("Q1", 4.0), ("Q8", 2.0), ("Q9", 1.0)])
    (answer,) = rerank(first, depth=depth).candidates(["लेना नदी"], 30)
    half = depth // 2
    assert first.asked == [("लेना नदी", 30), ("लेना river", half)]
    seen = [f"Q{n}" for n in range(1, depth - half + 1)]
    seen += [each for each in ["Q3", "Q1", "Q8", "Q9"][:half] if each not in seen]
    assert {c.entity for c in answer if c.score > 1} == set(seen)
    rest = [c for c in answer if c.score < 1]
    assert rest == [(e, s / (1 + s)) for e, s in own if e not in seen]
    assert answer[0].entity == "Q3"


def test_a_depth_of_one_is_not_shared():
    first = Asked(नदी=[("Q1", 2.0), ("Q3", 1.0)])
    (answer,) = rerank(first, depth=1).candidates(["लेना नदी"], 1)
    assert first.asked == [("लेना नदी", 1)]
    assert [c.entity for c in answer] == ["Q1"]


def test_what_only_the_translation_finds_is_not_called_the_same():
    """Q5 has the very name of the mention, but is found by its translation, as is said of Q6."""
    words = MentionTable.from_pairs([("a b", "Q1"), ("b", "Q5"), ("c", "Q6")])
    own = MentionTable.from_pairs([("x", "Q5"), ("x", "Q6")])
    first = Asked(x=[("Q6", 1.0)], b=[("Q5", 1.0), ("Q6", 0.5)])
    both = Rerank(first, pivots={"en": words}, target=own, depth=4)
    assert both.stage.translate(["x"]) == ["b"]
    told = {e: both.explain("x", e) for e in ("Q5", "Q6")}
    properties = {e: {p.name: p.value for p in each.properties} for e, each in told.items()}
    same = {e: each["same"] for e, each in properties.items()}
    assert same == {"Q5": 0.0, "Q6": 1.0}
    assert (told["Q5"].before, told["Q6"].before) == (0, 1)
    assert (told["Q5"].translation, told["Q6"].translation) == ("b", None)
