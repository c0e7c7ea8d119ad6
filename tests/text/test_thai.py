"""Vowels of Thai; test_romanize.py has names."""

import doctest

import pytest

from candgen.text import thai
from candgen.text.thai import write_vowels


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("คน", "คoน"),  # o inside a syllable
        ("ถนน", "ถaนoน"),  # a at its end
        ("เปรู", "ปeรu"),  # a vowel before its consonant
        ("เชียง", "ชiaง"),  # parts on both sides
        ("จันทร์", "จaน"),  # silent letters
        ("หลวง", "ลuaง"),  # silent h
        ("อก", "oก"),
        ("abc", "abc"),
    ],
)
def test_vowels(text, expected):
    assert write_vowels(text).replace("อ", "") == expected


def test_examples():
    assert doctest.testmod(thai).failed == 0
