"""What message files of MediaWiki know of languages, and the prefixes of other wikis."""

import json
import re
import unicodedata
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.dumps.wiki_codes import LANGUAGE_OF_WIKI
from candgen.wikipedia.markup.conventions import (
    canonical_namespaces,
    capitalize,
    capitalizer_of,
    characters_of,
    conventions_of,
    language_of,
    own_prefixes,
    parse_trail_pattern,
    prefixes,
    project_names,
)

TEXT = files("candgen.wikipedia.markup").joinpath("conventions.json").read_text(encoding="utf-8")
FACTS = json.loads(TEXT)
CODES = {**FACTS["languages of codes"], **LANGUAGE_OF_WIKI}
LATIN = set("abcdefghijklmnopqrstuvwxyz")


def test_no_key_stands_twice():
    def unique(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), keys
        return dict(pairs)

    json.loads(TEXT, object_pairs_hook=unique)


def test_the_facts_have_one_form():
    assert unicodedata.is_normalized("NFC", TEXT)
    names = {name for _, name in canonical_namespaces()}
    for language, facts in FACTS["languages"].items():
        assert facts, language
        assert set(facts) <= {"trail", "prefix", "redirect", "aliases", "shortcuts"}, language
        shown = facts.get("trail", "") + facts.get("prefix", "")
        assert not re.search("[\u0300-\u036f\u200b-\u200f\ufeff]", shown), "write it as \\x{...}"
        for word in facts.get("redirect", ()):
            assert re.fullmatch(r"[#＃]\S+", word), (language, word)
        for kind in ("aliases", "shortcuts"):
            assert set(facts.get(kind, {})) <= names, language
            for alias in (each for listed in facts.get(kind, {}).values() for each in listed):
                assert alias == alias.strip() != "", (language, alias)
                assert not set(alias) & set(":|_[]{}<>#"), (language, alias)
                assert len(alias) > 1 or kind == "shortcuts" or not alias.isascii(), alias


@pytest.mark.parametrize("language", sorted(FACTS["languages"]))
def test_every_language_can_be_read(language):
    customs = conventions_of(language)
    assert list(customs.trail) == sorted(set(customs.trail))
    assert not set(customs.trail) & set(" \n\t[]|{}<>")
    assert not set(customs.prefix) & set(" \n\t[]|{}<>")


def test_fallbacks_end_at_languages_with_facts():
    for language, chain in FACTS["fallbacks"].items():
        assert language not in chain
        assert language not in CODES, f"{language} is never asked for"
        for each in chain:
            assert each in FACTS["languages"] or each in {"kn", "my", "ne", "jv"}, (language, each)


def test_codes_lead_to_languages_in_one_step():
    assert not LANGUAGE_OF_WIKI.keys() & FACTS["languages of codes"].keys()
    for code, language in CODES.items():
        assert language not in CODES, code


@pytest.mark.parametrize(
    ("language", "inside", "outside"),
    [
        ("en", "az", "éA"),
        ("a language nobody knows", "az", "é"),
        ("de", "azäöüß", "éÄ"),
        ("gsw", "äöüß", "é"),
        ("als", "äöüß", "é"),
        ("fo", "áðíóúýæøaz", "éö"),
        ("is", "áéðþæö-–", "ø"),
        ("el", "azάέήίόύώςαωΑΩ", "б"),
        ("hy", "աֆև«»", "Ա"),
        ("mr", "कःािॣॱ\u200d", "a।०"),
        ("hi", "aकाि०", "।"),
        ("ar", "aءيَ", "گ"),
        ("arz", "aءي", "گ"),
        ("fa", "ابپآ", "a"),
        ("glk", "ابپآ", "a"),
        ("ru", "azаяё", "іЯ"),
        ("ba", "аяёһҡ»", "і"),
        ("uk", "аяіїєґ“", "ў"),
        ("ca", "aç·'", "ñ"),
        ("kaa", "aı'ʼ", "é"),
        ("fr", "aéÀ", "ñ"),
        ("wo", "aéÀ", "ñ"),
        ("tr", "aıİş", "é"),
        ("sv", "aåÅé", "ø"),
        ("nb", "aæøå", "ö"),
        ("no", "aæøå", "ö"),
        ("zh-yue", "az", "á"),
        ("pt", "aãq\u0303", "ñ"),
    ],
)
def test_link_trails(language, inside, outside):
    trail = conventions_of(language).trail
    assert set(inside) <= set(trail)
    assert not set(outside) & set(trail)


def test_chinese_has_no_trail():
    for language in ("zh", "zh-hans", "gan", "zh-classical", "wuu", "nan", "zh-min-nan"):
        assert conventions_of(language).trail == ""


def test_prefixes_are_rare():
    assert conventions_of("en").prefix == ""
    assert conventions_of("de").prefix == ""
    assert set("abZءي") <= set(conventions_of("ar").prefix)
    assert set("abZءي") <= set(conventions_of("arz").prefix), "inherited"
    assert conventions_of("uk").prefix == "«„"
    assert set("ժա") <= set(conventions_of("hy").prefix)
    assert not set("1 -,.'(") & set(conventions_of("hy").prefix)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("fo", ()),
        ("en", ()),
        ("de", ("#WEITERLEITUNG",)),
        ("ksh", ("#ÖMLEIDE_OP", "#ÖMLEIDE", "#LEIDT_ÖM_OP", "#ÖMLEIDUNG", "#WEITERLEITUNG")),
        ("rue", ("#ПЕРЕНАПРАВЛЕННЯ", "#ПЕРЕНАПР", "#перенаправление", "#перенапр")),
        ("be-x-old", ("#перанакіраваньне",)),
        ("mr", ("#पुनर्निर्देशन", "#पुर्ननिर्देशन")),
    ],
)
def test_redirect_words(language, words):
    assert conventions_of(language).redirect_words == words


def test_names_of_namespaces():
    assert ("Bild", 6) in conventions_of("de").namespace_aliases
    assert ("Bild", 6) in conventions_of("bar").namespace_aliases, "inherited"
    assert ("Benutzerin", 2) in conventions_of("de").namespace_aliases
    assert ("Изображение", 6) in conventions_of("tyv").namespace_aliases


def test_shortcuts_belong_to_one_wiki():
    assert ("H", 12) in conventions_of("de").shortcuts
    assert conventions_of("bar").shortcuts == (), "not inherited"
    assert ("WP", 4) not in conventions_of("de").namespace_aliases


def test_prefixes_of_other_wikis():
    assert {
        "en",
        "fo",
        "zh-min-nan",
        "be-x-old",
        "simple",
        "nb",
        "cz",
        "als",
        "mo",
        "bat-smg",
        "w",
        "wikt",
        "s",
        "q",
        "b",
        "n",
        "v",
        "voy",
        "c",
        "commons",
        "d",
        "wikidata",
        "species",
        "m",
        "meta",
        "mw",
        "phab",
        "wmf",
        "foundation",
        "incubator",
        "outreach",
        "toollabs",
        "doi",
    } <= prefixes()
    assert len(FACTS["languages of Wikipedia"]) > 340
    assert all(re.fullmatch("[a-z0-9-]+", each) for each in prefixes())
    assert "film" not in prefixes()
    assert "" not in prefixes()


def test_names_of_databases():
    assert language_of("roa_tarawiki") == "roa-tara"
    assert language_of("enwikisource") == "en"
    assert own_prefixes("nowiki") == {"no", "nb"}
    assert own_prefixes("be_x_oldwiki") == {"be-x-old", "be-tarask"}
    assert own_prefixes("fowiktionary") == {"fo"}
    assert project_names("fowiktionary") == (("Wiktionary", 4), ("Wiktionary talk", 5))
    assert project_names("commonswiki") == ()
    assert project_names("mine") == ()


@pytest.mark.parametrize(
    ("ranges", "characters"),
    [
        ("", ""),
        ("a-e", "abcde"),
        ("-a", "-a"),
        ("a-", "-a"),
        (r"\x{e6}\x41\-\]", "-A]æ"),
        (r"a\x", "ax"),
        ("a-c-e", "-abce"),
        ("c-a", ""),
    ],
)
def test_ranges_of_characters(ranges, characters):
    assert characters_of(ranges) == characters


@given(st.text(max_size=20))
def test_any_range_can_be_read(ranges):
    characters_of(re.sub(r"[^a-cæ\\x{}0-9-]", "", ranges))


@given(st.sets(st.characters(exclude_characters="-\\]^[", exclude_categories=["Cs"]), max_size=9))
def test_characters_without_ranges_stand_for_themselves(characters):
    listed = "".join(characters)
    assert characters_of(listed) == "".join(sorted(characters))


@pytest.mark.parametrize(
    ("pattern", "trail"),
    [
        ("/^([a-z]+)(.*)$/sD", "".join(sorted(LATIN))),
        ("/^()(.*)$/sD", ""),
        ("/^([a-cæ-è]+)(.*)$/sDu", "abcæçè"),
        ("/^((?:[a-c]|'(?!'))+)(.*)$/sDu", "'abc"),
        ("/^((?:[a-b]|а|б|“|»)+)(.*)$/sDu", "ab»аб“"),
        (r"/^([\x{0A80}-\x{0A82}]+)(.*)$/sDu", "\u0a80\u0a81\u0a82"),
        (r"/^((?:c\'h|C’H|[a-c])+)(.*)$/sDu", "abc"),
        (r"/^([a\]b]+)(.*)$/sDu", None),
        (r"/^([^a]+)(.*)$/sDu", None),
        (r"/^([\p{L}]+)(.*)$/sDu", None),
        (r"/^(\p{L}+)(.*)$/sDu", None),
        ("/^([a-z])(.*)$/sD", None),
        ("[a-z]*", None),
    ],
)
def test_trails_that_the_api_gives(pattern, trail):
    assert parse_trail_pattern(pattern) == trail


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ("a", "A"),
        ("é", "É"),
        ("ж", "Ж"),
        ("ÿ", "Ÿ"),
        ("ω", "Ω"),
        ("ա", "Ա"),
        ("ǆ", "ǅ"),
        ("ǅ", "ǅ"),
        ("Ǆ", "Ǆ"),
        ("ᾳ", "ᾼ"),
        ("ß", "ß"),
        ("ŉ", "ŉ"),
        ("ﬁ", "ﬁ"),
        ("և", "և"),
        ("ა", "ა"),
        ("ⅳ", "ⅳ"),
        ("ⓐ", "ⓐ"),
        ("1", "1"),
        ("ı", "I"),
        ("i\u0307", "İ"),
    ],
)
def test_capitals(small, large):
    assert capitalize(small + "x") == large + "x"
    assert capitalize(large + "x") == large + "x"


def test_no_letter_at_all():
    assert capitalize("") == ""


@pytest.mark.parametrize("language", ["tr", "az", "kaa", "gag", "tly"])
def test_turkic_capitals(language):
    assert capitalizer_of(language)("ildır") == "İldır"
    assert capitalizer_of(language)("ışık") == "Işık"


@pytest.mark.parametrize("language", ["en", "kk", "crh", "tt", "nl", "uz"])
def test_other_capitals(language):
    assert capitalizer_of(language)("ijsel") == "Ijsel"
