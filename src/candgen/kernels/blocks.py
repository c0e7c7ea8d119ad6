"""Kernels that lay postings out for search, and bound every token in every block.

A block is eight neighbouring entities. Its postings stand together, ordered by token and then by
entity. Of each token and block two bounds are kept, of the largest prior and of the largest
posterior in the block, as bytes that count in steps of the token's own scale, rounded up.
"""

import numpy as np

from candgen.kernels import kernel

BLOCK_BITS = 3
BLOCK = 1 << BLOCK_BITS
GROUP_BITS = 3
GROUP = 1 << GROUP_BITS
GAP = 0xFFFF
ESCAPE = 255

# What is known of a token while bounds are made, side by side to cost one cache line; from SHARE on
# there is one over its total in each layer.
PRIOR, POSTERIOR, PRIOR_SUM, POSTERIOR_SUM, SIZE, PREVIOUS, ROW, SHARE = range(8)


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
    first, last, indptr, tokens, numbers, code_of, bits, key, code, escape_at, escape_number
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
        start = indptr[min(entities, b << BLOCK_BITS)]
        size = indptr[min(entities, (b + 1) << BLOCK_BITS)] - start
        if size > room.shape[1]:
            room = np.empty((2, 2 * size), np.uint64)
        items = room[0, :size]
        for e in range(b << BLOCK_BITS, min(entities, (b + 1) << BLOCK_BITS)):
            for i in range(indptr[e], indptr[e + 1]):
                posting = np.uint64((np.int64(tokens[i]) << BLOCK_BITS) | (e & (BLOCK - 1)))
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
def _count(i, code, value, escape_at, escape_value):
    """Return n(t, e) at a place of the codes: layer times postings, plus the posting."""
    if code[i] == ESCAPE:
        return escape_value[np.searchsorted(escape_at, i)]
    return value[code[i]]


@kernel
def measure_tokens(
    reached,
    last,
    block_start,
    key,
    code,
    value,
    escape_at,
    escape_value,
    entity_share,
    least,
    about,
):
    """Measure tokens up to the last: largest prior and posterior, their sums, length of the list.

    ``reached`` says how far each block has come, and is moved on. Tokens are taken some at a time,
    from all blocks, so that what is known ``about`` them stays in the cache.
    """
    for b in range(len(reached)):
        before = np.uint64(0xFFFFFFFF)
        i = reached[b]
        while i < block_start[b + 1] and key[i] >> BLOCK_BITS < last:
            t = np.uint64(key[i] >> BLOCK_BITS)
            e = (b << BLOCK_BITS) + (key[i] & (BLOCK - 1))
            prior = posterior = 0.0
            for layer in range(len(entity_share)):
                n = _count(layer * len(key) + i, code, value, escape_at, escape_value)
                prior += n * about[t, SHARE + layer]
                posterior += n * entity_share[layer, e]
            if prior >= least:
                about[t, PRIOR_SUM] += prior
                about[t, PRIOR] = max(about[t, PRIOR], prior)
            if posterior >= least:
                about[t, POSTERIOR_SUM] += posterior
                about[t, POSTERIOR] = max(about[t, POSTERIOR], posterior)
            if t != before:
                about[t, SIZE] += 1 + (b - np.int64(about[t, PREVIOUS])) // GAP
                about[t, PREVIOUS] = b
                before = t
            i += 1
        reached[b] = i


@kernel
def _steps(probability, least, per_step):
    """Return a probability in steps of a scale, rounded up; 0 if it is under the threshold."""
    if probability < least:
        return np.int64(0)
    return min(np.int64(255), np.int64(np.ceil(probability * per_step)))


@kernel
def bound_tokens(
    reached,
    last,
    block_start,
    key,
    code,
    value,
    escape_at,
    escape_value,
    entity_share,
    least,
    about,
    dense,
    group_prior,
    listed,
):
    """Write the bounds of tokens up to the last, in their lists or, if dense, for all groups.

    An entry of a list has the distance from the block before (16 bits) and the bounds of prior and
    posterior. A distance too long for 16 bits is walked in several entries, whose bounds are 0.
    Here PRIOR and POSTERIOR are steps per probability, and SIZE is the next place in the list.
    """
    for b in range(len(reached)):
        i = reached[b]
        group, inside = b >> GROUP_BITS, b & (GROUP - 1)
        while i < block_start[b + 1] and key[i] >> BLOCK_BITS < last:
            t = np.uint64(key[i] >> BLOCK_BITS)
            most = most_posterior = 0.0
            while i < block_start[b + 1] and key[i] >> BLOCK_BITS == t:
                # As in measure_tokens: a function that both call makes both twice as slow.
                e = (b << BLOCK_BITS) + (key[i] & (BLOCK - 1))
                prior = posterior = 0.0
                for layer in range(len(entity_share)):
                    n = _count(layer * len(key) + i, code, value, escape_at, escape_value)
                    prior += n * about[t, SHARE + layer]
                    posterior += n * entity_share[layer, e]
                most = max(most, prior)
                most_posterior = max(most_posterior, posterior)
                i += 1
            prior_steps = _steps(most, least, about[t, PRIOR])
            steps = _steps(most_posterior, least, about[t, POSTERIOR])
            row = np.int64(about[t, ROW])
            if row >= 0:
                dense[group, row, inside] = steps
                group_prior[row, group] = max(group_prior[row, group], prior_steps)
                continue
            distance = b - np.int64(about[t, PREVIOUS])
            place = np.int64(about[t, SIZE])
            while distance >= GAP:
                listed[place] = GAP << 16
                place += 1
                distance -= GAP
            listed[place] = (distance << 16) | (prior_steps << 8) | steps
            about[t, SIZE] = place + 1
            about[t, PREVIOUS] = b
        reached[b] = i


@kernel
def bound_groups(dense, group_posterior):
    """Write the largest posterior bound in each group of neighbouring blocks."""
    for g in range(dense.shape[0]):
        for row in range(dense.shape[1]):
            group_posterior[row, g] = dense[g, row].max()
