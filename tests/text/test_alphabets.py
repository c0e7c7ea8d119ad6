"""Tables of letters; test_romanize.py has names in them."""

import re

import pytest

from candgen.text import alphabets
from candgen.text.alphabets import letter_table

TABLES = {
    name: getattr(alphabets, name) for name in ("CYRILLIC", "ARABIC", "HEBREW", "GREEK", "ARMENIAN")
}
OWN = {
    language: table
    for tables in (alphabets.CYRILLIC_OF, alphabets.ARABIC_OF, alphabets.HEBREW_OF)
    for language, table in tables.items()
}


def test_a_table_from_two_strings():
    assert letter_table("щьж", "sc _ z") == {"щ": "sc", "ь": "", "ж": "z"}
    with pytest.raises(ValueError, match="zip"):
        letter_table("щь", "sc")


@pytest.mark.parametrize("table", [*TABLES.values(), *OWN.values()], ids=[*TABLES, *OWN])
def test_one_letter_becomes_lower_case_ascii(table):
    assert all(len(letter) == 1 and not letter.isascii() for letter in table)
    assert all(re.fullmatch("[a-z]*", latin) for latin in table.values())


def test_languages_with_an_alphabet_of_their_own():
    assert OWN.keys() == alphabets.LANGUAGES


def test_rules_compile_and_write_ascii():
    by_language = [*alphabets.RULES_OF.values(), alphabets.RULES]
    rules = {(block, rule) for tables in by_language for block in tables for rule in tables[block]}
    assert rules
    for block, (pattern, replacement) in rules:
        re.compile(pattern)
        assert re.fullmatch(r"[a-z]*|(\\[12])*[a-z]?", replacement), (block, pattern)
