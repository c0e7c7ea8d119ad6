"""Shared words: the cosine of vectors of words, against dictionaries."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.generators.translation.shared_words import SharedWords
from candgen.tables.string_table import StringTable

WORDS = st.sampled_from(["a", "b", "ab", "é", "𝔸"])
NAMES = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), max_size=8, unique=True)
WEIGHTS = st.dictionaries(WORDS | st.just("nobody"), st.floats(0.1, 3), max_size=4)


def build(names):
    return SharedWords.build(StringTable(**StringTable.pack(sorted(names))))


@given(NAMES, WEIGHTS)
def test_cosines_are_those_of_dictionaries(names, weights):
    words = [set(name.split()) for name in sorted(names)]
    rarity = {
        word: math.log1p(len(names) / sum(word in some for some in words))
        for word in set().union(*words)
    }
    known = {word: weight * rarity[word] for word, weight in weights.items() if word in rarity}
    expected = {
        number: sum(known[word] * rarity[word] for word in some & {*known})
        / math.hypot(*known.values())
        / math.hypot(*(rarity[word] for word in some))
        for number, some in enumerate(words)
        if some & {*known}
    }
    shared = build(names)
    shared.validate(len(names))
    numbers, cosine = shared.match(weights)
    assert numbers.tolist() == sorted(expected)
    assert dict(zip(numbers.tolist(), cosine.tolist(), strict=True)) == pytest.approx(expected)
    again = SharedWords.from_arrays(shared.arrays())
    assert again.match(weights)[1].tolist() == cosine.tolist()


def test_rare_words_count_more():
    shared = build(["lena river", "amur river", "don river"])
    names, cosine = shared.match({"lena": 1.0, "river": 1.0})
    assert names.tolist() == [0, 1, 2]
    assert cosine.max() == cosine[2] == pytest.approx(1.0)
    assert cosine[0] == cosine[1] < 0.5


def test_words_of_no_name():
    assert [len(each) for each in build(["a"]).match({"b": 1.0})] == [0, 0]
    assert [len(each) for each in build(["a"]).match({})] == [0, 0]
    assert [len(each) for each in build([]).match({"a": 1.0})] == [0, 0]


def test_a_name_outside_is_invalid():
    with pytest.raises(ValueError, match=r"words\.name has values outside 0 to 0"):
        build(["a", "b"]).validate(1)
