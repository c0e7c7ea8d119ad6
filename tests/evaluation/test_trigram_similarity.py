"""The trigram similarity of names: a naive version is the oracle."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.evaluation.trigram_similarity import (
    WHOLE,
    NameRows,
    TrigramIndex,
    most_similar,
    most_similar_in_group,
    overlap,
)

TEXTS = st.text(st.sampled_from("abc"), max_size=7) | st.text(max_size=4).filter(
    lambda text: not {"\n", "\r", "\t"} & set(text)
)


# How alike: a naive version judges


def trigrams(text):
    bounded = ["^^", *text, "$$"] if text else []
    return Counter(tuple(bounded[place : place + 3]) for place in range(len(bounded) - 2))


def alike(one, other):
    ours, theirs = trigrams(one), trigrams(other)
    size = ours.total() + theirs.total()
    return 2 * WHOLE * (ours & theirs).total() // size if size else 0


@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, max_size=8))
def test_the_nearest_of_all_names_is_that_of_the_naive_version(queries, names):
    found = most_similar(TrigramIndex.of(NameRows.of(queries)), NameRows.of(names))
    expected = [max((alike(query, name) for name in names), default=0) for query in queries]
    assert found.tolist() == expected


@given(st.lists(st.tuples(TEXTS, st.integers(0, 2)), max_size=6), st.lists(TEXTS, max_size=8))
def test_the_nearest_of_a_group_is_that_of_the_naive_version(queries, names):
    cut = [0, len(names) // 3, len(names) // 2, len(names)]
    texts, groups = [text for text, _ in queries], [group for _, group in queries]
    found = most_similar_in_group(
        NameRows.of(texts), np.array(groups, np.int64), NameRows.of(names), np.array(cut)
    )
    expected = [
        max((alike(text, name) for name in names[cut[group] : cut[group + 1]]), default=0)
        for text, group in queries
    ]
    assert found.tolist() == expected


@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, max_size=6))
def test_overlap_is_that_of_the_naive_version(ours, theirs):
    one, other = (sum(map(trigrams, texts), Counter()) for texts in (ours, theirs))
    expected = sum(min(one[t] / one.total(), other[t] / other.total()) for t in one & other)
    assert overlap(NameRows.of(ours), NameRows.of(theirs)) == pytest.approx(expected)
    assert overlap(NameRows.of(ours), NameRows.of(ours)) == bool(one)


def test_characters_beyond_the_basic_plane_and_long_repetitions():
    names = NameRows.of(["😀𝔸😀𝔸😀", "a" * 300])
    found = most_similar(TrigramIndex.of(names), NameRows.of(["😀𝔸", "a" * 100]))
    assert found.tolist() == [alike("😀𝔸😀𝔸😀", "😀𝔸"), alike("a" * 300, "a" * 100)]
