"""Translations of words: against dictionaries, and what a text becomes."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.generators.rerank.translations import (
    MAX_WORDS,
    MIN_PROBABILITY,
    NULL_WORD_WEIGHT,
    ROUNDS,
    Translations,
)

WORDS = st.sampled_from(["a", "b", "aa", "é", "𝔸", "river", "नदी"])
NAMES = st.lists(WORDS, max_size=4).map(" ".join)
PAIRS = st.lists(st.tuples(NAMES, NAMES), max_size=12)

RIVERS = [("amur nadi", "amur river"), ("don nadi", "don river"), ("amur", "amur")]


def naive(pairs):
    """t(v | w) by dictionaries, as the module's text has it."""
    split = [(set(one.split()), set(other.split())) for one, other in pairs]
    split = [each for each in split if max(map(len, each)) <= MAX_WORDS]
    t = {(w, v): 1.0 for mine, theirs in split for w in mine for v in theirs}
    for _ in range(ROUNDS):
        count = Counter()
        for mine, theirs in split:
            for v in theirs:
                whole = NULL_WORD_WEIGHT + sum(t[w, v] for w in mine)
                for w in mine:
                    count[w, v] += t[w, v] / whole
        total = Counter()
        for (w, _), value in count.items():
            total[w] += value
        t = {(w, v): value / total[w] for (w, v), value in count.items()}
    return t


def words_of(learned):
    return list(zip(learned.words, learned.translations, learned.probability, strict=True))


@given(PAIRS)
def test_translations_are_the_likeliest(pairs):
    t = naive(pairs)
    found = words_of(Translations.learn(pairs))
    for word, translation, share in found:
        best = max(value for (w, _), value in t.items() if w == word)
        assert word != translation
        assert t[word, translation] == pytest.approx(best, rel=1e-9)
        assert share == pytest.approx(best, rel=1e-6)
        assert best >= MIN_PROBABILITY * (1 - 1e-9)
        assert t.get((word, word), 0.0) <= best / 2 * (1 + 1e-9)
    kept = {word for word, _, _ in found}
    for word in {w for w, _ in t} - kept:  # nothing is likely enough, or it may stay what it is
        best = max(value for (w, _), value in t.items() if w == word)
        assert best <= MIN_PROBABILITY * (1 + 1e-9) or t.get((word, word), 0.0) >= best / 2 * (
            1 - 1e-9
        )
    assert [word for word, _, _ in found] == sorted(kept)


def test_a_word_of_two_names_is_told_from_what_is_beside_it():
    learned = Translations.learn(RIVERS)
    assert [each[:2] for each in words_of(learned)] == [("nadi", "river")]
    entry = learned.entry("nadi")
    assert entry.probability > 0.9
    assert learned.entry("amur") is None  # which stays as it is
    assert learned.entry("") is None


def test_ties_go_to_the_smaller_word():
    assert [each[:2] for each in words_of(Translations.learn([("x", "c b")]))] == [("x", "b")]
    assert words_of(Translations.learn([("x", "a b c d")])) == []  # a quarter each is too little


def test_a_name_that_stays_as_it_is_does_not_become_its_abbreviation():
    pairs = [("australie", "au"), ("australie", "aus"), ("australie", "australie")]
    assert words_of(Translations.learn(pairs)) == []
    assert [each[:2] for each in words_of(Translations.learn(pairs[:2]))] == [("australie", "au")]


def test_what_is_not_learned_from():
    long = " ".join(map(str, range(MAX_WORDS + 1)))
    assert (
        words_of(Translations.learn([(long, "a"), ("a", long), ("", "a"), ("a", ""), (" ", " ")]))
        == []
    )
    assert words_of(Translations.learn([])) == []


def test_words_without_translation_are_as_they_are_written():
    learned = Translations.learn(RIVERS)
    texts = ["lena nadi", "nadi", "lena", "", "nadi  nadi", "lena nadi"]
    written = ["Лена नदी", "नदी", "Лена", "", "नदी नदी", "Лена"]
    assert learned.translate(texts, written) == [
        "Лена river",
        "river",
        None,
        None,
        "river river",
        None,
    ]
    assert learned.translate([], []) == []
    assert learned.translate(["\ud800", "\ud800 nadi"], ["\ud800", "\ud800 nadi"]) == [
        None,
        "\ud800 river",
    ]
    many = " ".join(["nadi"] * (MAX_WORDS + 1))
    assert learned.translate([many], [many]) == [None]


def test_nothing_learned_translates_nothing():
    assert Translations.learn([]).translate(["nadi"], ["nadi"]) == [None]


@given(PAIRS, st.lists(NAMES, max_size=4))
def test_arrays_hold_all_of_it(pairs, texts):
    learned = Translations.learn(pairs)
    again = Translations.from_arrays(learned.arrays())
    assert words_of(again) == words_of(learned)
    assert again.translate(texts, texts) == learned.translate(texts, texts)
    known = {word: translation for word, translation, _ in words_of(learned)}
    for text, found in zip(texts, learned.translate(texts, texts), strict=True):
        expected = " ".join(known.get(word, word) for word in text.split())
        assert found == (None if expected == " ".join(text.split()) else expected)
