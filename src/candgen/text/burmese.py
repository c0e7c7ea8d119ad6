"""Romanization of Burmese and Shan: rhymes with their last consonant, and inherent vowels.

The last consonant of a syllable, which carries the sign asat, changes the vowel: က ka, ကက် kek,
ကိုက် kaik. In foreign names a consonant with asat may also follow a vowel, as ကာလ် kal does.
"""

import re

from candgen.text.alphabets import Alphabet, letter_table

BLOCK = 0x1000 >> 7

_CONSONANTS = {
    **letter_table("ကခဂဃငစဆဇဈဉညဋဌဍဎဏ", "k kh g g ng s s z z ny ny t t d d n"),
    **letter_table("တထဒဓနပဖဗဘမယရလဝသဟဠအ", "t t d d n p ph b b m y r l w th h l _"),
    **letter_table("ၵၶၷၸၹၺၻၼၽၾၿႀႁဢဿ", "k kh g s z ny d n p f b th h _ th"),
}
LETTERS: Alphabet = {
    **_CONSONANTS,
    **letter_table("ဣဤဥဦဧဨဩဪ", "i i u u e e o o"),
    **letter_table("ါာိီုူေဲံျြွၢႃႄႅႆႂ", "a a i i u u e e n y y w a a e e ai w"),
    **dict.fromkeys("့း္်ှႇႈႉႊႚႛ၊။", ""),
}

_C = f"[{''.join(_CONSONANTS)}ABC]"
_MEDIALS = f"(?<={_C})([ျြွ]*)"
_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("[့းႇႈႉႊႚႛ]", ""),  # tones
        ("[ါၢႃ]", "ာ"),
        ("[ႄႅ]", "ဲ"),
        ("ႂ", "ွ"),
        # Consonants that their medials change: A is sh, B ch, C j.
        ("[ရယ]ှ|[သလ]ျှ", "A"),
        ("ှ", ""),
        ("ခ[ျြ]", "B"),
        ("ဂ[ျြ]", "C"),
        ("ိုင်", "aing"),
        ("ိုက်", "aik"),
        ("ောင်", "aung"),
        ("ောက်", "auk"),
        ("ု(?:[နမ]်|ံ)", "on"),
        ("ု[တပ]်", "ok"),
        ("ိ(?:[နမ]်|ံ)", "ein"),
        ("ိ[တပ]်", "eik"),
        ("ွ(?:[နမ]်|ံ)", "un"),
        ("ွ[တပ]်", "ut"),
        (f"{_MEDIALS}က်", r"\1ek"),
        (f"{_MEDIALS}င်", r"\1in"),
        (f"{_MEDIALS}စ်", r"\1it"),
        (f"{_MEDIALS}ည်", r"\1i"),
        (f"{_MEDIALS}ယ်", r"\1e"),
        ("ံ", "an"),
        ("ို|ော်?", "o"),
        ("ာ", "a"),
        ("[ိီ]", "i"),
        ("[ုူ]", "u"),
        ("[ေဲ]", "e"),
        ("ႆ", "ai"),
        ("[ျြ]", "y"),
        ("ွ", "w"),
        (f"({_C}[yw]*)(?![aeiouyw်္])", r"\1a"),
        ("A", "sh"),
        ("B", "ch"),
        ("C", "j"),
    )
)


def write_vowels(text: str) -> str:
    """Return the text with vowels in Latin letters.

    >>> write_vowels("ကာလ်"), write_vowels("နာဂယာ"), write_vowels("အောင်")
    ('ကaလ်', 'နaဂaယa', 'အaung')
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
