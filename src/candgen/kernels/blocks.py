"""Kernels that lay postings out for search, and bound every token in every block.

A block is four or eight neighbouring entities. Its postings stand together, ordered by token and
then by entity. Of each token and block levels are kept, in bytes: level**2 times a scale of the
token is at least the value of every entity of the block. The square root makes the steps small
where values are small, as most are. Rare tokens have lists of blocks, with a level of the prior and
one of the posterior; frequent ones have rows of all blocks, with a level of
P(e|t) + lam * P(t|e).
"""

import numpy as np

from candgen.kernels import inner_kernel, kernel
from candgen.kernels.prefetch import prefetch

KEY_BITS = 3
KEY_MASK = (1 << KEY_BITS) - 1
"""A posting's key has the last three bits of its entity, which say where in its block it is."""
MAX_BLOCK = 1 << KEY_BITS
GROUP_BITS = 2
GROUP = 1 << GROUP_BITS
GAP = 0xFFFF
LEVELS = 255
ESCAPE = 255

# What is known of the list of a token while postings are put in blocks: entries, first and last
# block.
ENTRIES, FIRST, LAST = range(3)

# What is known of a token while its bounds are collected, side by side to cost one cache line; from
# SHARE on there is one over its total in each layer.
NEXT, LAM, PRIOR_SUM, POSTERIOR_SUM, SHARE = range(5)

ROUND_UP = 1 + 2e-7
"""A value times this is not under the value, also in single precision."""
AHEAD = 8
"""Blocks whose postings are asked for before they are needed."""


@inner_kernel
def _sort(room, size, bits, counts):
    """Sort ``room[0, :size]`` by the upper 32 bits, of which ``bits`` are used, a byte at a time.

    Returns the row of ``room`` in which they are in order.
    """
    digits = (bits + 7) // 8
    counts[:digits] = 0
    for i in range(size):
        for digit in range(digits):
            counts[digit, (room[0, i] >> np.uint64(32 + 8 * digit)) & np.uint64(255)] += 1
    for digit in range(digits):
        before = 0
        for value in range(256):
            number = counts[digit, value]
            counts[digit, value] = before
            before += number
        items, other = room[digit & 1], room[1 - (digit & 1)]
        shift = np.uint64(32 + 8 * digit)
        for i in range(size):
            value = (items[i] >> shift) & np.uint64(255)
            other[counts[digit, value]] = items[i]
            counts[digit, value] += 1
    return digits & 1


@inner_kernel
def _note_block(b, keys, lists):
    """Count an entry in the list of each token of a block; long distances take several."""
    before = np.uint32(0xFFFFFFFF)
    for key in keys:
        t = key >> KEY_BITS
        if t == before:
            continue
        before = t
        if lists[t, ENTRIES] == 0:
            lists[t, FIRST] = b
            lists[t, ENTRIES] = 1
        else:
            lists[t, ENTRIES] += 1 + (b - np.int64(lists[t, LAST])) // GAP
        lists[t, LAST] = b


@kernel
def fill_blocks(
    first,
    last,
    block_bits,
    indptr,
    key,
    code,
    large_at,
    large,
    next_large,
    code_of,
    bits,
    lists,
    escape_at,
    escape_number,
):
    """Put the postings of blocks first to last in order, with one-byte codes of their values.

    ``key`` has tokens and gets keys; ``code`` has numbers of values, one layer after the other, and
    gets codes. Where a number is 0, it is the next of ``large``, in each layer from ``next_large``
    on. Values without a code are listed apart, by their places; returns how many there are.
    ``lists`` gets the number of entries that each token needs.
    """
    escapes = 0
    room = np.empty((2, 1024), np.uint64)
    unsorted = np.empty(1024, np.uint8)
    counts = np.empty((4, 256), np.int64)
    entities = len(indptr) - 1
    for b in range(first, last):
        # 1. Sort (token, entity), with the place that each posting comes from.
        start = indptr[min(entities, b << block_bits)]
        size = indptr[min(entities, (b + 1) << block_bits)] - start
        if size > room.shape[1]:
            room = np.empty((2, 2 * size), np.uint64)
            unsorted = np.empty(2 * size, np.uint8)
        items = room[0]
        for e in range(b << block_bits, min(entities, (b + 1) << block_bits)):
            for i in range(indptr[e], indptr[e + 1]):
                posting = np.uint64((np.int64(key[i]) << KEY_BITS) | (e & KEY_MASK))
                items[i - start] = (posting << np.uint64(32)) | np.uint64(i - start)
        items = room[_sort(room, size, bits, counts)]
        for i in range(size):
            key[start + i] = items[i] >> np.uint64(32)
        _note_block(b, key[start : start + size], lists)
        # 2. In each layer, move the numbers to their new places, as codes.
        for layer in range(len(next_large)):
            base = layer * len(key) + start
            unsorted[:size] = code[base : base + size]
            begins = next_large[layer]
            while next_large[layer] < len(large) and large_at[next_large[layer]] < base + size:
                next_large[layer] += 1
            mine = large_at[begins : next_large[layer]]
            for i in range(size):
                at = items[i] & np.uint64(0xFFFFFFFF)
                number = np.uint32(unsorted[at])
                if number == 0:
                    number = large[begins + np.searchsorted(mine, base + np.int64(at))]
                code[base + i] = code_of[number]
                if code_of[number] == ESCAPE:
                    escape_at[escapes] = base + i
                    escape_number[escapes] = number
                    escapes += 1
    return escapes


@kernel
def find_token(token, block_start, key, reached):
    """Write where in each block the postings of a token, or of the next that it has, begin."""
    for b in range(len(reached)):
        low, high = block_start[b], block_start[b + 1]
        while low < high:
            middle = (low + high) // 2
            if key[middle] >> KEY_BITS < token:
                low = middle + 1
            else:
                high = middle
        reached[b] = low


@inner_kernel
def _escaped(at, here, escape_start, escape_at, escape_value):
    """Return n(t, e) at a place of the codes; ``here`` says in which block of which layer."""
    begins, ends = escape_start[here], escape_start[here + 1]
    return escape_value[begins + np.searchsorted(escape_at[begins:ends], at)]


@kernel
def collect_bounds(
    reached,
    first,
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
    about,
    block,
    largest,
):
    """List, for tokens first to last, the blocks that have them and the largest values there.

    ``about`` has a row for each of these tokens; its entries begin at NEXT. ``largest`` gets the
    prior plus LAM times the posterior, and the posterior. ``reached`` says how far each block has
    come, and is moved on: tokens are taken some at a time, from all blocks, so that what is written
    stays in the cache.
    """
    size = entity_share.shape[1] // len(reached)
    layers = len(entity_share)
    for b in range(len(reached)):
        ahead = reached[min(b + AHEAD, len(reached) - 1)]
        prefetch(key, ahead)
        prefetch(code, ahead)
        first_entity = b * size & ~KEY_MASK
        i, end = reached[b], block_start[b + 1]
        while i < end and key[i] >> KEY_BITS < last:
            # 1. One token: its largest values and their sums in this block.
            t = np.int64(key[i] >> KEY_BITS)
            row = about[t - first]
            most = most_posterior = prior_sum = posterior_sum = 0.0
            while i < end and key[i] >> KEY_BITS == t:
                e = first_entity + np.int64(key[i] & KEY_MASK)
                prior = posterior = 0.0
                for layer in range(layers):
                    at = layer * len(key) + i
                    n = value[code[at]]
                    if code[at] == ESCAPE:
                        here = layer * len(reached) + b
                        n = _escaped(at, here, escape_start, escape_at, escape_value)
                    prior += n * row[SHARE + layer]
                    posterior += n * entity_share[layer, e]
                prior = prior if prior >= least else 0.0
                posterior = posterior if posterior >= least else 0.0
                prior_sum += prior
                posterior_sum += posterior
                most = max(most, prior + row[LAM] * posterior)
                most_posterior = max(most_posterior, posterior)
                i += 1
            # 2. The next entry of the token.
            place = np.int64(row[NEXT])
            block[place] = b
            largest[place, 0] = most * ROUND_UP
            largest[place, 1] = most_posterior * ROUND_UP
            row[NEXT] += 1.0
            row[PRIOR_SUM] += prior_sum
            row[POSTERIOR_SUM] += posterior_sum
        reached[b] = i


@inner_kernel
def _scale(most):
    """Return the scale whose highest level reaches a value: rounded up, in single precision."""
    if most == 0.0:
        return np.float32(0.0)
    return np.float32(max(most * (1 + 1e-6) / LEVELS**2, 1e-30))


@inner_kernel
def _per_square(scale):
    return 1 / np.float64(scale) if scale > 0 else 0.0


@inner_kernel
def _level(value, per_square):
    """Return the lowest level whose square, over ``per_square``, is at least a value."""
    square = value * per_square
    level = np.ceil(np.sqrt(square))
    level += level * level < square
    return np.uint32(min(level, np.float64(LEVELS)))


@kernel
def write_bounds(
    first, about, start, block, largest, list_start, dense_token, scale, dense, listed
):
    """Write scales and levels of the tokens from ``first`` on that are known ``about``.

    Their entries begin at ``start``. A token is in ``dense_token``, and has levels for all blocks,
    or has a list. An entry of a list has the distance from the block before (16 bits) and the
    levels of prior and posterior. A distance too long for 16 bits is walked in several entries,
    whose levels are 0.
    """
    d = np.searchsorted(dense_token, first)
    for row in range(len(about)):
        t = first + row
        begins, ends = start[row], np.int64(about[row, NEXT])
        # 1. The scales follow from the largest values of all blocks.
        most = most_posterior = np.float32(0.0)
        for i in range(begins, ends):
            most = max(most, largest[i, 0])
            most_posterior = max(most_posterior, largest[i, 1])
        scale[t, 0] = _scale(np.float64(most))
        per_square = _per_square(scale[t, 0])
        # 2. A row of levels.
        if d < len(dense_token) and dense_token[d] == t:
            scale[t, 1] = np.float64(most_posterior) * (1 + 1e-6)
            for i in range(begins, ends):
                dense[d, block[i]] = _level(largest[i, 0], per_square)
            d += 1
            continue
        # 3. Or a list of them.
        scale[t, 1] = _scale(np.float64(most_posterior))
        per_posterior = _per_square(scale[t, 1])
        place = np.int64(list_start[t])
        before = np.int64(0)
        for i in range(begins, ends):
            distance = np.int64(block[i]) - before
            while distance >= GAP:
                listed[place] = GAP << 16
                place += 1
                distance -= GAP
            levels = _level(largest[i, 0], per_square) << np.uint32(8)
            levels |= _level(largest[i, 1], per_posterior)
            listed[place] = np.uint32(distance) << np.uint32(16) | levels
            place += 1
            before = np.int64(block[i])


@kernel
def bound_groups(dense, group):
    """Write the largest level in each group of neighbouring blocks."""
    for row in range(dense.shape[0]):
        for g in range(group.shape[1]):
            most = np.uint8(0)
            for b in range(g << GROUP_BITS, (g + 1) << GROUP_BITS):
                most = max(most, dense[row, b])
            group[row, g] = most
