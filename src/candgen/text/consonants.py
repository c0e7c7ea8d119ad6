r"""A phonetic skeleton of a name: its consonants by place of articulation, without vowels.

    >>> add_skeletons("musur\nmisir\nzheneva, ch")
    'musur NSR\nmisir NSR\nzheneva, ch SNB G'

Vowels, and consonants of one kind, differ most between the names of an entity in two languages.
Consecutive consonants of one kind become one, also across vowels. Two letters that write one sound
in most spellings are read as one: sh, zh and ts as sibilants, th as t. The skeleton follows the
name in capital letters, which a normalized name does not have, so that n-grams of both are
different tokens of one index.
"""

import re

_DIGRAPHS = {
    "s": "sch sh ts tz cz dz dj",
    "z": "zh",
    "ks": "x",
    "p": "ph",
    "t": "th",
    "d": "dh",
    "k": "kh",
    "g": "gh",
    "b": "bh",
}
_SPELLINGS = [(each, sound) for sound, some in _DIGRAPHS.items() for each in some.split(" ")]
_KINDS = {"bfpvw": "B", "dt": "D", "cghkqx": "G", "jsz": "S", "mn": "N", "l": "L", "r": "R"}
_SKELETON = str.maketrans(
    {letter: kind for letters, kind in _KINDS.items() for letter in letters}
    | dict.fromkeys("aeiouy")
)
_NOT_LETTERS = re.compile(r"[^a-z \n]+")
_REPEATED = re.compile(r"([A-Z])\1+")
_SPACES = re.compile(" {2,}")


def consonant_kinds(alphabet: str) -> list[int]:
    """Return the kind of consonant of each letter, from 1 on; 0 for vowels and all other symbols.

    Letters are looked at one by one, so h is none: in most spellings it is half of a digraph.

    >>> consonant_kinds("abmnh")
    [0, 1, 5, 5, 0]
    """
    kinds = {each: number for number, some in enumerate(_KINDS, 1) for each in some if each != "h"}
    return [kinds.get(letter, 0) for letter in alphabet]


def add_skeletons(lines: str) -> str:
    """Append the skeleton to each romanized line; a line without consonants stays as it is."""
    bare = _NOT_LETTERS.sub("", lines)
    for letters, sound in _SPELLINGS:  # one after the other is faster than one regular expression
        bare = bare.replace(letters, sound)
    kinds = _REPEATED.sub(r"\1", bare.translate(_SKELETON))
    skeletons = _SPACES.sub(" ", kinds).split("\n")
    return "\n".join(
        f"{line} {skeleton.strip(' ')}" if skeleton.strip(" ") else line
        for line, skeleton in zip(lines.split("\n"), skeletons, strict=True)
    )
