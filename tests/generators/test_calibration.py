"""Probabilities: in the order of the scores, never more than one together, and true on average."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import candgen
from candgen.errors import StorageError
from candgen.generators.calibration import DEPTH, FIXED, LINKS, Calibration, Weights
from candgen.storage import index_folder
from candgen.storage.index_folder import Contents
from tests.support.service_world import toy_index

SCORES = st.lists(st.floats(1e-30, 1e30), max_size=60).map(lambda some: sorted(some, reverse=True))
LINK = st.sampled_from(sorted(FIXED))


def listed(scores):
    return [(f"Q{place}", score) for place, score in enumerate(scores)]


@given(LINK, SCORES, st.text(max_size=30))
def test_they_never_increase_along_a_list_and_are_at_most_one_together(link, scores, mention):
    if link == "value":
        scores = [1.0 + score / (1.0 + score) for score in scores]
    chances = Calibration(link, FIXED[link]).probabilities(mention, listed(scores))
    assert len(chances) == len(scores)
    assert all(0.0 <= chance <= 1.0 for chance in chances)
    assert all(a >= b for a, b in pairwise(chances))
    assert sum(chances[:DEPTH]) <= 1.0 + 1e-9
    for (chance, score), (other, another) in pairwise(zip(chances, scores, strict=True)):
        assert chance == other or score != another  # equal scores are equally likely


@given(st.lists(st.floats(1e-9, 1e9), min_size=DEPTH + 1, max_size=60))
def test_a_longer_list_does_not_change_the_first_ones(some):
    scores = sorted(some, reverse=True)
    calibration = Calibration("log", FIXED["log"])
    whole = calibration.probabilities("Vín", listed(scores))
    assert whole[:DEPTH] == calibration.probabilities("Vín", listed(scores[:DEPTH]))


def test_by_hand():
    """exp u is the score here; none weighs 4, so that of 3, 1 and 4 the shares are eighths."""
    calibration = Calibration("log", Weights(slope=1.0, none=math.log(4.0), length=0.0))
    assert calibration.probabilities("x", listed([3.0, 1.0])) == pytest.approx([3 / 8, 1 / 8])
    longer = Calibration("log", Weights(slope=1.0, none=0.0, length=2.0))
    assert longer.probabilities("abc", listed([16.0])) == pytest.approx([0.5])
    assert calibration.probabilities("x", []) == []


def test_the_values_of_a_second_stage_are_found_again():
    """Rerank squashes v into a score; slope 1 and no length make a softmax of the values."""
    values = np.array([4.0, 1.5, -3.0])
    scores = 1.0 + 0.5 * (1.0 + values / (1.0 + np.abs(values)))
    calibration = Calibration("value", Weights(1.0, 0.0, 0.0))
    raised = np.exp(values)
    expected = raised / (1.0 + raised.sum())
    assert calibration.probabilities("x", listed(scores)) == pytest.approx(expected.tolist())


def test_what_the_second_stage_did_not_see_has_no_chance():
    chances = Calibration("value", FIXED["value"]).probabilities("x", listed([1.9, 1.0, 0.7]))
    assert chances[0] > 0
    assert chances[1:] == [0.0, 0.0]


class Lottery:
    """Answers with scores by which the gold was drawn, so that the right weights are known."""

    def __init__(self, seed, queries, weights):
        rng = np.random.default_rng(seed)
        self.answers, self.dev = {}, []
        calibration = Calibration("log", weights)
        for number in range(queries):
            mention = f"{number}".rjust(int(rng.integers(3, 12)), "m")
            scores = np.sort(rng.gamma(2.0, 2.0, 8))[::-1]
            self.answers[mention] = listed(scores.tolist())
            chances = calibration.probabilities(mention, self.answers[mention])
            drawn = rng.choice(9, p=[*chances, 1.0 - sum(chances)])
            self.dev.append(candgen.Query(mention, f"Q{drawn}" if drawn < 8 else "none"))

    def candidates(self, mentions, k=30):
        return [self.answers[mention][:k] for mention in mentions]

    def contents(self):
        return Contents("pti", {}, {}, {})


def test_the_weights_that_drew_the_golds_are_learned():
    true = Weights(slope=2.0, none=1.0, length=0.5)
    world = Lottery(0, 4000, true)
    learned = Calibration.learn(world, world.dev)
    assert learned.queries == 4000
    assert learned.weights.slope == pytest.approx(true.slope, rel=0.1)
    test = Lottery(1, 4000, true)
    chances = np.array(
        [learned.probabilities(m, test.answers[m])[0] for m in (q.mention for q in test.dev)]
    )
    right = np.array([query.entity == "Q0" for query in test.dev])
    for low in (0.0, 0.25, 0.5, 0.75):
        some = (chances >= low) & (chances < low + 0.25)
        assert right[some].mean() == pytest.approx(chances[some].mean(), abs=0.06)


def test_scores_that_say_nothing_keep_the_order():
    """The gold is always the last one: a negative slope would be likeliest, and is refused."""
    world = Lottery(2, 200, FIXED["log"])
    world.dev = [candgen.Query(query.mention, "Q7") for query in world.dev]
    learned = Calibration.learn(world, world.dev)
    assert learned.weights.slope > 0


def test_no_queries_teach_nothing():
    assert Calibration.learn(Lottery(3, 0, FIXED["log"]), []).weights == FIXED["log"]


def test_it_is_stored_with_an_index_and_changes_nothing_else(tmp_path):
    index = toy_index()
    path = tmp_path / "fo.candgen"
    index.save(path)
    before = index_folder.load(path)
    assert Calibration.load(path) == Calibration("log", FIXED["log"])
    for weights in (Weights(1.0, 2.0, 3.0), Weights(4.0, 5.0, 6.0)):
        Calibration("log", weights, 7).store(path)
        assert Calibration.load(path) == Calibration("log", weights, 7)
    after = index_folder.load(path, verify=True)
    assert {name for name in after.arrays if name not in before.arrays} == {
        "calibration.queries",
        "calibration.weights",
    }
    assert (after.parameters, after.inputs, after.kind) == (
        before.parameters,
        before.inputs,
        before.kind,
    )
    assert candgen.load(path).candidates(["Vín"]) == index.candidates(["Vín"])
    index.save(path)  # another index: what the old one's scores were worth is forgotten
    assert Calibration.load(path).queries == 0


def test_damaged_weights_are_one_sentence(tmp_path):
    path = tmp_path / "fo.candgen"
    toy_index().save(path)
    index_folder.amend(path, "calibration", {"weights": np.zeros(2)})
    with pytest.raises(StorageError, match="tune the index again"):
        Calibration.load(path)


def test_every_kind_with_a_link_of_its_own_exists():
    from candgen.generators.registry import LOADERS

    assert set(LINKS) <= set(LOADERS)
