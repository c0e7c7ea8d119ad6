"""The text of an XML element: character references replaced by what they stand for."""

from candgen.kernels import kernel
from candgen.kernels.utf8 import put_character

_AMPERSAND, _SEMICOLON, _HASH = 38, 59, 35
_LT, _GT, _AMP = 0x6C74, 0x6774, 0x616D70  # names as numbers of their bytes
_QUOT, _APOS = 0x71756F74, 0x61706F73
_LONGEST = 12  # of a reference, between & and ;


@kernel
def unescape(source, target):
    """Copy UTF-8 bytes with references replaced; returns how many bytes that makes.

    -1 if there is a reference that XML does not define of itself, or does not allow. The target is
    as long as the source: no reference is shorter than its character.
    """
    length = len(source)
    at = made = 0
    while at < length:
        byte = source[at]
        if byte != _AMPERSAND:
            target[made] = byte
            made += 1
            at += 1
            continue
        end = at + 1
        while end < length and end - at <= _LONGEST and source[end] != _SEMICOLON:
            end += 1
        if end >= length or source[end] != _SEMICOLON:
            return -1
        point = _referred(source, at + 1, end)
        if point < 0:
            return -1
        made = put_character(point, target, made)
        at = end + 1
    return made


@kernel
def _referred(source, start, end):
    """Return the code point that the bytes between & and ; stand for, or -1."""
    length = end - start
    if length == 0:
        return -1
    first = source[start]
    if first == _HASH:
        return _number(source, start + 1, end)
    name = 0
    for at in range(start, min(end, start + 5)):
        if source[at] == 0:  # would not show in the number
            return -1
        name = name << 8 | source[at]
    if name == _LT:
        return 60
    if name == _GT:
        return 62
    if name == _AMP:
        return 38
    if name == _QUOT:
        return 34
    if name == _APOS:
        return 39
    return -1


@kernel
def _number(source, start, end):
    """Return the code point of a decimal, or after an x hexadecimal, number; -1 if it is none."""
    base = 10
    if start < end and source[start] == 120:  # x
        base = 16
        start += 1
    if start == end:
        return -1
    value = 0
    for at in range(start, end):
        byte = int(source[at])
        digit = -1
        if 48 <= byte <= 57:
            digit = byte - 48
        elif base == 16 and 97 <= byte | 32 <= 102:
            digit = (byte | 32) - 87
        if digit < 0:
            return -1
        value = value * base + digit
    return value if _is_character(value) else -1


@kernel
def _is_character(point):
    """Return whether XML allows a code point: no control characters, no surrogates."""
    if point < 0x20:
        return point in (9, 10, 13)
    return point < 0xD800 or 0xDFFF < point < 0xFFFE or 0xFFFF < point <= 0x10FFFF
