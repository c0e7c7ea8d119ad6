"""Series and vowels of Khmer; test_romanize.py has names."""

import doctest

import pytest

from candgen.text import khmer
from candgen.text.khmer import write_vowels


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("តុ", "to"),  # the first series
        ("ទុ", "tu"),  # the second series
        ("មហា", "moha"),  # inherent vowels
        ("ម៉ន", "man"),  # a sign moves m into the first series
        ("ស៊ី", "si"),
        ("ហ្វូ", "fu"),  # a foreign consonant
        ("abc", "abc"),
    ],
)
def test_vowels(text, expected):
    assert write_vowels(text) == expected


def test_examples():
    assert doctest.testmod(khmer).failed == 0
