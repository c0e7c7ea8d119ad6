"""Characters as bytes of UTF-8."""

from candgen.kernels import kernel


@kernel
def put_character(point, target, at):
    """Write a code point in UTF-8; returns where the next one goes."""
    if point < 0x80:
        target[at] = point
        return at + 1
    if point < 0x800:
        target[at] = 0xC0 | point >> 6
        target[at + 1] = 0x80 | point & 0x3F
        return at + 2
    if point < 0x10000:
        target[at] = 0xE0 | point >> 12
        target[at + 1] = 0x80 | point >> 6 & 0x3F
        target[at + 2] = 0x80 | point & 0x3F
        return at + 3
    target[at] = 0xF0 | point >> 18
    target[at + 1] = 0x80 | point >> 12 & 0x3F
    target[at + 2] = 0x80 | point >> 6 & 0x3F
    target[at + 3] = 0x80 | point & 0x3F
    return at + 4
