"""Inherent vowels of the Brahmic scripts, by hand; test_romanize.py has names in them."""

import doctest
import re

import pytest

from candgen.text import brahmic
from candgen.text.brahmic import (
    DEVANAGARI,
    KANNADA,
    TAMIL,
    make_letter_table,
    write_inherent_vowels,
)


@pytest.mark.parametrize(
    ("text", "block", "language", "expected"),
    [
        ("कि", DEVANAGARI, "hi", "कि"),  # a vowel sign takes the place of the inherent vowel
        ("क्त", DEVANAGARI, "hi", "क्त"),  # so does a virama; the last vowel is deleted
        ("राम", DEVANAGARI, "hi", "राम"),
        ("राम", DEVANAGARI, "sa", "रामअ"),  # Sanskrit pronounces it
        ("राजधानी", DEVANAGARI, "hi", "राजधानी"),  # and Hindi deletes it in the middle, too
        ("राजधानी", DEVANAGARI, "sa", "राजअधानी"),
        ("ರಾಮ", KANNADA, "kn", "ರಾಮಅ"),
        ("அடம்", TAMIL, "ta", "அdஅம்"),
        ("abc", DEVANAGARI, "hi", "abc"),
    ],
)
def test_inherent_vowels(text, block, language, expected):
    assert write_inherent_vowels(text, [block], language) == expected


def test_other_blocks_are_left_alone():
    assert write_inherent_vowels("ರಾಮ", [DEVANAGARI]) == "ರಾಮ"


def test_the_letter_table():
    table = make_letter_table()
    assert [table[letter] for letter in "कকಕ"] == ["k", "k", "k"]
    assert [table[letter] for letter in "යজழৰ"] == ["y", "j", "zh", "r"]
    assert all(re.fullmatch("[a-z0-9.]*", latin) for latin in table.values())
    assert {ord(letter) >> 7 for letter in table} == {*brahmic.BLOCKS}


def test_examples():
    assert doctest.testmod(brahmic).failed == 0
