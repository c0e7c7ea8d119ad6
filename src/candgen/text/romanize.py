"""Romanization: transliteration of any script to a-z, by the rules of the language if it has some.

>>> romanize("ивана брлиќ-мажураниќ", "mk"), romanize("महाराष्ट्र"), romanize("서울")
('ivana brlikj-mazuranikj', 'maharashtra', 'seoul')
>>> romanize("търговище", "bg"), romanize("ведрище", "ru")
('targoviste', 'vedrisce')

The other modules of this package have the scripts of most names; anyascii has the rest.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

from candgen.text import alphabets, brahmic, burmese, hangul, kana, khmer, thai, tibetan
from candgen.text.language_code import base_language

_RULES = {**alphabets.RULES, hangul.LETTER_BLOCK: hangul.RULES}
_WRITERS = {
    burmese.BLOCK: burmese.write_vowels,
    khmer.BLOCK: khmer.write_vowels,
    thai.BLOCK: thai.write_vowels,
    **dict.fromkeys(tibetan.BLOCKS, tibetan.write_words),
    **dict.fromkeys(kana.BLOCKS, kana.write_syllables),
}
"""What writes vowels or whole words of a script, by the blocks that it occupies."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_BEYOND_LATIN = re.compile("[^\x00-\u02ff\u1e00-\u1eff\u2000-\u206f]")
_CONTEXTUAL = re.compile(  # combining accents, which are not, share a block with Greek
    "(?![\u0300-\u036f])[{}]".format(
        "".join(
            f"{chr(block << 7)}-{chr((block << 7) + 0x7F)}"
            for block in (*_RULES, *_WRITERS, *brahmic.BLOCKS, *hangul.BLOCKS)
        )
    )
)


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
    for write in dict.fromkeys(_WRITERS[block] for block in sorted(_WRITERS.keys() & blocks)):
        text = write(text)
    for pattern, replacement in _select_rules(language, frozenset(blocks)):
        text = pattern.sub(replacement, text)
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
        **alphabets.GEORGIAN,
        **alphabets.TIFINAGH,
        **alphabets.MONGOLIAN,
        **alphabets.SYRIAC,
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
