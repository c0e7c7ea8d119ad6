"""Romanising: letters of any script become a to z, in the way of the language where that matters.

>>> romanize("ивана брлиќ-мажураниќ"), romanize("महाराष्ट्र"), romanize("서울")
('ivana brlikj-mazuranikj', 'maharashtra', 'seoul')
>>> romanize("търговище", "bg"), romanize("ведрище", "ru")
('targoviste', 'vedrisce')

Tables of ours know the alphabets and abugidas that names often come in; anyascii knows the rest.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

from candgen.text import alphabets, brahmic

_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_BEYOND_LATIN = re.compile("[^\x00-\u02ff\u1e00-\u1eff\u2000-\u206f]")
_KANA = range(0x60, 0x62)
_CONTEXTUAL = re.compile(  # combining accents, which are not, share a block with Greek
    "(?![\u0300-\u036f])[{}]".format(
        "".join(
            f"{chr(block << 7)}-{chr((block << 7) + 0x7F)}"
            for block in (*alphabets.RULES, *brahmic.BLOCKS, *_KANA)
        )
    )
)
_HIRAGANA = {point: point - 0x60 for point in range(0x30A1, 0x30F7)}


def romanize(text: str, language: str | None = None) -> str:
    """Return `text`, which is NFC, case folded and may have many lines, in lower-case ASCII.

    What nobody knows how to romanise is left out. `language` is a wiki code; what follows a hyphen
    does not matter, and a language without rules of its own is romanised by its scripts.
    """
    if text.isascii():
        return text
    language = re.split("[-_]", language.lower())[0] if language else ""
    if _CONTEXTUAL.search(text):
        text = _by_neighbours(text, language)
    letters = _letters(language if language in alphabets.LANGUAGES else "")
    if _BEYOND_LATIN.search(text):
        return text.translate(letters)
    return _FOREIGN.sub(lambda run: run[0].translate(letters), text)  # most of it is ASCII


def _by_neighbours(text: str, language: str) -> str:
    """Romanise, or prepare, what depends on more than one character."""
    blocks = {ord(character) >> 7 for character in set(text)}
    if not blocks.isdisjoint(brahmic.BLOCKS):
        text = brahmic.sound_vowels(text, blocks, language)
    for pattern, replacement in _rules(language, frozenset(blocks)):
        text = pattern.sub(replacement, text)
    if not blocks.isdisjoint(_KANA):
        text = _small_kana().sub(_syllable, text.translate(_HIRAGANA))
    return text


@lru_cache(256)
def _rules(language: str, blocks: frozenset[int]) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The rules of all scripts that lie in these blocks, each once."""
    own = {**alphabets.RULES, **alphabets.RULES_OF.get(language, {})}
    found = dict.fromkeys(own[block] for block in sorted(blocks) if block in own)
    return tuple((re.compile(pattern), new) for rules in found for pattern, new in rules)


class _Letters(dict[int, str]):
    """What each code point becomes: filled as characters are met, since there are so many."""

    def __init__(self, ours: Mapping[str, str]) -> None:
        super().__init__({ord(letter): latin for letter, latin in ours.items()})
        self.ours = frozenset(self)
        self.update((point, chr(point)) for point in range(0x80))

    def __missing__(self, point: int) -> str:
        base = ord(unicodedata.normalize("NFD", chr(point))[0])
        self[point] = self[base] if base in self.ours else _any_ascii(chr(point))
        return self[point]


@cache
def _letters(language: str) -> Mapping[int, str]:
    known = alphabets
    table = {
        **brahmic.letters(),
        **known.CYRILLIC,
        **known.CYRILLIC_OF.get(language, {}),
        **known.ARABIC,
        **known.ARABIC_OF.get(language, {}),
        **known.HEBREW,
        **known.HEBREW_OF.get(language, {}),
        **known.GREEK,
        **known.ARMENIAN,
    }
    return _Letters(table)


def _any_ascii(character: str) -> str:
    """What anyascii says; its marks for how a letter is breathed are not what names are told by."""
    from anyascii import anyascii  # noqa: PLC0415

    latin: str = anyascii(character).lower()
    if unicodedata.category(character) in ("Lo", "Ll"):
        return latin.replace("'", "").replace("`", "")
    return latin.replace("`", "'")


@cache
def _small_kana() -> re.Pattern[str]:
    return re.compile("([ぁ-ゖ])([ぁぃぅぇぉゃゅょ])|っ(?=([か-ぢつ-ゖ]))")


def _syllable(found: re.Match[str]) -> str:
    """きゃ is kya, しゃ sha, ふぁ fa, うぃ wi, いぇ ye, and っ doubles the consonant after it.

    >>> romanize("サッポロ"), romanize("キャッチ"), romanize("ウィーン"), romanize("ファ")
    ('sapporo', 'kyatchi', 'win', 'fa')
    """
    if found[3]:
        following = _any_ascii(found[3])
        return "t" if following.startswith("ch") else following[0]
    consonant = _any_ascii(found[1])[:-1] or {"い": "y", "う": "w"}.get(found[1], found[1])
    if consonant == found[1]:  # two vowels, of which one is written small
        return _any_ascii(found[1]) + _any_ascii(found[2])
    vowel = _any_ascii(found[2])
    return consonant + (vowel.lstrip("y") if consonant in ("sh", "ch", "j") else vowel)
