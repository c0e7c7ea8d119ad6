"""Romanization of the Brahmic scripts, whose consonants have an inherent vowel, not written.

The blocks of Unicode that descend from ISCII (Devanagari, Bengali, Gurmukhi, Gujarati, Oriya,
Tamil, Telugu, Kannada, Malayalam) share one layout, so one table of offsets reads them all; Sinhala
has a layout of its own. The inherent vowel is written out as the block's letter A where neither a
vowel sign nor a virama follows. Northern languages delete some of them (schwa deletion): भारत is
Bharat though it spells Bharata, and राजधानी is Rajdhani.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from candgen.text.alphabets import letter_table

DEVANAGARI, BENGALI, GURMUKHI, GUJARATI, ORIYA, TAMIL, TELUGU, KANNADA, MALAYALAM, SINHALA = range(
    0x12, 0x1C
)
BLOCKS = range(DEVANAGARI, SINHALA + 1)
"""The number of a block is that of its code points divided by 128."""

SCHWA_DELETING = frozenset({DEVANAGARI, BENGALI, GURMUKHI, GUJARATI, ORIYA})
"""Scripts whose languages do not pronounce the inherent vowel at the end of a word, and others."""

WITHOUT_SCHWA_DELETION = frozenset({"sa", "pi"})
"""Languages in those scripts that pronounce every vowel."""


_ISCII = {
    **letter_table(map(chr, range(0x04)), "n n n h"),
    **letter_table(map(chr, range(0x04, 0x15)), "a a a i i u u ri li a e e ai o o o au"),
    **letter_table(map(chr, range(0x15, 0x25)), "k kh g gh n ch chh j jh n t th d dh n t"),
    **letter_table(map(chr, range(0x25, 0x3A)), "th d dh n n p f b bh m y r r l l l v sh sh s h"),
    **letter_table(map(chr, range(0x3C, 0x4E)), "_ _ a i i u u ri ri a e e ai o o o au _"),
    **letter_table(map(chr, range(0x55, 0x60)), "e ai au q kh gh z r rh f y"),
    **letter_table(map(chr, range(0x60, 0x66)), "ri li li li . ."),
    **letter_table(map(chr, range(0x66, 0x70)), "0 1 2 3 4 5 6 7 8 9"),
}
"""By the offset in the block."""

_SCRIPT_SPECIFIC = {
    **letter_table("ॲॳॴॵॶॷॐঅযৎৰৱੰੱੲੳ", "a a a au u u om o j t r w n _ i u"),
    **letter_table("\u0a36\u0a33ଯୱஃழഴൔൕൖൺൻർൽൾൿ", "sh l j w h zh zh m y l n n r l l k"),
}
"""Characters that the layout of ISCII does not have, or that differ in one script."""
_SINHALA = {
    **letter_table("ංඃඅආඇඈඉඊඋඌඍඎඏඐඑඒඓඔඕඖ", "n h a a a a i i u u ri ri li li e e ai o o au"),
    **letter_table("කඛගඝඞඟචඡජඣඤඥඦටඨඩඪණඬ", "k kh g gh n ng ch chh j jh n gn nj t th d dh n nd"),
    **letter_table("තථදධනඳපඵබභමඹයරලවශෂසහළෆ", "t th d dh n nd p ph b bh m mb y r l v sh sh s h l f"),
    **letter_table("්ාැෑිීුූෘෙේෛොෝෞෟෲෳ", "_ a a a i i u u ru e e ai o o au u ru li"),
}


def make_letter_table() -> dict[str, str]:
    """Return the romanization of each character, after `write_inherent_vowels`."""
    shared = {
        chr(block * 128 + ord(place)): latin
        for block in BLOCKS[:-1]
        for place, latin in _ISCII.items()
    }
    return {**shared, **_SINHALA, **_SCRIPT_SPECIFIC}


def write_inherent_vowels(text: str, blocks: Iterable[int], language: str | None = None) -> str:
    """Write out inherent vowels, and whatever else depends on neighbouring characters.

    ``blocks`` are the blocks of the characters in the text.

    >>> write_inherent_vowels("मकर", [DEVANAGARI]), write_inherent_vowels("ಮಕರ", [KANNADA])
    ('मअकअर', 'ಮಅಕಅರಅ')
    """
    present = [block for block in BLOCKS if block in blocks]
    if any(chr(block * 128 + 0x3C) in text for block in present):
        text = _WITH_DOT.sub(lambda found: _DOTTED.get(found[0], found[0][0]), text)
    for block in present:
        script = _script(block)
        text = _apply(script.before, text).translate(script.vowels)
        for sign in script.signs:  # faster than one regular expression
            text = text.replace(script.a + sign, sign)
        text = _apply(script.after, text)
        if block in SCHWA_DELETING and language not in WITHOUT_SCHWA_DELETION:
            text = script.final.sub("", text)
            # From the end of a word to its start: schwa deletion depends on the next vowel.
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
"""From a consonant and a dot below, as NFC has them, to one character."""
_WITH_DOT = re.compile(f".[{''.join(chr(block * 128 + 0x3C) for block in BLOCKS[:-1])}]")


class _Script(NamedTuple):
    """The steps for the characters of a block, in this order."""

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
        # It is pronounced after some conjuncts: Maharashtra, Kendra; but Bern, Edward.
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
    # A letter that is not assigned stands where other scripts have f.
    TAMIL: [("ஃப", "\u0bab"), ("ன்ற", "ன்ட்ர"), ("ட்ச(?=ு)", "ட்ஸ"), ("ட்ச", "க்ஷ")],
    # Foreign names have rr for t, and k and ch are doubled where they are not voiced.
    MALAYALAM: [("ന്റ|ൻ്റ|ൻറ", "ന്ട"), ("റ്റ", "ട"), ("ക്ക", "ക"), ("ച്ച", "ച")],
}
_TAMIL_VOWELS = "அ-ஔா-ௌ"
_AFTER = {
    TAMIL: [
        rule
        for letter, nasal, alone in ("கgk", "சjs", "டdd", "தdd", "பbb")
        for rule in (
            (f"(?<=[ஙஞணநனம]்){letter}", nasal),
            (f"(?<=[{_TAMIL_VOWELS}]){letter}(?=[{_TAMIL_VOWELS}])", alone),
        )
    ]
    + [("(?<!c)ச", "s")],
    MALAYALAM: [("(?<=[ഇഈിീ])യ(?=[അ-ഔാ-ൌ])", "")],
}
"""Tamil writes g, j, d and b as k, ch, t and p: they are voiced after n, and d and b also between
vowels, where k and g are equally frequent in names; ch is s unless it is double."""
