"""Character references of HTML and XML, such as ``&amp;`` and ``&#9786;``."""

import re
from collections.abc import Callable
from html.entities import html5

_REFERENCE = re.compile(r"&(?:#([0-9]+)|#[xX]([0-9A-Fa-f]+)|([0-9A-Za-z]+));")
_MAX_DIGITS = 8  # Python refuses to read very long numbers; no character needs more digits


def decode_references(text: str, decode_number: Callable[[int], str | None]) -> str:
    """Decode character references once. Names that HTML does not have stay as they are.

    ``decode_number`` returns the text of a number, which is -1 if it is too long for a character,
    or None if the reference stays as it is.

    >>> decode_references("AT&amp;T &amp;amp; R&D; &#9786;", chr)
    'AT&T &amp; R&D; ☺'
    """

    def decode(reference: re.Match[str]) -> str:
        decimal, hexadecimal, name = reference.groups()
        if name:
            return html5.get(f"{name};", reference[0])
        digits = (decimal or hexadecimal).lstrip("0") or "0"
        fits = len(digits) <= _MAX_DIGITS
        decoded = decode_number(int(digits, 10 if decimal else 16) if fits else -1)
        return reference[0] if decoded is None else decoded

    return _REFERENCE.sub(decode, text)
