"""Checks of the arrays that search reads: whatever passes keeps the kernels inside them."""

import numpy as np

from candgen.index.layout import block_bits, first_escapes
from candgen.kernels.blocks import ESCAPE, GROUP, MAX_BLOCK
from candgen.kernels.search import Blocks
from candgen.kernels.validation import find_invalid_escape, find_invalid_list, find_invalid_posting
from candgen.storage.validation import check_array, check_finite, check_offsets, check_range

MAX_LAM = 1e30


def validate_blocks(blocks: Blocks) -> None:
    """Raise ValueError unless all arrays of an index fit together; the trie is checked apart."""
    _validate_totals(blocks)
    _validate_postings(blocks)
    _validate_bounds(blocks)
    _validate_background(blocks)


def _validate_totals(blocks: Blocks) -> None:
    tokens, layers = len(blocks.symbol), len(blocks.token_total)
    number = len(blocks.block_start) - 1
    places = blocks.entity_total.shape[-1]
    if number <= 0 or places not in (number * MAX_BLOCK, number * MAX_BLOCK // 2):
        raise ValueError(f"{places} places do not fill {number} blocks")
    check_array("blocks.token_total", blocks.token_total, np.float64, layers, tokens)
    check_array("blocks.entity_total", blocks.entity_total, np.float64, layers, places)
    check_range("blocks.token_total", blocks.token_total, 0.0, np.inf)
    check_range("blocks.entity_total", blocks.entity_total, np.finfo(np.float64).tiny, np.inf)
    check_array("blocks.rank", blocks.tie_order, np.uint32, -1)
    if layers == 0 or number % GROUP or not 0 < len(blocks.tie_order) <= places:
        raise ValueError(f"{len(blocks.tie_order)} entities do not fit {places} places in groups")


def _validate_postings(blocks: Blocks) -> None:
    postings, layers = len(blocks.key), len(blocks.token_total)
    check_array("blocks.key", blocks.key, np.uint32, -1)
    check_array("blocks.code", blocks.code, np.uint8, layers * postings)
    check_array("blocks.value", blocks.value, np.float64, ESCAPE + 1)
    check_array("blocks.escape_at", blocks.escape_at, np.int64, -1)
    check_array("blocks.escape_value", blocks.escape_value, np.float64, len(blocks.escape_at))
    check_finite("blocks.value", blocks.value)
    check_finite("blocks.escape_value", blocks.escape_value)
    check_array("blocks.block_start", blocks.block_start, np.int64, -1)
    check_offsets("blocks.block_start", blocks.block_start, len(blocks.block_start) - 1, postings)
    entities = len(blocks.tie_order)
    found = find_invalid_posting(
        blocks.block_start, blocks.key, blocks.token_total, entities, block_bits(blocks)
    )
    if found >= 0:
        raise ValueError(f"posting {found} of the array blocks.key is invalid")
    if find_invalid_escape(blocks.code, ESCAPE, blocks.escape_at) >= 0:
        raise ValueError("the array blocks.escape_at does not list the escapes of blocks.code")
    begins = first_escapes(blocks.block_start, layers, blocks.escape_at)
    check_array("blocks.escape_start", blocks.escape_start, np.int64, len(begins))
    if not np.array_equal(blocks.escape_start, begins):
        raise ValueError("the array blocks.escape_start does not say where escapes begin")


def _validate_bounds(blocks: Blocks) -> None:
    tokens, number = len(blocks.symbol), len(blocks.block_start) - 1
    groups, dense = number // GROUP, len(blocks.dense_token)
    check_array("blocks.bound_lam", blocks.bound_lam, np.float64, 1)
    check_range("blocks.bound_lam", blocks.bound_lam, 0.0, MAX_LAM)
    check_array("blocks.scale", blocks.scale, np.float32, tokens, 2)
    check_finite("blocks.scale", blocks.scale)
    check_array("blocks.listed", blocks.listed, np.uint32, -1)
    check_offsets("blocks.list_start", blocks.list_start, tokens, len(blocks.listed))
    found = find_invalid_list(blocks.list_start, blocks.listed, number)
    if found >= 0:
        raise ValueError(f"the bounds of token {found} lead beyond the last block")
    check_array("blocks.dense_token", blocks.dense_token, np.uint32, -1)
    check_range("blocks.dense_token", blocks.dense_token, 0, tokens - 1)
    if not (blocks.dense_token[:-1] < blocks.dense_token[1:]).all():
        raise ValueError("the array blocks.dense_token is not in order")
    check_array("blocks.dense", blocks.dense, np.uint8, dense, number)
    if blocks.group.shape[-1] != 0:
        check_array("blocks.group", blocks.group, np.uint8, dense, groups)
    else:
        check_array("blocks.group", blocks.group, np.uint8, dense, 0)


def _validate_background(blocks: Blocks) -> None:
    smoothed = len(blocks.background) > 0
    number = len(blocks.block_start) - 1
    for name, length in (
        ("token_background", len(blocks.symbol)),
        ("background", blocks.entity_total.shape[1]),
        ("background_scale", 1),
    ):
        check_array(f"blocks.{name}", getattr(blocks, name), np.float64, length * smoothed)
        check_finite(f"blocks.{name}", getattr(blocks, name))
    check_array("blocks.background_level", blocks.background_level, np.uint8, number * smoothed)
