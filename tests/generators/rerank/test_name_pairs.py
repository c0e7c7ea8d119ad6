"""Pairs of names from which the second stage learns."""

from candgen import MentionTable
from candgen.generators.rerank.name_pairs import choose_partner
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.rerank.spellings import normalized_rows
from tests.generators.rerank.test_rerank import Listed
from tests.generators.rerank.test_rerank_translations import ENGLISH, MARATHI


def test_words_come_from_the_language_with_most_to_learn_from():
    few = MentionTable.from_pairs([("reka Amur", "Q1")])
    tables = {"": MARATHI, "bg": few, "en": ENGLISH}
    rows = normalized_rows(tables, "latin", dict.fromkeys(tables, "mr"))
    assert choose_partner(rows, joint=True) == 2
    pivots = {name: table for name, table in tables.items() if name}
    rows = normalized_rows(pivots, "latin", dict.fromkeys(pivots, "mr"))
    assert choose_partner(rows, joint=False) == 0  # each has one that the other has too
    alone = normalized_rows({"en": ENGLISH}, "latin", {"en": "en"})
    assert choose_partner(alone, joint=False) is choose_partner(alone, joint=True) is None


def test_without_a_target_words_come_from_two_pivots():
    hindi = MentionTable.from_pairs([("अमूर नदी", "Q1"), ("डॉन नदी", "Q2"), ("वोल्गा नदी", "Q4")])
    both = Rerank(Listed(), pivots={"en": ENGLISH, "hi": hindi}, language="mr")
    assert both.stage.translate(["लेना नदी"]) == ["लेना river"]
