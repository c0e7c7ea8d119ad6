"""Romanization of kana: Hepburn, and foreign names as they were before Japanese.

Japanese has no consonant without a vowel but n, and writes u after it, or o after t and d: Smith is
su-mi-su. Names in katakana are foreign, so these vowels are left out where they are frequent: at
the end, and before consonants that form a cluster. A long a at the end is mostly English er.
"""

import re

from candgen.text.alphabets import letter_table

BLOCKS = range(0x3000 >> 7, 0x3100 >> 7)

_HIRAGANA = {point: point - 0x60 for point in range(0x30A1, 0x30F7)}
_AT_END = "(?<=[ァ-ー]){}(?![ァ-ー])"
_BEFORE = {"ル": "[カ-ヂツ-モャ-ヲ]", "ス": "[カ-コタテトナ-ノハ-ホマ-モパ-ポ]"}
_LAST = letter_table("トドスズクグプブフムル", "t d s z k g p b f m l")

_FOREIGN = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("(?<=[カサタナハマラガザダバパャァ])ー(?![ァ-ー])", "r"),
        *(
            (f"{kana}(?={_BEFORE.get(kana, '[ラ-ロ]')})", _LAST[kana])
            for kana in "ルスプブクグフドト"
        ),
        *((_AT_END.format(kana), latin) for kana, latin in _LAST.items()),
        ("ッ(?=[a-z])", ""),
    )
)
_SMALL = re.compile("([ぁ-ゖ])([ぁぃぅぇぉゃゅょ])|っ(?=([か-ぢつ-ゖ]))")


def write_syllables(text: str) -> str:
    """Return the text in hiragana, with syllables that have a small kana in Latin letters.

    >>> write_syllables("サッポロ"), write_syllables("キャッチ"), write_syllables("ロバート")
    ('さpぽろ', 'kyatち', 'ろばーt')
    """
    for pattern, replacement in _FOREIGN:
        text = pattern.sub(replacement, text)
    return _SMALL.sub(_write_syllable, text.translate(_HIRAGANA))


def _write_syllable(found: re.Match[str]) -> str:
    """Write a syllable with a small kana: きゃ is kya, しゃ sha, ふぁ fa, うぃ wi, いぇ ye.

    っ doubles the consonant after it.
    """
    if found[3]:
        following = _read(found[3])
        return "t" if following.startswith("ch") else following[0]
    consonant = _read(found[1])[:-1] or {"い": "y", "う": "w"}.get(found[1], found[1])
    if consonant == found[1]:  # two vowels, of which one is written small
        return _read(found[1]) + _read(found[2])
    vowel = _read(found[2])
    return consonant + (vowel.lstrip("y") if consonant in ("sh", "ch", "j") else vowel)


def _read(kana: str) -> str:
    from anyascii import anyascii  # noqa: PLC0415

    latin: str = anyascii(kana).lower()
    return latin
