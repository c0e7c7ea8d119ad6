"""Kernels of the second stage: compare candidates with a mention, merge them, put them into order.

A candidate is a place: the number of an entity in tie order. A row is a candidate of a mention,
with its properties in the columns below.
"""

from typing import NamedTuple

import numpy as np

from candgen.kernels import inner_kernel, kernel
from candgen.kernels.edit_model import log_likelihood
from candgen.kernels.prefetch import prefetch
from candgen.kernels.word_match import cosine, last_row_of_text, match_words, prepare

SCORE, SIMILARITY, FREQUENCY, POPULARITY, LANGUAGES, SAME = range(6)
COSINE, COVERAGE, WORDS, SKELETON, SITELINKS = range(6, 11)
"""Columns of the properties: those of ``Weights``."""
COLUMNS = 11
MIN_COSINE_SHARE = 0.4
"""The part of the largest cosine of an entity's names that a name needs to be compared further."""
MIN_SCORE_SHARE = 1e-300
"""A score that is less of the best one counts as so much: its logarithm must be finite."""


class Names(NamedTuple):
    """What is read of the names of entities; entity e is a number among those with names."""

    first: np.ndarray  # names of e are first[e] .. first[e + 1] - 1, the most frequent first
    start: np.ndarray  # symbols of name n are start[n] .. start[n + 1] - 1
    symbols: np.ndarray
    length: np.ndarray  # of each name: the length of its vector of n-grams
    frequency: np.ndarray  # of each name: a code of how often it occurs
    popularity: np.ndarray  # of e: the code of all its names together
    languages: np.ndarray  # of e: how many languages have it
    sitelinks: np.ndarray  # of e: the code of how many sitelinks it has
    logarithm: np.ndarray  # of a code: log(1 + count)
    number_logarithm: np.ndarray  # of a number of languages: log(1 + number)


class Found(NamedTuple):
    """What the first stage found for some texts: row i has ``found[i]`` candidates, best first."""

    place: np.ndarray
    score: np.ndarray
    found: np.ndarray
    symbols: np.ndarray  # of the texts, as they are compared
    start: np.ndarray  # text i is symbols[start[i] : start[i + 1]]


class Rows(NamedTuple):
    """The rows of all mentions, with room for as many as there may be."""

    place: np.ndarray
    values: np.ndarray  # [row, column]
    best: np.ndarray  # the name that is most similar to the mention or its translation, or -1
    translated: np.ndarray  # whether that is the translation


@inner_kernel
def _prefetch_names(names, entities):
    """Ask for the names of all candidates: they are far apart in memory, three steps away."""
    for e in entities:
        if e >= 0:
            prefetch(names.first, np.int64(e))
            prefetch(names.popularity, np.int64(e))
            prefetch(names.languages, np.int64(e))
            prefetch(names.sitelinks, np.int64(e))
    for e in entities:
        if e >= 0:
            prefetch(names.start, np.int64(names.first[e]))
            prefetch(names.frequency, np.int64(names.first[e]))
    for e in entities:
        if e >= 0:
            start = np.int64(names.start[names.first[e]])
            for at in range(start, np.int64(names.start[names.first[e + 1]]), 64):
                prefetch(names.symbols, at)


@inner_kernel
def _equal(symbols, start, end, text):
    """Return whether a name equals a text; never if it has symbols outside the alphabet."""
    if end - start != len(text):
        return False
    alike = 0
    while alike < len(text) and text[alike] != 0 and symbols[start + alike] == text[alike]:
        alike += 1
    return alike == len(text)


@inner_kernel
def _compare(asked, e, turn, names, tables, ratios, alike, values):
    """Write the properties of an entity for a text; returns its most similar name, or -1.

    The similarity is log (P(text | name) / P(text)) / length of the text, with ``ratios`` as
    ``likelihood`` takes them: 0 where a name tells nothing. From cosine to skeleton, each property
    is that of the name for which it is largest. Names whose cosine is far below the entity's
    largest are not looked at any further. ``alike`` has room for a number for each name, and
    ``turn`` is another number for each comparison.
    """
    values[SIMILARITY:] = 0.0
    if e < 0:
        return -1
    values[POPULARITY] = names.logarithm[names.popularity[e]]
    values[LANGUAGES] = names.number_logarithm[names.languages[e]]
    values[SITELINKS] = names.logarithm[names.sitelinks[e]]
    text, symbols = asked.text, names.symbols
    if len(text) == 0:
        return -1
    after, number = np.int64(names.first[e]), np.int64(names.first[e + 1] - names.first[e])
    for i in range(number):
        n = after + i
        start, end = np.int64(names.start[n]), np.int64(names.start[n + 1])
        alike[i] = cosine(
            asked, (turn << 32) + i, symbols, start, end, tables.space, names.length[n]
        )
        values[COSINE] = max(values[COSINE], alike[i])
    most, best = -np.inf, np.int64(-1)
    for i in range(number):
        if alike[i] < MIN_COSINE_SHARE * values[COSINE]:
            continue
        n = after + i
        start, end = np.int64(names.start[n]), np.int64(names.start[n + 1])
        scale = last_row_of_text(asked, symbols, start, end, ratios)
        value = log_likelihood(scale, asked.row[len(text)])
        if best < 0 or value > most:  # among equals the first, which is the most frequent
            most, best = value, n
        if values[SAME] == 0.0 and _equal(symbols, start, end, text):
            values[SAME] = 1.0
        explained, shared, sounded = match_words(asked, scale, symbols, start, end, ratios, tables)
        values[COVERAGE] = max(values[COVERAGE], explained)
        values[WORDS] = max(values[WORDS], shared)
        values[SKELETON] = max(values[SKELETON], sounded)
    values[SIMILARITY] = max(most, 0.0) / len(text)
    values[FREQUENCY] = names.logarithm[names.frequency[best]]
    return best


@kernel
def _compare_all(found, i, number, spelling_of, names, tables, ratios, rows, first):
    """Write the first candidates of text i into rows, from ``first`` on."""
    text = found.symbols[found.start[i] : found.start[i + 1]]
    entities = np.empty(number, np.int32)
    for at in range(number):
        entities[at] = spelling_of[found.place[i, at]]
    _prefetch_names(names, entities)
    asked = prepare(text, ratios, tables)
    most = np.int64(0)
    for e in entities:
        if e >= 0:
            most = max(most, np.int64(names.first[e + 1]) - np.int64(names.first[e]))
    alike = np.empty(most, np.float64)
    top = 0.0
    for at in range(number):
        top = max(top, found.score[i, at])
    for at in range(number):
        values = rows.values[first + at]
        rows.place[first + at] = found.place[i, at]
        rows.best[first + at] = _compare(
            asked, entities[at], at, names, tables, ratios, alike, values
        )
        values[SCORE] = np.log(max(found.score[i, at] / top, MIN_SCORE_SHARE))


@kernel
def _merge(rows, first, own, number):
    """Merge the rows of a translation, which follow those of the mention; returns how many remain.

    A candidate of both gets the better of its two values of each property. One that only the
    translation found cannot say that the mention equals a name.
    """
    order = np.argsort(rows.place[first : first + own])
    sorted_places = rows.place[first : first + own][order]
    kept = own
    for other in range(first + own, first + own + number):
        place = rows.place[other]
        at = np.searchsorted(sorted_places, place)
        if at < own and sorted_places[at] == place:
            mine = first + order[at]
            for column in (SCORE, COSINE, COVERAGE, WORDS, SKELETON):
                better = max(rows.values[mine, column], rows.values[other, column])
                rows.values[mine, column] = better
            if rows.values[other, SIMILARITY] > rows.values[mine, SIMILARITY]:
                rows.values[mine, SIMILARITY] = rows.values[other, SIMILARITY]
                rows.values[mine, FREQUENCY] = rows.values[other, FREQUENCY]
                rows.best[mine] = rows.best[other]
                rows.translated[mine] = True
        else:
            new = first + kept
            rows.place[new] = place
            rows.values[new] = rows.values[other]
            rows.values[new, SAME] = 0.0
            rows.best[new] = rows.best[other]
            rows.translated[new] = True
            kept += 1
    return kept


@kernel
def fill_rows(
    found, own, translated, translation_of, spelling_of, names, tables, ratios, rows, starts, stop
):
    """Write the rows of all mentions: the first ``own[q]`` found for mention q, then others.

    ``translation_of[q]`` is the translation of mention q, whose candidates follow, or -1. The rows
    of q are ``starts[q]`` to ``starts[q + 1] - 1``. Once ``stop`` is set, nothing is of use.
    """
    starts[0] = 0
    for q in range(len(own)):
        if stop[0]:
            break
        first = starts[q]
        kept = own[q]
        rows.translated[first : first + kept] = False
        _compare_all(found, q, kept, spelling_of, names, tables, ratios, rows, first)
        t = translation_of[q]
        if t >= 0:
            number = translated.found[t]
            after = first + kept
            _compare_all(translated, t, number, spelling_of, names, tables, ratios, rows, after)
            kept = _merge(rows, first, kept, number)
        starts[q + 1] = first + kept


@kernel
def score_rows(values, weights, scores):
    """Write 1 + (1 + v / (1 + |v|)) / 2 of each row, v being the sum of weights x properties."""
    for r in range(len(values)):
        v = 0.0
        for column in range(COLUMNS):
            v += weights[column] * values[r, column]
        scores[r] = 1.0 + 0.5 * (1.0 + v / (1.0 + abs(v)))


@kernel
def _order(scores, place):
    """Return the order of rows: higher scores first, and of equal ones the first place."""
    order = np.argsort(-scores)
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order) and scores[order[last]] == scores[order[first]]:
            last += 1
        if last - first > 1:
            tied = order[first:last].copy()
            order[first:last] = tied[np.argsort(place[tied])]
        first = last
    return order


@kernel
def choose_rows(scores, place, starts, number, chosen):
    """Write the first ``number[q]`` rows of each mention q in their order, one after the other."""
    after = 0
    for q in range(len(number)):
        mine = slice(starts[q], starts[q + 1])
        order = _order(scores[mine], place[mine])
        for at in range(number[q]):
            chosen[after] = starts[q] + order[at]
            after += 1
