"""Kernels that lay postings out for search, and bound every token in every block.

A block is four or eight neighbouring entities. Its postings stand together, ordered by token and
then by entity. Of each token and block levels are kept, in bytes: level**2 times a scale of the
token is at least the value of every entity of the block. The square root makes the steps small
where values are small, as most are. Rare tokens have lists of blocks, with a level of the prior and
one of the posterior; frequent ones have rows of all blocks, with a level of
P(e|t) + lam * P(t|e).
"""

import numpy as np

from candgen.kernels import kernel

KEY_BITS = 3
KEY_MASK = (1 << KEY_BITS) - 1
"""A posting's key has the last three bits of its entity, which say where in its block it is."""
MAX_BLOCK = 1 << KEY_BITS
GROUP_BITS = 2
GROUP = 1 << GROUP_BITS
GAP = 0xFFFF
LEVELS = 255
ESCAPE = 255

# What is known of a token while bounds are made, side by side to cost one cache line; from SHARE on
# there is one over its total in each layer.
PRIOR, POSTERIOR, BOTH, PRIOR_SUM, POSTERIOR_SUM, SIZE, PREVIOUS, SHARE = range(8)


@kernel
def _sort(items, other, bits, counts):
    """Sort by the upper 32 bits, of which ``bits`` are used, a byte at a time."""
    digits = (bits + 7) // 8
    counts[:digits] = 0
    for item in items:
        for digit in range(digits):
            counts[digit, (item >> np.uint64(32 + 8 * digit)) & np.uint64(255)] += 1
    for digit in range(digits):
        before = 0
        for value in range(256):
            number = counts[digit, value]
            counts[digit, value] = before
            before += number
        shift = np.uint64(32 + 8 * digit)
        for item in items:
            value = (item >> shift) & np.uint64(255)
            place = np.uint64(counts[digit, value])
            counts[digit, value] += 1
            other[place] = item
        items, other = other, items
    return items


@kernel
def fill_blocks(
    first,
    last,
    block_bits,
    indptr,
    tokens,
    numbers,
    code_of,
    bits,
    key,
    code,
    escape_at,
    escape_number,
):
    """Write the postings of blocks first to last in order, with one-byte codes of their values.

    ``code`` has one layer after the other. Values without a code are listed apart, by their places
    in it; returns how many there are.
    """
    escapes = 0
    room = np.empty((2, 1024), np.uint64)
    counts = np.empty((4, 256), np.int64)
    entities = len(indptr) - 1
    for b in range(first, last):
        start = indptr[min(entities, b << block_bits)]
        size = indptr[min(entities, (b + 1) << block_bits)] - start
        if size > room.shape[1]:
            room = np.empty((2, 2 * size), np.uint64)
        items = room[0, :size]
        for e in range(b << block_bits, min(entities, (b + 1) << block_bits)):
            for i in range(indptr[e], indptr[e + 1]):
                posting = np.uint64((np.int64(tokens[i]) << KEY_BITS) | (e & KEY_MASK))
                items[i - start] = (posting << np.uint64(32)) | np.uint64(i - start)
        items = _sort(items, room[1, :size], bits, counts)
        for i in range(size):
            key[start + i] = items[i] >> np.uint64(32)
            at = start + np.int64(items[i] & np.uint64(0xFFFFFFFF))
            for layer in range(len(numbers)):
                number = numbers[layer, at]
                place = layer * len(key) + start + i
                code[place] = code_of[number]
                if code_of[number] == ESCAPE:
                    escape_at[escapes] = place
                    escape_number[escapes] = number
                    escapes += 1
    return escapes


@kernel
def _count(i, begins, ends, code, value, escape_at, escape_value):
    """Return n(t, e) at a place of the codes: layer times postings, plus the posting.

    The escapes of its block and layer are ``begins`` to ``ends - 1``.
    """
    if code[i] == ESCAPE:
        return escape_value[begins + np.searchsorted(escape_at[begins:ends], i)]
    return value[code[i]]


@kernel
def measure_tokens(
    reached,
    last,
    block_start,
    key,
    code,
    value,
    escape_start,
    escape_at,
    escape_value,
    entity_share,
    least,
    lam,
    about,
):
    """Measure tokens up to the last: largest values, sums, length of the list.

    ``reached`` says how far each block has come, and is moved on. Tokens are taken some at a time,
    from all blocks, so that what is known ``about`` them stays in the cache.
    """
    size = entity_share.shape[1] // len(reached)
    for b in range(len(reached)):
        before = np.uint64(0xFFFFFFFF)
        first = b * size & ~KEY_MASK
        i = reached[b]
        while i < block_start[b + 1] and key[i] >> KEY_BITS < last:
            t = np.uint64(key[i] >> KEY_BITS)
            e = first + (key[i] & KEY_MASK)
            prior = posterior = 0.0
            for layer in range(len(entity_share)):
                here = layer * len(reached) + b
                begins, ends = escape_start[here], escape_start[here + 1]
                at = layer * len(key) + i
                n = _count(at, begins, ends, code, value, escape_at, escape_value)
                prior += n * about[t, SHARE + layer]
                posterior += n * entity_share[layer, e]
            both = 0.0
            if prior >= least:
                about[t, PRIOR_SUM] += prior
                about[t, PRIOR] = max(about[t, PRIOR], prior)
                both = prior
            if posterior >= least:
                about[t, POSTERIOR_SUM] += posterior
                about[t, POSTERIOR] = max(about[t, POSTERIOR], posterior)
                both += lam * posterior
            about[t, BOTH] = max(about[t, BOTH], both)
            if t != before:
                about[t, SIZE] += 1 + (b - np.int64(about[t, PREVIOUS])) // GAP
                about[t, PREVIOUS] = b
                before = t
            i += 1
        reached[b] = i


@kernel
def _level(value, per_square):
    """Return the lowest level whose square, over ``per_square``, is at least a value."""
    if value == 0.0:
        return np.int64(0)
    square = value * per_square
    level = np.int64(np.ceil(np.sqrt(square)))
    level += level * level < square
    return min(np.int64(LEVELS), level)


@kernel
def bound_tokens(
    reached,
    last,
    block_start,
    key,
    code,
    value,
    escape_start,
    escape_at,
    escape_value,
    entity_share,
    least,
    lam,
    about,
    dense,
    listed,
):
    """Write the levels of tokens up to the last, in their lists or, if dense, for all blocks.

    An entry of a list has the distance from the block before (16 bits) and the levels of prior and
    posterior. A distance too long for 16 bits is walked in several entries, whose levels are 0.
    Here PRIOR, POSTERIOR and BOTH are squared levels per value, BOTH is 0 for tokens with lists,
    and SIZE is the next place in the list, or the row.
    """
    size = entity_share.shape[1] // len(reached)
    for b in range(len(reached)):
        first = b * size & ~KEY_MASK
        i = reached[b]
        while i < block_start[b + 1] and key[i] >> KEY_BITS < last:
            t = np.uint64(key[i] >> KEY_BITS)
            most = most_posterior = most_both = 0.0
            while i < block_start[b + 1] and key[i] >> KEY_BITS == t:
                # As in measure_tokens: a function that both call makes both twice as slow.
                e = first + (key[i] & KEY_MASK)
                prior = posterior = 0.0
                for layer in range(len(entity_share)):
                    here = layer * len(reached) + b
                    begins, ends = escape_start[here], escape_start[here + 1]
                    at = layer * len(key) + i
                    n = _count(at, begins, ends, code, value, escape_at, escape_value)
                    prior += n * about[t, SHARE + layer]
                    posterior += n * entity_share[layer, e]
                if prior < least:
                    prior = 0.0
                if posterior < least:
                    posterior = 0.0
                most = max(most, prior)
                most_posterior = max(most_posterior, posterior)
                most_both = max(most_both, prior + lam * posterior)
                i += 1
            place = np.int64(about[t, SIZE])
            if about[t, BOTH] > 0.0:
                dense[place, b] = _level(most_both, about[t, BOTH])
                continue
            distance = b - np.int64(about[t, PREVIOUS])
            while distance >= GAP:
                listed[place] = GAP << 16
                place += 1
                distance -= GAP
            levels = _level(most, about[t, PRIOR]) << 8
            levels |= _level(most_posterior, about[t, POSTERIOR])
            listed[place] = (distance << 16) | levels
            about[t, SIZE] = place + 1
            about[t, PREVIOUS] = b
        reached[b] = i


@kernel
def bound_groups(dense, group):
    """Write the largest level in each group of neighbouring blocks."""
    for row in range(dense.shape[0]):
        for g in range(group.shape[1]):
            most = np.uint8(0)
            for b in range(g << GROUP_BITS, (g + 1) << GROUP_BITS):
                most = max(most, dense[row, b])
            group[row, g] = most
