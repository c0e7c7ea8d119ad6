"""The search kernel: the k best entities for each mention, exactly.

Bounds are sums of whole numbers, so they are exact: the score of a mention is at most ``whole``,
the sum over its tokens of each one's largest prior and posterior, and bounds count in units of
``whole / 2**31``, every token's step rounded up to whole units. Groups of blocks are visited from
the highest bound down; a group, and in it a block, is left out only if its bound is under the k-th
best score so far. What is visited is scored from the postings themselves, in double precision.

``stop`` is a flag that another thread may set: kernels look at it once a token or a group, so that
they return within a fraction of a millisecond, with a result that must not be used.
"""

from typing import NamedTuple

import numpy as np

from candgen.kernels import kernel
from candgen.kernels.blocks import BLOCK, BLOCK_BITS, ESCAPE, GROUP, GROUP_BITS
from candgen.kernels.heap import keep, sort_heap
from candgen.kernels.trie import find_tokens, gather, token_room

BUCKETS = 512
EIGHT, SIXTEEN, BYTE = np.uint32(8), np.uint32(16), np.uint32(255)
MAX_TOKENS = 1_000_000  # with more, whole numbers of 32 bits might not hold the bounds

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
    key: np.ndarray  # of a posting: t << BLOCK_BITS | (e & (BLOCK - 1))
    code: np.ndarray  # of a posting in each layer: its n(t, e) is value[code], or an escape
    value: np.ndarray
    escape_at: np.ndarray  # postings whose value has no code
    escape_value: np.ndarray
    prior_scale: np.ndarray  # bounds of t count in these steps
    posterior_scale: np.ndarray
    list_start: np.ndarray  # bounds of t by block are list_start[t] .. list_start[t + 1] - 1
    listed: np.ndarray  # ... each with the distance from the block before, prior and posterior
    dense_token: np.ndarray  # tokens with bounds for all blocks instead; d is a place among them
    dense: np.ndarray  # [g, d, block in group]: posteriors, those of a group side by side
    group_prior: np.ndarray  # [d, g]: the largest of the group
    group_posterior: np.ndarray
    token_background: np.ndarray = NONE  # of t: what smoothing adds to every prior, if it does
    background: np.ndarray = NONE  # of e: what it adds to every posterior
    background_level: np.ndarray = NO_BYTES  # of b: the largest of its entities, in steps of
    background_scale: np.ndarray = NONE  # ... this scale


@kernel
def _bound_lists(blocks, tokens, steps, dense_row, bound, stop):
    """Add the bounds of the tokens that have lists; returns how many have rows."""
    dense = 0
    for j in range(len(tokens)):
        if stop[0]:
            break
        t = tokens[j]
        row = np.searchsorted(blocks.dense_token, t)
        if row < len(blocks.dense_token) and blocks.dense_token[row] == t:
            dense_row[dense] = row
            steps[dense] = steps[j]
            dense += 1
            continue
        prior, posterior = steps[j]
        block = np.uint64(0)
        for at in range(blocks.list_start[t], blocks.list_start[t + 1]):
            entry = blocks.listed[np.uint64(at)]
            block += np.uint64(entry >> SIXTEEN)
            bound[block] += np.uint32(prior * (entry >> EIGHT & BYTE) + posterior * (entry & BYTE))
    return dense


@kernel
def _bound_groups(blocks, steps, dense_row, bound, group_prior, group_bound, stop):
    """Bound each group: its best block by the lists, plus the rows of dense tokens."""
    group_prior[:] = 0
    for j in range(len(dense_row)):
        if stop[0]:
            break
        step = steps[j, 0]
        row = blocks.group_prior[dense_row[j]]
        for g in range(len(group_prior)):
            group_prior[g] += np.uint32(step * row[g])
    for g in range(len(group_bound)):
        best = np.uint32(0)
        for b in range(g << GROUP_BITS, (g + 1) << GROUP_BITS):
            best = max(best, bound[b])
        group_bound[g] = group_prior[g] + best
    for j in range(len(dense_row)):
        if stop[0]:
            break
        step = steps[j, 1]
        row = blocks.group_posterior[dense_row[j]]
        for g in range(len(group_bound)):
            group_bound[g] += np.uint32(step * row[g])


@kernel
def _bound_blocks(blocks, steps, dense_row, g, prior, bound, sink):
    """Add what dense tokens bring to the blocks of one group: its prior, and their posteriors.

    The first loop only brings the bytes from memory, all at once; without it each row waits for
    the one before, and the whole takes several times as long.
    """
    touched = np.uint8(0)
    for j in range(len(dense_row)):
        touched |= blocks.dense[g, dense_row[j], 0]
    sink[0] = touched
    first = g << GROUP_BITS
    for i in range(GROUP):
        bound[first + i] += prior
    for j in range(len(dense_row)):
        step = steps[j, 1]
        d = dense_row[j]
        for i in range(GROUP):
            bound[first + i] += np.uint32(step * blocks.dense[g, d, i])


@kernel
def _order(group_bound, order, starts):
    """Sort groups by bound, the highest first, up to one bucket; returns a bucket's width."""
    top = np.uint32(0)
    for g in range(len(group_bound)):
        top = max(top, group_bound[g])
    width = np.uint32(top // BUCKETS + 1)
    starts[:] = 0
    for g in range(len(group_bound)):
        starts[BUCKETS - group_bound[g] // width] += 1
    for i in range(BUCKETS):
        starts[i + 1] += starts[i]
    for g in range(len(group_bound)):
        bucket = BUCKETS - 1 - group_bound[g] // width
        order[starts[bucket]] = g
        starts[bucket] += 1
    return width


@kernel
def posting(blocks, layer, i):
    """Return n(t, e) of a posting in a layer."""
    at = layer * len(blocks.key) + i
    if blocks.code[at] == ESCAPE:
        return blocks.escape_value[np.searchsorted(blocks.escape_at, at)]
    return blocks.value[blocks.code[at]]


@kernel
def make_filter(tokens):
    """Return a small table that says, by the last bits of a token, which query token it may be.

    0 is none; two tokens with the same last bits share the entry of the first.
    """
    size = 1024
    while size < 64 * len(tokens) and size < 65536:
        size *= 2
    maybe = np.zeros(size, np.uint32)
    for j in range(len(tokens)):
        at = tokens[j] & (size - 1)
        if maybe[at] == 0:
            maybe[at] = j + 1
    return maybe


@kernel
def score_block(blocks, b, tokens, times, maybe, least, hits, prior, posterior):
    """Compute A(e) and B(e) of the entities of a block, from the postings of the query's tokens.

    ``posterior`` has a row for each layer; the first has B(e) when all is done.

    Most postings are of other tokens. They are filtered out first, in a loop without branches: a
    branch that the processor predicts wrongly costs as much as ten postings.
    """
    prior[:] = 0.0
    posterior[:] = 0.0
    layers = len(posterior)
    first_entity = b << BLOCK_BITS
    mask = np.uint32(len(maybe) - 1)
    # The postings of the block, as many at a time as ``hits`` has places.
    for start in range(blocks.block_start[b], blocks.block_start[b + 1], len(hits)):
        end = min(blocks.block_start[b + 1], start + len(hits))
        # 1. Read one code in each cache line, so that all of them are fetched from memory at the
        # same time. The result is stored only to keep the compiler from removing the loop.
        touched = np.uint8(0)
        for i in range(start, end, 64):
            touched |= blocks.code[i]
        hits[0] = touched
        # 2. List the postings whose token may be one of the query's. Every posting is written, and
        # the number grows only if the filter lets it pass; otherwise the next one overwrites it.
        number = np.uint64(0)
        for i in range(start, end):
            hits[number] = i
            here = maybe[(blocks.key[np.uint64(i)] >> np.uint32(BLOCK_BITS)) & mask]
            number += np.uint64(here != 0)
        # 3. Score the few that are left.
        for at in range(number):
            i = hits[at]
            # Find the query token j of the posting. The filter knows it, unless two tokens share an
            # entry: then it is searched, and it may be none.
            t = np.int64(blocks.key[i] >> BLOCK_BITS)
            j = np.int64(maybe[t & mask]) - 1
            if tokens[j] != t:
                j = np.searchsorted(tokens, t)
                if j == len(tokens) or tokens[j] != t:
                    continue
            place = blocks.key[i] & (BLOCK - 1)
            e = first_entity + place
            # P(e|t) and, if there is a threshold to compare with, P(t|e): sums over the layers.
            p = q = 0.0
            for layer in range(layers):
                n = posting(blocks, layer, i)
                p += n / blocks.token_total[layer, t]
                if least > 0.0:
                    q += n / blocks.entity_total[layer, e]
            if p >= least:
                prior[place] += times[j] * p
            # Of the posterior only the counts are added here: one division for each entity, in
            # step 4, takes the place of one for each posting.
            if least == 0.0 or q >= least:
                for layer in range(layers):
                    posterior[layer, place] += times[j] * posting(blocks, layer, i)
    # 4. Divide by N(e), layer by layer, and add the layers up in the first row.
    for inside in range(BLOCK):
        posterior[0, inside] /= blocks.entity_total[0, first_entity + inside]
        for layer in range(1, layers):
            total = blocks.entity_total[layer, first_entity + inside]
            posterior[0, inside] += posterior[layer, inside] / total


@kernel
def _set_bounds(blocks, tokens, times, lam, stop, bound, group_prior, group_bound, order, starts):
    """Bound every group; returns (steps and rows of the dense tokens, units per score, width)."""
    whole = 0.0
    for j in range(len(tokens)):
        t = tokens[j]
        whole += times[j] * 255.0 * (blocks.prior_scale[t] + lam * blocks.posterior_scale[t])
    smoothed = len(blocks.background) > 0
    most = lam * times.sum() * blocks.background_scale[0] if smoothed else 0.0
    whole += 255.0 * most
    unit = 2.0**31 / whole if whole > 0.0 else 0.0
    steps = np.empty((len(tokens), 2), np.uint32)
    for j in range(len(tokens)):
        t = tokens[j]
        steps[j, 0] = np.uint32(np.ceil(unit * times[j] * blocks.prior_scale[t]))
        steps[j, 1] = np.uint32(np.ceil(unit * times[j] * lam * blocks.posterior_scale[t]))
    bound[:] = 0
    if smoothed:
        step = np.uint32(np.ceil(unit * most))
        for b in range(len(bound)):
            bound[b] = step * blocks.background_level[b]
    dense_row = np.empty(len(tokens), np.int64)
    dense_row = dense_row[: _bound_lists(blocks, tokens, steps, dense_row, bound, stop)]
    _bound_groups(blocks, steps, dense_row, bound, group_prior, group_bound, stop)
    width = _order(group_bound, order, starts)
    return steps, dense_row, unit, width


@kernel
def search(
    blocks,
    tokens,
    times,
    lam,
    least,
    prune,
    stop,
    bound,
    group_prior,
    group_bound,
    order,
    starts,
    score,
    tie,
    work,
):
    """Find the best entities for one mention, as many as ``score`` has places; returns how many.

    ``work`` counts the groups, the blocks and the postings that were looked at. Without ``prune``
    every block is scored, and no bound is read.
    """
    if prune:
        steps, dense_row, unit, width = _set_bounds(
            blocks, tokens, times, lam, stop, bound, group_prior, group_bound, order, starts
        )
    else:
        steps, dense_row, unit, width = np.empty((0, 2), np.uint32), np.empty(0, np.int64), 0.0, 0
        bound[:] = 1
        group_prior[:] = 0
        group_bound[:] = 1
        order[:] = np.arange(len(order))
    size = 0
    maybe = make_filter(tokens)
    hits = np.empty(1024, np.int64)
    prior = np.empty(BLOCK, np.float64)
    posterior = np.empty((len(blocks.entity_total), BLOCK), np.float64)
    smoothed = len(blocks.background) > 0
    of_tokens = 0.0  # what smoothing adds to the score of every candidate alike
    if smoothed:
        for j in range(len(tokens)):
            of_tokens += times[j] * blocks.token_background[tokens[j]]
    of_entities = lam * times.sum()
    sink = np.empty(1, np.uint8)
    limit = np.uint32(1)  # a bound of 0 is a score of 0
    for g in order:
        if stop[0]:
            break
        if group_bound[g] < limit:
            if group_bound[g] + width < limit:
                break
            continue
        work[0] += 1
        _bound_blocks(blocks, steps, dense_row, g, group_prior[g], bound, sink)
        for b in range(g << GROUP_BITS, (g + 1) << GROUP_BITS):
            if bound[b] < limit:
                continue
            work[1] += 1
            work[2] += blocks.block_start[b + 1] - blocks.block_start[b]
            score_block(blocks, b, tokens, times, maybe, least, hits, prior, posterior)
            for place in range(BLOCK):
                e = (b << BLOCK_BITS) + place
                exact = prior[place] + lam * posterior[0, place]
                if smoothed and exact > 0.0:
                    exact += of_tokens + of_entities * blocks.background[e]
                new = np.float32(exact)
                if new > 0.0 and (size < len(score) or new >= score[0]):
                    size = keep(score, tie, size, new, blocks.tie_order[e])
            if size == len(score):
                # The slack covers the rounding of scores to single precision.
                limit = np.uint32(max(1.0, (score[0] * (1 - 1e-6) - of_tokens) * unit))
    sort_heap(score, tie, size)
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
    bound,
    group_prior,
    group_bound,
    score,
    tie,
    found,
    work,
):
    """Search for each row of symbols; ``found[i]`` is how many candidates row i has."""
    order = np.empty(len(group_bound), np.int64)
    starts = np.empty(BUCKETS + 1, np.int64)
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
            prune and number <= MAX_TOKENS,
            stop,
            bound,
            group_prior,
            group_bound,
            order,
            starts,
            score[i],
            tie[i],
            work[i],
        )
