"""Romanization of Tibetan as it is spoken: letters before and above the root letter are silent.

A syllable has one root letter, with the vowel sign or else a. Of the letters after it the first is
spoken, and a second one is not: རྒྱལ gyal, ཐུབ་བསྟན thubten. Where no vowel sign and no stack
marks the root, the number of letters does. What is no Tibetan syllable, such as most of a foreign
name, is written letter by letter.
"""

import re
from typing import NamedTuple

from candgen.text.alphabets import Alphabet, letter_table

BLOCKS = (0xF00 >> 7, 0xF80 >> 7)

_ROOTS = {
    **letter_table("ཀཁགངཅཆཇཉཊཋཌཎཏཐདན", "k kh g ng ch ch j ny t th d n t th d n"),
    **letter_table("པཕབམཙཚཛཝཞཟའཡརལཤཥསཧཨ", "p ph b m ts ts dz w zh z _ y r l sh sh s h _"),
}
_BELOW = {chr(ord(letter) + 0x50): latin for letter, latin in _ROOTS.items() if letter < "ཨ"}
_VOWELS = letter_table("ིེཻོཽྀུ", "i u e ai o au i")

LETTERS: Alphabet = {
    **_ROOTS,
    **_BELOW,
    **_VOWELS,
    **letter_table("ཾཿྺྻྼ", "m _ w y r"),
    **dict.fromkeys("ཱ་༌།༎྄", ""),
}

_PREFIXES, _ABOVE, _BELOW_ROOT = "གདབམའ", "རལས", "ྱྲླྭ"
_WITH_Y = letter_table("ཀཁགདཔཕབམ", "ky khy gy dy ch ch j ny")
_WITH_R = letter_table("ཀཁགཏཐདཔཕབས", "tr thr dr tr thr dr tr thr dr s")
_STACK = re.compile("([ཀ-ཬ])([ྐ-ྼ]*)([ཱ-ཽྀ]*)(ཾ?)[ཿ྄]?")
_WORD = re.compile("[ཀ-ྼ]+(?:[་༌]+[ཀ-ྼ]+)*")


class _Stack(NamedTuple):
    """A letter, those below it, its vowel signs, and whether a nasal follows."""

    letter: str
    below: str
    signs: str
    nasal: str

    def vowel(self) -> str:
        return "".join(_VOWELS.get(sign, "") for sign in self.signs) or "a" * bool(self.signs)


def write_words(text: str) -> str:
    """Return the text with Tibetan words in Latin letters.

    >>> write_words("རྒྱལ་མཐོང"), write_words("ཀརལ"), write_words("རྡོ་རྗེ")
    ('gyalthong', 'karl', 'dorje')
    """
    return _WORD.sub(_write_word, text)


def _write_word(found: re.Match[str]) -> str:
    written = ""
    for syllable in re.split("[་༌]+", found[0]):
        stacks = [_Stack(*each.groups()) for each in _STACK.finditer(syllable)]
        # The letter r above a root is silent only where no vowel is before it.
        if stacks and re.search("[aeiou]$", written) and _letter_above(stacks[0]) == "ར":
            written += "r"
        written += _write_syllable(stacks)
    return re.sub("([aeiou])\\1", r"\1", written)


def _letter_above(stack: _Stack) -> str:
    """Return the silent letter above a root letter; nothing if the letter itself is the root."""
    above = stack.letter in _ABOVE and stack.below[:1] not in ("", *_BELOW_ROOT)
    return stack.letter if above and stack.letter + stack.below[0] != "ལྷ" else ""


def _write_syllable(stacks: list[_Stack]) -> str:
    marked = [number for number, stack in enumerate(stacks) if stack.signs]
    root = _find_root(stacks, marked)
    if len(marked) > 1 or len(stacks) - root > 3 or (marked and marked[0] != root):
        return "".join(
            _write_letters(stack) + (stack.vowel() or "a" * (number == 0)) + stack.nasal
            for number, stack in enumerate(stacks)
        )
    native = root == 1 or bool(stacks and _letter_above(stacks[0]))
    written = ""
    for number, stack in enumerate(stacks[root:]):
        if number == 0:
            written = _write_root(stack, stacks[0].letter if root else "", native=native)
        elif number == 1:
            if native and stack.letter in "དནས" and written.endswith("a"):
                written = f"{written[:-1]}e"
            written += "" if native and stack.letter in "དས" else _write_last(stack)
        elif stack.letter not in "དས":
            written += _write_letters(stack)
    return written


def _find_root(stacks: list[_Stack], marked: list[int]) -> int:
    """Return the number of the root: 1 after a prefix, else 0."""
    if len(stacks) < 2 or stacks[0].below or stacks[0].letter not in _PREFIXES:
        return 0
    if marked:
        return int(marked[0] == 1)
    if stacks[1].below:
        return 1
    second_suffix = stacks[-1].letter in "དས" and stacks[1].letter in "གངབམནརལ"
    return int(len(stacks) > 3 or (len(stacks) == 3 and not second_suffix))


def _write_root(stack: _Stack, prefix: str, *, native: bool) -> str:
    letter, below, _, nasal = stack
    if _letter_above(stack):
        letter, below = chr(ord(below[0]) - 0x50), below[1:]
    vowel = stack.vowel() or "a"
    below = below.replace("ྭ", "")
    if prefix == "ད" and letter == "བ":
        return {"": "w", "ྱ": "y", "ྲ": "r"}.get(below, "w") + vowel + nasal
    if below == "ྱ":
        return _WITH_Y.get(letter, _ROOTS.get(letter, "") + "y") + vowel + nasal
    if below == "ྲ" and native:
        return _WITH_R.get(letter, _ROOTS.get(letter, "") + "r") + vowel + nasal
    return _write_letters(_Stack(letter, below, "", "")) + vowel + nasal


def _write_last(stack: _Stack) -> str:
    return {"ག": "k", "བ": "b"}.get(stack.letter, "") * (not stack.below) or _write_letters(stack)


def _write_letters(stack: _Stack) -> str:
    if stack.letter + stack.below == "ཧྥ":
        return "f"
    return "".join(LETTERS.get(letter, "") for letter in stack.letter + stack.below)
