"""Root letters of Tibetan; test_romanize.py has names."""

import doctest

import pytest

from candgen.text import tibetan
from candgen.text.tibetan import write_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ཀ", "ka"),
        ("རྐ", "ka"),  # a letter above the root
        ("བདེ", "de"),  # a letter before it
        ("བསོད", "so"),  # and a silent one behind
        ("ཕྱུག", "chuk"),
        ("དབང", "wang"),
        ("ལྷ", "lha"),
        ("རྡོ་རྗེ", "dorje"),
        ("མརཏིན", "martin"),  # no Tibetan syllable
        ("abc", "abc"),
    ],
)
def test_words(text, expected):
    assert write_words(text) == expected


def test_examples():
    assert doctest.testmod(tibetan).failed == 0
