"""Romanization of Hangul: Revised Romanization, and foreign names as they were before Korean.

Korean writes foreign names by sound, with the vowel eu after a consonant that has no vowel: Smith
is seu-mi-seu. Korean names hardly have this vowel at the end of a syllable, so it is left out
there.
"""

import re
import unicodedata

from candgen.text.alphabets import Alphabet, Rules, letter_table

BLOCKS = range(0xAC00 >> 7, (0xD7A3 >> 7) + 1)
"""The syllables; ``decompose`` turns them into letters."""
LETTER_BLOCK = 0x1100 >> 7

_SYLLABLES = re.compile("[가-힣]+")

_FIRST, _LAST = "ᄀ-ᄒ", "ᆨ-ᇂ"
_LETTER = "[ᄀ-ᇿ]"
_OPEN_EU = f"ᅳ(?![{_LAST}])"

LETTERS: Alphabet = {
    **letter_table(map(chr, range(0x1100, 0x1113)), "g kk n d tt r m b pp s ss _ j jj ch k t p h"),
    **letter_table("ᅡᅢᅣᅤᅥᅦᅧᅨᅩᅪᅫᅬ", "a ae ya yae eo e yeo ye o wa wae oe"),
    **letter_table("ᅭᅮᅯᅰᅱᅲᅳᅴᅵ", "yo u wo we wi yu eu ui i"),
    **letter_table(map(chr, range(0x11A8, 0x11B6)), "k k k n n n t l k m l l l p"),
    **letter_table(map(chr, range(0x11B6, 0x11C3)), "l m p p t t ng t t k t p t"),
}
"""First consonants, vowels, and last consonants."""

RULES: Rules = (
    (f"ᄎ{_OPEN_EU}", "ts"),
    (f"ᄊ{_OPEN_EU}", "tsu"),
    (f"ᄌ{_OPEN_EU}", "z"),
    # A word of one syllable keeps its vowel.
    (f"(?<={_LETTER}[ᄀ-ᄊᄌ-ᄒ]){_OPEN_EU}|(?<=[ᄀ-ᄊᄌ-ᄒ])ᅳ(?=[{_FIRST}])", ""),
    ("ᆯᄅ", "l"),
    ("[ᄉᄊ](?=[ᅣᅧᅨᅭᅲ])", "sh"),
    ("(?<=[hᄌᄍᄎ])ᅣ", "a"),
    ("(?<=[hᄌᄍᄎ])ᅧ", "eo"),
    ("(?<=[hᄌᄍᄎ])ᅨ", "e"),
    ("(?<=[hᄌᄍᄎ])ᅭ", "o"),
    ("(?<=[hᄌᄍᄎ])ᅲ", "u"),
)


def decompose(text: str) -> str:
    """Return the text with its syllables as letters: first consonant, vowel, last consonant."""
    return _SYLLABLES.sub(lambda run: unicodedata.normalize("NFD", run[0]), text)
