"""Romanization of Khmer: the series of a consonant decides how its vowel is read.

Consonants of the first series have the inherent vowel a, those of the second o, and some vowel
signs have two values: តុ to, ទុ tu. Signs move a consonant into the other series: ម៉ា ma. The
inherent vowel is written where a syllable has no other: ពត pot, កាល kal.
"""

import re

from candgen.text.alphabets import Alphabet, letter_table

BLOCK = 0x1780 >> 7

_CONSONANTS = {
    **letter_table("កខគឃងចឆជឈញដឋឌឍណ", "k kh k kh ng ch ch ch ch nh d th d th n"),
    **letter_table("តថទធនបផពភមយរលវ", "t th t th n b ph p ph m y r l v"),
    **letter_table("ឝឞសហឡអ", "s s s h l _"),
}
_FIRST_SERIES = frozenset("កខចឆដឋណតថបផសហឡអ")
_FOREIGN = {"ហ្វ": "f", "ហ្គ": "g", "ហ្ស": "z"}
"""Consonants that Khmer does not have; f is of the second series."""

_VOWELS = letter_table("ាិីឹឺុូួើឿៀេែៃោៅ", "a i i oe eu o o ua ae oea ie e e ai o au")
_SECOND_VOWELS = {**_VOWELS, **letter_table("ឹឺុូើៅ", "u u u u oe ou")}

LETTERS: Alphabet = {
    **_CONSONANTS,
    **_VOWELS,
    **letter_table("ឣឤឥឦឧឨឩឪឫឬឭឮឯឰឱឲឳ", "a a e i u uk u ov rue rue lue lue e ai o o au"),
    **letter_table("ំះ", "m h"),
    **dict.fromkeys("឴឵ៈ៉៊់៌៍៎៏័៑្៓ៗ។៕", ""),
}

_SYLLABLE = re.compile("(ហ្[វគស]|(?:ហ្)?[ក-អ])((?:្[ក-អ])*)([៉៊]?)([ា-ៅ]?)([៉៊]?)(?=(.?))")
_WORD = re.compile("[a-zAO]+")


def write_vowels(text: str) -> str:
    """Return the text with consonants and vowels in Latin letters.

    >>> write_vowels("ពត"), write_vowels("កាល"), write_vowels("ម៉ាគីមូរ៉ា")
    ('pot', 'kal', 'makimura')
    """
    return _WORD.sub(_write_inherent_vowels, _SYLLABLE.sub(_write_syllable, text))


def _write_syllable(found: re.Match[str]) -> str:
    """Write a consonant with its vowel; A and O stand for the inherent vowels."""
    base, below, shift, vowel, late_shift, following = found.groups()
    shift = shift or late_shift
    letter = base[-1]
    first = (letter in _FIRST_SERIES or len(base) > 1) and base != "ហ្វ"
    if shift:
        first = shift == "៉"
    latin = "p" if base == "ប" and shift == "៉" else _FOREIGN.get(base, _CONSONANTS[letter])
    latin += "".join(_CONSONANTS[each] for each in below[1::2])
    if vowel:
        return latin + (_VOWELS if first else _SECOND_VOWELS)[vowel]
    if following in ("់", "៍"):  # signs of a last consonant
        return latin
    inherent = "A" if first else "O"
    return latin + (inherent.lower() if following in ("ំ", "ះ") else inherent)


def _write_inherent_vowels(word: re.Match[str]) -> str:
    """Write the inherent vowels of a word: a consonant after a vowel closes its syllable."""
    written, *rest = re.split("([AO])", word[0])
    for vowel, following in zip(rest[::2], rest[1::2], strict=True):
        closed = re.search("[aeiou][^aeiou]+$", written)
        if not closed and (following or not re.search("[aeiou]", written)):
            written += vowel.lower()
        written += following
    return written
