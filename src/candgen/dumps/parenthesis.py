"""The name in a title: what stands before the parenthesis that tells it from others."""

import re

_PARENTHESIS = re.compile(r"(?<=\S)(?:\s+\((?:[^()]|\([^()]*\))*\)|\s*（[^（）]*）)\s*$")


def without_parenthesis(title: str) -> str:
    """Drop what tells pages of one name apart.

    >>> without_parenthesis("Paris (mythology)"), without_parenthesis("Paris, Texas")
    ('Paris', 'Paris, Texas')
    """
    return _PARENTHESIS.sub("", title)
