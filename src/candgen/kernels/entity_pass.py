"""Steps of a pass over entities, which scores each for the queries whose least score it may reach.

The arrays of a pass are grouped: what is looked for, the weights, and room for one entity.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.kernels import inner_kernel, kernel

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]
Lists = tuple[Integers, Integers, Floats]
"""Where each list begins, what is in it, and how often."""


class Wanted(NamedTuple):
    """What a pass looks for: of each query the entities that reach its least score.

    ``queries`` has the tokens of each query, sorted; ``inverse`` the queries that need each token.
    What their other tokens can add is ``spare`` and ``spare_times``: see ``mark_needed``. Queries
    that are not ``active`` are left out, and so are weights with which ``least`` is 0.
    """

    queries: Lists
    inverse: Lists
    active: Bools
    spare: Floats
    spare_times: Floats
    least: Scores


class WeightArrays(NamedTuple):
    """Rows of alphas, the lams of each row, and N(t) with each row."""

    alphas: Floats
    lams: Floats
    token_total: Floats


class Room(NamedTuple):
    """Scratch of a pass, for one entity: its tokens, their counts and priors, its queries.

    ``place`` is 0, and ``is_touched`` false, for every token and query between two entities.
    """

    place: npt.NDArray[np.int32]
    tokens: Integers
    pooled: Floats
    prior: Floats
    touched: Integers
    is_touched: Bools
    rough: Floats
    sums: Floats
    scores: Scores


@kernel
def make_room(weights, queries):
    """Return the scratch of a pass for so many queries."""
    rows, size = weights.token_total.shape
    return Room(
        np.zeros(size, np.int32),
        np.empty(size, np.int64),
        np.empty((size, rows), np.float64),
        np.empty((size, rows), np.float64),
        np.empty(queries, np.int64),
        np.zeros(queries, np.bool_),
        np.empty((queries, 2 * rows), np.float64),
        np.empty((2, rows), np.float64),
        np.empty(weights.lams.shape, np.float32),
    )


@inner_kernel
def weigh(postings, e, weights, room):
    """Write n(t, e), summed in the order of the languages, and P(e | t) of an entity's tokens.

    Row i belongs to ``tokens[i]``, and ``place[t]`` becomes i + 1, until ``clear``. Returns how
    many tokens there are.
    """
    first, token, language, n = postings
    alphas, token_total = weights.alphas, weights.token_total
    place, tokens, pooled, prior = room.place, room.tokens, room.pooled, room.prior
    number = 0
    for i in range(first[e], first[e + 1]):
        t = token[i]
        if number == 0 or tokens[number - 1] != t:
            tokens[number] = t
            pooled[number] = 0.0
            number += 1
            place[t] = number
        for g in range(len(alphas)):
            pooled[number - 1, g] += alphas[g, language[i]] * n[i]
    for i in range(number):
        for g in range(len(alphas)):
            value = pooled[i, g]
            prior[i, g] = value / token_total[g, tokens[i]] if value > 0.0 else 0.0
    return number


@inner_kernel
def clear(room, number):
    """Make ``place`` what it was before ``weigh``."""
    for i in range(number):
        room.place[room.tokens[i]] = 0


@inner_kernel
def touch(number, totals, e, wanted, weights, room):
    """List in ``touched`` the active queries whose least score a weighed entity may reach.

    ``totals[g, e]`` is its N(e) with weights g. Returns how many queries there are.
    """
    first, query, times = wanted.inverse
    lams, least = weights.lams, wanted.least
    touched, is_touched = room.touched, room.is_touched
    # For each query, what its needed tokens add to A(e), then to N(e) * B(e).
    rough = room.rough
    rows = len(lams)
    many = 0
    for i in range(number):
        t = room.tokens[i]
        for at in range(first[t], first[t + 1]):
            q = query[at]
            if not wanted.active[q]:
                continue
            if not is_touched[q]:
                is_touched[q] = True
                touched[many] = q
                many += 1
                for g in range(2 * rows):
                    rough[q, g] = 0.0
            for g in range(rows):
                rough[q, g] += times[at] * room.prior[i, g]
                rough[q, rows + g] += times[at] * room.pooled[i, g]
    kept = 0
    for i in range(many):
        q = touched[i]
        is_touched[q] = False
        reaches = False
        for g in range(rows):
            # A language without a weight may leave an entity without a count.
            share = rough[q, rows + g] / totals[g, e] if totals[g, e] > 0.0 else 0.0
            a = rough[q, g] + wanted.spare[q, g]
            for m in range(lams.shape[1]):
                most = a + lams[g, m] * (share + wanted.spare_times[q])
                reaches |= 0.0 < least[q, g, m] * (1 - 1e-6) <= most
        if reaches:
            touched[kept] = q
            kept += 1
    return kept


@inner_kernel
def score(queries, q, totals, e, weights, room):
    """Write to ``scores`` those of a weighed entity for a query, rounded as search does it.

    ``totals[g, e]`` is its N(e) with weights g.
    """
    first, token, times = queries
    lams, sums = weights.lams, room.sums
    sums[:] = 0.0
    for j in range(first[q], first[q + 1]):
        at = room.place[token[j]] - 1
        if at >= 0:
            for g in range(len(lams)):
                sums[0, g] += times[j] * room.prior[at, g]
                sums[1, g] += times[j] * room.pooled[at, g]
    for g in range(len(lams)):
        b = sums[1, g]
        if b > 0.0:
            b /= totals[g, e]
        for m in range(lams.shape[1]):
            room.scores[g, m] = np.float32(sums[0, g] + lams[g, m] * b)
