"""Kernels that lay postings out for search, and bound every token in every block.

A block is eight neighbouring entities. Its postings stand together, ordered by token and then by
entity. Of each token and block two bounds are kept, of the largest prior and of the largest
posterior in the block, as bytes that count in steps of the token's own scale, rounded up.
"""

import numba as nb
import numpy as np

BLOCK_BITS = 3
BLOCK = 1 << BLOCK_BITS
GROUP_BITS = 3
GROUP = 1 << GROUP_BITS
GAP = np.int64(0xFFFF)

_kernel = nb.njit(nogil=True, cache=True)


@_kernel
def count_tokens(tokens, start):
    """How many postings each token has: ``start[t + 1]`` is raised for each posting of t."""
    for i in range(len(tokens)):
        start[tokens[i] + 1] += 1


@_kernel
def by_token(indptr, tokens, values, code_of, escape, cursor, entity, code, escaped, escaped_value):
    """Postings ordered by token, then entity, with one-byte codes for their values.

    Values without a code are listed apart, with their places. Returns how many there are.
    """
    escapes = 0
    for e in range(len(indptr) - 1):
        for i in range(indptr[e], indptr[e + 1]):
            place = cursor[tokens[i]]
            cursor[tokens[i]] = place + 1
            entity[place] = e
            code[place] = code_of[values[i]]
            if code[place] == escape:
                escaped[escapes] = place
                escaped_value[escapes] = values[i]
                escapes += 1
    return escapes


@_kernel
def by_block(start, entity, code, escaped, escape, cursor, key, block_code, moved):
    """The same postings ordered by block, token, entity; ``moved`` are the new places of escapes."""
    escapes = 0
    for t in range(len(start) - 1):
        for i in range(start[t], start[t + 1]):
            block = entity[i] >> BLOCK_BITS
            place = cursor[block]
            cursor[block] = place + 1
            key[place] = (t << BLOCK_BITS) | (entity[i] & (BLOCK - 1))
            block_code[place] = code[i]
            if code[i] == escape:
                moved[escapes] = place
                escapes += 1


@_kernel
def _posting(i, code, value, escape, escaped, escaped_value):
    """n(t, e) of a posting."""
    if code[i] == escape:
        return escaped_value[np.searchsorted(escaped, i)]
    return value[code[i]]


@_kernel
def scale_tokens(
    first, last, start, entity, code, value, escape, escaped, escaped_value,
    token_total, entity_total, least, prior_scale, posterior_scale, prior_sum, posterior_sum, size,
):  # fmt: skip
    """For tokens first to last: scales, sums over entities, and how long a list of blocks is."""
    for t in range(first, last):
        most_prior = most_posterior = 0.0
        blocks = np.int64(0)
        previous = np.int64(0)
        for i in range(start[t], start[t + 1]):
            n = _posting(i, code, value, escape, escaped, escaped_value)
            prior = n / token_total[t]
            posterior = n / entity_total[entity[i]]
            if prior >= least:
                prior_sum[t] += prior
                most_prior = max(most_prior, prior)
            if posterior >= least:
                posterior_sum[t] += posterior
                most_posterior = max(most_posterior, posterior)
            block = np.int64(entity[i] >> BLOCK_BITS)
            if blocks == 0 or block != previous:
                blocks += 1 + (block - previous) // GAP
                previous = block
        # Rounded up, so that 255 steps reach the largest value also in single precision.
        prior_scale[t] = most_prior / 255 * (1 + 1e-6)
        posterior_scale[t] = most_posterior / 255 * (1 + 1e-6)
        size[t] = blocks


@_kernel
def _steps(probability, least, scale):
    """A probability in steps of the scale, rounded up; 0 if it is under the threshold."""
    if probability < least or probability == 0.0:
        return np.int64(0)
    return min(np.int64(255), np.int64(np.ceil(probability / scale)))


@_kernel
def bound_tokens(
    first, last, start, entity, code, value, escape, escaped, escaped_value,
    token_total, entity_total, least, prior_scale, posterior_scale,
    dense_tokens, dense, group_prior, list_start, gap, list_prior, list_posterior,
):  # fmt: skip
    """For tokens first to last: the bounds of each block, in a list or, if dense, in all groups.

    In a list, a block is the distance from the one before; a distance too long for 16 bits is
    walked in several entries, whose bounds are 0.
    """
    for t in range(first, last):
        row = np.searchsorted(dense_tokens, t)
        has_row = row < len(dense_tokens) and dense_tokens[row] == t
        place = list_start[t] - 1
        previous = np.int64(0)
        for i in range(start[t], start[t + 1]):
            n = _posting(i, code, value, escape, escaped, escaped_value)
            prior = _steps(n / token_total[t], least, prior_scale[t])
            posterior = _steps(n / entity_total[entity[i]], least, posterior_scale[t])
            block = np.int64(entity[i] >> BLOCK_BITS)
            if has_row:
                group, place = block >> GROUP_BITS, block & (GROUP - 1)
                group_prior[row, group] = max(group_prior[row, group], prior)
                dense[group, row, place] = max(dense[group, row, place], posterior)
                continue
            if i == start[t] or block != previous:
                while block - previous >= GAP:
                    place += 1
                    gap[place] = GAP
                    list_prior[place] = list_posterior[place] = 0
                    previous += GAP
                place += 1
                gap[place] = block - previous
                list_prior[place] = list_posterior[place] = 0
                previous = block
            list_prior[place] = max(list_prior[place], prior)
            list_posterior[place] = max(list_posterior[place], posterior)


@_kernel
def bound_groups(dense, group_posterior):
    """The largest posterior bound in each group of neighbouring blocks."""
    for g in range(dense.shape[0]):
        for row in range(dense.shape[1]):
            group_posterior[row, g] = dense[g, row].max()
