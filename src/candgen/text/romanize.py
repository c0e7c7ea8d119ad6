"""Romanization: transliteration of any script to a-z, by the rules of the language if it has some.

>>> romanize("ивана брлиќ-мажураниќ"), romanize("महाराष्ट्र"), romanize("서울")
('ivana brlikj-mazuranikj', 'maharashtra', 'seoul')
>>> romanize("търговище", "bg"), romanize("ведрище", "ru")
('targoviste', 'vedrisce')

`alphabets` and `brahmic` have the scripts of most names; anyascii has the rest.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

from candgen.text import alphabets, brahmic, burmese, hangul, khmer, thai, tibetan
from candgen.text.language_code import base_language

_RULES = {**alphabets.RULES, hangul.LETTER_BLOCK: hangul.RULES}
_WRITERS = {
    burmese.BLOCK: burmese.write_vowels,
    khmer.BLOCK: khmer.write_vowels,
    thai.BLOCK: thai.write_vowels,
    **dict.fromkeys(tibetan.BLOCKS, tibetan.write_words),
}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_BEYOND_LATIN = re.compile("[^\x00-\u02ff\u1e00-\u1eff\u2000-\u206f]")
_KANA = range(0x60, 0x62)
_CONTEXTUAL = re.compile(  # combining accents, which are not, share a block with Greek
    "(?![\u0300-\u036f])[{}]".format(
        "".join(
            f"{chr(block << 7)}-{chr((block << 7) + 0x7F)}"
            for block in (*_RULES, *_WRITERS, *brahmic.BLOCKS, *_KANA, *hangul.BLOCKS)
        )
    )
)
_HIRAGANA = {point: point - 0x60 for point in range(0x30A1, 0x30F7)}


def romanize(text: str, language: str | None = None) -> str:
    """Return `text`, which is NFC, case folded and may have many lines, in lower-case ASCII.

    Characters without a romanization are left out. `language` is a wiki code; a language without
    rules of its own is romanized by its scripts.
    """
    if text.isascii():
        return text
    language = base_language(language)
    if _CONTEXTUAL.search(text):
        text = _apply_context(text, language)
    letters = _letters(language if language in alphabets.LANGUAGES else None)
    if _BEYOND_LATIN.search(text):
        return text.translate(letters)
    return _NOT_ASCII.sub(lambda run: run[0].translate(letters), text)  # most of it is ASCII


def _apply_context(text: str, language: str) -> str:
    """Romanize, or prepare, the characters that depend on their neighbours."""
    blocks = _blocks(text)
    if not blocks.isdisjoint(hangul.BLOCKS):
        text = hangul.decompose(text)
        blocks = _blocks(text)
    if not blocks.isdisjoint(brahmic.BLOCKS):
        text = brahmic.write_inherent_vowels(text, blocks, language)
    for block in _WRITERS.keys() & blocks:
        text = _WRITERS[block](text)
    for pattern, replacement in _select_rules(language, frozenset(blocks)):
        text = pattern.sub(replacement, text)
    if not blocks.isdisjoint(_KANA):
        text = _small_kana().sub(_syllable, text.translate(_HIRAGANA))
    return text


def _blocks(text: str) -> set[int]:
    return {ord(character) >> 7 for character in set(text)}


@lru_cache(256)
def _select_rules(language: str, blocks: frozenset[int]) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the rules of all scripts that occupy these blocks, each once."""
    own = {**_RULES, **alphabets.RULES_OF.get(language, {})}
    found = dict.fromkeys(own[block] for block in sorted(blocks) if block in own)
    return tuple((re.compile(pattern), new) for rules in found for pattern, new in rules)


class _Letters(dict[int, str]):
    """The romanization of each code point, filled when a character first occurs."""

    def __init__(self, own: Mapping[str, str]) -> None:
        super().__init__({ord(letter): latin for letter, latin in own.items()})
        self.own = frozenset(self)
        self.update((point, chr(point)) for point in range(0x80))

    def __missing__(self, point: int) -> str:
        base = ord(unicodedata.normalize("NFD", chr(point))[0])
        self[point] = self[base] if base in self.own else _any_ascii(chr(point))
        return self[point]


@cache
def _letters(language: str | None) -> Mapping[int, str]:
    """Return the table of a language with an alphabet of its own, or of all others for None."""
    own = [
        {} if language is None else tables.get(language, {})
        for tables in (alphabets.CYRILLIC_OF, alphabets.ARABIC_OF, alphabets.HEBREW_OF)
    ]
    table = {
        **brahmic.make_letter_table(),
        **alphabets.CYRILLIC,
        **alphabets.ARABIC,
        **alphabets.HEBREW,
        **alphabets.GREEK,
        **alphabets.ARMENIAN,
        **alphabets.BOPOMOFO,
        **hangul.LETTERS,
        **thai.LETTERS,
        **burmese.LETTERS,
        **khmer.LETTERS,
        **tibetan.LETTERS,
        **{letter: latin for each in own for letter, latin in each.items()},
    }
    return _Letters(table)


def _any_ascii(character: str) -> str:
    """Return the transliteration by anyascii, without its marks for aspiration."""
    from anyascii import anyascii  # noqa: PLC0415

    latin: str = anyascii(character).lower()
    if unicodedata.category(character) in ("Lo", "Ll"):
        return latin.replace("'", "").replace("`", "")
    return latin.replace("`", "'")


@cache
def _small_kana() -> re.Pattern[str]:
    return re.compile("([ぁ-ゖ])([ぁぃぅぇぉゃゅょ])|っ(?=([か-ぢつ-ゖ]))")


def _syllable(found: re.Match[str]) -> str:
    """Return a syllable with a small kana: きゃ is kya, しゃ sha, ふぁ fa, うぃ wi, いぇ ye.

    っ doubles the consonant after it.

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
