"""Tokenizers: what is a token, what is stored of a tokenizer, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import CandgenError, CharNgrams, WholeMention, Words
from candgen.text.tokenizers import (
    BOUNDARY,
    from_parameters,
    number_symbols,
    split_codepoints,
    to_parameters,
)
from tests.support.oracle import WILDCARD, ngrams, whole, words


def shown(token):
    return "".join({BOUNDARY: "#", WILDCARD: "*"}.get(point) or chr(point) for point in token)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="^$#*"), max_size=12))
def test_tokens_are_those_of_the_oracle(text):
    for low, high in [(2, 5), (1, 3), (4, 4)]:
        for wildcards in (False, True):
            tokens = CharNgrams(low, high, wildcards=wildcards).tokens(text)
            ours = [token.replace("^", "#").replace("$", "#") for token in tokens]
            assert ours == [shown(t) for t in ngrams(text, low, high, wildcards=wildcards)]
    assert WholeMention().tokens(text) == whole(text)


@given(
    st.text(st.characters(codec="utf-8", max_codepoint=0x2FFF, categories=["L", "Nd", "Z", "P"]))
)
def test_words_are_runs_of_letters_marks_and_digits(text):
    assert Words().tokens(text) == words(text)


def test_graphemes():
    family = "👨‍👩‍👧"
    assert CharNgrams(2, 2, unit="grapheme").tokens(f"a{family}") == [
        "^a",
        f"a{family}",
        f"{family}$",
    ]


@pytest.mark.parametrize(
    "tokenizer",
    [
        CharNgrams(),
        CharNgrams(1, 3, unit="grapheme"),
        CharNgrams(3, 4, wildcards=True),
        Words(),
        WholeMention(),
    ],
)
def test_a_tokenizer_can_be_stored(tokenizer):
    assert from_parameters(to_parameters(tokenizer)) == tokenizer


def test_what_was_stored_before_there_were_wildcards_has_none():
    before = {"kind": "char_ngrams", "low": 1, "high": 4, "unit": "grapheme"}
    assert from_parameters(before) == CharNgrams(1, 4, unit="grapheme", wildcards=False)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kind": "sentences"}, "unknown tokenizer 'sentences': this version knows char_ngrams"),
        ({}, "unknown tokenizer None"),
        ({"kind": "words", "low": 2}, "tokenizer 'words' does not take {'low': 2}"),
        ({"kind": "char_ngrams", "low": 0, "high": 5}, "1 <= low <= high"),
        ({"kind": "char_ngrams", "unit": "byte"}, "choose 'codepoint' or 'grapheme'"),
        ({"kind": "char_ngrams", "wildcards": "*"}, r"wildcards is '\*': expected True or False"),
    ],
)
def test_what_cannot_be_a_tokenizer(parameters, sentence):
    with pytest.raises(CandgenError, match=sentence):
        from_parameters(parameters)


def test_rows_share_their_marks():
    text, start, end = split_codepoints("ab\n\nc")
    assert text.tolist() == [BOUNDARY, 97, 98, BOUNDARY, BOUNDARY, 99, BOUNDARY]
    assert list(zip(start, end, strict=True)) == [(0, 4), (3, 5), (4, 7)]
    _, start, end = split_codepoints("ab\n\nc", bounded=False)
    assert list(zip(start, end, strict=True)) == [(1, 3), (4, 4), (5, 6)]


def test_strings_become_numbers():
    text, start, end = number_symbols([["x", "y"], [], ["z"]], {"x": 0, "y": 1}, bounded=False)
    rows = [text[a:b].tolist() for a, b in zip(start, end, strict=True)]
    assert rows == [[0, 1], [], [np.iinfo(np.uint32).max]]


def test_symbols_never_reach_the_marks():
    """A cluster whose number is that of a mark would be taken for it."""

    class Endless(dict):
        def __len__(self):
            return BOUNDARY + 1

    with pytest.raises(CandgenError, match="1114113 different grapheme clusters"):
        number_symbols([["x"]], Endless(x=0), bounded=True)
    assert number_symbols([["x"]], Endless(x=BOUNDARY), bounded=False).text[1] == BOUNDARY
