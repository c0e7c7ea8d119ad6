"""Kernels that compare a mention with a name by n-grams and word by word, rare ones counting more.

The mention is prepared once, and then compared with hundreds of names: see ``Asked``.
"""

from typing import NamedTuple

import numpy as np

from candgen.kernels import inner_kernel, kernel
from candgen.kernels.edit_model import first_row, last_row
from candgen.kernels.rarity import (
    LONGEST,
    SEED,
    codes_room,
    extend,
    next_word,
    ngrams_of_text,
    place,
    prefix_code,
    spread,
    symbol_of_word,
)

MIN_LIKELIHOOD = 1e-6
"""Least log likelihood ratio of a word and itself."""
ENDING, ENDING_DECAY = 0.125, 0.8
"""An ending of n symbols, added to a word of a name, has the likelihood 0.125 * 0.8**n.

Its symbols are as likely as they are common: endings tell which form a word has, not which word."""


class Rarity(NamedTuple):
    """How rare n-grams and words are among the names of an index."""

    table: np.ndarray  # codes of counts, by hash
    ngram: np.ndarray  # of a code: the weight of an n-gram
    word: np.ndarray  # of a code: the weight of a word
    space: int  # the symbol between words


class Asked(NamedTuple):
    """A mention, or its translation, prepared for being compared."""

    text: np.ndarray  # its symbols
    careful: bool  # which likelihood is safe
    first: np.ndarray  # what ``first_row`` wrote
    row: np.ndarray  # room for a row of likelihoods
    length: float  # of the vector of n-grams
    slots: np.ndarray  # distinct n-grams by hash: their numbers, or -1
    ngrams: np.ndarray  # their codes
    weight: np.ndarray  # their weights, squared
    used: np.ndarray  # the last turn in which a name had each
    start: np.ndarray  # of words
    end: np.ndarray
    rare: np.ndarray  # weights of words
    itself: np.ndarray  # log likelihood ratio of a word and itself
    is_careful: np.ndarray  # of words: which likelihood is safe
    rows: np.ndarray  # of words: what ``first_row`` wrote
    best: np.ndarray  # room: the best similarity of each word
    partner: np.ndarray  # room: the weight of the word of the name that has it


@kernel
def prepare(text, ratios, rarity):
    """Return a text as it is compared with names."""
    first, row = np.empty(len(text) + 1, np.float64), np.empty(len(text) + 1, np.float64)
    careful = first_row(text, ratios[1], first)
    codes = np.empty(codes_room(len(text)), np.uint64)
    found = ngrams_of_text(text, 0, len(text), rarity.space, codes)
    room = 4
    while room < 4 * found:
        room *= 2
    slots = np.full(room, -1, np.int32)
    ngrams, weight = np.empty(found, np.uint64), np.empty(found, np.float64)
    number, total = 0, 0.0
    for at in range(found):
        slot = _slot(slots, ngrams, codes[at])
        if slots[slot] < 0:
            slots[slot], ngrams[number] = number, codes[at]
            weight[number] = rarity.ngram[rarity.table[place(codes[at], rarity.table)]] ** 2
            total += weight[number]
            number += 1
    words, at = 0, 0
    while True:
        begin, at = next_word(text, at, len(text), rarity.space)
        if begin == at:
            break
        words += 1
    start, end = np.empty(words, np.int64), np.empty(words, np.int64)
    rare, itself = np.empty(words, np.float64), np.empty(words, np.float64)
    is_careful = np.empty(words, np.bool_)
    rows = np.empty((words, len(text) + 1), np.float64)
    at = 0
    for word in range(words):
        begin, at = next_word(text, at, len(text), rarity.space)
        start[word], end[word], mine = begin, at, text[begin:at]
        rare[word] = _weight_of_word(text, begin, at, rarity)
        is_careful[word] = first_row(mine, ratios[1], rows[word])
        scale = last_row(text, begin, at, mine, is_careful[word], ratios, rows[word], row)
        itself[word] = max(_with_ending(scale, row, len(mine)), MIN_LIKELIHOOD)
    return Asked(
        text,
        careful,
        first,
        row,
        np.sqrt(total),
        slots,
        ngrams,
        weight,
        np.full(found, -1, np.int64),
        start,
        end,
        rare,
        itself,
        is_careful,
        rows,
        np.empty(words, np.float64),
        np.empty(words, np.float64),
    )


@inner_kernel
def _slot(slots, ngrams, code):
    """Return the slot that has a code, or the empty one where it belongs."""
    slot = place(code, slots)
    while slots[slot] >= 0 and ngrams[slots[slot]] != code:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inner_kernel
def _weight_of_word(symbols, start, end, rarity):
    return rarity.word[rarity.table[place(prefix_code(symbols, start, end), rarity.table)]]


@inner_kernel
def last_row_of_text(asked, symbols, start, end, ratios):
    """Write ``last_row`` of the whole mention and a name to ``asked.row``; returns its scale."""
    return last_row(symbols, start, end, asked.text, asked.careful, ratios, asked.first, asked.row)


@inner_kernel
def _with_ending(scale, row, length):
    """Return the log likelihood ratio of a word that may have an ending, from its last row."""
    whole, share = row[length], ENDING
    for kept in range(length - 1, -1, -1):
        share *= ENDING_DECAY
        whole += share * row[kept]
    return scale + np.log(whole) if whole > 0.0 else -np.inf


@inner_kernel
def cosine(asked, turn, symbols, start, end, space, length):
    """Return the cosine of the mention and a name whose vector has this ``length``.

    ``turn`` is another number for each name that the mention is compared with.
    """
    if not (length > 0.0 and asked.length > 0.0):
        return 0.0
    shared, at = 0.0, start
    while True:
        begin, at = next_word(symbols, at, end, space)
        if begin == at:
            return min(shared / (asked.length * length), 1.0)
        for first in range(at - begin + 1):
            code = extend(np.uint64(SEED), symbol_of_word(symbols, begin, at, first))
            for last in range(first + 1, min(first + LONGEST, at - begin + 2)):
                code = extend(code, symbol_of_word(symbols, begin, at, last))
                found = asked.slots[_slot(asked.slots, asked.ngrams, spread(code))]
                if found < 0:  # the mention has none that begins so; nor has any a symbol 0
                    break
                if asked.used[found] != turn:
                    asked.used[found] = turn
                    shared += asked.weight[found]


@inner_kernel
def match_words(asked, scale, symbols, start, end, ratios, rarity):
    """Return how much of the mention the words of a name explain, and the cosine of their words.

    Each word of the mention is compared with its most similar word of the name. ``scale`` is what
    ``last_row_of_text`` returned: its row is used where mention and name have one word each.
    """
    words = len(asked.start)
    whole_word = words == 1 and asked.end[0] - asked.start[0] == len(asked.text)
    for word in range(words):
        asked.best[word] = asked.partner[word] = 0.0
    squares, at = 0.0, start
    while True:
        first, at = next_word(symbols, at, end, rarity.space)
        if first == at:
            break
        weight = _weight_of_word(symbols, first, at, rarity)
        squares += weight * weight
        alone = whole_word and first == start and at == end
        for word in range(words):
            mine = asked.text[asked.start[word] : asked.end[word]]
            if not alone:
                careful, before = asked.is_careful[word], asked.rows[word]
                scale = last_row(symbols, first, at, mine, careful, ratios, before, asked.row)
            value = _with_ending(scale, asked.row, len(mine))
            similar = min(max(value / asked.itself[word], 0.0), 1.0)
            if similar > asked.best[word]:
                asked.best[word], asked.partner[word] = similar, weight
    explained = total = product = own_squares = 0.0
    for word in range(words):
        rare = asked.rare[word]
        total += rare
        own_squares += rare * rare
        explained += rare * asked.best[word]
        product += rare * asked.best[word] * asked.partner[word]
    if not (total > 0.0 and squares > 0.0):
        return 0.0, 0.0
    return explained / total, product / np.sqrt(own_squares * squares)
