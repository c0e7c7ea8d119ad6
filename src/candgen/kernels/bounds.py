"""Kernels that bound the score of a mention in every block, or in every group of blocks.

A bound is a whole number of 16 bits, in units of its mention. A token brings to a block
level**2 * step / 2**16 units, rounded up; the level is the byte that the index has for them.
Sums that do not fit stay at 65,535, which no limit exceeds: such a block is always looked at.
"""

import numpy as np

from candgen.kernels import inner_kernel
from candgen.kernels.blocks import GROUP, GROUP_BITS, LEVELS
from candgen.kernels.prefetch import prefetch

TILE = 4096
"""Blocks that are bounded at a time, so that their bounds stay in the fastest cache."""
MOST = np.uint16(65535)
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
def measure_steps(blocks, tokens, times, lam, row, step, extra):
    """Write the row and the step of each token; returns (units per score, units of every block).

    Levels are those of P(e|t) + own * P(t|e), ``own`` being the lam that the index was built with.
    They bound every smaller lam too. For a larger one, lists add (lam - own) * the token's largest
    posterior, ``extra``, and rows are multiplied by lam / own: in frequent tokens the posterior
    is nearly all, so that this is close. Without an own lam, rows add like lists, to all blocks.
    """
    own = blocks.bound_lam[0]
    more = max(lam - own, 0.0)
    times_more = lam / own if more > 0.0 and own > 0.0 else 1.0
    whole = largest = everywhere = 0.0
    for j in range(len(tokens)):
        t = tokens[j]
        row[j] = dense_row(blocks, t)
        reached = times[j] * LEVELS * LEVELS * blocks.scale[t, 0]
        added = times[j] * more * blocks.scale[t, 1]
        if row[j] >= 0:
            reached *= times_more
            if own == 0.0:
                everywhere += added
                added = 0.0
        largest = max(largest, reached, added)
        whole += reached + added
    smoothed = len(blocks.background) > 0
    if smoothed:
        whole += lam * times.sum() * LEVELS * blocks.background_scale[0]
    whole += everywhere
    if whole == 0.0:
        step[:] = 0
        extra[:] = 0
        return 0.0, 0.0
    unit = min(SHARPNESS * 65000.0 / whole, 65000.0 / largest if largest > 0.0 else np.inf)
    rows = 0
    for j in range(len(tokens)):
        t = tokens[j]
        scale = times[j] * blocks.scale[t, 0] * (times_more if row[j] >= 0 else 1.0)
        step[j] = np.uint16(np.ceil(scale * unit * 65536.0))
        extra[j] = np.uint32(np.ceil(times[j] * more * blocks.scale[t, 1] * unit)) + 1
        rows += row[j] >= 0
    # A level times a step is rounded down: one unit for each row makes up for that.
    return unit, rows + np.ceil(everywhere * unit)


@inner_kernel
def add_lists(blocks, tokens, row, step, extra, bound, stop):
    """Add what tokens with lists bring to the bounds of blocks."""
    for j in range(len(tokens)):
        if stop[0]:
            break
        if row[j] >= 0:
            continue
        t = tokens[j]
        mine, more = np.uint32(step[j]), np.uint32(extra[j])
        block = np.uint64(0)
        for at in range(blocks.list_start[t], blocks.list_start[t + 1]):
            entry = blocks.listed[np.uint64(at)]
            block += np.uint64(entry >> EIGHT)
            level = entry & BYTE
            brought = np.uint32(np.uint32(np.uint32(level * level) * mine) >> SIXTEEN) + more
            bound[block] = min(np.uint32(bound[block]) + brought, np.uint32(65535))


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
            if row[j] >= 0:
                add_row(levels[row[j], first:last], step[j], bound[first:last])


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
        mine = np.uint32(step[j])
        for b in range(first, first + GROUP):
            level = np.uint32(dense[row[j], b])
            brought = np.uint32(np.uint32(np.uint32(level * level) * mine) >> SIXTEEN)
            bound[b] = np.uint16(min(np.uint32(bound[b] + brought), np.uint32(65535)))


@inner_kernel
def largest_of_groups(bound, group_bound):
    """Write the largest bound of each group of neighbouring blocks."""
    for g in range(len(group_bound)):
        best = np.uint16(0)
        for b in range(g << GROUP_BITS, (g + 1) << GROUP_BITS):
            best = np.uint16(max(best, bound[b]))
        group_bound[g] = best
