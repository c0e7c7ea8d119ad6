"""Normalizers: a table of telling texts, a slow reference, and properties."""

import doctest
import subprocess
import sys
import unicodedata
from unittest import mock

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from candgen.errors import ParameterError
from candgen.text import normalize as text_module
from candgen.text.normalize import (
    NORMALIZERS,
    check_normalizer,
    normalize,
    normalize_joined,
    normalize_many,
)

# why, text, default, paper (None: not telling)
TABLE = [
    ("Latin accents go, letters stay", "Tórshavn Føroyar Łódź", "torshavn føroyar łodz", None),
    ("decomposed is the same", "To\u0301rshavn", "torshavn", "torshavn"),
    ("several marks on a letter", "Việt Nam, Ǻ", "viet nam, a", "viet nam, a"),
    ("sharp s is ss, capital too", "Straße STRAẞE", "strasse strasse", "straße straße"),
    ("ligatures and titlecase digraphs", "ﬁord ǅ", "fiord dz", "ﬁord ǆ"),
    ("eth and thorn are letters", "Þórður", "þorður", "þorður"),
    ("a mark without a letter stays", "\u0301a", "\u0301a", "a"),
    ("a digit is not a letter", "1\u0301", "1\u0301", "1"),
    ("Greek final sigma and tonos", "Ὀδυσσεύς ΑΘΉΝΑΣ", "οδυσσευσ αθηνασ", "οδυσσευς αθηνας"),
    ("Greek dialytika with tonos", "ΐΰ", "ιυ", "ιυ"),
    ("Greek iota subscript is a letter", "ᾠδή", "ωιδη", "ωδη"),
    ("Cyrillic breve and diaeresis", "Йошкар-Ола Ёлка", "иошкар-ола елка", "иошкар-ола елка"),
    ("Macedonian gje and kje", "Ѓорче Ќе", "горче ке", "горче ке"),
    ("Cyrillic letters without marks", "Њ Ђ Ї", "њ ђ і", "њ ђ і"),
    ("Devanagari keeps its vowel signs", "मुंबई", "मुंबई", "मबई"),
    ("Devanagari nukta, composed or not", "\u095bफ़र ज\u093c", "ज\u093cफ\u093cर ज\u093c", "जफर ज"),
    ("Bengali", "কলকাতা", "কলকাতা", "কলকাতা"),
    ("Tamil", "தமிழ்", "தமிழ்", "தமிழ"),
    ("Arabic without vowel marks", "القاهرة", "القاهرة", "القاهرة"),
    ("Arabic with vowel marks", "القَاهِرَة", "القَاهِرَة", "القاهرة"),
    ("Arabic madda is recomposed", "ا\u0653سيا", "آسيا", "اسيا"),
    ("Arabic presentation forms", "ﻻ", "لا", "ﻻ"),
    ("Persian, zero-width non-joiner", "می\u200cخواهم", "میخواهم", "می\u200cخواهم"),
    ("Hebrew with niqqud", "יְרוּשָׁלַיִם", "יְרוּשָׁלַיִם", "ירושלים"),
    ("Thai keeps vowels and tones", "กรุงเทพ", "กรุงเทพ", "กรงเทพ"),
    ("Georgian capitals", "ᲗᲑᲘᲚᲘᲡᲘ", "თბილისი", "თბილისი"),
    ("Armenian ligature", "և Երևան", "եւ երեւան", "և երևան"),
    ("Cherokee folds to capitals", "ꭰᎠ", "ᎠᎠ", "ꭰꭰ"),
    ("Han compatibility ideograph", "\uf900", "\u8c48", "\u8c48"),
    ("Han, full-width forms", "ＡＢＣ１２３　東京", "abc123 東京", "ａｂｃ１２３ 東京"),
    ("kana voicing, half-width", "ｶﾞが", "ガが", "ｶﾞか"),
    ("Korean jamo become syllables", "\u1109\u1165\u110b\u116e\u11af", "서울", "서울"),
    ("Korean syllables stay", "서울", "서울", "서울"),
    ("Hangul fillers are invisible", "서\u3164울\u1160", "서울", None),
    ("emoji lose selectors", "❤\ufe0f", "❤", "❤"),
    ("emoji lose joiners", "👩\u200d🚀", "👩🚀", "👩\u200d🚀"),
    ("emoji flags stay", "🇫🇴", "🇫🇴", "🇫🇴"),
    ("mathematical letters", "𝔸𝒷𝟛", "ab3", "𝔸𝒷𝟛"),
    ("Deseret has case", "𐐀", "𐐨", "𐐨"),
    ("Gothic has none", "𐌲𐌿𐍄", "𐌲𐌿𐍄", "𐌲𐌿𐍄"),
    ("zero-width space, word joiner, BOM", "\ufeffa\u200bb\u2060c", "abc", None),
    ("soft hyphen", "Kaup\u00admanna", "kaupmanna", "kaup\u00admanna"),
    ("bidi marks and isolates", "\u200f\u202aab\u202c\u2067c\u2069", "abc", None),
    ("invisible between letter and mark", "o\u200d\u0301 o\u034f\u0301", "o o", None),
    ("invisible between spaces", "a \u200b b", "a b", "a \u200b b"),
    ("mixed scripts, each its own way", "É मुं Й и\u0306", "e मुं и и", "e म и и"),
    ("Latin mark after a letter of another script", "ع\u0301é", "ع\u0301e", "عe"),
    ("dotted and dotless i elsewhere", "İI ıi", "ii ıi", "ii ıi"),
    ("spacing accent is a space and a mark", "O´Brien", "o \u0301brien", "o´brien"),
    ("white space folds", " a \t\r\n b\u00a0\u3000c\u2028\x1f", "a b c", "a b c"),
    ("white space only", " \t\u3000\u200b ", "", None),
    ("nothing", "", "", ""),
    ("plain ASCII", "  New   YORK ", "new york", "new york"),
    ("lone surrogates", "\ud83d A\u0301\udc00", "\ud83d a\udc00", "\ud83d a\udc00"),
    ("private use and unassigned", "\ue000\U000e1000", "\ue000\U000e1000", None),
    ("null and controls are not white space", "a\0b\x07", "a\0b\x07", "a\0b\x07"),
]


@pytest.mark.parametrize(
    ("text", "default", "paper"), [t[1:] for t in TABLE], ids=[t[0] for t in TABLE]
)
def test_table(text, default, paper):
    assert normalize(text) == default
    if paper is not None:
        assert normalize(text, "paper") == paper
    assert normalize(text, "none") == text


@pytest.mark.parametrize("language", ["tr", "az", "crh", "TR", "tr-TR", "az_Latn", "crh-Latn-UA"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ISPARTA", "ısparta"),  # plain ASCII
        ("İstanbul", "istanbul"),
        ("I\u0307zmir", "izmir"),  # the dot apart
        ("I\u0323\u0307", "i"),  # a dot below between the two
        ("I\u200d\u0307", "i"),
        ("MİLLÎ", "milli"),  # Î is the capital of î
        ("Ｉ", "ı"),  # full-width
        ("DİYARBAKIR ığdır ÇIĞ", "diyarbakır ıgdır cıg"),
        ("Mı मुंबई", "mı मुंबई"),
    ],
)
def test_dotless_i(text, expected, language):
    assert normalize(text, language=language) == expected
    assert normalize_joined(f"{text}\n{text}", language=language) == f"{expected}\n{expected}"


@pytest.mark.parametrize("language", [None, "", "de", "azb", "trv", "x-tr", "und"])
def test_i_is_dotted_in_other_languages(language):
    assert normalize("ISPARTA İzmir Irak", language=language) == "isparta izmir irak"


@pytest.mark.parametrize("normalizer", ["paper", "none"])
def test_paper_and_none_are_the_same_in_every_language(normalizer):
    text = "ISPARTA İzmir"
    assert normalize(text, normalizer, language="tr") == normalize(text, normalizer)


def test_unknown_normalizer():
    sentence = f"unknown normalizer 'lower': choose one of {', '.join(NORMALIZERS)}"
    for call in (
        lambda: check_normalizer("lower"),
        lambda: normalize("a", "lower"),
        lambda: normalize_many([], "lower"),
        lambda: normalize_joined("", "lower"),
    ):
        with pytest.raises(ParameterError) as caught:
            call()
        assert str(caught.value) == sentence
    for name in NORMALIZERS:
        check_normalizer(name)


# A slow reference, one character at a time; it knows scripts by the names of characters.

IGNORABLE = [  # Default_Ignorable_Code_Point of DerivedCoreProperties.txt
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *(range(0x180B, 0x1810), range(0x200B, 0x2010), range(0x202A, 0x202F), range(0x2060, 0x2070)),
    *(range(0xFE00, 0xFE10), range(0xFFF0, 0xFFF9), range(0x1BCA0, 0x1BCA4)),
    *(range(0x1D173, 0x1D17B), range(0xE0000, 0xE1000)),
]
INVISIBLE = {c for item in IGNORABLE for c in (item if isinstance(item, range) else [item])}
LATIN_BY_ANOTHER_NAME = "ᴯᴻᵎⅎ𐞀"


def loses_marks(character):
    script = unicodedata.name(character, "").split(" ")[0]
    named = script in {"LATIN", "GREEK", "CYRILLIC"} or character in LATIN_BY_ANOTHER_NAME
    return named and unicodedata.category(character).startswith("L")


def reference_default(text, *, dotless=False):
    text = "".join(c for c in text if ord(c) not in INVISIBLE)
    text = unicodedata.normalize("NFKC", text)
    if dotless:
        text = text.replace("I", "ı").replace("İ", "i")
    kept, base = [], ""
    for c in unicodedata.normalize("NFD", text.casefold()):
        if unicodedata.category(c) != "Mn":
            base = c
        elif base and loses_marks(base):
            continue
        kept.append(c)
    return " ".join(unicodedata.normalize("NFC", "".join(kept)).split())


def reference_paper(text):
    text = unicodedata.normalize("NFD", text.lower())
    text = "".join(c for c in text if unicodedata.category(c) != "Mn")
    return " ".join(unicodedata.normalize("NFC", text).split())


TELLING = (
    "".join(dict.fromkeys("".join(row[1] for row in TABLE))) + "ΣIİŞş\u0307\u0323\u20dd\u093e ²¨"
)
# Python and `regex` come with different versions of Unicode, which disagree on a few marks.
DISPUTED = [
    c
    for c in map(chr, range(0x20000))
    if (unicodedata.category(c) == "Mn") != bool(regex.match(r"\p{Mn}", c))
]
characters = st.one_of(
    st.sampled_from(TELLING), st.characters(exclude_categories=["Cn"], exclude_characters=DISPUTED)
)
texts = st.text(characters, max_size=12)
LANGUAGELESS = [name for name in NORMALIZERS if name != "ipa"]  # test_ipa.py has its own
lines = texts.map(lambda text: text.replace("\n", ""))


@given(texts)
def test_default_is_the_reference(text):
    assert normalize(text) == reference_default(text)


@given(st.text(st.sampled_from("iİIıＩ \u0301\u0307şŞa"), max_size=6))
def test_default_with_dotless_i_is_the_reference(text):
    composed = unicodedata.normalize("NFKC", text)
    assert normalize(composed, language="tr") == reference_default(composed, dotless=True)


@given(texts)
def test_paper_is_the_reference(text):
    assert normalize(text, "paper") == reference_paper(text)


def test_every_assigned_character_is_as_the_reference_says():
    # Ideographs and syllables, tens of thousands that are all alike, are left to the texts above.
    alike = {*range(0x3400, 0xA000), *range(0xAC00, 0xD7A4), 0x0A}
    alike.update(map(ord, DISPUTED))
    points = [c for c in range(0x20000) if c not in alike and unicodedata.category(chr(c)) != "Cn"]
    for context in ("{}", "x{}\u0301", "б{}\u0345"):
        given_texts = [context.format(chr(c)) for c in points]
        wrong = [
            (text, found)
            for text, found in zip(given_texts, normalize_many(given_texts), strict=True)
            if found != reference_default(text)
        ]
        assert wrong == []


@given(texts, st.sampled_from([None, "tr"]))
def test_default_twice_is_default_once(text, language):
    once = normalize(text, language=language)
    assert normalize(once, language=language) == once


@pytest.mark.parametrize("language", [None, "tr"])
def test_every_character_twice_is_once(language):
    everything = "\n".join(chr(c) for c in range(sys.maxunicode + 1) if c != 0x0A)
    once = normalize_joined(everything, language=language)
    assert normalize_joined(once, language=language) == once
    assert once.count("\n") == sys.maxunicode - 1


@given(
    st.lists(lines, min_size=1, max_size=8),
    st.sampled_from(LANGUAGELESS),
    st.sampled_from([None, "az"]),
    st.integers(1, 40),
)
def test_joined_is_one_at_a_time(mentions, normalizer, language, chunk):
    expected = "\n".join(normalize(mention, normalizer, language=language) for mention in mentions)
    with mock.patch.object(text_module, "_CHUNK", chunk):
        assert normalize_joined("\n".join(mentions), normalizer, language=language) == expected


@given(
    st.lists(st.text(st.sampled_from("a\n É"), max_size=4), max_size=5),
    st.sampled_from(LANGUAGELESS),
)
def test_many_is_one_at_a_time_line_breaks_or_not(mentions, normalizer):
    assert normalize_many(mentions, normalizer) == [normalize(m, normalizer) for m in mentions]


def test_a_text_longer_than_a_chunk():
    long = "Á" * (3 * text_module._CHUNK)
    assert normalize_joined(f"{long}\n\nB") == f"{long.replace('Á', 'a')}\n\nb"


def test_white_space_is_what_python_says():
    spaces = {chr(c) for c in range(sys.maxunicode + 1) if chr(c).isspace()}
    assert {" ", "\n", *text_module._SPACES} == spaces


def test_long_runs_of_spaces_and_marks_take_linear_time():
    assert normalize(" " * 10**6 + "é") == "e"
    assert normalize("ع" + "\u0301" * 10**5) == "ع" + "\u0301" * 10**5


def test_importing_it_does_not_import_regex():
    code = "import sys, candgen.text.normalize; sys.exit('regex' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_examples():
    assert doctest.testmod(text_module).failed == 0
