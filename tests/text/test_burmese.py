"""Rhymes of Burmese; test_romanize.py has names."""

import doctest

import pytest

from candgen.text import burmese
from candgen.text.burmese import write_vowels


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("က", "ကa"),
        ("ကို", "ကo"),
        ("ကိုက်", "ကaik"),
        ("ကက်", "ကek"),
        ("ရှ", "sha"),
        ("ချ", "cha"),
        ("abc", "abc"),
    ],
)
def test_rhymes(text, expected):
    assert write_vowels(text) == expected


def test_examples():
    assert doctest.testmod(burmese).failed == 0
