"""Words as they are spoken: with a small epitran of our own, and with the real one where it is."""

import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import MentionTable, PivotTokenIndex
from candgen.errors import MissingExtraError, ParameterError
from candgen.text import ipa
from candgen.text.normalize import normalize, normalize_joined, normalize_many

SOUNDS = {
    "c": "t͡ʃ",
    "ş": "ʃ",
    "a": "ɑː",
    "g": "ɡ",
    "ı": "ɯ",
    "б": "bʲ",
    "x": "",
    "'": "ˈ",
    "q": "k ",
}


class Pretended:
    """Transcribes letter by letter, and counts how often it is asked."""

    asked = longest = 0

    def __init__(self, code):
        self.code = code

    def transliterate(self, word):
        Pretended.asked += 1
        Pretended.longest = max(Pretended.longest, len(word))
        return "".join(SOUNDS.get(letter, letter) for letter in word)


@pytest.fixture(scope="module", autouse=True)
def pretended():
    """Replaces epitran, whose tables take seconds to read."""
    patch = pytest.MonkeyPatch()
    module = types.ModuleType("epitran.simple")
    module.SimpleEpitran = Pretended
    patch.setitem(sys.modules, "epitran", types.ModuleType("epitran"))
    patch.setitem(sys.modules, "epitran.simple", module)
    ipa._word_transcriber.cache_clear()
    yield
    patch.undo()
    ipa._word_transcriber.cache_clear()


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Cag", "tr", "tʃɑg"),  # neither tie bar nor length, and one letter g
        ("IŞ", "tr", "ɯʃ"),
        ("IŞ", "hr", "iʃ"),
        ("Б", "ru", "b"),
        ("'Ca  c ", "hr", "tʃɑ tʃ"),
        ("", "hr", ""),
        ("xx", "hr", "xx"),  # a text of which nothing remains stays
        ("a.b", "hr", "ɑb"),
        ("qq", "hr", "kk"),
    ],
)
def test_sounds_without_their_finer_marks(text, language, expected):
    assert normalize(text, "ipa", language=language) == expected


def test_a_word_is_transcribed_once():
    before = Pretended.asked
    assert normalize_many(["Mono Lake", "Lake Mono", "MONO"], "ipa", language="hr")
    assert Pretended.asked == before + 2


def test_one_very_long_word_is_taken_in_pieces():
    """Epitran goes through a word again and again; a megabyte of one would take it hours."""
    Pretended.longest = 0
    assert normalize("ş" * 1234, "ipa", language="tr") == "ʃ" * 1234
    assert Pretended.longest == 100


@given(
    st.lists(st.text(max_size=8).map(lambda text: text.replace("\n", "")), min_size=1),
    st.sampled_from(["tr", "hi", "ru", "sr-Latn"]),
)
def test_many_are_one_at_a_time(mentions, language):
    expected = [normalize(mention, "ipa", language=language) for mention in mentions]
    assert normalize_many(mentions, "ipa", language=language) == expected
    joined = normalize_joined("\n".join(mentions), "ipa", language=language)
    assert joined == "\n".join(expected)


@pytest.mark.parametrize("language", [None, "", "en", "mk", "xx"])
def test_a_language_without_transcription(language):
    with pytest.raises(ParameterError) as caught:
        normalize("Skopje", "ipa", language=language)
    assert f"language is {language!r}, which has no IPA transcription: choose" in str(caught.value)
    assert "af, am, ar" in str(caught.value)


def test_an_index_of_sounds():
    turkish = MentionTable.from_pairs([("Cag", "Q1"), ("Işa", "Q2")])
    index = PivotTokenIndex.build({"tr": turkish}, language="hr", normalizer="ipa")
    assert index.candidates(["cag"])[0][0].entity == "Q1"
    with pytest.raises(ParameterError, match="'mk'"):
        PivotTokenIndex.build({"mk": turkish}, language="hr", normalizer="ipa")


def test_without_epitran(monkeypatch):
    monkeypatch.setitem(sys.modules, "epitran.simple", None)
    with pytest.raises(MissingExtraError, match=r"candgen\[ipa\]"):
        normalize("Zagreb", "ipa", language="sl")


FOUND = find_spec("epitran")  # before it is replaced
real = pytest.mark.skipif(FOUND is None, reason="epitran is not installed")


@real
def test_epitran_has_all_the_languages():
    (folder,) = FOUND.submodule_search_locations
    known = {path.stem for path in (Path(folder) / "data" / "map").glob("*.csv")}
    assert {*ipa.LANGUAGES.values()} <= known


@real
def test_the_real_epitran():
    code = (
        "from candgen.text.normalize import normalize;"
        "print(ascii(normalize('मुंबई भारत', 'ipa', language='mr')))"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert made.stdout.strip() == ascii("mumbəi barət"), made.stderr
