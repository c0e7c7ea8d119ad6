"""Skeletons of words: against texts and a table of edit distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.kernels.skeleton import (
    KINDS,
    LONGEST_SKELETON,
    UNKNOWN,
    mark_skeleton,
    skeleton_similarity,
)
from candgen.text.consonants import consonant_kinds
from tests.support.rerank_oracle import distance, skeleton

ALPHABET = "\N{REPLACEMENT CHARACTER}abdefghiklmnoprstvz"
CONSONANTS = np.array(consonant_kinds(ALPHABET), np.uint8)
CONSONANTS[0] = UNKNOWN
WORDS = st.text(ALPHABET, max_size=40) | st.text("btkszmlr", max_size=200)


def similarity(one, other):
    """What the kernels say, and how long the first skeleton is."""
    texts = (
        np.array([ALPHABET.index(letter) for letter in word], np.uint8) for word in (one, other)
    )
    first, second = texts
    marks = np.empty(KINDS, np.uint64)
    length = mark_skeleton.py_func(first, 0, len(first), CONSONANTS, marks)
    args = marks, length, second, 0, len(second), CONSONANTS
    return skeleton_similarity.py_func(*args), length


@given(WORDS, WORDS)
def test_it_is_that_of_a_table(one, other):
    mine, theirs = (skeleton(word)[:LONGEST_SKELETON] for word in (one, other))
    found, length = similarity(one, other)
    assert length == len(mine)
    if not mine or not theirs:
        assert found == 0.0
        return
    assert found == pytest.approx(
        max(1 - 2 * distance(mine, theirs) / max(len(mine), len(theirs)), 0)
    )


def test_vowels_and_repetitions_do_not_count():
    assert similarity("moskva", "messkvbo") == (1.0, 4)
    assert similarity("aeo", "moskva") == (0.0, 0)
    assert similarity("rima", "roma") == (1.0, 2)
    assert 0.0 < similarity("romsdal", "romsta")[0] < 1.0
