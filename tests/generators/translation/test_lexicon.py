"""The lexicon: the likeliest translations of Model 1, from the first teacher that knows a word."""

import numpy as np
import pytest
from hypothesis import given

from candgen.generators.translation.lexicon import MOST_TRANSLATIONS, Lexicon, ranges
from tests.generators.rerank.test_translations import PAIRS, naive

LEAST = 0.15


def everything(lexicon):
    return lexicon.look_up(lexicon.words)


@given(PAIRS)
def test_translations_are_the_likeliest(pairs):
    t = naive(pairs)
    found = everything(Lexicon.learn([pairs]))
    assert set(found) == {w for (w, _), value in t.items() if value >= LEAST}
    for word, some in found.items():
        likely = {v: value for (w, v), value in t.items() if w == word and value >= LEAST}
        assert {each for each, _ in some} <= set(likely)
        assert len(some) == min(len(likely), MOST_TRANSLATIONS)
        values = sorted(likely.values(), reverse=True)[: len(some)]
        assert [value for _, value in some] == pytest.approx(values, rel=1e-6)


@given(PAIRS, PAIRS)
def test_a_later_teacher_adds_only_new_words(first, second):
    one, other, both = (
        everything(Lexicon.learn(some)) for some in ([first], [second], [first, second])
    )
    assert both == {**other, **one}


def test_words_that_are_looked_up():
    lexicon = Lexicon.learn([[("x", "c b"), ("é", "y")]])
    found = lexicon.look_up(["é", "x", "nobody", "x", ""])
    assert {word: [other for other, _ in some] for word, some in found.items()} == {
        "x": ["b", "c"],
        "é": ["y"],
    }
    assert lexicon.look_up([]) == {}
    assert Lexicon.learn([]).look_up(["x"]) == {}


def test_a_lexicon_is_stored_in_arrays():
    lexicon = Lexicon.learn([[("x", "c b"), ("é", "y")]])
    again = Lexicon.from_arrays(lexicon.arrays())
    again.validate()
    assert everything(again) == everything(lexicon)
    lexicon.probability.setflags(write=True)
    lexicon.probability[0] = 2
    with pytest.raises(ValueError, match=r"lexicon\.probability has values outside 1e-06 to 1"):
        lexicon.validate()


def test_ranges_may_be_empty():
    none = np.zeros(0, np.int64)
    assert ranges(none, none).tolist() == []
    assert ranges(np.array([3, 5]), np.array([3, 6])).tolist() == [5]
