"""Kernels that take the scores of several entities apart, token by token."""

import numpy as np

from candgen.kernels import kernel
from candgen.kernels.blocks import KEY_BITS, KEY_MASK
from candgen.kernels.scoring import block_bits, posting
from candgen.kernels.trie import find_tokens, token_room


@kernel
def counts_of_entities(blocks, numbers, tokens, counts):
    """Write n(t, e) of entity i and token j in each layer to ``counts[layer, i, j]``.

    ``tokens`` are sorted and distinct.
    """
    for i in range(len(numbers)):
        number = numbers[i]
        block = number >> block_bits(blocks)
        inside = number & KEY_MASK
        for at in range(blocks.block_start[block], blocks.block_start[block + 1]):
            if blocks.key[at] & KEY_MASK != inside:
                continue
            token = np.int64(blocks.key[at] >> KEY_BITS)
            j = np.searchsorted(tokens, token)
            if j < len(tokens) and tokens[j] == token:
                for layer in range(len(counts)):
                    counts[layer, i, j] = posting(blocks, layer, block, at)


@kernel
def times_in_texts(child, symbol, text, start, end, low, high, wildcard, tokens, times):
    """Write how often row i has token j to ``times[i, j]``; tokens are sorted and distinct."""
    for i in range(len(start)):
        found = np.empty(token_room(end[i] - start[i], low, high, wildcard), np.int64)
        number = find_tokens(child, symbol, text, start[i], end[i], low, high, wildcard, found)
        for at in range(number):
            j = np.searchsorted(tokens, found[at])
            if j < len(tokens) and tokens[j] == found[at]:
                times[i, j] += 1
