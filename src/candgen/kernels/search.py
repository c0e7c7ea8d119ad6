"""The search kernel: the k best entities for each mention, exactly.

Blocks are scored from the highest bound down: see ``bounds``. Where blocks stand in groups, a group
is bounded first, and its blocks only when its turn comes. A block is left out only if its bound is
under the k-th best score so far. What is visited is scored from the postings themselves, in double
precision: see ``scoring``.

``stop`` is a flag that another thread may set: kernels look at it once a token or a block, so that
they return within a fraction of a millisecond, with a result that must not be used.
"""

from typing import NamedTuple

import numpy as np

from candgen.kernels import inner_kernel, kernel
from candgen.kernels.blocks import GROUP_BITS, KEY_MASK
from candgen.kernels.bounds import (
    add_group,
    add_lists,
    add_rows,
    largest_of_groups,
    measure_steps,
    prefetch_group,
    prefetch_tokens,
)
from candgen.kernels.heap import entry, keep, score_of, sort_heap, write_entries
from candgen.kernels.scoring import block_bits, prefetch_block, prepare_query, score_block
from candgen.kernels.trie import find_tokens, gather, token_room

BUCKET_BITS = 6
BUCKETS = 1 << 16 - BUCKET_BITS
"""Blocks wait in buckets of bounds, each 64 units wide."""
BAND = 0.75
"""The lowest bound of a band over the highest one: blocks are looked at band by band."""
SPAN = 64
"""Bounds that are compared with a limit at a time."""
MANY_ROWS = 30
"""With more frequent tokens than these, blocks are bounded at once: groups would prune little."""
AHEAD = 4
"""Groups whose levels are asked for before they are needed."""
NOTHING = np.uint32(0xFFFFFFFF)

NONE, NO_BYTES = np.empty(0, np.float64), np.empty(0, np.uint8)
NONE.setflags(write=False)  # like the arrays of a stored index, so that kernels compile once
NO_BYTES.setflags(write=False)


class Blocks(NamedTuple):
    """All arrays that search reads; t is a token, e an entity, b a block, g a group of blocks."""

    child: np.ndarray  # trie of tokens: children of node i are child[i] .. child[i + 1] - 1
    symbol: np.ndarray  # ... and the last symbol of each
    token_total: np.ndarray  # [layer, t]: N(t)
    entity_total: np.ndarray  # [layer, e]: N(e), for as many entities as all blocks have places
    tie_order: np.ndarray  # place of e among the entities with equal scores
    block_start: np.ndarray  # postings of b are block_start[b] .. block_start[b + 1] - 1
    key: np.ndarray  # of a posting: t << KEY_BITS | (e & KEY_MASK)
    code: np.ndarray  # of a posting in each layer: its n(t, e) is value[code], or an escape
    value: np.ndarray
    escape_start: np.ndarray  # [layer, b]: where the escapes of b begin; one more at the end
    escape_at: np.ndarray  # places in ``code`` whose value has no code
    escape_value: np.ndarray
    bound_lam: np.ndarray  # the lam of the bounds
    scale: np.ndarray  # [t]: a prior of t is this times level**2, and a posterior; see dense
    list_start: np.ndarray  # levels of t by block are list_start[t] .. list_start[t + 1] - 1
    listed: np.ndarray  # ... each the distance from the block before, prior and posterior level
    dense_token: np.ndarray  # tokens with levels for all blocks instead; d is a place among them
    dense: np.ndarray  # [d, b]: of prior + bound_lam * posterior; scale[t, 1]: largest posterior
    group: np.ndarray  # [d, g]: the largest of the group; no columns if there are no groups
    token_background: np.ndarray = NONE  # of t: what smoothing adds to every prior, if it does
    background: np.ndarray = NONE  # of e: what it adds to every posterior
    background_level: np.ndarray = NO_BYTES  # of b: the largest of its entities, in steps of
    background_scale: np.ndarray = NONE  # ... this scale


class Scratch(NamedTuple):
    """Working memory of a search, kept from one to the next because fresh memory is slow."""

    bound: np.ndarray  # of each block
    group_bound: np.ndarray  # of each group
    span: np.ndarray  # the largest of every SPAN neighbours among the bounds of blocks or groups
    chosen: np.ndarray  # groups of a band
    after: np.ndarray  # of each block that waits in a bucket: the next one there
    bucket: np.ndarray  # the first block of each bucket, or NOTHING
    brought: np.ndarray  # what entries of a list bring


@inner_kernel
def _wait(scratch, b):
    """Put a block into the bucket of its bound."""
    bucket = scratch.bound[b] >> BUCKET_BITS
    scratch.after[b] = scratch.bucket[bucket]
    scratch.bucket[bucket] = b


@inner_kernel
def _take(scratch, bucket, last):
    """Take a waiting block from the highest bucket, down to the last; returns (bucket, block).

    The block is -1 if none waits.
    """
    while bucket >= last:
        b = scratch.bucket[bucket]
        if b != NOTHING:
            scratch.bucket[bucket] = scratch.after[b]
            return bucket, np.int64(b)
        bucket -= 1
    return bucket, np.int64(-1)


@inner_kernel
def _largest(bounds):
    most = np.uint16(0)
    for i in range(len(bounds)):
        most = np.uint16(max(most, bounds[i]))  # without the cast it would not be vectorized
    return most


@inner_kernel
def _measure_spans(bounds, span):
    """Write the largest of every SPAN neighbouring bounds; returns the largest of all."""
    number = (len(bounds) + SPAN - 1) // SPAN
    for s in range(number):
        span[s] = _largest(bounds[s * SPAN : min(len(bounds), (s + 1) * SPAN)])
    return _largest(span[:number])


@inner_kernel
def _expand_blocks(scratch, least, upper):
    """Put the blocks with bounds from ``least`` to under ``upper`` into their buckets."""
    bound = scratch.bound
    for first in range(0, len(bound), SPAN):
        if scratch.span[first // SPAN] >= least:
            for b in range(first, min(len(bound), first + SPAN)):
                if least <= bound[b] < upper:
                    _wait(scratch, b)


@inner_kernel
def _expand_groups(blocks, scratch, row, step, least, upper, limit, stop, work):
    """Bound the blocks of groups with bounds from ``least`` to under ``upper``; they then wait."""
    bounds, chosen = scratch.group_bound, scratch.chosen
    number = 0
    for first in range(0, len(bounds), SPAN):
        if scratch.span[first // SPAN] >= least:
            for g in range(first, min(len(bounds), first + SPAN)):
                if least <= bounds[g] < upper:
                    chosen[number] = g
                    number += 1
    for at in range(number):
        if stop[0]:
            return
        if at + AHEAD < number:
            prefetch_group(blocks.dense, row, chosen[at + AHEAD])
        work[0] += 1
        group = np.int64(chosen[at])
        add_group(blocks.dense, row, step, group, scratch.bound)
        for b in range(group << GROUP_BITS, (group + 1) << GROUP_BITS):
            if scratch.bound[b] >= limit:
                _wait(scratch, b)


@kernel
def _set_bounds(blocks, tokens, times, lam, stop, scratch):
    """Bound every block or, unless the mention has many frequent tokens, every group.

    Returns (units per score, rows and steps of the frequent tokens, whether groups are bounded).
    """
    row = np.empty(len(tokens), np.int64)
    step = np.empty((len(tokens), 2), np.uint16)
    unit, base = measure_steps(blocks, tokens, times, lam, row, step)
    bound = scratch.bound
    bound[:] = np.uint16(min(base, 65535.0))
    if len(blocks.background) > 0:
        each = lam * times.sum() * blocks.background_scale[0] * unit
        for b in range(len(bound)):
            bound[b] = np.uint16(min(base + np.ceil(each * blocks.background_level[b]), 65535.0))
    add_lists(blocks, tokens, row, step, scratch.brought, bound, stop)
    number = 0
    for j in range(len(tokens)):
        if row[j] >= 0:
            row[number], step[number, 0] = row[j], step[j, 0]
            number += 1
    row, step = row[:number], step[:number]
    grouped = blocks.group.shape[1] > 0 and number <= MANY_ROWS
    if grouped:
        largest_of_groups(bound, scratch.group_bound)
        add_rows(blocks.group, row, step, scratch.group_bound, stop)
    else:
        add_rows(blocks.dense, row, step, bound, stop)
    return unit, row, step, grouped


@inner_kernel
def _visit(blocks, b, query, heap, size, work):
    """Score the entities of a block, and keep the best; returns how many are kept."""
    work[1] += 1
    work[2] += blocks.block_start[b + 1] - blocks.block_start[b]
    score_block(blocks, b, query)
    bits = block_bits(blocks)
    for e in range(b << bits, (b + 1) << bits):
        place = e & KEY_MASK
        exact = query.prior[place] + query.lam * query.posterior[0, place]
        if len(blocks.background) > 0 and exact > 0.0:
            exact += query.of_tokens + query.of_entities * blocks.background[e]
        score = np.float32(exact)
        if score > 0.0:
            size = keep(heap, size, entry(score, blocks.tie_order[e]))
    return size


@inner_kernel
def _visit_all(blocks, query, stop, heap, work):
    """Score every block; returns how many candidates are kept."""
    size = 0
    for b in range(len(blocks.block_start) - 1):
        if stop[0]:
            break
        work[0] += 1
        size = _visit(blocks, b, query, heap, size, work)
    return size


@inner_kernel
def _visit_best(blocks, query, bounded, stop, scratch, heap, work):
    """Score blocks from the highest bound down, as far as needed; returns how many are kept."""
    unit, row, step, grouped = bounded
    scratch.bucket[:] = NOTHING
    highest = _measure_spans(scratch.group_bound if grouped else scratch.bound, scratch.span)
    size, limit = 0, np.int64(1)  # a bound of 0 is a score of 0
    upper = np.int64(highest) + 1  # what has a higher bound waits, or was scored
    bucket = np.int64(highest >> BUCKET_BITS)
    while upper > limit and not stop[0]:
        # 1. Let the next band wait: all from its lower end, the beginning of a bucket, on.
        lower = max(limit, np.int64(BAND * upper)) >> BUCKET_BITS << BUCKET_BITS
        if grouped:
            _expand_groups(blocks, scratch, row, step, max(lower, 1), upper, limit, stop, work)
        else:
            _expand_blocks(scratch, max(lower, 1), upper)
        upper = lower
        # 2. Score what waits, from the highest bucket down to that end; what comes next is
        # asked for meanwhile.
        bucket, b = _take(scratch, bucket, lower >> BUCKET_BITS)
        while b >= 0 and not stop[0]:
            bucket, coming = _take(scratch, bucket, max(lower, limit) >> BUCKET_BITS)
            if coming >= 0:
                prefetch_block(blocks, coming)
            if scratch.bound[b] >= limit:
                size = _visit(blocks, b, query, heap, size, work)
                if size == len(heap):
                    # The slack covers the rounding of scores to single precision.
                    reached = np.float64(score_of(heap[0])) * (1 - 1e-6) - query.of_tokens
                    limit = max(limit, np.int64(min(65535.0, reached * unit)))
            b = coming
    return size


@kernel
def search(blocks, tokens, times, lam, least, prune, stop, scratch, score, tie, work):
    """Find the best entities for one mention, as many as ``score`` has places; returns how many.

    ``work`` counts the groups, the blocks and the postings that were looked at. Without ``prune``
    every block is scored, and no bound is read.
    """
    prefetch_tokens(blocks, tokens)
    query = prepare_query(blocks, tokens, times, lam, least)
    heap = np.empty(len(score), np.uint64)
    if prune:
        bounded = _set_bounds(blocks, tokens, times, lam, stop, scratch)
        size = _visit_best(blocks, query, bounded, stop, scratch, heap, work)
    else:
        size = _visit_all(blocks, query, stop, heap, work)
    sort_heap(heap, size)
    write_entries(heap, size, score, tie)
    return size


@kernel
def search_rows(
    blocks,
    text,
    start,
    end,
    low,
    high,
    wildcard,
    lam,
    least,
    prune,
    stop,
    scratch,
    score,
    tie,
    found,
    work,
):
    """Search for each row of symbols; ``found[i]`` is how many candidates row i has."""
    for i in range(len(start)):
        if stop[0]:
            break
        tokens = np.empty(token_room(end[i] - start[i], low, high, wildcard), np.int64)
        times = np.empty(len(tokens), np.float64)
        number = find_tokens(
            blocks.child, blocks.symbol, text, start[i], end[i], low, high, wildcard, tokens
        )
        number = gather(tokens[:number], times)
        found[i] = search(
            blocks,
            tokens[:number],
            times[:number],
            lam,
            least,
            prune,
            stop,
            scratch,
            score[i],
            tie[i],
            work[i],
        )
