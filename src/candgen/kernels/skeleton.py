"""Kernels that compare words by their consonants alone.

Vowels differ most between the spellings of a name, and some scripts do not write them. The skeleton
of a word is the kinds of its consonants, one after the other; consecutive ones of one kind, also
across vowels, are one. Two skeletons are compared by their edit distance, by the method of Myers
(1999): a bit of a number stands for each place of the first skeleton.
"""

import numpy as np

from candgen.kernels import inner_kernel

KINDS = 9
"""Kinds of consonants: 0 stands for vowels and signs, the last one for unknown symbols."""
UNKNOWN = KINDS - 1
LONGEST_SKELETON = 63


@inner_kernel
def mark_skeleton(symbols, start, end, consonant, marks):
    """Write in which places of a word's skeleton each kind stands; returns how many there are.

    Places beyond ``LONGEST_SKELETON`` are left out. ``marks`` has a number for each kind.
    """
    marks[:] = 0
    length, last = 0, 0
    for at in range(start, end):
        kind = consonant[symbols[at]]
        if kind != 0 and kind != last and length < LONGEST_SKELETON:
            marks[kind] |= np.uint64(1) << np.uint64(length)
            length += 1
            last = kind
    return length


@inner_kernel
def skeleton_similarity(marks, length, symbols, start, end, consonant):
    """Return 1 - 2 * edit distance / length of the longer skeleton, of a marked word and another.

    0 if that is less, as half of the consonants of two words may be alike by chance, or if one of
    them has none. ``more`` and ``less`` say where the distance grows and
    falls along the marked word.
    """
    if length == 0:
        return 0.0
    one = np.uint64(1)
    top = one << np.uint64(length - 1)
    more, less = (top << one) - one, np.uint64(0)
    distance, other, last = length, 0, 0
    for at in range(start, end):
        kind = consonant[symbols[at]]
        if kind == 0 or kind == last or other == LONGEST_SKELETON:
            continue
        last = kind
        other += 1
        equal = marks[kind]
        kept = equal | less
        equal = (((equal & more) + more) ^ more) | equal
        up, down = less | ~(equal | more), more & equal
        if up & top:
            distance += 1
        elif down & top:
            distance -= 1
        up = (up << one) | one
        more, less = (down << one) | ~(kept | up), up & kept
    if other == 0:
        return 0.0
    return max(1.0 - 2.0 * distance / max(length, other), 0.0)
