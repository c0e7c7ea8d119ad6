"""Kernels that rank the golds of many queries, entity by entity, under many weights at once.

``postings`` are the counts of some entities: see ``Postings``. ``queries`` has the tokens of each
query, sorted, and how often each occurs. ``weights`` are WeightArrays.
"""

import numpy as np

from candgen.kernels import kernel
from candgen.kernels.entity_pass import clear, make_room, score, touch, weigh
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


@kernel
def score_golds(postings, begin, stop, queries, gold, weights, totals, scores):
    """Write the scores of the golds that are among these entities; ``totals`` are N(e) by query."""
    room = make_room(weights, 0)
    for q in range(len(gold)):
        if begin <= gold[q] < stop:
            number = weigh(postings, gold[q] - begin, weights, room)
            score(queries, q, totals, q, weights, room)
            scores[q] = room.scores
            clear(room, number)


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


@kernel
def count_better(postings, totals, wanted, weights, tie, gold_tie, scores, better):
    """Add to ``better[q, g, m]`` the entities that stand before the gold of query q.

    ``totals`` are N(e) of these entities with each row of weights, ``scores`` those of the golds;
    ``gold_tie`` is the place of each gold among equal scores, as ``tie`` is of entities.
    """
    room = make_room(weights, len(wanted.active))
    touched, mine = room.touched, room.scores
    for e in range(totals.shape[1]):
        number = weigh(postings, e, weights, room)
        for i in range(touch(number, totals, e, wanted, weights, room)):
            q = touched[i]
            score(wanted.queries, q, totals, e, weights, room)
            for g in range(mine.shape[0]):
                for m in range(mine.shape[1]):
                    better[q, g, m] += mine[g, m] > scores[q, g, m] or (
                        mine[g, m] == scores[q, g, m] and tie[e] < gold_tie[q]
                    )
        clear(room, number)


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
