"""Romanising the Brahmic scripts, whose consonants carry a vowel that is not written.

The blocks of Unicode that descend from ISCII (Devanagari, Bengali, Gurmukhi, Gujarati, Oriya,
Tamil, Telugu, Kannada, Malayalam) share one layout, so one table of offsets reads them all; Sinhala
has a layout of its own. The vowel that a consonant carries is written out as the block's letter A
where neither a vowel sign nor a virama follows. Speakers of northern languages leave some of them
out: भारत is Bharat though it spells Bharata, and राजधानी is Rajdhani.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

DEVANAGARI, BENGALI, GURMUKHI, GUJARATI, ORIYA, TAMIL, TELUGU, KANNADA, MALAYALAM, SINHALA = range(
    0x12, 0x1C
)
BLOCKS = range(DEVANAGARI, SINHALA + 1)
"""The number of a block is that of its code points divided by 128."""

DROPPING = frozenset({DEVANAGARI, BENGALI, GURMUKHI, GUJARATI})
"""Scripts whose languages leave out the vowel that ends a word, and others."""

SOUNDED = frozenset({"sa", "pi"})
"""Languages in those scripts that say every vowel."""


def _table(characters: Iterable[int] | str, latin: str) -> dict[str, str]:
    """What each character becomes, between spaces; _ stands for nothing."""
    points = (each if isinstance(each, str) else chr(each) for each in characters)
    return dict(zip(points, latin.replace("_", "").split(" "), strict=True))


_ISCII = {
    **_table(range(0x04), "n n n h"),
    **_table(range(0x04, 0x15), "a a a i i u u ri li a e e ai o o o au"),
    **_table(range(0x15, 0x25), "k kh g gh n ch chh j jh n t th d dh n t"),
    **_table(range(0x25, 0x3A), "th d dh n n p f b bh m y r r l l l v sh sh s h"),
    **_table(range(0x3C, 0x4E), "_ _ a i i u u ri ri a e e ai o o o au _"),
    **_table(range(0x55, 0x60), "e ai au q kh gh z r rh f y"),
    **_table(range(0x60, 0x66), "ri li li li . ."),
    **_table(range(0x66, 0x70), "0 1 2 3 4 5 6 7 8 9"),
}
"""By the place in the block."""

_OWN = {
    "ॲ": "a",
    "ॳ": "a",
    "ॴ": "a",
    "ॵ": "au",
    "ॶ": "u",
    "ॷ": "u",
    "ॐ": "om",
    "অ": "o",
    "য": "j",
    "ৎ": "t",
    "ৰ": "r",
    "ৱ": "w",
    "ੰ": "n",
    "ੱ": "",
    "ੲ": "i",
    "ੳ": "u",
    "\u0a36": "sh",
    "\u0a33": "l",
    "ଯ": "j",
    "ୱ": "w",
    "ஃ": "h",
    "ழ": "zh",
    "ഴ": "zh",
    "ൔ": "m",
    "ൕ": "y",
    "ൖ": "l",
    "ൺ": "n",
    "ൻ": "n",
    "ർ": "r",
    "ൽ": "l",
    "ൾ": "l",
    "ൿ": "k",
}
_SINHALA = {
    **_table("ංඃඅආඇඈඉඊඋඌඍඎඏඐඑඒඓඔඕඖ", "n h a a a a i i u u ri ri li li e e ai o o au"),
    **_table("කඛගඝඞඟචඡජඣඤඥඦටඨඩඪණඬ", "k kh g gh n ng ch chh j jh n gn nj t th d dh n nd"),
    **_table("තථදධනඳපඵබභමඹයරලවශෂසහළෆ", "t th d dh n nd p ph b bh m mb y r l v sh sh s h l f"),
    **_table("්ාැෑිීුූෘෙේෛොෝෞෟෲෳ", "_ a a a i i u u ru e e ai o o au u ru li"),
}


def letters() -> dict[str, str]:
    """What each character of these scripts becomes once the vowels are written out."""
    made = {
        chr(block * 128 + ord(place)): latin
        for block in BLOCKS[:-1]
        for place, latin in _ISCII.items()
    }
    return {**made, **_SINHALA, **_OWN}


def sound_vowels(text: str, blocks: Iterable[int], language: str | None = None) -> str:
    """Write out the vowels that consonants carry, and other things that depend on the neighbours.

    ``blocks`` are those that the text has characters of.

    >>> sound_vowels("मकर", [DEVANAGARI]), sound_vowels("ಮಕರ", [KANNADA])
    ('मअकअर', 'ಮಅಕಅರಅ')
    """
    present = [block for block in BLOCKS if block in blocks]
    if any(chr(block * 128 + 0x3C) in text for block in present):
        text = _dotted().sub(lambda found: _DOTTED.get(found[0], found[0][0]), text)
    for block in present:
        script = _script(block)
        text = _apply(script.before, text).translate(script.vowels)
        for sign in script.signs:  # quicker than one regular expression
            text = text.replace(script.a + sign, sign)
        text = _apply(script.after, text)
        if block in DROPPING and language not in SOUNDED:
            text = script.final.sub("", text)
            # From the end of a word to its start: whether a vowel is said depends on the next one.
            text = script.medial.sub(r"\1", text[::-1])[::-1]
    return text


Rules = tuple[tuple[re.Pattern[str], str], ...]


def _apply(rules: Rules, text: str) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


_DOTTED = {
    pair: chr(point)
    for point in range(BLOCKS[0] * 128, SINHALA * 128)
    if len(pair := unicodedata.normalize("NFD", chr(point))) == 2 and ord(pair[1]) % 128 == 0x3C
}
"""A consonant with a dot below, as it is after NFC, and as one character."""


@cache
def _dotted() -> re.Pattern[str]:
    dots = "".join(chr(block * 128 + 0x3C) for block in BLOCKS[:-1])
    return re.compile(f".[{dots}]")


class _Script(NamedTuple):
    """What is done to the texts of a block, in this order."""

    before: Rules
    vowels: dict[int, str]
    signs: str
    a: str
    after: Rules
    final: re.Pattern[str]
    medial: re.Pattern[str]


@cache
def _script(block: int) -> _Script:
    base, iscii = block * 128, block != SINHALA

    def some(*offsets: int | range) -> str:
        points = [[each] if isinstance(each, int) else each for each in offsets]
        return "".join(chr(base + offset) for each in points for offset in each)

    consonants = some(range(0x15, 0x3A), range(0x58, 0x60)) if iscii else some(range(0x1A, 0x47))
    consonants += {BENGALI: "ৰৱ", ORIYA: "ୱ"}.get(block, "")
    signs = some(range(0x3E, 0x4D), range(0x55, 0x58), 0x62, 0x63)
    independent = some(range(0x04, 0x15), 0x60, 0x61, range(0x72, 0x78))
    if not iscii:
        signs, independent = some(range(0x4F, 0x60), 0x72, 0x73), some(range(0x05, 0x17))
    virama, a = some(0x4D if iscii else 0x4A), some(0x05)
    nasals = some(0x02) + "ੰ" * (block == GURMUKHI)
    labials = some(range(0x2A, 0x2F)) if iscii else some(range(0x34, 0x3A))
    letters = some(range(0x64), range(0x70, 0x80))
    vowels, rim = signs + independent, some(0x28, 0x2E, 0x2F, 0x30, 0x32, 0x35)
    liquids = some(0x30, 0x32)
    last = "m" if block in (TELUGU, KANNADA, MALAYALAM) else "n"
    ch, sh = some(0x1A), some(0x36)
    twice = [(f"{ch}{virama}(?=[{ch}{some(0x1B)}])", "c"), (f"{sh}{virama}(?={sh})", "s")]
    return _Script(
        before=_compiled(
            (f"[{nasals}](?=[{labials}])", "m"),
            (f"[{nasals}](?![{letters}])", last),
            *_BEFORE.get(block, ()),
            *(twice if iscii else ()),
        ),
        vowels={ord(consonant): consonant + a for consonant in consonants},
        signs=signs + virama,
        a=a,
        after=_compiled(*_AFTER.get(block, ())),
        # It is said after some conjuncts: Maharashtra, Kendra; but Bern, Edward.
        final=re.compile(
            f"{a}(?![{letters}])(?<=[{letters}][{consonants}]{a})(?<![^{liquids}]{virama}[{rim}]{a})"
        ),
        medial=re.compile(f"([{vowels}][{consonants}]){a}(?=[{consonants}][{vowels}])"),
    )


def _compiled(*rules: tuple[str, str]) -> Rules:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in rules)


_BEFORE = {
    DEVANAGARI: [("ज्ञ", "ग्य")],
    BENGALI: [("\u09cdযা", "া"), ("ও\u09df(?=[া-ৌ])", "w"), ("ং(?![ক-ঙ])", "ng")],
    GURMUKHI: [("ੱ([ਕ-ਹ])", r"\1੍\1")],
}
_TAMIL_VOWELS = "அ-ஔா-ௌ"
_AFTER = {
    TAMIL: [
        rule
        for letter, nasal, alone in ("கgg", "சjs", "டdd", "தdd", "பbb")
        for rule in (
            (f"(?<=[ஙஞணநனம]்){letter}", nasal),
            (f"(?<=[{_TAMIL_VOWELS}]){letter}(?=[{_TAMIL_VOWELS}])", alone),
        )
    ]
}
"""Tamil writes k, ch, t and p for g, j, d and b too: they are those between vowels or after n."""
