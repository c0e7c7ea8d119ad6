"""Kernels that check arrays of a stored index which are too large for temporary copies."""

import numpy as np

from candgen.kernels import kernel
from candgen.kernels.blocks import KEY_BITS, KEY_MASK


@kernel
def find_invalid_posting(block_start, key, token_total, entities, block_bits):
    """Return the first posting that is out of order, or of no entity or token; -1 if none is.

    Within a block keys rise. A token that occurs has a total above 0 in every layer, because
    counts are divided by it.
    """
    for b in range(len(block_start) - 1):
        before = np.int64(-1)
        first = b << block_bits & ~KEY_MASK
        for i in range(block_start[b], block_start[b + 1]):
            here = np.int64(key[i])
            token = here >> KEY_BITS
            entity = first + (here & KEY_MASK)
            if here <= before or token >= token_total.shape[1]:
                return i
            if entity >> block_bits != b or entity >= entities:
                return i
            for layer in range(token_total.shape[0]):
                if not token_total[layer, token] > 0.0:
                    return i
            before = here
    return -1


@kernel
def find_invalid_list(list_start, listed, blocks):
    """Return the first token whose list of bounds leads beyond the last block; -1 if none does."""
    for token in range(len(list_start) - 1):
        block = np.int64(0)
        for at in range(list_start[token], list_start[token + 1]):
            block += np.int64(listed[at] >> np.uint32(16))
        if block >= blocks:
            return token
    return -1


@kernel
def find_invalid_escape(code, escape, escape_at):
    """Return the first place where codes and the list of escapes differ; -1 if none does."""
    number = 0
    for i in range(len(code)):
        if code[i] == escape:
            if number == len(escape_at) or escape_at[number] != i:
                return i
            number += 1
    return -1 if number == len(escape_at) else len(code)
