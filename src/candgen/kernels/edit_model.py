"""Kernels of the edit model: how likely a name is, if it was copied from another with errors.

A name m is copied symbol by symbol: symbol a becomes b with probability ``change[a, b]`` or is left
out with ``drop[a]``, and before each, and at the end, any b may be added with ``add[b]``. P(q | m)
is the sum over all ways in which m becomes q.
"""

import numpy as np

from candgen.kernels import inner_kernel, kernel

SMALL, LARGE = 1e-100, 1e100
GROWTH = 1e50
"""Where additions alone could make a row grow by more than that, every cell is looked at."""


@inner_kernel
def first_row(query, add, row):
    """Write the row of an empty name; returns whether it grows too much for ``likelihood``."""
    left, grown = 1.0, 1.0
    row[0] = 1.0
    for j in range(len(query)):
        left *= add[query[j]]
        row[j + 1] = left
        grown = max(grown * add[query[j]], 1.0)
    return grown > GROWTH


@inner_kernel
def likelihood(name, start, end, query, careful, ratios, first, row):
    """Return log P(query | name[start:end]); ``row`` has room for len(query) + 1 numbers.

    ``ratios`` are changes, additions and omissions; where the first two are divided by how common
    the symbols are that they make, it is log (P(query | name) / P(query)). -inf stands for a name
    that is unlikelier than a float64 can hold, beside what else could be made of the query.
    ``first`` and ``careful`` are what ``first_row`` wrote and returned.
    """
    scale = last_row(name, start, end, query, careful, ratios, first, row)
    return log_likelihood(scale, row[len(query)])


@inner_kernel
def log_likelihood(scale, likely):
    """Return the logarithm of a cell of ``last_row``, which returned ``scale``."""
    return scale + np.log(likely) if likely > 0.0 else -np.inf


@inner_kernel
def last_row(name, start, end, query, careful, ratios, first, row):
    """Write how likely the name becomes each beginning of the query; arguments as ``likelihood``.

    Returns a logarithm: the exponential of it times ``row[j]`` is the likelihood of ``query[:j]``.
    """
    change, add, drop = ratios
    if careful:
        return _careful_last_row(name, start, end, query, change, add, drop, row)
    return _quick_last_row(name, start, end, query, change, add, drop, first, row)


@inner_kernel
def _quick_last_row(name, start, end, query, change, add, drop, first, row):
    """Write the last row; it is kept within what a float64 can hold."""
    length, scale = len(query), 0.0
    for j in range(length + 1):
        row[j] = first[j]
    # Four symbols of the name at once: a row has to wait for what stands to the left, but the
    # processor computes the rows of the four side by side.
    i = start
    if (end - i) % 2 == 1:
        _next_row(query, name[i], change, add, drop, row)
        i += 1
    if (end - i) % 4 == 2:
        _next_two_rows(query, name[i], name[i + 1], change, add, drop, row)
        i += 2
    while i < end:
        a0, a1 = np.uint64(name[i]), np.uint64(name[i + 1])
        a2, a3 = np.uint64(name[i + 2]), np.uint64(name[i + 3])
        drop0, drop1, drop2, drop3 = drop[a0], drop[a1], drop[a2], drop[a3]
        i += 4
        above = row[0]
        left0 = above * drop0
        left1 = left0 * drop1
        left2 = left1 * drop2
        left3 = left2 * drop3
        row[0] = most = left3
        for j in range(length):
            b, here = query[j], row[j + 1]
            added = add[b]
            now0 = (here * drop0 + above * change[a0, b]) + left0 * added
            now1 = (now0 * drop1 + left0 * change[a1, b]) + left1 * added
            now2 = (now1 * drop2 + left1 * change[a2, b]) + left2 * added
            left3 = (now2 * drop3 + left2 * change[a3, b]) + left3 * added
            above, left0, left1, left2 = here, now0, now1, now2
            row[j + 1] = left3
            most = max(most, left3)
        if most < SMALL or most > LARGE:
            if most == 0.0:
                return 0.0
            scale += _scaled(row, length + 1, most)
    return scale


@inner_kernel
def _next_row(query, a, change, add, drop, row):
    """Copy symbol a of the name."""
    above = row[0]
    left = above * drop[a]
    row[0] = left
    for j in range(len(query)):
        b, here = query[j], row[j + 1]
        # What stands to the left comes last: the next cell has to wait for nothing else.
        left = (here * drop[a] + above * change[a, b]) + left * add[b]
        above = here
        row[j + 1] = left


@inner_kernel
def _next_two_rows(query, a0, a1, change, add, drop, row):
    """Copy symbols a0 and a1 of the name."""
    above = row[0]
    left0 = above * drop[a0]
    left1 = left0 * drop[a1]
    row[0] = left1
    for j in range(len(query)):
        b, here = query[j], row[j + 1]
        now0 = (here * drop[a0] + above * change[a0, b]) + left0 * add[b]
        left1 = (now0 * drop[a1] + left0 * change[a1, b]) + left1 * add[b]
        above, left0 = here, now0
        row[j + 1] = left1


@inner_kernel
def _careful_last_row(name, start, end, query, change, add, drop, row):
    """Write the last row where symbols are added more often than they are common."""
    length = len(query)
    left, scale = 1.0, 0.0
    row[0] = 1.0
    for j in range(length):
        left *= add[query[j]]
        row[j + 1] = left
        if left > LARGE:
            scale += _scaled(row, j + 2, left)
            left = 1.0
    for i in range(start, end):
        a = name[i]
        above = row[0]
        left = above * drop[a]
        row[0] = left
        most = left
        for j in range(length):
            b, here = query[j], row[j + 1]
            left = (here * drop[a] + above * change[a, b]) + left * add[b]
            above = here
            row[j + 1] = left
            most = max(most, left)
            if left > LARGE:
                scale += _scaled(row, length + 1, left)
                above /= left
                left, most = 1.0, 1.0
        if most < SMALL:
            if most == 0.0:
                return 0.0
            scale += _scaled(row, length + 1, most)
    return scale


@inner_kernel
def _scaled(row, length, by):
    """Divide the beginning of a row by a number; returns the number's logarithm."""
    for j in range(length):
        row[j] /= by
    return np.log(by)


@kernel
def likelihood_of_name(name, query, ratios, row):
    """Return ``likelihood`` of a whole name."""
    first = np.empty(len(query) + 1, np.float64)
    careful = first_row(query, ratios[1], first)
    return likelihood(name, 0, len(name), query, careful, ratios, first, row)


@kernel
def _forward(name, query, change, add, drop, table):
    """Write to ``table[i, j]`` the probability that the first i symbols become the first j."""
    table[0, 0] = 1.0
    for j in range(len(query)):
        table[0, j + 1] = table[0, j] * add[query[j]]
    for i in range(len(name)):
        table[i + 1, 0] = table[i, 0] * drop[name[i]]
        for j in range(len(query)):
            table[i + 1, j + 1] = (
                table[i, j + 1] * drop[name[i]]
                + table[i + 1, j] * add[query[j]]
                + table[i, j] * change[name[i], query[j]]
            )


@kernel
def _backward(name, query, change, add, drop, table):
    """Write to ``table[i, j]`` the probability that what follows i becomes what follows j."""
    last, end = len(name), len(query)
    for i in range(last, -1, -1):
        for j in range(end, -1, -1):
            value = 1.0 if i == last and j == end else 0.0
            if i < last:
                value += table[i + 1, j] * drop[name[i]]
            if j < end:
                value += table[i, j + 1] * add[query[j]]
            if i < last and j < end:
                value += table[i + 1, j + 1] * change[name[i], query[j]]
            table[i, j] = value


@kernel
def expect_edits(names, queries, model, common, odds, changes, adds, drops):
    """Add up how often each edit is expected in pairs of names; returns the pairs' log-likelihood.

    ``names`` and ``queries`` are (symbols, offsets). Two names of one entity need not be related
    (Germany, Deutschland): a pair counts by the probability that the query was copied from the name
    rather than composed of symbols as ``common`` as they are, where ``odds`` is the logarithm of
    the odds beforehand.
    """
    change, add, drop = model
    total = 0.0
    for pair in range(len(names[1]) - 1):
        name = names[0][names[1][pair] : names[1][pair + 1]]
        query = queries[0][queries[1][pair] : queries[1][pair + 1]]
        forward = np.empty((len(name) + 1, len(query) + 1), np.float64)
        _forward(name, query, change, add, drop, forward)
        likely = forward[len(name), len(query)]
        made_up = 0.0
        for b in query:
            made_up += np.log(common[b])
        if likely < 1e-290:
            total += made_up
            continue
        ahead = np.log(likely) - made_up + odds
        share = 1.0 / (1.0 + np.exp(-ahead))
        total += max(ahead, 0.0) + np.log1p(np.exp(-abs(ahead))) + made_up
        if share < 1e-3:
            continue
        backward = np.empty_like(forward)
        _backward(name, query, change, add, drop, backward)
        for i in range(len(name) + 1):
            for j in range(len(query) + 1):
                here = share * forward[i, j] / likely
                if i < len(name):
                    drops[name[i]] += here * drop[name[i]] * backward[i + 1, j]
                if j < len(query):
                    adds[query[j]] += here * add[query[j]] * backward[i, j + 1]
                if i < len(name) and j < len(query):
                    a, b = name[i], query[j]
                    changes[a, b] += here * change[a, b] * backward[i + 1, j + 1]
    return total


@kernel
def best_edits(name, query, change, add, drop, steps):
    """Write the likeliest edits of a name into a query: pairs of places in both, -1 for none.

    ``steps`` has room for as many pairs as both have symbols; returns how many there are. The pairs
    come last first.
    """
    last, end = len(name), len(query)
    table = np.full((last + 1, end + 1), -np.inf, np.float64)
    move = np.zeros((last + 1, end + 1), np.uint8)
    table[0, 0] = 0.0
    for i in range(last + 1):
        for j in range(end + 1):
            if i > 0 and j > 0:
                value = table[i - 1, j - 1] + np.log(change[name[i - 1], query[j - 1]])
                if value > table[i, j]:
                    table[i, j], move[i, j] = value, 1
            if i > 0:
                value = table[i - 1, j] + np.log(drop[name[i - 1]])
                if value > table[i, j]:
                    table[i, j], move[i, j] = value, 2
            if j > 0:
                value = table[i, j - 1] + np.log(add[query[j - 1]])
                if value > table[i, j]:
                    table[i, j], move[i, j] = value, 3
    i, j, number = last, end, 0
    while i > 0 or j > 0:
        step = move[i, j]
        i -= step != 3
        j -= step != 2
        steps[number, 0] = i if step != 3 else -1
        steps[number, 1] = j if step != 2 else -1
        number += 1
    return number
