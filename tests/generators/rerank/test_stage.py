"""The second stage: how mentions are normalized and translated."""

from candgen import MentionTable
from candgen.generators.rerank.rerank import Rerank
from tests.generators.rerank.test_rerank import Listed
from tests.generators.rerank.test_rerank_translations import rerank


def test_words_are_translated_and_the_others_keep_their_script():
    stage = rerank(Listed()).stage
    assert stage.translate(["लेना नदी", "लेना", "", "नदी", "Volga नदी"]) == [
        "लेना river",
        None,
        None,
        "river",
        "volga river",
    ]


def test_what_stays_the_same_when_it_is_compared_is_no_translation():
    serbian = MentionTable.from_pairs([("Битола", "Q1"), ("кафа", "Q2")])
    own = MentionTable.from_pairs([("Битола", "Q1"), ("кафе", "Q2")])
    stage = Rerank(Listed(), pivots={"sr": serbian}, target=own, language="mk").stage
    assert stage.translations.entry("bitola").translation == "битола"
    assert stage.translate(["Битола", "Bitola", "кафе"]) == [None, None, "кафа"]
