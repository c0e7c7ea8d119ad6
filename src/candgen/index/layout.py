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

MAX_FLAT_ENTITIES = 300_000
"""Up to so many entities, blocks have four of them and no groups: bounding all is fast then."""

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

    Search is fastest with ``lam``. The tokens of ``pooled`` are overwritten, to save their memory.
    """
    postings = _postings(pooled, len(vocabulary), threads)
    layers, entities = pooled.entity_total.shape
    places = (len(postings.block_start) - 1) << _block_bits(entities)
    entity_total = np.ones((layers, places), np.float64)
    entity_total[:, :entities] = pooled.entity_total
    bounds, sums = _bounds(postings, pooled.token_total, entity_total, lam, threshold)
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


def _postings(pooled: PooledCounts, tokens: int, threads: int) -> Postings:
    """Return the postings in the order of their blocks, which fill whole groups."""
    number = pooled.entity_total.shape[1]
    block_bits = _block_bits(number)
    blocks = -(-number // (kernels.GROUP << block_bits)) * kernels.GROUP
    entities = np.minimum(np.arange(blocks + 1) << block_bits, number)
    block_start = pooled.indptr[entities]
    value, code_of = _codes(pooled)
    key = pooled.tokens  # a block is read whole before it is written
    layers = len(pooled.number)
    code = np.empty(layers * len(key), np.uint8)
    bits = (tokens << kernels.KEY_BITS).bit_length()

    def fill(first: int, last: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        room = layers * int(block_start[last] - block_start[first])  # not taken until written
        at, number = np.empty(room, np.int64), np.empty(room, np.uint32)
        escapes = kernels.fill_blocks(
            first,
            last,
            block_bits,
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
    escape_at = escape_at[order]
    escape_start = first_escapes(block_start, layers, escape_at)
    return Postings(block_start, key, code, value, escape_start, escape_at, escape_value[order])


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
    chosen = chosen[np.argsort(pooled.values[chosen])]
    code_of = np.full(len(pooled.values), kernels.ESCAPE, np.uint8)
    code_of[chosen] = np.arange(len(chosen))
    value = np.zeros(kernels.ESCAPE + 1, np.float64)
    value[: len(chosen)] = pooled.values[chosen]
    return value, code_of


def _bounds(
    postings: Postings, token_total: Floats, entity_total: Floats, lam: float, threshold: float
) -> tuple[Bounds, Sums]:
    """Bounds of all tokens in all blocks, and the sums of their entries, after thresholding."""
    blocks = len(postings.block_start) - 1
    layers, tokens = token_total.shape
    about = np.zeros((tokens, kernels.SHARE + layers), np.float64)
    about[:, kernels.SHARE :] = (1 / np.maximum(token_total, 1e-300)).T
    read = (*postings, 1 / entity_total, smallest_kept(threshold), lam, about)
    lasts = range(TOKENS_AT_ONCE, tokens + TOKENS_AT_ONCE, TOKENS_AT_ONCE)
    reached = postings.block_start[:-1].copy()
    for last in lasts:
        kernels.measure_tokens(reached, last, *read)
    sums = about[:, [kernels.PRIOR_SUM, kernels.POSTERIOR_SUM]].T.astype(np.float32, order="C")
    size = about[:, kernels.SIZE].astype(np.int64)
    dense_token = np.flatnonzero(size > blocks / BLOCKS_PER_DENSE_TOKEN).astype(np.uint32)
    size[dense_token] = 0
    list_start = np.concatenate(([0], np.cumsum(size)))
    scale = _scales(about, dense_token)
    about[:, kernels.SIZE] = list_start[:-1]
    about[dense_token, kernels.SIZE] = np.arange(len(dense_token))
    about[:, kernels.PREVIOUS] = 0
    dense = np.zeros((len(dense_token), blocks), np.uint8)
    listed = np.empty(list_start[-1], np.uint32)
    reached = postings.block_start[:-1].copy()
    for last in lasts:
        kernels.bound_tokens(reached, last, *read, dense, listed)
    groups = blocks // kernels.GROUP if entity_total.shape[1] > MAX_FLAT_ENTITIES else 0
    group = np.empty((len(dense_token), groups), np.uint8)
    kernels.bound_groups(dense, group)
    own = np.array([lam], np.float64)
    return Bounds(own, scale, _narrow(list_start), listed, dense_token, dense, group), sums


def _scales(about: Floats, dense_token: npt.NDArray[np.uint32]) -> Sums:
    """Return the scales of all tokens, and put levels per value in the place of largest values.

    Rounded up, so that the highest level reaches the largest value also in single precision.
    """
    columns = [kernels.PRIOR, kernels.POSTERIOR, kernels.BOTH]
    most = about[:, columns] * (1 + 1e-6)
    scale = np.where(most > 0, np.maximum(most / kernels.LEVELS**2, 1e-30), 0).astype(np.float32)
    with np.errstate(divide="ignore"):
        about[:, columns] = 1 / scale.astype(np.float64)
    is_list = np.ones(len(about), np.bool_)
    is_list[dense_token] = False
    about[is_list, kernels.BOTH] = 0.0
    scale[dense_token, 0] = scale[dense_token, 2]
    scale[dense_token, 1] = most[dense_token, 1]
    return scale[:, :2].copy()


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
