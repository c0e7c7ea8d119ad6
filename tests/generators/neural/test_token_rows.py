"""Spelling: the tokens of texts, as numbers, are those of the oracle."""

import numpy as np

from candgen.generators.neural.token_rows import TEXTS_AT_ONCE, Spelling
from candgen.text.tokenizers import CharNgrams
from tests.support import oracle


def test_tokens_are_those_of_the_oracle():
    texts = ["ab", "b", "aab", "𝔸b", "abababa"]
    spelling = Spelling.learn(texts[:3], CharNgrams(2, 5))
    known = {token for text in texts[:3] for token in oracle.ngrams(text)}
    assert len(spelling) == len(known)
    rows = spelling.rows([*texts, "", "x"])
    numbers = {}
    for at, text in enumerate([*texts, "", "x"]):
        row = rows.tokens[rows.start[at] : rows.start[at + 1]].tolist()
        expected = [token for token in oracle.ngrams(text) if token in known]
        assert len(row) == len(expected)
        points = (oracle.BOUNDARY, *map(ord, text), oracle.BOUNDARY) if text else ()
        in_order = [
            points[p : p + n]
            for p in range(len(points))
            for n in range(2, 6)
            if points[p : p + n] in known and p + n <= len(points)
        ]
        for number, token in zip(row, in_order, strict=True):
            assert numbers.setdefault(token, number) == number
    assert sorted(numbers.values()) == list(range(len(known)))


def test_single_characters_spell_what_is_known_between_two_marks():
    spelling = Spelling.learn(["ab", "𝔸"], CharNgrams(1, 1))
    rows = spelling.rows(["ba", "xb", "", "xyz", "𝔸"])
    spelled = [rows.tokens[a:b].tolist() for a, b in zip(rows.start, rows.start[1:], strict=False)]
    mark, a, b, astral = 3, 0, 1, 2  # by code point: the mark is above all of them
    assert spelled == [[mark, b, a, mark], [mark, b, mark], [], [mark, mark], [mark, astral, mark]]


def test_many_texts_are_cut_in_pieces():
    texts = [f"t{number}" for number in range(TEXTS_AT_ONCE + 2)]
    spelling = Spelling.learn(texts, CharNgrams(2, 5))
    rows = spelling.rows(texts)
    assert len(rows.start) == len(texts) + 1
    for at in (0, 1, TEXTS_AT_ONCE - 1, TEXTS_AT_ONCE, TEXTS_AT_ONCE + 1):
        alone = spelling.rows([texts[at]])
        assert np.array_equal(rows.tokens[rows.start[at] : rows.start[at + 1]], alone.tokens)
