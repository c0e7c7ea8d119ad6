"""Kernels that count: plain functions of arrays, no objects inside the loops.

Mentions are sequences of symbols (code points, or numbers of words and grapheme clusters), tokens
are their n-grams, and an n-gram is a node of a trie: its parent is the n-gram without its last
symbol. A node is found by hashing (parent, last symbol), which is exact for any alphabet and any n,
because that pair always fits 64 bits.
"""

import numpy as np

from candgen.kernels import inner_kernel, kernel
from candgen.kernels.prefetch import prefetch

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
LARGE = 256
"""Counts from here on do not fit a byte: they are listed apart."""
BATCH = 256
"""Keys whose places in a hash table are asked for before the first is looked up."""


@inner_kernel
def _slot(key, mask):
    """Return where an open-addressing table of ``mask + 1`` places starts to look for a key."""
    h = key * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(mask))


@inner_kernel
def _find(table, key, j):
    """Return the place of a key in a table of (key, number), or the empty one for it."""
    while table[j, 0] != key and table[j, 0] != EMPTY:
        j = (j + 1) & (len(table) - 1)
    return j


@kernel
def rehash(table, larger):
    """Move a table of (key, number) into a larger one."""
    mask = len(larger) - 1
    for i in range(len(table)):
        if table[i, 0] != EMPTY:
            j = _find(larger, table[i, 0], _slot(table[i, 0], mask))
            larger[j, 0] = table[i, 0]
            larger[j, 1] = table[i, 1]


@inner_kernel
def _number_batch(size, keys, slots, places, nodes, table, next_node, parent_of, symbol_of):
    """Look up the keys of a batch; see add_level."""
    for i in range(size):
        key = keys[i]
        j = _find(table, key, slots[i])
        if table[j, 0] == EMPTY:
            table[j, 0] = key
            table[j, 1] = next_node
            parent_of[next_node] = key >> np.uint64(32)
            symbol_of[next_node] = key & np.uint64(0xFFFFFFFF)
            next_node += 1
        nodes[places[i]] = table[j, 1]
    return next_node


@kernel
def add_level(text, start, end, n, parents, nodes, table, next_node, parent_of, symbol_of):
    """Number the n-grams of rows ``text[start:end]``, given the nodes of their (n-1)-grams.

    ``parents`` and ``nodes`` hold, for each position from ``start[0]`` on, the node of the n-gram
    that begins there. New n-grams get numbers from ``next_node`` on; returns the next free one.
    """
    keys = np.empty(BATCH, np.uint64)
    slots = np.empty(BATCH, np.int64)
    places = np.empty(BATCH, np.int64)
    size = 0
    base = start[0]
    for row in range(len(start)):
        for p in range(start[row] - base, end[row] - base - n + 1):
            # 1. Compute keys and ask for their places in the table, without waiting for any.
            symbol = np.uint64(text[base + p + n - 1])
            keys[size] = (np.uint64(parents[p]) << np.uint64(32)) | symbol
            slots[size] = _slot(keys[size], len(table) - 1)
            places[size] = p
            prefetch(table, slots[size] * 2)
            size += 1
            # 2. By now the first ones have arrived.
            if size == BATCH:
                next_node = _number_batch(
                    size, keys, slots, places, nodes, table, next_node, parent_of, symbol_of
                )
                size = 0
    return _number_batch(size, keys, slots, places, nodes, table, next_node, parent_of, symbol_of)


@kernel
def name_entities(text, start, end, entity, count, most, name):
    """Write the beginning of each entity's most frequent mention, a byte for each symbol."""
    for row in range(len(start)):
        e = entity[row]
        if count[row] > most[e]:
            most[e] = count[row]
            key = np.uint64(0)
            for p in range(start[row], start[row] + 8):
                symbol = text[p] if p < end[row] else np.uint32(0)
                key = (key << np.uint64(8)) | np.uint64(symbol & np.uint32(255))
            name[e] = key


@kernel
def tally(numbers, uses):
    """Count how often each number occurs."""
    for number in numbers:
        uses[number] += 1


@kernel
def gather_rows(text, start, end, moved):
    """Copy rows, in the order given, side by side."""
    filled = 0
    for row in range(len(start)):
        for p in range(start[row], end[row]):
            moved[filled] = text[p]
            filled += 1


@kernel
def count_rows(
    start, end, weight, entity, lengths, nodes, place, sums, indptr, tokens, low, filled, at, high
):
    """Sum the tokens of rows into one list per entity: the integers n_l(t, e) of one language.

    Rows are ordered by entity. ``nodes[i]`` are the nodes of tokens of ``lengths[i]`` symbols, by
    position. ``place[node]`` remembers where a node was written last: in the list being made, or
    before it. ``sums`` is working memory. Counts under LARGE are written to ``low``; of others,
    places and counts go to ``at`` and ``high``. Returns the places filled, and how many counts are
    large.
    """
    base = start[0]
    first = filled
    larges = 0
    for row in range(len(start)):
        # 1. Add the row's tokens to the list of its entity.
        for i in range(len(lengths)):
            level = nodes[i]
            for p in range(start[row] - base, end[row] - base - lengths[i] + 1):
                node = level[p]
                if place[node] >= first:
                    sums[place[node] - first] += weight[row]
                else:
                    place[node] = filled
                    tokens[filled] = node
                    sums[filled - first] = weight[row]
                    filled += 1
        if row + 1 < len(start) and entity[row] == entity[row + 1]:
            continue
        # 2. The list is complete: write its counts.
        most = 0
        for j in range(filled - first):
            low[first + j] = sums[j] if sums[j] < LARGE else 0
            most = max(most, sums[j])
        if most >= LARGE:
            for j in range(filled - first):
                if sums[j] >= LARGE:
                    at[larges] = first + j
                    high[larges] = sums[j]
                    larges += 1
        indptr[entity[row] + 1] = filled
        first = filled
    return filled, larges


@kernel
def renumber(tokens, low, high, number, totals):
    """Give tokens their final numbers, and sum N_l(t)."""
    larges = 0
    for i in range(len(tokens)):
        token = number[tokens[i]]
        tokens[i] = token
        if low[i] > 0:
            totals[token] += low[i]
        else:
            totals[token] += high[larges]
            larges += 1


@kernel
def pool(
    indptr,
    tokens,
    low,
    high,
    next_high,
    layer_of,
    alphas,
    token_total,
    entity_total,
    least,
    first_entity,
    place,
    out_indptr,
    out_tokens,
    out_numbers,
    filled,
    out_place,
    out_number,
    table,
    values,
    uses,
    distinct,
    dropped,
):
    """Sum the counts of each entity over all languages; write them as numbers of values.

    Entity e has, in language l, postings ``indptr[l, e]`` to ``indptr[l, e + 1] - 1``; a count that
    is 0 in ``low`` is ``high[next_high[l]]``, which is moved on. The languages of one layer are
    summed, n(t, e) = sum of alpha_l * n_l(t, e); a posting has a value in every layer, and totals
    are those of each layer. A posting is dropped if both its prior and its posterior are under
    ``least``; ``dropped`` counts the priors, posteriors and postings that are.

    A number that does not fit a byte is 0 there; its place, (posting, layer), and the number itself
    go to ``out_place`` and ``out_number``. Returns (next entity, places filled, large numbers,
    distinct values): it stops early when the table of values may get too full, or the large numbers
    too many, to be called again with more room.
    """
    mask = len(table) - 1
    languages, layers = len(indptr), len(token_total)
    larges = 0
    # A float64 is hashed by its bits: both arrays are the same eight bytes.
    scratch = np.empty(1, np.float64)
    bits = scratch.view(np.uint64)
    sums = np.empty((layers, 64), np.float64)
    for e in range(first_entity, entity_total.shape[1]):
        # How many postings the entity can have at most, and all before it: those of all languages.
        size = before = 0
        for part in range(languages):
            size += indptr[part, e + 1] - indptr[part, e]
            before += indptr[part, e] - indptr[part, 0]
        # Each may be a new value. The table stays at most half full, so that it stays fast.
        more = layers * size
        if distinct + more > len(table) // 2 or larges + more > len(out_number):
            return e, filled, larges, distinct
        if size > sums.shape[1]:
            sums = np.empty((layers, 2 * size), np.float64)

        # 1. Merge the lists of the languages. The entity's tokens are collected, each once, in
        # out_tokens[filled:end], and their counts summed at the same places of ``sums``.
        end = filled
        for part in range(languages):
            layer = layer_of[part]
            for i in range(indptr[part, e], indptr[part, e + 1]):
                node = tokens[i]
                n = np.int64(low[i])
                if n == 0:
                    n = high[next_high[part]]
                    next_high[part] += 1
                # place[node] - before says where the token stands in the list; it is negative if
                # the token was last seen with an earlier entity.
                at = place[node] - before
                if at < 0:
                    at = end - filled
                    place[node] = before + at
                    out_tokens[end] = node
                    sums[:, at] = 0.0
                    end += 1
                sums[layer, at] += alphas[part] * n

        # 2. Drop postings under the threshold, and move the others together: kept <= filled + i.
        kept = filled
        for i in range(end - filled):
            node = out_tokens[filled + i]
            if least > 0.0:
                prior = posterior = 0.0
                for layer in range(layers):
                    prior += sums[layer, i] / token_total[layer, node]
                    posterior += sums[layer, i] / entity_total[layer, e]
                dropped[0] += prior < least
                dropped[1] += posterior < least
                if prior < least and posterior < least:
                    dropped[2] += 1
                    continue
            out_tokens[kept] = node

            # 3. Replace each sum by its number in the table of values. There are few distinct
            # values, because most counts are small: most numbers fit a byte.
            for layer in range(layers):
                scratch[0] = sums[layer, i]
                j = _find(table, bits[0], _slot(bits[0], mask))
                if table[j, 0] == EMPTY:
                    table[j, 0] = bits[0]
                    table[j, 1] = distinct
                    values[distinct] = sums[layer, i]
                    distinct += 1
                number = table[j, 1]
                uses[number] += 1
                out_numbers[layer, kept] = number if number < LARGE else 0
                if number >= LARGE:
                    out_place[larges, 0] = kept
                    out_place[larges, 1] = layer
                    out_number[larges] = number
                    larges += 1
            kept += 1

        # 4. The entity's postings end here; the next entity's begin.
        filled = kept
        out_indptr[e + 1] = filled
    return entity_total.shape[1], filled, larges, distinct
