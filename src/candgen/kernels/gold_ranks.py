"""Kernels that rank the golds of many queries, entity by entity, under many weights at once.

``postings`` are the counts of some entities: see ``Postings``. ``queries`` has the tokens of each
query, sorted, and how often each occurs. ``weights`` has a row of alphas for each choice, ``lams``
the lams of each row.
"""

import numpy as np

from candgen.kernels import inner_kernel, kernel
from candgen.kernels.trie import find_tokens, gather

SPARE_PAYS = 30
"""Spare tokens are used for a query if its needed ones have so many times fewer entities."""


@kernel
def list_tokens(trie, shape, text, start, end, first, token, times):
    """Write the tokens of each row, sorted, and how often each occurs; ``first`` says where."""
    for i in range(len(start)):
        at = first[i]
        number = find_tokens(trie[0], trie[1], text, start[i], end[i], *shape, token[at:])
        first[i + 1] = at + gather(token[at : at + number], times[at:])


@kernel
def fill_postings(
    names, begin, stop, trie, shape, room, first, token, language, n, totals, most, entities
):
    """Write n_l(t, e) of the entities from ``begin`` to ``stop``, with tokens that the trie has.

    ``names`` are the rows of all languages, those of an entity side by side; ``room`` is for the
    tokens of any row. Adds up N_l(t), the largest n_l(t, e) and the number of entities of each
    token. Returns how many entries were written.
    """
    first_row, of_row, count, start, end, text = names
    found = np.empty(room, np.int64)
    place = np.zeros(len(trie[1]), np.int64)
    tokens = np.empty(len(place), np.int64)
    counts = np.empty((len(place), len(totals)), np.int64)
    filled = 0
    for e in range(begin, stop):
        number = 0
        for i in range(first_row[e], first_row[e + 1]):
            many = find_tokens(trie[0], trie[1], text, start[i], end[i], *shape, found)
            for j in range(many):
                t = found[j]
                if place[t] == 0:
                    tokens[number] = t
                    counts[number] = 0
                    number += 1
                    place[t] = number
                counts[place[t] - 1, of_row[i]] += count[i]
        for i in range(number):
            t = tokens[i]
            place[t] = 0
            entities[t] += 1
            for part in range(len(totals)):
                value = counts[i, part]
                if value > 0:
                    token[filled], language[filled], n[filled] = t, part, value
                    filled += 1
                    totals[part, t] += value
                    most[part, t] = max(most[part, t], value)
        first[e - begin + 1] = filled
    return filled


@inner_kernel
def weigh(postings, e, weights, token_total, place, tokens, pooled, prior):
    """Write n(t, e), summed in the order of the languages, and P(e | t) of an entity's tokens.

    Row i belongs to ``tokens[i]``, and ``place[t]`` becomes i + 1; it is 0 everywhere before, and
    ``clear`` makes it so again. Returns how many tokens there are.
    """
    first, token, language, n = postings
    number = 0
    for i in range(first[e], first[e + 1]):
        t = token[i]
        if number == 0 or tokens[number - 1] != t:
            tokens[number] = t
            pooled[number] = 0.0
            number += 1
            place[t] = number
        for g in range(len(weights)):
            pooled[number - 1, g] += weights[g, language[i]] * n[i]
    for i in range(number):
        for g in range(len(weights)):
            value = pooled[i, g]
            prior[i, g] = value / token_total[g, tokens[i]] if value > 0.0 else 0.0
    return number


@inner_kernel
def clear(place, tokens, number):
    """Make ``place`` what it was before ``weigh``."""
    for i in range(number):
        place[tokens[i]] = 0


@inner_kernel
def score(queries, q, place, pooled, prior, entity_total, lams, sums, scores):
    """Write the scores of a weighed entity for a query, computed and rounded as search does it.

    ``entity_total`` has its N(e) with each row of weights; ``sums`` is scratch of two rows.
    """
    first, token, times = queries
    sums[:] = 0.0
    for j in range(first[q], first[q + 1]):
        at = place[token[j]] - 1
        if at >= 0:
            for g in range(len(lams)):
                sums[0, g] += times[j] * prior[at, g]
                sums[1, g] += times[j] * pooled[at, g]
    for g in range(len(lams)):
        b = sums[1, g]
        if b > 0.0:
            b /= entity_total[g]
        for m in range(lams.shape[1]):
            scores[g, m] = np.float32(sums[0, g] + lams[g, m] * b)


@kernel
def score_golds(
    postings, begin, stop, queries, gold, weights, token_total, entity_total, lams, scores
):
    """Write the scores of the golds that are among these entities; ``entity_total`` by query."""
    place = np.zeros(token_total.shape[1], np.int32)
    tokens = np.empty(len(place), np.int64)
    pooled = np.empty((len(place), len(weights)), np.float64)
    prior = np.empty_like(pooled)
    sums = np.empty((2, len(weights)), np.float64)
    for q in range(len(gold)):
        if begin <= gold[q] < stop:
            number = weigh(
                postings, gold[q] - begin, weights, token_total, place, tokens, pooled, prior
            )
            score(queries, q, place, pooled, prior, entity_total[:, q], lams, sums, scores[q])
            clear(place, tokens, number)


@kernel
def mark_needed(queries, most, entities, lams, least, needed, spare, spare_times):
    """Mark the tokens of each query of which an entity needs one to reach its least score.

    The others are spare. Those of most entities first, they bring no entity up to it, with any
    weights: B(e) is at most the largest multiplicity, since n(t, e) / N(e) sums up to 1 over
    tokens, and A(e) at most the sum of each token's largest prior. ``spare`` and ``spare_times``
    become what spare tokens can add to A(e) and to B(e). Where the least score is 0, nothing is
    wanted.
    """
    first, token, times = queries
    slack = np.empty(lams.shape, np.float64)
    for q in range(len(first) - 1):
        mine, often = token[first[q] : first[q + 1]], times[first[q] : first[q + 1]]
        if len(mine) == 0 or least[q].max() == 0.0:
            continue
        highest = often.max()
        for g in range(len(lams)):
            for m in range(lams.shape[1]):
                slack[g, m] = least[q, g, m] * (1 - 1e-6) - lams[g, m] * highest
        wanted = 0
        for j in np.argsort(-entities[mine]):
            fits = True
            for g in range(len(lams)):
                brought = often[j] * most[g, mine[j]]
                for m in range(lams.shape[1]):
                    fits = fits and (least[q, g, m] == 0.0 or brought < slack[g, m])
            if fits:
                spare_times[q] = highest
                for g in range(len(lams)):
                    slack[g] -= often[j] * most[g, mine[j]]
                    spare[q, g] += often[j] * most[g, mine[j]]
            else:
                needed[first[q] + j] = True
                wanted += entities[mine[j]]
        if wanted * SPARE_PAYS > entities[mine].sum():
            needed[first[q] : first[q + 1]] = True
            spare[q] = 0.0
            spare_times[q] = 0.0


@inner_kernel
def touch(
    tokens,
    number,
    pooled,
    prior,
    entity_total,
    inverse,
    active,
    spare,
    spare_times,
    lams,
    least,
    sums,
    touched,
    is_touched,
):
    """List the active queries whose least score a weighed entity may reach; returns how many.

    ``sums`` is scratch: for each query what its needed tokens add to A(e), then to N(e) * B(e).
    """
    first, query, times = inverse
    rows = len(lams)
    many = 0
    for i in range(number):
        t = tokens[i]
        for at in range(first[t], first[t + 1]):
            q = query[at]
            if not active[q]:
                continue
            if not is_touched[q]:
                is_touched[q] = True
                touched[many] = q
                many += 1
                for g in range(2 * rows):
                    sums[q, g] = 0.0
            for g in range(rows):
                sums[q, g] += times[at] * prior[i, g]
                sums[q, rows + g] += times[at] * pooled[i, g]
    kept = 0
    for i in range(many):
        q = touched[i]
        is_touched[q] = False
        reaches = False
        for g in range(rows):
            # A language without a weight may leave an entity without a count.
            share = sums[q, rows + g] / entity_total[g] if entity_total[g] > 0.0 else 0.0
            for m in range(lams.shape[1]):
                most = sums[q, g] + spare[q, g] + lams[g, m] * (share + spare_times[q])
                reaches |= 0.0 < least[q, g, m] * (1 - 1e-6) <= most
        if reaches:
            touched[kept] = q
            kept += 1
    return kept


@kernel
def count_better(
    postings,
    queries,
    inverse,
    active,
    spare,
    spare_times,
    weights,
    token_total,
    entity_total,
    lams,
    least,
    tie,
    gold_tie,
    scores,
    better,
):
    """Add to ``better[q, g, m]`` the entities that stand before the gold of query q.

    ``inverse`` has the queries that need each token; those that are not ``active`` are left out.
    ``gold_tie`` is the place of each gold among equal scores, as ``tie`` is of entities.
    """
    place = np.zeros(token_total.shape[1], np.int32)
    tokens = np.empty(len(place), np.int64)
    pooled = np.empty((len(place), len(weights)), np.float64)
    prior = np.empty_like(pooled)
    sums = np.empty((2, len(weights)), np.float64)
    touched, is_touched = np.empty(len(active), np.int64), np.zeros(len(active), np.bool_)
    rough = np.empty((len(active), 2 * len(weights)), np.float64)
    mine = np.empty(lams.shape, np.float32)
    for e in range(len(tie)):
        number = weigh(postings, e, weights, token_total, place, tokens, pooled, prior)
        many = touch(
            tokens,
            number,
            pooled,
            prior,
            entity_total[:, e],
            inverse,
            active,
            spare,
            spare_times,
            lams,
            least,
            rough,
            touched,
            is_touched,
        )
        for i in range(many):
            q = touched[i]
            score(queries, q, place, pooled, prior, entity_total[:, e], lams, sums, mine)
            for g in range(len(lams)):
                for m in range(lams.shape[1]):
                    better[q, g, m] += mine[g, m] > scores[q, g, m] or (
                        mine[g, m] == scores[q, g, m] and tie[e] < gold_tie[q]
                    )
        clear(place, tokens, number)


@kernel
def count_postings(postings, kept, alone):
    """Return how many postings the languages that are kept have together.

    ``alone[part]`` grows by the number of those that only this one has.
    """
    first, token, language, _ = postings
    total = 0
    for e in range(len(first) - 1):
        i = first[e]
        while i < first[e + 1]:
            t, owners, owner = token[i], 0, 0
            while i < first[e + 1] and token[i] == t:
                if kept[language[i]]:
                    owners, owner = owners + 1, language[i]
                i += 1
            total += owners > 0
            alone[owner] += owners == 1
    return total
