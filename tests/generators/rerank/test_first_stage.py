"""An index answers the second stage with numbers, any other generator with ids: both are alike."""

import numpy as np
import pytest

from candgen import Candidate, MentionTable, PivotTokenIndex, Rerank
from candgen.generators.rerank.first_stage import ask, number_entities

PIVOT = MentionTable.from_pairs(
    [("Moskva", "Q649"), ("Moska", "Q32815"), ("Moso", "Q43347"), ("Mosul", "Q9"), ("Riga", "Q10")]
)
TARGET = MentionTable.from_pairs([("Moskvaá", "Q649"), ("Ríga", "Q10"), ("river Don", "Q1")])
MENTIONS = ["Moskwa", "", "Rigo", "river Moso", "xyz", "Mos"]


class Plain:
    """The same generator without its numbers."""

    def __init__(self, index):
        self.index = index
        self.asked = []

    def candidates(self, mentions, k=30):
        self.asked.append((list(mentions), k))
        return self.index.candidates(mentions, k)


@pytest.mark.parametrize("k", [1, 2, 30])
@pytest.mark.parametrize("depth", [1, 2, 3, 300])
def test_an_index_and_the_same_generator_without_numbers_answer_alike(k, depth):
    index = PivotTokenIndex.build({"is": PIVOT}, TARGET, language="fo")
    both = Rerank(index, pivots={"is": PIVOT}, target=TARGET, language="fo", depth=depth)
    other = both.with_first_stage(Plain(index))
    assert both.candidates(MENTIONS, k) == other.candidates(MENTIONS, k)
    assert any(len(answer) > 1 for answer in both.candidates(MENTIONS, 30))


def test_entities_of_an_index_are_numbered_once():
    index = PivotTokenIndex.build({"is": PIVOT})
    few = MentionTable.from_pairs([("Riga", "Q10"), ("Moskva", "Q649")])
    both = Rerank(index, pivots={"is": few})
    entities = list(index.token_index.entities)
    assert entities == ["Q9", "Q10", "Q649", "Q32815", "Q43347"]
    assert both.spelling_of.tolist() == [-1, 0, 1, -1, -1]
    assert number_entities(Plain(index), both.stage.spellings).tolist() == []


def test_answers_share_one_numbering_in_tie_order():
    class Fixed:
        def candidates(self, mentions, k):
            found = {"a": [("Q10", 2.0), ("Q9", 1.0), ("Q8", 0.0)], "b": [("Q9", 5.0)]}
            return [[Candidate(*each) for each in found[mention]][:k] for mention in mentions]

    spellings = Rerank(PivotTokenIndex.build({"is": PIVOT})).stage.spellings
    requests = [(["a"], 3), (["b", "a"], 1), ([], 2)]
    found, numbering = ask(Fixed(), np.empty(0, np.int32), spellings, requests)
    assert numbering.entities == ["Q9", "Q10"]
    assert [numbering.place_of(entity) for entity in ("Q10", "Q8")] == [1, None]
    assert [hits.found.tolist() for hits in found] == [[2], [1, 1], []]
    assert found[0].place.tolist() == [[1, 0]]
    assert found[0].score.tolist() == [[2.0, 1.0]]  # a score of 0 is not a candidate
    assert found[1].place.tolist() == [[0], [1]]
    assert numbering.ids(found[0].place[0]) == ["Q10", "Q9"]
