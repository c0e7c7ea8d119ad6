"""From pooled counts to the arrays that search reads: postings in blocks, and bounds."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.index.counts import release_unused
from candgen.index.pooling import PooledCounts, smallest_kept
from candgen.index.vocabulary import Vocabulary
from candgen.kernels import blocks as kernels
from candgen.kernels.search import Blocks

BLOCKS_PER_DENSE_TOKEN = 7
"""A token in more than one of this many blocks has a row of all blocks instead of a list."""

MAX_FLAT_ENTITIES = 300_000
"""Up to so many entities, blocks have four of them and no groups: bounding all is fast then."""

PARTS = 128
"""Bounds are made for such a part of all entries at a time, to need little memory beside them."""

Floats = npt.NDArray[np.float64]
Sums = npt.NDArray[np.float32]


class Postings(NamedTuple):
    """n(t, e) by block: ``value[code]``, or the next of ``escape_value`` where there is no code.

    There is a code for each posting in the first layer, then for each in the next, and so on.
    """

    block_start: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint32]
    code: npt.NDArray[np.uint8]
    value: Floats
    escape_start: npt.NDArray[np.int64]
    escape_at: npt.NDArray[np.int64]
    escape_value: Floats


class Background(NamedTuple):
    """What additive smoothing adds: to each prior of a token, and to each posterior of an entity.

    It is the same for all entities, or for all tokens, so it is not a posting: see ``fusion``.
    """

    token: Floats
    entity: Floats


class Bounds(NamedTuple):
    """What bounds a token in a block: see ``Blocks``."""

    bound_lam: Floats
    scale: npt.NDArray[np.float32]
    list_start: npt.NDArray[np.uint32] | npt.NDArray[np.int64]
    listed: npt.NDArray[np.uint32]
    dense_token: npt.NDArray[np.uint32]
    dense: npt.NDArray[np.uint8]
    group: npt.NDArray[np.uint8]


def lay_out(
    pooled: PooledCounts,
    vocabulary: Vocabulary,
    tie_order: npt.NDArray[np.uint32],
    *,
    lam: float,
    threshold: float,
    threads: int = 1,
) -> tuple[Blocks, Sums]:
    """Return the arrays of an index, and each token's sums of priors and of posteriors.

    Search is fastest with ``lam``. The tokens and numbers of ``pooled`` are overwritten, to save
    their memory.
    """
    postings, lengths = _postings(pooled, len(vocabulary), threads)
    release_unused()  # no other step takes as much memory as the next
    entities = pooled.entity_total.shape[1]
    places = (len(postings.block_start) - 1) << _block_bits(entities)
    entity_total = pooled.entity_total
    if places > entities:
        entity_total = np.pad(entity_total, ((0, 0), (0, places - entities)), constant_values=1.0)
    bounds, sums = _bounds(
        postings, lengths, pooled.token_total, entity_total, lam, threshold, threads
    )
    return Blocks(
        child=vocabulary.child,
        symbol=vocabulary.symbol,
        token_total=pooled.token_total,
        entity_total=entity_total,
        tie_order=tie_order,
        **postings._asdict(),
        **bounds._asdict(),
    ), sums


def bound_background(blocks: Blocks, background: Background) -> Blocks:
    """Return the same index with what every entity and every token has beside its postings."""
    room = blocks.entity_total.shape[1]
    of_entity = np.zeros(room, np.float64)
    of_entity[: len(background.entity)] = background.entity
    most = of_entity.reshape(len(blocks.block_start) - 1, -1).max(axis=1)
    scale = max(float(most.max()) / 255 * (1 + 1e-6), 1e-30)
    return blocks._replace(
        token_background=background.token,
        background=of_entity,
        background_level=np.ceil(most / scale).astype(np.uint8),
        background_scale=np.array([scale]),
    )


def _postings(
    pooled: PooledCounts, tokens: int, threads: int
) -> tuple[Postings, npt.NDArray[np.int64]]:
    """Return the postings in the order of their blocks, which fill whole groups.

    Beside them, the length that each token's list of blocks would have.
    """
    number = pooled.entity_total.shape[1]
    block_bits = _block_bits(number)
    blocks = -(-number // (kernels.GROUP << block_bits)) * kernels.GROUP
    entities = np.minimum(np.arange(blocks + 1) << block_bits, number)
    block_start = pooled.indptr[entities]
    value, code_of = _codes(pooled)
    key, code = pooled.tokens, pooled.number.ravel()  # a block is read whole before it is written
    layers = len(pooled.number)
    bits = (tokens << kernels.KEY_BITS).bit_length()

    def fill(first: int, last: int) -> tuple[npt.NDArray[Any], ...]:
        room = layers * int(block_start[last] - block_start[first])  # not taken until written
        at, number = np.empty(room, np.int64), np.empty(room, np.uint32)
        lists = np.zeros((tokens, 3), np.uint32)
        begins = np.arange(layers) * len(key) + block_start[first]
        escapes = kernels.fill_blocks(
            first,
            last,
            block_bits,
            pooled.indptr,
            key,
            code,
            pooled.at,
            pooled.high,
            np.searchsorted(pooled.at, begins),
            code_of,
            bits,
            lists,
            at,
            number,
        )
        return at[:escapes].copy(), number[:escapes].copy(), lists

    cuts = np.linspace(0, blocks, threads + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(threads) as pool:
        escape_ats, numbers, lists = zip(*pool.map(fill, cuts[:-1], cuts[1:]), strict=True)
    escape_at = np.concatenate(escape_ats)
    escape_value = pooled.values[np.concatenate(numbers)]
    order = np.argsort(escape_at, kind="stable")  # threads and layers come one after the other
    escape_at = escape_at[order]
    escape_start = first_escapes(block_start, layers, escape_at)
    postings = Postings(block_start, key, code, value, escape_start, escape_at, escape_value[order])
    return postings, _lengths(lists)


def _lengths(parts: Sequence[npt.NDArray[np.uint32]]) -> npt.NDArray[np.int64]:
    """Return the lengths of lists of blocks, of which several threads have made parts."""
    length = np.zeros(len(parts[0]), np.int64)
    last = np.zeros_like(length)
    for entries, first_here, last_here in (part.T.astype(np.int64) for part in parts):
        is_here = entries > 0
        length += entries + is_here * ((first_here - last) // kernels.GAP)
        last = np.where(is_here, last_here, last)
    return length


def first_escapes(
    block_start: npt.NDArray[np.int64], layers: int, escape_at: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return where the escapes of each block begin, layer after layer, and where all end."""
    postings = block_start[-1]
    first = np.concatenate([layer * postings + block_start[:-1] for layer in range(layers)])
    return np.append(np.searchsorted(escape_at, first), len(escape_at))


def _codes(pooled: PooledCounts) -> tuple[Floats, npt.NDArray[np.uint8]]:
    """Return the most frequent values, and for each number its place among them, or ESCAPE.

    The table has one more value, which nothing reads, so that the escape is a place in it too.
    """
    chosen = np.lexsort((pooled.values, -pooled.uses))[: kernels.ESCAPE]
    chosen = chosen[pooled.uses[chosen] > 0]
    chosen = chosen[np.argsort(pooled.values[chosen])]
    code_of = np.full(len(pooled.values), kernels.ESCAPE, np.uint8)
    code_of[chosen] = np.arange(len(chosen))
    value = np.zeros(kernels.ESCAPE + 1, np.float64)
    value[: len(chosen)] = pooled.values[chosen]
    return value, code_of


def _bounds(
    postings: Postings,
    lengths: npt.NDArray[np.int64],
    token_total: Floats,
    entity_total: Floats,
    lam: float,
    threshold: float,
    threads: int = 1,
) -> tuple[Bounds, Sums]:
    """Bounds of all tokens in all blocks, and the sums of their entries, after thresholding.

    ``lengths`` are those of the lists of blocks that all tokens would have.
    """
    blocks = len(postings.block_start) - 1
    layers, tokens = token_total.shape
    is_dense = lengths > blocks / BLOCKS_PER_DENSE_TOKEN
    dense_token = np.flatnonzero(is_dense).astype(np.uint32)
    list_start = np.concatenate(([0], np.cumsum(np.where(is_dense, 0, lengths))))
    scale = np.empty((tokens, 2), np.float32)
    sums = np.empty((2, tokens), np.float32)
    dense = np.zeros((len(dense_token), blocks), np.uint8)
    listed = np.empty(list_start[-1], np.uint32)
    entity_share = 1 / entity_total

    def bound(cuts: Sequence[int]) -> None:
        """Write the bounds of the tokens between the cuts."""
        reached = np.empty(blocks, np.int64)
        kernels.find_token(cuts[0], postings.block_start, postings.key, reached)
        most = max(int(lengths[first:last].sum()) for first, last in pairwise(cuts))
        block, largest = np.empty(most, np.uint32), np.empty((most, 2), np.float32)
        for first, last in pairwise(cuts):
            here = slice(first, last)
            start = np.cumsum(lengths[here]) - lengths[here]
            about = np.zeros((last - first, kernels.SHARE + layers), np.float64)
            about[:, kernels.NEXT] = start
            about[:, kernels.LAM] = lam * is_dense[here]
            about[:, kernels.SHARE :] = (1 / np.maximum(token_total[:, here], 1e-300)).T
            kernels.collect_bounds(
                reached,
                first,
                last,
                *postings,
                entity_share,
                smallest_kept(threshold),
                about,
                block,
                largest,
            )
            kernels.write_bounds(
                first, about, start, block, largest, list_start, dense_token, scale, dense, listed
            )
            sums[:, here] = about[:, [kernels.PRIOR_SUM, kernels.POSTERIOR_SUM]].T

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(bound, _cuts(lengths, threads)))
    groups = blocks // kernels.GROUP if entity_total.shape[1] > MAX_FLAT_ENTITIES else 0
    group = np.empty((len(dense_token), groups), np.uint8)
    kernels.bound_groups(dense, group)
    own = np.array([lam], np.float64)
    return Bounds(own, scale, _narrow(list_start), listed, dense_token, dense, group), sums


def _cuts(lengths: npt.NDArray[np.int64], threads: int) -> list[list[int]]:
    """Return where to cut the tokens so that parts have about as many entries, for each thread."""
    ends = np.cumsum(lengths)
    even = np.linspace(0, ends[-1], PARTS * threads + 1)[1:-1]
    inner = np.searchsorted(ends, even, side="right")
    cuts = np.concatenate(([0], inner, [len(lengths)])).tolist()
    return [cuts[i : i + PARTS + 1] for i in range(0, PARTS * threads, PARTS)]


def _block_bits(entities: int) -> int:
    """Return the logarithm of how many entities a block has."""
    return 2 if entities <= MAX_FLAT_ENTITIES else 3


def block_bits(blocks: Blocks) -> int:
    """Return the logarithm of how many entities a block of an index has."""
    places: int = blocks.entity_total.shape[1]
    return (places // (len(blocks.block_start) - 1)).bit_length() - 1


def _narrow(places: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32] | npt.NDArray[np.int64]:
    """Return places in four bytes each, if they fit: each of the many rare tokens has one."""
    return places.astype(np.uint32) if places[-1] < 1 << 32 else places
