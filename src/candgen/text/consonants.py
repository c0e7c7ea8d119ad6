r"""The sound of a name, roughly: its consonants by where they are spoken, without its vowels.

    >>> add_skeletons("musur\nmisir\nzheneva, ch")
    'musur NSR\nmisir NSR\nzheneva, ch SGNB G'

Vowels, and which consonant of a kind is meant, are what languages change most in a name. Of several
of one kind that follow each other, vowels apart, one is left. The skeleton stands behind the name,
in capital letters, which the name has none of, so that n-grams of both are tokens of one index and
are never mistaken for each other.
"""

import re

_KINDS = {"bfpvw": "B", "dt": "D", "cghkqx": "G", "jsz": "S", "mn": "N", "l": "L", "r": "R"}
_SKELETON = str.maketrans(
    {letter: kind for letters, kind in _KINDS.items() for letter in letters}
    | dict.fromkeys("aeiouy")
)
_NO_LETTER = re.compile(r"[^a-z \n]+")
_REPEATED = re.compile(r"([A-Z])\1+")
_SPACES = re.compile(" {2,}")


def add_skeletons(lines: str) -> str:
    """Put the skeleton of each romanised line behind it; a line that has none stays as it is."""
    bare = _NO_LETTER.sub("", lines).translate(_SKELETON)
    skeletons = _SPACES.sub(" ", _REPEATED.sub(r"\1", bare)).split("\n")
    return "\n".join(
        f"{line} {skeleton.strip(' ')}" if skeleton.strip(" ") else line
        for line, skeleton in zip(lines.split("\n"), skeletons, strict=True)
    )
