"""From pooled counts to the arrays that search reads: postings in blocks, and bounds."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.index.pooling import PooledCounts, smallest_kept
from candgen.index.vocabulary import Vocabulary
from candgen.kernels import blocks as kernels
from candgen.kernels.search import Blocks

BLOCKS_PER_DENSE_TOKEN = 8
"""A token in more than one of this many blocks has a row of all blocks instead of a list."""

TOKENS_AT_ONCE = 1 << 15

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

    prior_scale: npt.NDArray[np.float32]
    posterior_scale: npt.NDArray[np.float32]
    list_start: npt.NDArray[np.uint32] | npt.NDArray[np.int64]
    listed: npt.NDArray[np.uint32]
    dense_token: npt.NDArray[np.uint32]
    dense: npt.NDArray[np.uint8]
    group_prior: npt.NDArray[np.uint8]
    group_posterior: npt.NDArray[np.uint8]


def lay_out(
    pooled: PooledCounts,
    vocabulary: Vocabulary,
    tie_order: npt.NDArray[np.uint32],
    *,
    threshold: float,
    threads: int = 1,
) -> tuple[Blocks, Sums]:
    """Return the arrays of an index, and each token's sums of priors and of posteriors.

    The tokens of ``pooled`` are overwritten, to save their memory.
    """
    postings = _postings(pooled, len(vocabulary), threads)
    layers, entities = pooled.entity_total.shape
    entity_total = np.ones((layers, (len(postings.block_start) - 1) * kernels.BLOCK), np.float64)
    entity_total[:, :entities] = pooled.entity_total
    bounds, sums = _bounds(postings, pooled.token_total, entity_total, threshold)
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
    most = of_entity.reshape(-1, kernels.BLOCK).max(axis=1)
    scale = max(float(most.max()) / 255 * (1 + 1e-6), 1e-30)
    return blocks._replace(
        token_background=background.token,
        background=of_entity,
        background_level=np.ceil(most / scale).astype(np.uint8),
        background_scale=np.array([scale]),
    )


def _postings(pooled: PooledCounts, tokens: int, threads: int) -> Postings:
    """Return the postings in the order of their blocks, which fill whole groups."""
    number = pooled.entity_total.shape[1]
    groups = -(-number // (kernels.GROUP * kernels.BLOCK))
    blocks = groups * kernels.GROUP
    entities = np.minimum(np.arange(blocks + 1) * kernels.BLOCK, number)
    block_start = pooled.indptr[entities]
    value, code_of = _codes(pooled)
    key = pooled.tokens  # a block is read whole before it is written
    layers = len(pooled.number)
    code = np.empty(layers * len(key), np.uint8)
    bits = (tokens << kernels.BLOCK_BITS).bit_length()

    def fill(first: int, last: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        room = layers * int(block_start[last] - block_start[first])  # not taken until written
        at, number = np.empty(room, np.int64), np.empty(room, np.uint32)
        escapes = kernels.fill_blocks(
            first,
            last,
            pooled.indptr,
            pooled.tokens,
            pooled.number,
            code_of,
            bits,
            key,
            code,
            at,
            number,
        )
        return at[:escapes].copy(), number[:escapes].copy()

    cuts = np.linspace(0, blocks, threads + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(threads) as pool:
        escaped = list(pool.map(fill, cuts[:-1], cuts[1:]))
    escape_at = np.concatenate([at for at, _ in escaped])
    escape_value = pooled.values[np.concatenate([number for _, number in escaped])]
    order = np.argsort(escape_at, kind="stable")  # threads and layers come one after the other
    return Postings(block_start, key, code, value, escape_at[order], escape_value[order])


def _codes(pooled: PooledCounts) -> tuple[Floats, npt.NDArray[np.uint8]]:
    """Return the most frequent values, and for each number its place among them, or ESCAPE.

    The table has one more value, which nothing reads, so that the escape is a place in it too.
    """
    chosen = np.lexsort((pooled.values, -pooled.uses))[: kernels.ESCAPE]
    chosen = chosen[np.argsort(pooled.values[chosen])]
    code_of = np.full(len(pooled.values), kernels.ESCAPE, np.uint8)
    code_of[chosen] = np.arange(len(chosen))
    value = np.zeros(kernels.ESCAPE + 1, np.float64)
    value[: len(chosen)] = pooled.values[chosen]
    return value, code_of


def _bounds(
    postings: Postings, token_total: Floats, entity_total: Floats, threshold: float
) -> tuple[Bounds, Sums]:
    """Bounds of all tokens in all blocks, and the sums of their entries, after thresholding."""
    groups = (len(postings.block_start) - 1) // kernels.GROUP
    layers, tokens = token_total.shape
    about = np.zeros((tokens, kernels.SHARE + layers), np.float64)
    about[:, kernels.SHARE :] = (1 / np.maximum(token_total, 1e-300)).T
    read = (*postings, 1 / entity_total, smallest_kept(threshold), about)
    lasts = range(TOKENS_AT_ONCE, tokens + TOKENS_AT_ONCE, TOKENS_AT_ONCE)
    reached = postings.block_start[:-1].copy()
    for last in lasts:
        kernels.measure_tokens(reached, last, *read)
    # Rounded up, so that 255 steps reach the largest value also in single precision.
    most = about[:, [kernels.PRIOR, kernels.POSTERIOR]].T
    scale = np.where(most > 0, np.maximum(most / 255 * (1 + 1e-6), 1e-30), 0).astype(np.float32)
    sums = about[:, [kernels.PRIOR_SUM, kernels.POSTERIOR_SUM]].T.astype(np.float32, order="C")
    size = about[:, kernels.SIZE].astype(np.int64)
    dense_token = np.flatnonzero(size > groups * kernels.GROUP / BLOCKS_PER_DENSE_TOKEN).astype(
        np.uint32
    )
    size[dense_token] = 0
    list_start = np.concatenate(([0], np.cumsum(size)))
    with np.errstate(divide="ignore"):
        about[:, [kernels.PRIOR, kernels.POSTERIOR]] = (1 / scale.astype(np.float64)).T
    about[:, kernels.SIZE] = list_start[:-1]
    about[:, kernels.PREVIOUS] = 0
    about[:, kernels.ROW] = -1
    about[dense_token, kernels.ROW] = np.arange(len(dense_token))
    dense = np.zeros((groups, len(dense_token), kernels.GROUP), np.uint8)
    grouped = np.zeros((2, len(dense_token), groups), np.uint8)
    listed = np.empty(list_start[-1], np.uint32)
    reached = postings.block_start[:-1].copy()
    for last in lasts:
        kernels.bound_tokens(reached, last, *read, dense, grouped[0], listed)
    kernels.bound_groups(dense, grouped[1])
    return Bounds(
        scale[0], scale[1], _narrow(list_start), listed, dense_token, dense, grouped[0], grouped[1]
    ), sums


def _narrow(places: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32] | npt.NDArray[np.int64]:
    """Return places in four bytes each, if they fit: each of the many rare tokens has one."""
    return places.astype(np.uint32) if places[-1] < 1 << 32 else places
