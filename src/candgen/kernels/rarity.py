"""Kernels of rarity: how often n-grams and words occur in names, counted in a table of hashes.

A word stands between two boundary marks. It has n-grams of 2 to 5 symbols, marks included, and
beginnings of any length after the first mark. N-grams with symbol 0, which stands for all symbols
outside an alphabet, are not counted. A table has 2**bits counts; hashes that share a place share
their count, so that a count is never too small.
"""

import numpy as np

from candgen.kernels import inner_kernel, kernel

LONGEST = 5
PREFIX_SHARE = 4
"""A word is as rare as its beginning, without the last fourth: endings change from form to form."""
MIN_PREFIX = 3
BOUNDARY = 256
SEED, PREFIX_SEED, FACTOR = 0xCBF29CE484222325, 0x9E3779B97F4A7C15, 0x100000001B3


@inner_kernel
def next_word(symbols, at, end, space):
    """Return where the next word begins and ends; both are ``end`` if there is none."""
    while at < end and symbols[at] == space:
        at += 1
    first = at
    while at < end and symbols[at] != space:
        at += 1
    return first, at


@inner_kernel
def extend(code, symbol):
    """Return the code of symbols with one more."""
    return (code ^ np.uint64(symbol + 1)) * np.uint64(FACTOR)


@inner_kernel
def spread(code):
    """Return a code whose lowest bits depend on all of its bits."""
    code ^= code >> np.uint64(29)
    code *= np.uint64(0xBF58476D1CE4E5B9)
    return code ^ (code >> np.uint64(32))


@inner_kernel
def symbol_of_word(symbols, start, end, at):
    """Return symbol ``at`` of a word between boundary marks; -1 for those that are not counted."""
    if at == 0 or at > end - start:
        return BOUNDARY
    found = np.int64(symbols[start + at - 1])
    return found if found else -1


@inner_kernel
def ngrams_of_word(symbols, start, end, codes, number):
    """Write the n-grams of a word after the first ``number`` codes; returns how many there are."""
    length = end - start + 2
    for first in range(length):
        code = np.uint64(SEED)
        for at in range(first, min(first + LONGEST, length)):
            symbol = symbol_of_word(symbols, start, end, at)
            if symbol < 0:
                break
            code = extend(code, symbol)
            if at > first:
                codes[number] = spread(code)
                number += 1
    return number


@inner_kernel
def ngrams_of_text(symbols, start, end, space, codes):
    """Write the n-grams of all words of a text, which may repeat; returns how many there are."""
    number, at = 0, start
    while True:
        first, at = next_word(symbols, at, end, space)
        if first == at:
            return number
        number = ngrams_of_word(symbols, first, at, codes, number)


@inner_kernel
def prefix_code(symbols, start, end):
    """Return the code of the beginning that stands for a word."""
    length = end - start
    kept = min(max(MIN_PREFIX, length - length // PREFIX_SHARE), length)
    code = np.uint64(PREFIX_SEED)
    for at in range(start, start + kept):
        code = extend(code, np.int64(symbols[at]))
    return spread(code)


@inner_kernel
def place(code, table):
    """Return the place of a code in a table, whose length is a power of two."""
    return np.int64(code & np.uint64(len(table) - 1))


@kernel
def count_codes(symbols, starts, space, table):
    """Count the n-grams of all names, and all beginnings of their words."""
    codes = np.empty(_most_codes(starts), np.uint64)
    for name in range(len(starts) - 1):
        start, end = np.int64(starts[name]), np.int64(starts[name + 1])
        for at in range(ngrams_of_text(symbols, start, end, space, codes)):
            table[place(codes[at], table)] += 1
        last = start
        while True:
            first, last = next_word(symbols, last, end, space)
            if first == last:
                break
            code = np.uint64(PREFIX_SEED)
            for inside in range(first, last):
                code = extend(code, np.int64(symbols[inside]))
                if inside - first >= MIN_PREFIX - 1 or inside == last - 1:
                    table[place(spread(code), table)] += 1


@kernel
def _most_codes(starts):
    """Return a number of codes that no name exceeds."""
    longest = np.int64(0)
    for name in range(len(starts) - 1):
        length = np.int64(starts[name + 1]) - np.int64(starts[name])
        if length > longest:
            longest = length
    return codes_room(longest)


@inner_kernel
def codes_room(length):
    """Return a number of n-grams that no text of so many symbols exceeds."""
    return (LONGEST - 1) * 3 * (length + 1)


@kernel
def measure_names(symbols, starts, space, table, weights, lengths):
    """Write the length of each name's vector: the root of the sum of its n-grams' squared weights.

    ``table`` has a code of each count, and ``weights`` the weight of each such code. Each distinct
    n-gram counts once.
    """
    most = _most_codes(starts)
    codes = np.empty(most, np.uint64)
    room = 1
    while room < 2 * most:
        room *= 2
    seen, owner = np.empty(room, np.uint64), np.full(room, -1, np.int64)
    for name in range(len(starts) - 1):
        start, end = np.int64(starts[name]), np.int64(starts[name + 1])
        total = 0.0
        for at in range(ngrams_of_text(symbols, start, end, space, codes)):
            code = codes[at]
            slot = place(code, seen)
            while owner[slot] == name and seen[slot] != code:
                slot = (slot + 1) & (room - 1)
            if owner[slot] != name:
                owner[slot], seen[slot] = name, code
                total += weights[table[place(code, table)]] ** 2
        lengths[name] = np.sqrt(total)
