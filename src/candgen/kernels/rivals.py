"""Kernels that find the rivals of golds, and rank golds among them: see ``Rivals``."""

import numpy as np

from candgen.kernels import inner_kernel, kernel
from candgen.kernels.entity_pass import clear, make_room, score, touch, weigh
from candgen.kernels.heap import entry, keep

CLOSE = 1e-6
"""Sums that differ by less, relatively, are compared as search computes them."""
SUBNORMAL_STEP = 2.0**-149
"""The distance of neighbours in single precision under 1.2e-38, where rounding is relatively large.
"""


@kernel
def find_rivals(postings, totals, wanted, weights, begin, scores, better, best, number_of_best):
    """Keep the best entities of each query with each row of weights and lam, in heaps.

    An entity must reach the least score; the first one has the number ``begin``, and ``totals`` are
    their N(e). The heap of query q with weights g and lam m is ``best[q, g, m]``, of
    ``number_of_best[q, g, m]`` entries, with the number of the entity for a tie order.
    ``better[q, g, m]`` counts the entities whose score is higher than the gold's, in ``scores``.
    """
    room = make_room(weights, len(wanted.active))
    least, touched, mine = wanted.least, room.touched, room.scores
    for e in range(totals.shape[1]):
        number = weigh(postings, e, weights, room)
        for i in range(touch(number, totals, e, wanted, weights, room)):
            q = touched[i]
            score(wanted.queries, q, totals, e, weights, room)
            for g in range(mine.shape[0]):
                for m in range(mine.shape[1]):
                    if least[q, g, m] == 0.0 or mine[g, m] < least[q, g, m]:
                        continue
                    better[q, g, m] += mine[g, m] > scores[q, g, m]
                    number_of_best[q, g, m] = keep(
                        best[q, g, m],
                        number_of_best[q, g, m],
                        entry(mine[g, m], np.uint32(begin + e)),
                    )
        clear(room, number)


@kernel
def merge_heaps(best, number_of_best, other, other_number):
    """Offer all entries of other heaps to heaps."""
    for q in range(best.shape[0]):
        for g in range(best.shape[1]):
            for m in range(best.shape[2]):
                for i in range(other_number[q, g, m]):
                    number_of_best[q, g, m] = keep(
                        best[q, g, m], number_of_best[q, g, m], other[q, g, m, i]
                    )


@kernel
def gather_pairs(postings, begin, queries, place, entity, query, start, at, language, n):
    """Write n_l(t, e) of the tokens that query and entity of each pair share; returns how many.

    Entries of pair i end at ``start[i + 1]``: ``at`` is the place of the token in ``queries``, in
    rising order, and then ``language`` rises. Entities count from ``begin``; ``place`` is 0
    everywhere, with room for every token. Without ``at`` only ``start`` is written.
    """
    first, token, of, count = postings
    first_token, tokens, _ = queries
    filled = start[0]
    for i in range(len(entity)):
        e = entity[i] - begin
        for j in range(first[e + 1] - 1, first[e] - 1, -1):
            place[token[j]] = j + 1  # in the end the first entry of the token
        for j in range(first_token[query[i]], first_token[query[i] + 1]):
            t = tokens[j]
            here = place[t] - 1
            if here < 0:
                continue
            while here < first[e + 1] and token[here] == t:
                if len(at) > 0:
                    at[filled], language[filled], n[filled] = j, of[here], count[here]
                filled += 1
                here += 1
        for j in range(first[e], first[e + 1]):
            place[token[j]] = 0
        start[i + 1] = filled
    return filled


@inner_kernel
def _score(queries, pairs, i, totals, column, weights, scores):
    """Write the scores of a pair, rounded as search rounds them."""
    _, token, times = queries
    start, at, language, n = pairs
    alphas, lams, token_total = weights
    for g in range(len(alphas)):
        a, b = 0.0, 0.0
        j = start[i]
        while j < start[i + 1]:
            here, value = at[j], 0.0
            while j < start[i + 1] and at[j] == here:
                value += alphas[g, language[j]] * n[j]
                j += 1
            if value > 0.0:
                a += times[here] * (value / token_total[g, token[here]])
                b += times[here] * value
        if b > 0.0:
            b /= totals[g, column]
        for m in range(lams.shape[1]):
            scores[g, m] = np.float32(a + lams[g, m] * b)


@kernel
def rank_among_rivals(
    queries, first_pair, begin, stop, pairs, entity, tie, gold, totals, weights, k, ranks
):
    """Write to ``ranks[q, g, m]`` the rank of query q's gold among its rivals; 0 beyond k.

    The pairs of query q are ``first_pair[q]`` to ``first_pair[q + 1] - 1``, one of which is
    ``gold[q]``, or -1 where the gold is not there. N(e) of a pair's entity is a column of
    ``totals``. Sums decide where they differ clearly; a rival close to the gold is scored as search
    does it.
    """
    first, token, times = queries
    start, at, language, n = pairs
    alphas, lams, token_total = weights
    rows, languages = alphas.shape
    scores, mine = np.empty(lams.shape, np.float32), np.empty(lams.shape, np.float32)
    better = np.empty(lams.shape, np.int64)
    a, b = np.empty(rows, np.float64), np.empty(rows, np.float64)
    longest = 0
    for q in range(begin, stop):
        longest = max(longest, first[q + 1] - first[q])
    # What one count of a language adds to A(e) and to N(e) * B(e).
    to_a = np.empty((longest, languages, rows), np.float64)
    to_b = np.empty((longest, languages, rows), np.float64)
    for q in range(begin, stop):
        if gold[q] < 0:
            continue
        _score(queries, pairs, gold[q], totals, entity[gold[q]], weights, scores)
        if scores.max() == 0.0:
            continue
        base = first[q]
        for j in range(base, first[q + 1]):
            for part in range(languages):
                for g in range(rows):
                    to_b[j - base, part, g] = times[j] * alphas[g, part]
                    total = token_total[g, token[j]]
                    to_a[j - base, part, g] = to_b[j - base, part, g] / total if total else 0.0
        better[:] = 0
        for i in range(first_pair[q], first_pair[q + 1]):
            if i == gold[q]:
                continue
            a[:] = 0.0
            b[:] = 0.0
            for j in range(start[i], start[i + 1]):
                for g in range(rows):
                    a[g] += to_a[at[j] - base, language[j], g] * n[j]
                    b[g] += to_b[at[j] - base, language[j], g] * n[j]
            scored = False
            for g in range(rows):
                if b[g] > 0.0:
                    b[g] /= totals[g, entity[i]]
                for m in range(lams.shape[1]):
                    roughly = a[g] + lams[g, m] * b[g]
                    wanted = np.float64(scores[g, m])
                    if roughly < wanted * (1 - CLOSE) - SUBNORMAL_STEP:
                        continue
                    if roughly > wanted * (1 + CLOSE) + SUBNORMAL_STEP:
                        better[g, m] += 1
                        continue
                    if not scored:
                        _score(queries, pairs, i, totals, entity[i], weights, mine)
                        scored = True
                    better[g, m] += mine[g, m] > scores[g, m] or (
                        mine[g, m] == scores[g, m] and tie[entity[i]] < tie[entity[gold[q]]]
                    )
        for g in range(rows):
            for m in range(lams.shape[1]):
                if scores[g, m] > 0.0 and better[g, m] < k:
                    ranks[q, g, m] = better[g, m] + 1
