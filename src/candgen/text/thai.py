"""Romanization of Thai: vowels around their consonant, and those that are not written.

Letters are those of the Royal Thai General System, with k and p for kh and ph, and with letters at
the end of a syllable as they are written, not as they are spoken: most such letters are in foreign
names, whose spelling they keep. A vowel that is not written is o inside a syllable and a at its
end: คน khon, ถนน thanon.
"""

import re

from candgen.text.alphabets import Alphabet, letter_table

BLOCK = 0xE00 >> 7

LETTERS: Alphabet = {
    **letter_table("กขฃคฅฆงจฉชซฌญฎฏฐฑฒณ", "k k k k k k ng ch ch ch s ch y d t th th th n"),
    **letter_table("ดตถทธนบปผฝพฟภมยรลว", "d t th th th n b p p f p f p m y r l w"),
    **letter_table("ศษสหฬอฮฤฦ", "s s s h l _ h rue lue"),
    **dict.fromkeys("ฺ็่้๊๋์ํ๎ๆฯ", ""),
}

_SILENT = "์"
_C = "[ก-ฮ]"
_CLUSTER = "[กขคตทบปผพฟดสศ][รลว]"
_ONSET = f"({_CLUSTER}|{_C})"
_SHORT_ONSET = f"((?:[กขคตทบปผพฟดสศ][รล](?={_C}(?![ะาิ-ู]))|{_C}))"
"""Before a vowel without a part behind the consonant: in เปรม, Prem, r is of the onset, in เปรู,
Peru, it has a vowel of its own."""

_VOWELS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("[่-๋ๆฯ]", ""),  # tones
        (f"({_C})[ิุ]{_SILENT}", rf"\1{_SILENT}"),
        (f"(?<={_C})ทร{_SILENT}", ""),
        (f"ห(?=[งญนมยรลว](?!{_SILENT}))", ""),
        (f"เ{_ONSET}ียะ?", r"\1ia"),
        (f"เ{_ONSET}ือะ?", r"\1uea"),
        (f"เ{_ONSET}าะ", r"\1o"),
        (f"เ{_ONSET}า", r"\1ao"),
        (f"เ{_ONSET}ิ(?:ร{_SILENT})?", r"\1er"),
        (f"เ{_SHORT_ONSET}อ(?![ะ-ู])(?:ร{_SILENT})?", r"\1er"),
        (f"เ{_SHORT_ONSET}ย(?![ะ-ู])", r"\1oei"),
        (f"เ{_SHORT_ONSET}[ะ็]?", r"\1e"),
        (f"แ{_SHORT_ONSET}[ะ็]?", r"\1ae"),
        (f"โ{_SHORT_ONSET}ะ?", r"\1o"),
        (f"[ไใ]{_SHORT_ONSET}ย?", r"\1ai"),
        ("ัวะ?", "ua"),
        ("ัย", "ai"),
        (f"รร(?={_C})", "a"),
        ("รร", "an"),
        ("ำ", "am"),
        ("็อ", "o"),
        ("[ะาั]", "a"),
        ("[ิี]", "i"),
        ("[ึื]อ?", "ue"),
        ("[ุู]", "u"),
        ("อ(?=[aeiou])", ""),
        (f"(?<={_C})อ", "o"),
        ("(?<=[aeiou])ย(?![aeiou])", "i"),
        ("ญ(?![aeiou])", "น"),
        (f"(?<={_C})ว(?={_C}(?![aeiou{_SILENT}]))", "ua"),
    )
)
_CONSONANTS = re.compile(f"([aeiou]r?|{_SILENT}|)({_C}+(?!{_SILENT}))(?=([aeiou]?))")
_LAST_ONSET = re.compile(f"(?:{_CLUSTER}|{_C})$")


def write_vowels(text: str) -> str:
    """Return the text with all vowels, and those only, in Latin letters.

    >>> write_vowels("สมชาย"), write_vowels("ถนน"), write_vowels("เปรู")
    ('สoมชai', 'ถaนoน', 'ปeรu')
    """
    for pattern, replacement in _VOWELS:
        text = pattern.sub(replacement, text)
    return _CONSONANTS.sub(_write_implicit_vowels, text)


def _write_implicit_vowels(found: re.Match[str]) -> str:
    """Divide consonants into syllables: the last is before a vowel, the first may be after one."""
    before, consonants, vowel = found.groups()
    onset = ""
    if vowel:
        onset = _LAST_ONSET.findall(consonants)[0]
        consonants = consonants.removesuffix(onset)
    coda = ""
    if before and (vowel or len(consonants) % 2):
        coda, consonants = consonants[:1], consonants[1:]
    alone = ""
    if len(consonants) % 2:
        alone, consonants = consonants[0], consonants[1:]
        if vowel or consonants:
            alone += "a"
        elif not before:
            alone += "o"
    pairs = "".join(f"{a}o{b}" for a, b in zip(consonants[::2], consonants[1::2], strict=True))
    return f"{before}{coda}{alone}{pairs}{onset}"
