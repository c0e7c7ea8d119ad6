"""From pooled counts to the arrays that search reads: postings in blocks, and bounds."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from candgen.counts import Pooled
from candgen.kernels import blocks as kernels
from candgen.kernels.search import Blocks
from candgen.vocabulary import Vocabulary

CODES = 255
"""Values that have a one-byte code; the byte after them is the escape."""

DENSE = 8
"""A token in more than one of so many blocks has a row of all blocks instead of a list."""

Step = Callable[[int, int], None]


def lay_out(
    pooled: Pooled, vocabulary: Vocabulary, rank: npt.NDArray[np.uint32], *,
    threshold: float, threads: int = 1,
) -> tuple[Blocks, npt.NDArray[np.float64]]:  # fmt: skip
    """The arrays of an index, and the sums over entities of each token's priors and posteriors."""
    entities = len(pooled.entity_total)
    groups = -(-entities // (kernels.GROUP * kernels.BLOCK))
    blocks = groups * kernels.GROUP
    start = np.zeros(len(vocabulary) + 1, np.int64)
    kernels.count_tokens(pooled.tokens, start)
    np.cumsum(start, out=start)
    value, code_of = _codes(pooled)
    entity = np.empty(len(pooled.tokens), np.uint32)
    code = np.empty(len(entity), np.uint8)
    escapes = int(pooled.uses[code_of == CODES].sum())
    escaped, escaped_number = np.empty(escapes, np.int64), np.empty(escapes, np.uint32)
    kernels.by_token(
        pooled.indptr, pooled.tokens, pooled.number, code_of, CODES, start[:-1].copy(),
        entity, code, escaped, escaped_number,
    )  # fmt: skip
    in_order = np.argsort(escaped)
    escaped = escaped[in_order]
    escaped_value = pooled.values[escaped_number[in_order]]

    block_start = np.full(blocks + 1, pooled.indptr[-1], np.int64)
    first_entities = pooled.indptr[: -1 : kernels.BLOCK]
    block_start[: len(first_entities)] = first_entities
    key = np.empty(len(entity), np.uint32)
    block_code = np.empty(len(entity), np.uint8)
    moved = np.empty(escapes, np.int64)
    kernels.by_block(
        start, entity, code, escaped, CODES, block_start[:-1].copy(), key, block_code, moved
    )
    in_order = np.argsort(moved)

    least = threshold * (1 - 1e-9)
    tokens = len(vocabulary)
    scale = np.zeros((2, tokens), np.float32)
    sums = np.zeros((2, tokens), np.float64)
    size = np.zeros(tokens, np.int64)
    postings = (start, entity, code, value, CODES, escaped, escaped_value,
                pooled.token_total, pooled.entity_total, least)  # fmt: skip
    _in_threads(
        lambda first, last: kernels.scale_tokens(first, last, *postings, *scale, *sums, size),
        start, threads,
    )  # fmt: skip
    dense_token = np.flatnonzero(size > blocks / DENSE).astype(np.uint32)
    size[dense_token] = 0
    list_start = np.concatenate(([0], np.cumsum(size)))
    gap = np.empty(list_start[-1], np.uint16)
    in_list = np.empty((2, len(gap)), np.uint8)
    dense = np.zeros((groups, len(dense_token), kernels.GROUP), np.uint8)
    grouped = np.zeros((2, len(dense_token), groups), np.uint8)
    _in_threads(
        lambda first, last: kernels.bound_tokens(
            first, last, *postings, *scale, dense_token, dense, grouped[0], list_start, gap, *in_list
        ),
        start, threads,
    )  # fmt: skip
    kernels.bound_groups(dense, grouped[1])
    entity_total = np.ones(blocks * kernels.BLOCK, np.float64)
    entity_total[:entities] = pooled.entity_total
    return Blocks(
        child=vocabulary.child, symbol=vocabulary.symbol,
        token_total=pooled.token_total, entity_total=entity_total, rank=rank,
        block_start=block_start, key=key, code=block_code, value=value,
        escape_at=moved[in_order], escape_value=escaped_value[in_order],
        prior_scale=scale[0], posterior_scale=scale[1],
        list_start=list_start, list_gap=gap, list_prior=in_list[0], list_posterior=in_list[1],
        dense_token=dense_token, dense=dense,
        group_prior=grouped[0], group_posterior=grouped[1],
    ), sums  # fmt: skip


def _codes(pooled: Pooled) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8]]:
    """The most used values, and the code of each number: its place among them, or CODES."""
    chosen = np.lexsort((pooled.values, -pooled.uses))[:CODES]
    chosen = chosen[np.argsort(pooled.values[chosen])]
    code_of = np.full(len(pooled.values), CODES, np.uint8)
    code_of[chosen] = np.arange(len(chosen))
    return pooled.values[chosen], code_of


def _in_threads(step: Step, start: npt.NDArray[np.int64], threads: int) -> None:
    """Do ranges of tokens side by side, each with about the same number of postings."""
    shares = np.linspace(0, start[-1], 4 * threads + 1)[1:-1]
    cuts = [0, *np.searchsorted(start, shares).tolist(), len(start) - 1]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(step, cuts[:-1], cuts[1:]))
