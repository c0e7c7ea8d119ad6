"""Kernels that bound the score of a mention in every block, or in every group of blocks.

A bound is a whole number of 16 bits, in units of its mention. A token brings to a block
level**2 * step / 2**16 units, rounded up; the level is a byte that the index has for them.
Sums that do not fit stay at 65,535, which no limit exceeds: such a block is always looked at.
"""

import numpy as np

from candgen.kernels import inner_kernel
from candgen.kernels.blocks import GROUP, GROUP_BITS, LEVELS
from candgen.kernels.prefetch import prefetch

TILE = 4096
"""Blocks that are bounded at a time, so that their bounds stay in the fastest cache."""
MOST = np.uint16(65535)
SQUARE = float(LEVELS * LEVELS)
SHARPNESS = 4.0
"""How many times the largest bound of a mention all its tokens together could reach. Real bounds
are far from reaching it: with 4, their units are four times as fine."""

EIGHT, SIXTEEN, BYTE = np.uint32(8), np.uint32(16), np.uint32(255)


@inner_kernel
def dense_row(blocks, t):
    """Return the row of a token that has bounds for all blocks; -1 for one that has a list."""
    if blocks.list_start[t] < blocks.list_start[t + 1]:
        return -1
    left, right = 0, len(blocks.dense_token)
    while left < right:
        middle = (left + right) >> 1
        if blocks.dense_token[middle] < t:
            left = middle + 1
        else:
            right = middle
    if left < len(blocks.dense_token) and blocks.dense_token[left] == t:
        return left
    return -1


@inner_kernel
def prefetch_tokens(blocks, tokens):
    """Ask for what the index has of each token: they are far apart in memory."""
    for t in tokens:
        prefetch(blocks.list_start, t)
        prefetch(blocks.scale, 2 * t)
        prefetch(blocks.token_total, t)


@inner_kernel
def measure_steps(blocks, tokens, times, lam, row, step):
    """Write the row and the steps of each token; returns (units per score, units of every block).

    Lists have a level of the prior and one of the posterior, and so two steps. Rows have one level
    of P(e|t) + own * P(t|e), ``own`` being the lam that the index was built with. It bounds every
    smaller lam too; for a larger one it is multiplied by lam / own: rows are those of frequent
    tokens, where the posterior is nearly all. Where own is 0, the largest posterior of the token
    is added to every block.
    """
    own = blocks.bound_lam[0]
    ratio = lam / own if own > 0.0 and lam > own else 1.0
    lacking = lam if own == 0.0 else 0.0
    whole = largest = everywhere = 0.0
    for j in range(len(tokens)):
        t = tokens[j]
        row[j] = dense_row(blocks, t)
        if row[j] >= 0:
            reached = ratio * SQUARE * blocks.scale[t, 0]
            everywhere += times[j] * lacking * blocks.scale[t, 1]
        else:
            reached = SQUARE * (blocks.scale[t, 0] + lam * blocks.scale[t, 1])
        largest = max(largest, times[j] * reached)
        whole += times[j] * reached
    whole += everywhere
    if len(blocks.background) > 0:
        whole += lam * times.sum() * LEVELS * blocks.background_scale[0]
    step[:] = 0
    if whole == 0.0:
        return 0.0, 0.0
    unit = min(SHARPNESS * 65000.0 / whole, 65000.0 / largest if largest > 0.0 else np.inf)
    rows = 0
    for j in range(len(tokens)):
        t = tokens[j]
        part = times[j] * unit * 65536.0
        if row[j] >= 0:
            step[j, 0] = np.uint16(np.ceil(part * ratio * blocks.scale[t, 0]))
            rows += 1
        else:
            step[j, 0] = np.uint16(np.ceil(part * blocks.scale[t, 0]))
            step[j, 1] = np.uint16(np.ceil(part * lam * blocks.scale[t, 1]))
    # A level times a step is rounded down: one unit for each row makes up for that.
    return unit, rows + np.ceil(everywhere * unit)


@inner_kernel
def _prefetch_entries(blocks, first, number):
    """Ask for entries of lists."""
    for at in range(first, first + number, 16):
        prefetch(blocks.listed, at)


@inner_kernel
def add_lists(blocks, tokens, row, step, brought, bound, stop):
    """Add what tokens with lists bring to the bounds of blocks; ``brought`` is working memory.

    First the units of some entries, in a loop that the compiler turns into vector instructions,
    then their sums: together they take half as long as one loop.
    """
    for j in range(len(tokens)):
        if stop[0]:
            break
        if row[j] >= 0:
            continue
        t = tokens[j]
        of_prior, of_posterior = np.uint32(step[j, 0]), np.uint32(step[j, 1])
        block = np.uint64(0)
        end = np.int64(blocks.list_start[t + 1])
        if j + 1 < len(tokens):
            _prefetch_entries(blocks, np.int64(blocks.list_start[tokens[j + 1]]), len(brought))
        for first in range(np.int64(blocks.list_start[t]), end, len(brought)):
            _prefetch_entries(blocks, first + 2 * len(brought), len(brought))
            entries = blocks.listed[first : min(end, first + len(brought))]
            for i in range(len(entries)):
                prior, posterior = entries[i] >> EIGHT & BYTE, entries[i] & BYTE
                units = np.uint32(np.uint32(prior * prior) * of_prior) >> SIXTEEN
                units += np.uint32(np.uint32(posterior * posterior) * of_posterior) >> SIXTEEN
                brought[i] = units + np.uint32(2)  # both were rounded down
            for i in range(len(entries)):
                block += np.uint64(entries[i] >> SIXTEEN)
                total = np.uint32(np.uint32(bound[block]) + brought[i])
                bound[block] = np.uint16(min(total, np.uint32(65535)))


@inner_kernel
def add_row(row, step, bound):
    """Add what one token brings to the bounds of neighbouring blocks, or groups.

    Written so that the compiler uses vector instructions of 16 bits: every value is cut to them.
    """
    for b in range(len(bound)):
        level = np.uint16(row[b])
        square = np.uint16(level * level)
        brought = np.uint16(np.uint32(np.uint32(square) * np.uint32(step)) >> np.uint32(16))
        total = np.uint16(bound[b] + brought)
        bound[b] = total if total >= brought else MOST


@inner_kernel
def add_rows(levels, row, step, bound, stop):
    """Add what all tokens with rows bring, some blocks at a time."""
    for first in range(0, len(bound), TILE):
        if stop[0]:
            break
        last = min(len(bound), first + TILE)
        for j in range(len(row)):
            if j + 1 < len(row):
                for at in range(first, last, 64):
                    prefetch(levels, row[j + 1] * levels.shape[1] + at)
            add_row(levels[row[j], first:last], step[j, 0], bound[first:last])


@inner_kernel
def prefetch_group(dense, row, group):
    """Ask for the levels of the blocks of a group, which is bounded soon."""
    for j in range(len(row)):
        prefetch(dense, row[j] * dense.shape[1] + (group << GROUP_BITS))


@inner_kernel
def add_group(dense, row, step, group, bound):
    """Add what tokens with rows bring to the blocks of one group."""
    first = group << GROUP_BITS
    for j in range(len(row)):
        mine = np.uint32(step[j, 0])
        for b in range(first, first + GROUP):
            level = np.uint32(dense[row[j], b])
            brought = np.uint32(np.uint32(np.uint32(level * level) * mine) >> SIXTEEN)
            bound[b] = np.uint16(min(np.uint32(bound[b] + brought), np.uint32(65535)))


@inner_kernel
def largest_of_groups(bound, group_bound):
    """Write the largest bound of each group of four neighbouring blocks."""
    for g in range(len(group_bound)):
        first = np.uint64(g << GROUP_BITS)
        # Two pairs rather than a loop over four: this the compiler vectorizes.
        one = np.uint16(max(bound[first], bound[first + np.uint64(1)]))
        other = np.uint16(max(bound[first + np.uint64(2)], bound[first + np.uint64(3)]))
        group_bound[g] = np.uint16(max(one, other))
