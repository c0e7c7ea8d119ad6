"""Kernels that count: plain functions of arrays, no objects inside the loops.

Mentions are sequences of symbols (code points, or numbers of words and grapheme clusters), tokens
are their n-grams, and an n-gram is a node of a trie: its parent is the n-gram without its last
symbol. A node is found by hashing (parent, last symbol), which is exact for any alphabet and any n,
because that pair always fits 64 bits.
"""

import numpy as np

from candgen.kernels import kernel

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def _slot(key, mask):
    """Return where an open-addressing table of ``mask + 1`` places starts to look for a key."""
    h = key * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(mask))


@kernel
def rehash(keys, ids, new_keys, new_ids):
    """Move a table of (key, id) into a larger one."""
    mask = len(new_keys) - 1
    for i in range(len(keys)):
        if keys[i] != EMPTY:
            j = _slot(keys[i], mask)
            while new_keys[j] != EMPTY:
                j = (j + 1) & mask
            new_keys[j] = keys[i]
            new_ids[j] = ids[i]


@kernel
def add_level(text, start, end, n, parents, nodes, keys, ids, next_node, parent_of, symbol_of):
    """Number the n-grams of rows ``text[start:end]``, given the nodes of their (n-1)-grams.

    ``parents`` and ``nodes`` hold, for each position from ``start[0]`` on, the node of the n-gram
    that begins there. New n-grams get numbers from ``next_node`` on; returns the next free one.
    """
    mask = len(keys) - 1
    base = start[0]
    for row in range(len(start)):
        for p in range(start[row], end[row] - n + 1):
            parent = parents[p - base]
            symbol = text[p + n - 1]
            key = (np.uint64(parent) << np.uint64(32)) | np.uint64(symbol)
            j = _slot(key, mask)
            while keys[j] != key and keys[j] != EMPTY:
                j = (j + 1) & mask
            if keys[j] == EMPTY:
                keys[j] = key
                ids[j] = next_node
                parent_of[next_node] = parent
                symbol_of[next_node] = symbol
                next_node += 1
            nodes[p - base] = ids[j]
    return next_node


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
def count_rows(start, end, weight, entity, lengths, nodes, place, indptr, tokens, counts, filled):
    """Sum the tokens of rows into one list per entity: the integers n_l(t, e) of one language.

    Rows are ordered by entity. ``nodes[i]`` are the nodes of tokens of ``lengths[i]`` symbols, by
    position. ``place[node]`` remembers where a node stands in the list being made; it needs no
    clearing, because an old value points outside the list or at another node. Returns the places
    filled.
    """
    base = start[0]
    first = filled
    for row in range(len(start)):
        if row > 0 and entity[row] != entity[row - 1]:
            first = filled
        for i in range(len(lengths)):
            level = nodes[i]
            for p in range(start[row] - base, end[row] - base - lengths[i] + 1):
                node = level[p]
                at = first + np.int64(place[node])
                if at < filled and tokens[at] == node:
                    counts[at] += weight[row]
                else:
                    place[node] = filled - first
                    tokens[filled] = node
                    counts[filled] = weight[row]
                    filled += 1
        indptr[entity[row] + 1] = filled
    return filled


@kernel
def renumber(tokens, counts, number, totals):
    """Give tokens their final numbers, and sum N_l(t)."""
    for i in range(len(tokens)):
        token = number[tokens[i]]
        tokens[i] = token
        totals[token] += counts[i]


@kernel
def pool(
    indptrs,
    tokens,
    counts,
    layer_of,
    alphas,
    token_total,
    entity_total,
    least,
    first_entity,
    place,
    out_indptr,
    out_tokens,
    out_values,
    filled,
    keys,
    ids,
    values,
    uses,
    distinct,
    dropped,
):
    """Sum the counts of each entity over all languages; write them as numbers of values.

    The languages of one layer are summed, n(t, e) = sum of alpha_l * n_l(t, e); a posting has a
    value in every layer, and totals are those of each layer. A posting is dropped if both its prior
    and its posterior are under ``least``; ``dropped`` counts the priors, posteriors and postings
    that are. Returns (next entity, places filled, distinct values): it stops early when the table
    of values may get too full, to be called again with a larger one.
    """
    mask = len(keys) - 1
    layers = len(token_total)
    # A float64 is hashed by its bits: both arrays are the same eight bytes.
    scratch = np.empty(1, np.float64)
    bits = scratch.view(np.uint64)
    sums = np.empty((layers, 64), np.float64)
    for e in range(first_entity, entity_total.shape[1]):
        # How many postings the entity can have at most: those of all languages.
        size = 0
        for part in range(len(indptrs)):
            size += indptrs[part][e + 1] - indptrs[part][e]
        # Each may be a new value. The table stays at most half full, so that it stays fast.
        if distinct + layers * size > len(keys) // 2:
            return e, filled, distinct
        if size > sums.shape[1]:
            sums = np.empty((layers, 2 * size), np.float64)

        # 1. Merge the lists of the languages. The entity's tokens are collected, each once, in
        # out_tokens[filled:end], and their counts summed at the same places of ``sums``.
        end = filled
        for part in range(len(indptrs)):
            layer = layer_of[part]
            for i in range(indptrs[part][e], indptrs[part][e + 1]):
                node = tokens[part][i]
                # place[node] says where the token stands in the list. It is never cleared: a value
                # from an earlier entity points behind the end or at another token.
                at = filled + np.int64(place[node])
                if at >= end or out_tokens[at] != node:
                    at = end
                    place[node] = at - filled
                    out_tokens[at] = node
                    sums[:, at - filled] = 0.0
                    end += 1
                sums[layer, at - filled] += alphas[part] * counts[part][i]

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
            # values, because most counts are small: a number takes half the memory.
            for layer in range(layers):
                scratch[0] = sums[layer, i]
                key = bits[0]
                j = _slot(key, mask)
                while keys[j] != key and keys[j] != EMPTY:
                    j = (j + 1) & mask
                if keys[j] == EMPTY:
                    keys[j] = key
                    ids[j] = distinct
                    values[distinct] = sums[layer, i]
                    distinct += 1
                uses[ids[j]] += 1
                out_values[layer, kept] = ids[j]
            kept += 1

        # 4. The entity's postings end here; the next entity's begin.
        filled = kept
        out_indptr[e + 1] = filled
    return entity_total.shape[1], filled, distinct
