"""Letters of Hangul; test_romanize.py has names."""

import re

from candgen.text.hangul import LETTERS, decompose


def test_syllables_become_letters():
    assert decompose("가 abc") == "\u1100\u1161 abc"
    assert [f"{ord(letter):x}" for letter in decompose("각")] == ["1100", "1161", "11a8"]


def test_letters_are_ascii():
    assert len(LETTERS) == 19 + 21 + 27
    assert all(re.fullmatch("[a-z]*", latin) for latin in LETTERS.values())
