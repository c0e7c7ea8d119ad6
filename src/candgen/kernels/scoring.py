"""Kernels that score the entities of a block, from the postings of a mention's tokens.

Most postings of a block are of tokens that the mention does not have. A hash table without
collisions tells which are of its own: a posting is one if its slot holds the posting's token.
"""

from typing import NamedTuple

import numpy as np

from candgen.kernels import inner_kernel, kernel
from candgen.kernels.blocks import ESCAPE, KEY_BITS, KEY_MASK, MAX_BLOCK
from candgen.kernels.prefetch import prefetch

CHUNK = 128
"""Tokens that share a table. More would need tables that do not fit the fastest cache."""
SLOTS = 16
"""Slots for each token of a table, before it grows for want of a hash without collisions."""
ATTEMPTS = 4
"""Hashes to try before a table grows."""


class Query(NamedTuple):
    """What scoring reads of a mention, in the order of its tokens."""

    tokens: np.ndarray
    times: np.ndarray  # how often each occurs
    total: np.ndarray  # [layer, j]: N(t), copied from the index
    slot: np.ndarray  # tables of CHUNK tokens each, one after the other: a token or 0
    place: np.ndarray  # ... and which of the table's tokens it is
    factor: np.ndarray  # of each table: its hash is token * factor, of which the upper bits count
    lowest: np.ndarray  # of each table: the lowest key that may be of one of its tokens
    bits: int  # a table has 2**bits slots
    lam: float
    least: float  # the smallest probability that the threshold keeps
    of_tokens: float  # what smoothing adds to the score of every candidate alike
    of_entities: float  # ... and times the entity's own background
    hits: np.ndarray  # working memory: postings of the query's tokens
    prior: np.ndarray  # A(e) of the entities of a block; e is at the place e & KEY_MASK
    posterior: np.ndarray  # [layer, place]: their B(e)


@kernel
def _fill_table(tokens, slot, place, factor, shift):
    """Fill a table; returns whether no two tokens share a slot."""
    slot[:] = 0
    for j in range(len(tokens)):
        at = np.uint32(np.uint32(tokens[j]) * factor) >> shift
        if slot[at] != 0:
            return False
        slot[at] = tokens[j]
        place[at] = j
    return True


@kernel
def _try_factors(tokens, slot, place, factors, bits):
    """Fill all tables; returns whether a hash without collisions was found for each."""
    size, shift = 1 << bits, np.uint32(32 - bits)
    for table in range(len(factors)):
        first = table * CHUNK
        mine = tokens[first : first + CHUNK]
        factor = np.uint32(0x9E3779B1)
        filled = False
        for _ in range(ATTEMPTS):
            here = slice(table * size, (table + 1) * size)
            if _fill_table(mine, slot[here], place[here], factor, shift):
                filled = True
                break
            factor = np.uint32(factor * np.uint32(0x85EBCA6B)) | np.uint32(1)
        if not filled:
            return False
        factors[table] = factor
    return True


@kernel
def prepare_query(blocks, tokens, times, lam, least):
    """Return what scoring reads of a mention; its tokens are sorted and distinct."""
    of_tokens = 0.0
    if len(blocks.background) > 0:
        for j in range(len(tokens)):
            of_tokens += times[j] * blocks.token_background[tokens[j]]
    layers = len(blocks.token_total)
    total = np.empty((layers, len(tokens)), np.float64)
    for layer in range(layers):
        for j in range(len(tokens)):
            total[layer, j] = blocks.token_total[layer, tokens[j]]
    tables = (len(tokens) + CHUNK - 1) // CHUNK
    factors = np.empty(tables, np.uint32)
    lowest = np.empty(tables, np.int64)
    for table in range(tables):
        lowest[table] = tokens[table * CHUNK] << KEY_BITS
    bits = 10
    while (1 << bits) < SLOTS * min(len(tokens), CHUNK):
        bits += 1
    slot = np.empty(tables << bits, np.uint32)
    place = np.empty(tables << bits, np.uint8)
    while not _try_factors(tokens, slot, place, factors, bits):
        bits += 1
        slot = np.empty(tables << bits, np.uint32)
        place = np.empty(tables << bits, np.uint8)
    return Query(
        tokens,
        times,
        total,
        slot,
        place,
        factors,
        lowest,
        bits,
        lam,
        least,
        of_tokens,
        lam * times.sum(),
        np.empty(1024, np.int64),
        np.empty(MAX_BLOCK, np.float64),
        np.empty((layers, MAX_BLOCK), np.float64),
    )


@inner_kernel
def block_bits(blocks):
    """Return the logarithm of how many entities a block has."""
    size = blocks.entity_total.shape[1] // (len(blocks.block_start) - 1)
    return 3 if size == MAX_BLOCK else 2


@inner_kernel
def prefetch_block(blocks, b):
    """Ask for what is read of a block that is scored soon."""
    start, end = blocks.block_start[b], blocks.block_start[b + 1]
    for i in range(start, end, 16):
        prefetch(blocks.key, i)
    for i in range(start, end, 64):
        prefetch(blocks.code, i)
    prefetch(blocks.entity_total, b << block_bits(blocks))
    prefetch(blocks.tie_order, b << block_bits(blocks))
    prefetch(blocks.escape_at, blocks.escape_start[b])
    prefetch(blocks.escape_value, blocks.escape_start[b])


@inner_kernel
def posting(blocks, layer, b, i):
    """Return n(t, e) of posting i, which is one of block b, in a layer."""
    at = layer * len(blocks.key) + i
    if blocks.code[at] == ESCAPE:
        here = layer * (len(blocks.block_start) - 1) + b
        start, end = blocks.escape_start[here], blocks.escape_start[here + 1]
        return blocks.escape_value[start + np.searchsorted(blocks.escape_at[start:end], at)]
    return blocks.value[blocks.code[at]]


@inner_kernel
def _add_plain(blocks, b, query, table, hits):
    """Add postings to A(e) and B(e) where there is one layer of counts, and no threshold."""
    shift, factor = np.uint32(32 - query.bits), query.factor[table]
    prior, posterior = query.prior, query.posterior[0]
    slots, chunk = np.uint64(table << query.bits), np.uint64(table * CHUNK)
    for hit in range(len(hits)):
        i = np.uint64(hits[hit])
        key = blocks.key[i]
        t, inside = np.uint32(key >> np.uint32(KEY_BITS)), np.uint64(key & np.uint32(KEY_MASK))
        j = chunk + np.uint64(query.place[slots + np.uint64(np.uint32(t * factor) >> shift)])
        n = posting(blocks, 0, b, np.int64(i))
        prior[inside] += query.times[j] * (n / query.total[0, j])
        posterior[inside] += query.times[j] * n


@inner_kernel
def _add_layers(blocks, b, query, table, hits, first_entity):
    """Add postings to A(e) and B(e), layer by layer, without what is under the threshold."""
    shift, factor = np.uint32(32 - query.bits), query.factor[table]
    least, prior, posterior = query.least, query.prior, query.posterior
    for hit in range(len(hits)):
        i = hits[hit]
        t = np.uint32(blocks.key[i] >> np.uint32(KEY_BITS))
        inside = np.int64(blocks.key[i] & np.uint32(KEY_MASK))
        at = np.int64(table << query.bits) + np.int64(np.uint32(t * factor) >> shift)
        j = table * CHUNK + np.int64(query.place[at])
        # P(e|t) and, if there is a threshold to compare with, P(t|e): sums over layers.
        p = q = 0.0
        for layer in range(len(posterior)):
            n = posting(blocks, layer, b, i)
            p += n / query.total[layer, j]
            if least > 0.0:
                q += n / blocks.entity_total[layer, first_entity + inside]
        if p >= least:
            prior[inside] += query.times[j] * p
        if least == 0.0 or q >= least:
            for layer in range(len(posterior)):
                posterior[layer, inside] += query.times[j] * posting(blocks, layer, b, i)


@inner_kernel
def score_block(blocks, b, query):
    """Compute A(e) and B(e) of the entities of a block, in ``query``; B(e) is in the first layer.

    Postings of other tokens are filtered out first, in a loop without branches: a branch that the
    processor predicts wrongly costs as much as ten postings.
    """
    hits, prior, posterior = query.hits, query.prior, query.posterior
    prior[:] = 0.0
    posterior[:] = 0.0
    layers = len(posterior)
    bits = block_bits(blocks)
    first_entity = b << bits & ~KEY_MASK
    shift = np.uint32(32 - query.bits)
    after = blocks.block_start[b]
    end = blocks.block_start[b + 1]
    for table in range(len(query.factor)):
        # Postings are in the order of their tokens, and so are the tables: each has its range.
        start = after
        after = end
        if table + 1 < len(query.factor):
            after = start + np.searchsorted(
                blocks.key[start:end], np.uint32(query.lowest[table + 1])
            )
        factor = query.factor[table]
        slots = table << query.bits
        # As many postings at a time as ``hits`` has places.
        for first in range(start, after, len(hits)):
            # 1. List the postings of the query's tokens. Every posting is written, and the number
            # grows only if its token is one; otherwise the next one overwrites it.
            number = np.uint64(0)
            for i in range(first, min(after, first + len(hits))):
                t = np.uint32(blocks.key[np.uint64(i)] >> np.uint32(KEY_BITS))
                hits[number] = i
                at = np.uint64(slots) + np.uint64(np.uint32(t * factor) >> shift)
                number += np.uint64(query.slot[at] == t)
            # 2. Score them.
            mine = hits[:number]
            if layers == 1 and query.least == 0.0:
                _add_plain(blocks, b, query, table, mine)
            else:
                _add_layers(blocks, b, query, table, mine, first_entity)
    # 3. So far ``posterior`` has counts: one division for each entity takes the place of one for
    # each posting. The layers are added up in the first row.
    for inside in range(b << bits & KEY_MASK, (b << bits & KEY_MASK) + (1 << bits)):
        posterior[0, inside] /= blocks.entity_total[0, first_entity + inside]
        for layer in range(1, layers):
            total = blocks.entity_total[layer, first_entity + inside]
            posterior[0, inside] += posterior[layer, inside] / total
