"""The parenthesis at the end of a title that tells pages of one name apart."""

import re

_PARENTHESIS = re.compile(r"(?<=\S)(?:\s+\((?:[^()]|\([^()]*\))*\)|\s*（[^（）]*）)\s*$")


def remove_parenthesis(title: str) -> str:
    """Return the name in a title. A parenthesis without a space before it, as in f(x), stays.

    >>> remove_parenthesis("Paris (mythology)"), remove_parenthesis("Paris, Texas")
    ('Paris', 'Paris, Texas')
    """
    return _PARENTHESIS.sub("", title)
