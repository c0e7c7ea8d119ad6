"""Kernels that compare a mention with a name by n-grams and word by word, rare ones counting more.

The mention is prepared once, and then compared with hundreds of names: see ``Asked``.
"""

from typing import NamedTuple

import numpy as np

from candgen.kernels import inner_kernel, kernel
from candgen.kernels.edit_model import first_row, last_row, log_likelihood
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
from candgen.kernels.skeleton import KINDS, mark_skeleton, skeleton_similarity

MIN_LIKELIHOOD = 1e-6
"""Least log likelihood ratio of a word and itself."""
ENDING, ENDING_DECAY = 0.125, 0.8
"""An ending of n symbols, added to a word of a name, has the likelihood 0.125 * 0.8**n.

Its symbols are as likely as they are common: endings tell which form a word has, not which word.
Endings that are known to be frequent are likelier."""
LONGEST_ENDING = 8
"""The most symbols of an ending that is known: a byte of its code each."""
KEPT_WORDS = 1024
"""Words of names that are kept once compared, as candidates share many: a power of two."""


class WordTables(NamedTuple):
    """How rare n-grams and words are among the names of an index, their consonants and endings."""

    counts: np.ndarray  # their codes, by hash
    ngram: np.ndarray  # of a code: the weight of an n-gram
    word: np.ndarray  # of a code: the weight of a word
    space: int  # the symbol between words
    consonant: np.ndarray  # of a symbol: the kind of consonant that it is, or 0
    ending: np.ndarray  # codes of endings, sorted
    ending_ratio: np.ndarray  # of each, how much likelier it is than its symbols


class Asked(NamedTuple):
    """A mention, or its translation, prepared for being compared."""

    text: np.ndarray  # its symbols
    careful: bool  # which likelihood is safe
    first: np.ndarray  # what ``first_row`` wrote
    row: np.ndarray  # room for a row of likelihoods
    whole: float  # log likelihood ratio of the text and itself
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
    ending: np.ndarray  # of words, by where it begins: the likelihood ratio of an ending
    marks: np.ndarray  # of words: where their skeletons have each kind of consonant
    skeleton: np.ndarray  # of words: how long their skeletons are
    best: np.ndarray  # room: the best similarity of each word
    partner: np.ndarray  # room: the weight of the word of the name that has it
    sound: np.ndarray  # room: the best similarity of each word's skeleton
    kept: np.ndarray  # words of names by hash: where they begin and end
    kept_weight: np.ndarray  # of each, its weight
    kept_alike: np.ndarray  # of each, how like each word of the mention it is, and their skeletons


@kernel
def prepare(text, ratios, tables):
    """Return a text as it is compared with names."""
    first, row = np.empty(len(text) + 1, np.float64), np.empty(len(text) + 1, np.float64)
    careful = first_row(text, ratios[1], first)
    scale = last_row(text, 0, len(text), text, careful, ratios, first, row)
    whole = log_likelihood(scale, row[len(text)])
    codes = np.empty(codes_room(len(text)), np.uint64)
    found = ngrams_of_text(text, 0, len(text), tables.space, codes)
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
            weight[number] = tables.ngram[tables.counts[place(codes[at], tables.counts)]] ** 2
            total += weight[number]
            number += 1
    words, at = 0, 0
    while True:
        begin, at = next_word(text, at, len(text), tables.space)
        if begin == at:
            break
        words += 1
    start, end = np.empty(words, np.int64), np.empty(words, np.int64)
    rare, itself = np.empty(words, np.float64), np.empty(words, np.float64)
    is_careful = np.empty(words, np.bool_)
    rows = np.empty((words, len(text) + 1), np.float64)
    ending = np.empty((words, len(text) + 1), np.float64)
    marks, skeleton = np.empty((words, KINDS), np.uint64), np.empty(words, np.int64)
    at = 0
    for word in range(words):
        begin, at = next_word(text, at, len(text), tables.space)
        start[word], end[word], mine = begin, at, text[begin:at]
        rare[word] = _weight_of_word(text, begin, at, tables)
        is_careful[word] = first_row(mine, ratios[1], rows[word])
        scale = last_row(text, begin, at, mine, is_careful[word], ratios, rows[word], row)
        _weigh_endings(mine, tables, ending[word])
        itself[word] = max(_with_ending(scale, row, len(mine), ending[word]), MIN_LIKELIHOOD)
        skeleton[word] = mark_skeleton(text, begin, at, tables.consonant, marks[word])
    return Asked(
        text,
        careful,
        first,
        row,
        max(whole, MIN_LIKELIHOOD),
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
        ending,
        marks,
        skeleton,
        np.empty(words, np.float64),
        np.empty(words, np.float64),
        np.empty(words, np.float64),
        np.zeros((KEPT_WORDS, 2), np.int64),
        np.empty(KEPT_WORDS, np.float64),
        np.empty((KEPT_WORDS, words, 2), np.float64),
    )


@inner_kernel
def _slot(slots, ngrams, code):
    """Return the slot that has a code, or the empty one where it belongs."""
    slot = place(code, slots)
    while slots[slot] >= 0 and ngrams[slots[slot]] != code:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inner_kernel
def _weight_of_word(symbols, start, end, tables):
    return tables.word[tables.counts[place(prefix_code(symbols, start, end), tables.counts)]]


@inner_kernel
def last_row_of_text(asked, symbols, start, end, ratios):
    """Write ``last_row`` of the whole mention and a name to ``asked.row``; returns its scale."""
    return last_row(symbols, start, end, asked.text, asked.careful, ratios, asked.first, asked.row)


@inner_kernel
def _weigh_endings(word, tables, ending):
    """Write the likelihood ratio of the ending that begins at each symbol of a word."""
    share, code = ENDING, np.uint64(0)
    for at in range(len(word) - 1, -1, -1):
        share *= ENDING_DECAY
        ending[at] = share
        place = len(word) - 1 - at
        if place >= LONGEST_ENDING:
            continue
        code |= np.uint64(word[at]) << np.uint64(8 * place)
        found = np.searchsorted(tables.ending, code)
        if found < len(tables.ending) and tables.ending[found] == code and at > 0:
            ending[at] = max(share, tables.ending_ratio[found])


@inner_kernel
def _with_ending(scale, row, length, ending):
    """Return the log likelihood ratio of a word that may have an ending, from its last row."""
    whole = row[length]
    for kept in range(length):
        whole += ending[kept] * row[kept]
    return log_likelihood(scale, whole)


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
def match_words(asked, scale, symbols, start, end, ratios, tables):
    """Return how the words of a mention match those of a name: coverage, words and skeleton.

    Coverage is how much of the mention the words of the name explain, words the cosine of both,
    and skeleton how much the name's words explain by their consonants alone. Each word of the
    mention is compared with its most similar word of the name; where one of both has one word and
    the other several, which may be its parts, also the whole mention with the whole name. ``scale``
    is what ``last_row_of_text`` returned: its row is used for that, and where both are one word.
    """
    words, others = len(asked.start), 0
    whole = log_likelihood(scale, asked.row[len(asked.text)]) / asked.whole
    for word in range(words):
        asked.best[word] = asked.partner[word] = asked.sound[word] = 0.0
    squares, at = 0.0, start
    while True:
        first, at = next_word(symbols, at, end, tables.space)
        if first == at:
            break
        kept = _kept_word(asked, symbols, first, at)
        if kept < 0:
            ready = first == start and at == end
            kept = _compare_word(asked, ready, scale, symbols, first, at, ratios, tables)
        others += 1
        weight = asked.kept_weight[kept]
        squares += weight * weight
        for word in range(words):
            similar, sound = asked.kept_alike[kept, word, 0], asked.kept_alike[kept, word, 1]
            if similar > asked.best[word]:
                asked.best[word], asked.partner[word] = similar, weight
            asked.sound[word] = max(asked.sound[word], sound)
    explained = sounded = total = product = own_squares = 0.0
    for word in range(words):
        rare = asked.rare[word]
        total += rare
        own_squares += rare * rare
        explained += rare * asked.best[word]
        sounded += rare * asked.sound[word]
        product += rare * asked.best[word] * asked.partner[word]
    if not (total > 0.0 and squares > 0.0):
        return 0.0, 0.0, 0.0
    covered, shared = explained / total, product / np.sqrt(own_squares * squares)
    if (words == 1) != (others == 1):
        whole = min(max(whole, 0.0), 1.0)
        covered, shared = max(covered, whole), max(shared, whole)
    return covered, shared, sounded / total


@inner_kernel
def _place_of_word(symbols, start, end):
    code = np.uint64(SEED)
    for at in range(start, end):
        code = extend(code, np.int64(symbols[at]))
    return np.int64(spread(code) & np.uint64(KEPT_WORDS - 1))


@inner_kernel
def _kept_word(asked, symbols, start, end):
    """Return the place of a word of a name that was compared before, or -1."""
    kept = _place_of_word(symbols, start, end)
    before = asked.kept[kept, 0]
    if asked.kept[kept, 1] - before != end - start:
        return -1
    for at in range(end - start):
        if symbols[before + at] != symbols[start + at]:
            return -1
    return kept


@inner_kernel
def _compare_word(asked, ready, scale, symbols, start, end, ratios, tables):
    """Compare a word of a name with all words of the mention, and keep that; returns its place.

    ``ready`` says that the name is this word: then ``scale`` and ``asked.row`` are those of the
    whole mention and the word.
    """
    kept = _place_of_word(symbols, start, end)
    asked.kept[kept, 0], asked.kept[kept, 1] = start, end
    asked.kept_weight[kept] = _weight_of_word(symbols, start, end, tables)
    for word in range(len(asked.start)):
        mine = asked.text[asked.start[word] : asked.end[word]]
        if not (ready and len(mine) == len(asked.text)):
            careful, before = asked.is_careful[word], asked.rows[word]
            scale = last_row(symbols, start, end, mine, careful, ratios, before, asked.row)
        value = _with_ending(scale, asked.row, len(mine), asked.ending[word])
        asked.kept_alike[kept, word, 0] = min(max(value / asked.itself[word], 0.0), 1.0)
        marks, length = asked.marks[word], asked.skeleton[word]
        asked.kept_alike[kept, word, 1] = skeleton_similarity(
            marks, length, symbols, start, end, tables.consonant
        )
    return kept
