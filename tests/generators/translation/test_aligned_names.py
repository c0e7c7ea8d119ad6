"""Aligned names: pairs of names of the same entity, as their words."""

from candgen import MentionTable
from candgen.generators.translation.aligned_names import aligned_pairs, word_rows, words_of

MACEDONIAN = MentionTable.from_pairs(
    [("Река (Дон)", "Q1229", 2), ("Дон", "Q1229", 7), ("Вардар", "Q9"), ("!", "Q8")]
)
ENGLISH = MentionTable.from_pairs([("Don River", "Q1229"), ("Lena", "Q3"), ("Eight", "Q8")])


def test_names_are_paired_by_entity():
    pairs = aligned_pairs({"mk": MACEDONIAN}, {"en": ENGLISH}, {"mk": "mk", "en": "en"})
    assert pairs == [("дон", "don river"), ("река дон", "don river")]


def test_a_language_is_not_paired_with_itself():
    spoken = {"mk": "mk", "en": "en"}
    assert aligned_pairs({"en": ENGLISH}, {"en": ENGLISH}, spoken) == []
    both = aligned_pairs({"mk": MACEDONIAN, "en": ENGLISH}, {"en": ENGLISH}, spoken)
    assert both == aligned_pairs({"mk": MACEDONIAN}, {"en": ENGLISH}, spoken)
    assert aligned_pairs({}, {"en": ENGLISH}, spoken) == []


def test_rows_have_words_and_the_most_frequent_names_first():
    rows = word_rows({"mk": MACEDONIAN}, "latin", {"mk": "mk"})
    assert rows["text"].to_pylist() == ["don", "reka don", "vardar"]
    assert rows["count"].to_pylist() == [7, 2, 1]


def test_words_are_cut_like_those_of_the_tokenizer():
    assert words_of(["o'neill-smith 2", "नदी", ""]) == [["o", "neill", "smith", "2"], ["नदी"], []]
