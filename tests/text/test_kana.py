"""Syllables of kana; test_romanize.py has names."""

import doctest

import pytest

from candgen.text import kana
from candgen.text.kana import write_syllables


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("キャ", "kya"),
        ("シャ", "sha"),
        ("ファ", "fa"),
        ("ウィ", "wi"),
        ("さっか", "さkか"),
        ("スミス", "sみs"),  # katakana is for foreign names
        ("すみす", "すみす"),
        ("ス", "す"),
        ("abc", "abc"),
    ],
)
def test_syllables(text, expected):
    assert write_syllables(text) == expected


def test_examples():
    assert doctest.testmod(kana).failed == 0
