"""Readings: the texts and words that a mention is looked up as."""

import math
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from candgen.generators.translation.lexicon import Lexicon
from candgen.generators.translation.readings import (
    MOST_TEXTS,
    UNTRANSLATED,
    combine,
    read_mentions,
    reorder,
)

LEXICON = Lexicon.learn([[("река", "river"), ("и", "and"), ("дон", "don")]])
CHOICES = st.lists(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([1.0, 0.5, 0.3, 0.1])),
        min_size=1,
        max_size=3,
        unique_by=lambda each: each[0],
    ),
    min_size=1,
    max_size=5,
)


@given(CHOICES)
def test_combinations_are_the_likeliest_of_all(choices):
    every = {
        " ".join(word for word, _ in some): math.prod(p for _, p in some)
        for some in product(*choices)
    }
    found = combine(choices)
    assert len(found) == min(MOST_TEXTS, len(every))
    best = sorted(every.values(), reverse=True)[: len(found)]
    for (text, probability), value in zip(found, best, strict=True):
        assert math.isclose(probability, every[text])
        assert math.isclose(probability, value)


def test_a_word_is_translated_or_romanized():
    (reading,) = read_mentions(["Река, Лена"], LEXICON, "mk")
    assert reading.texts[0] == ("river lena", 1.0)
    assert reading.texts[1] == ("reka lena", UNTRANSLATED)
    assert reading.weights == {"river": 1.0, "reka": UNTRANSLATED, "lena": 1.0}


def test_a_word_that_stays_as_it_is_has_one_reading():
    (reading,) = read_mentions(["Дон"], LEXICON, "mk")
    assert reading.texts == [("don", 1.0)]


def test_a_long_mention_has_words_only():
    (reading,) = read_mentions(["дон " * 9], LEXICON, "mk")
    assert reading.texts == []
    assert reading.weights == {"don": 9.0}
    (reading,) = read_mentions([" !"], LEXICON, "mk")
    assert reading == ([], {})


def test_romanization_may_cut_words():
    """Chinese words have no spaces, and romanization writes some; or a word vanishes."""
    for mention in ("北京 дон", "東京・дон", "ъ дон"):
        (reading,) = read_mentions([mention], LEXICON, "bg")
        assert "don" in reading.weights


def test_orders():
    assert sorted(reorder("a b c")) == ["a c b", "b a c", "b c a", "c a b", "c b a"]
    assert reorder("a a b") == ["a b a", "b a a"]
    assert reorder("a") == reorder("") == []
    assert len(reorder("a b c d")) == 23
