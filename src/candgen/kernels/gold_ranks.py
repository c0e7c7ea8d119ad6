"""Kernels that rank gold entities under many weights at once, token by token."""

import numpy as np

from candgen.kernels import kernel
from candgen.kernels.trie import find_tokens, gather, token_room

SUBNORMAL_STEP = 2.0**-149
"""The distance of neighbours in single precision under 1.2e-38, where rounding is relatively large.
"""


@kernel
def mark_tokens(trie, text, start, end, low, high, wildcard, wanted):
    """Mark the tokens of all rows."""
    for i in range(len(start)):
        found = np.empty(token_room(end[i] - start[i], low, high, wildcard), np.int64)
        number = find_tokens(trie[0], trie[1], text, start[i], end[i], low, high, wildcard, found)
        for j in range(number):
            wanted[found[j]] = True


@kernel
def list_sizes(indptrs, tokens, wanted, last, size):
    """Count the entities of each wanted token, in any language."""
    for e in range(len(indptrs[0]) - 1):
        for part in range(len(indptrs)):
            for i in range(indptrs[part][e], indptrs[part][e + 1]):
                t = tokens[part][i]
                if wanted[t] and last[t] != e:
                    last[t] = e
                    size[t] += 1


@kernel
def count_postings(indptrs, tokens, kept, last, owner, alone):
    """Return how many postings the languages that are kept have together.

    ``alone[part]`` becomes the number of those that only this one has. ``last`` has no entity in
    it, and as many places as there are tokens, as has ``owner``.
    """
    total = 0
    for e in range(len(indptrs[0]) - 1):
        for part in range(len(indptrs)):
            if not kept[part]:
                continue
            for i in range(indptrs[part][e], indptrs[part][e + 1]):
                t = tokens[part][i]
                if last[t] != e:
                    last[t], owner[t] = e, part
                    total += 1
                    alone[part] += 1
                elif owner[t] >= 0 and owner[t] != part:
                    alone[owner[t]] -= 1
                    owner[t] = -1
    return total


@kernel
def fill_lists(indptrs, tokens, counts, wanted, last, cursor, entity, n):
    """Write the entities of each token, in order, with n_l(t, e) of each language side by side."""
    for e in range(len(indptrs[0]) - 1):
        for part in range(len(indptrs)):
            for i in range(indptrs[part][e], indptrs[part][e + 1]):
                t = tokens[part][i]
                if not wanted[t]:
                    continue
                if last[t] != e:
                    last[t] = e
                    entity[cursor[t]] = e
                    cursor[t] += 1
                n[cursor[t] - 1, part] = counts[part][i]


@kernel
def most_priors(start, n, weights, token_total, most):
    """Write to ``most[g, t]`` the largest P(e | t) of each token with weights g."""
    for t in range(len(start) - 1):
        for at in range(start[t], start[t + 1]):
            for g in range(len(weights)):
                p = _pooled(weights, g, n, at) / token_total[g, t]
                most[g, t] = max(most[g, t], p)


@kernel
def _pooled(weights, g, n, at):
    """Return n(t, e) of a posting, summed in the order of the languages."""
    value = 0.0
    for part in range(weights.shape[1]):
        value += weights[g, part] * n[at, part]
    return value


@kernel
def _score(lists, tokens, times, e, weights, totals, lams, scores):
    """Write the scores of one entity with all weights, rounded as search rounds them."""
    start, entity, n = lists
    a = np.zeros(len(weights), np.float64)
    b = np.zeros(len(weights), np.float64)
    for j in range(len(tokens)):
        t = tokens[j]
        at = start[t] + np.searchsorted(entity[start[t] : start[t + 1]], np.uint32(e))
        if at == start[t + 1] or entity[at] != e:
            continue
        for g in range(len(weights)):
            value = _pooled(weights, g, n, at)
            a[g] += times[j] * (value / totals[0][g, t])
            b[g] += times[j] * value
    for g in range(len(weights)):
        b[g] /= totals[1][g, e]
        for m in range(lams.shape[1]):
            scores[g, m] = np.float32(a[g] + lams[g, m] * b[g])


@kernel
def _spare_tokens(start, tokens, times, most, lams, scores, spare):
    """Mark tokens, those with the longest lists first, that alone bring no entity up to the gold.

    B(e) is at most the largest multiplicity, since n(t, e) / N(e) sums up to 1 over tokens; A(e)
    is at most the sum of each token's largest prior.
    """
    slack = np.empty(lams.shape, np.float64)
    for g in range(len(lams)):
        for m in range(lams.shape[1]):
            slack[g, m] = scores[g, m] * (1 - 1e-6) - lams[g, m] * times.max()
    size = np.empty(len(tokens), np.int64)
    for j in range(len(tokens)):
        size[j] = start[tokens[j]] - start[tokens[j] + 1]
    spare[:] = False
    for j in np.argsort(size):
        fits = True
        for g in range(len(lams)):
            needed = times[j] * most[g, tokens[j]]
            for m in range(lams.shape[1]):
                fits = fits and (scores[g, m] == 0.0 or needed < slack[g, m])
        if fits:
            spare[j] = True
            for g in range(len(lams)):
                slack[g] -= times[j] * most[g, tokens[j]]


@kernel
def _sum_rivals(lists, tokens, times, spare, weights, token_total, seen, rivals, sums):
    """Sum A(e) for all weights, then c * n_l(t, e), of all entities with a token not spare.

    Such entities are the only rivals of the gold. Row i of ``sums`` belongs to ``rivals[i]``: first
    A(e) for each row of weights, then the sum of c * n_l(t, e) for each language l, from which the
    caller computes B(e). ``seen`` is 0 everywhere at the start; the caller clears it.
    Multiplying by reciprocals is several times as fast as dividing, and rounds differently.
    Returns how many rivals there are.
    """
    start, entity, n = lists
    rows = len(weights)

    # 1. List the rivals, in the order in which they are met. Lists of spare tokens, which are the
    # longest, are not read. seen[e] is the row of e in ``sums``, counted from 1.
    number = 0
    for j in range(len(tokens)):
        if spare[j]:
            continue
        for at in range(start[tokens[j]], start[tokens[j] + 1]):
            e = entity[at]
            if seen[e] == 0:
                rivals[number] = e
                sums[number] = 0.0
                number += 1
                seen[e] = number

    # 2. Add up what each token brings to each rival. Now spare tokens count too: they cannot make a
    # rival, but they add to the score of one.
    factors = np.empty(weights.shape, np.float64)
    for j in range(len(tokens)):
        t = tokens[j]
        # c * alpha_l / N(t): what one count of language l adds to A(e), for each row of weights.
        for g in range(rows):
            factors[g] = times[j] * weights[g] / token_total[g, t]
        for at in range(start[t], start[t + 1]):
            place = seen[entity[at]]
            if place == 0:  # no rival
                continue
            row = sums[place - 1]
            for part in range(weights.shape[1]):
                count = np.float64(n[at, part])
                if count == 0.0:  # most entities have a token in few of the languages
                    continue
                for g in range(rows):
                    row[g] += factors[g, part] * count
                row[rows + part] += times[j] * count
    return number


@kernel
def _count_better(
    lists, tokens, times, sums, rivals, weights, totals, tie, gold, lams, scores, mine, better
):
    """Count the rivals that stand before the gold, for each lam of each row of weights.

    Sums decide where they differ clearly; a rival close to the gold is scored as search does it.
    """
    better[:] = 0
    for i in range(len(rivals)):
        e = rivals[i]
        scored = False
        for g in range(len(lams)):
            a, b = sums[i, g], 0.0
            for part in range(weights.shape[1]):
                b += weights[g, part] * sums[i, len(lams) + part]
            b /= totals[1][g, e]
            for m in range(lams.shape[1]):
                roughly = a + lams[g, m] * b
                if roughly < scores[g, m] * (1 - 1e-6) - SUBNORMAL_STEP:
                    continue
                if roughly > scores[g, m] * (1 + 1e-6) + SUBNORMAL_STEP:
                    better[g, m] += 1
                    continue
                if not scored:
                    _score(lists, tokens, times, e, weights, totals, lams, mine)
                    scored = True
                better[g, m] += mine[g, m] > scores[g, m] or (
                    mine[g, m] == scores[g, m] and tie[e] < tie[gold]
                )


@kernel
def rank_rows(
    trie,
    text,
    start,
    end,
    low,
    high,
    wildcard,
    gold,
    tie,
    lists,
    weights,
    totals,
    most,
    lams,
    k,
    ranks,
):
    """Write to ``ranks[i, g, m]`` the rank of row i's gold with weights g and lam m; 0 beyond k."""
    seen = np.zeros(len(tie), np.int32)
    rivals = np.empty(len(tie), np.int64)
    sums = np.empty((len(tie), len(weights) + weights.shape[1]), np.float64)
    scores, mine = np.empty(lams.shape, np.float32), np.empty(lams.shape, np.float32)
    better = np.empty(lams.shape, np.int64)
    for i in range(len(start)):
        if gold[i] < 0:
            continue
        found = np.empty(token_room(end[i] - start[i], low, high, wildcard), np.int64)
        times = np.empty(len(found), np.float64)
        number = find_tokens(trie[0], trie[1], text, start[i], end[i], low, high, wildcard, found)
        number = gather(found[:number], times)
        tokens, times = found[:number], times[:number]
        _score(lists, tokens, times, gold[i], weights, totals, lams, scores)
        if scores.max() == 0.0:
            continue
        spare = np.empty(number, np.bool_)
        _spare_tokens(lists[0], tokens, times, most, lams, scores, spare)
        number = _sum_rivals(lists, tokens, times, spare, weights, totals[0], seen, rivals, sums)
        _count_better(
            lists,
            tokens,
            times,
            sums,
            rivals[:number],
            weights,
            totals,
            tie,
            gold[i],
            lams,
            scores,
            mine,
            better,
        )
        seen[rivals[:number]] = 0
        for g in range(len(lams)):
            for m in range(lams.shape[1]):
                if scores[g, m] > 0.0 and better[g, m] < k:
                    ranks[i, g, m] = better[g, m] + 1
