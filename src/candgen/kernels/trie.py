"""Kernels that find the tokens of a text in a trie: see ``vocabulary``."""

import numpy as np

from candgen.kernels import kernel


@kernel
def token_room(length, low, high, wildcard):
    """Return an upper bound of the number of tokens of a row of symbols."""
    each = high - low + 1
    if wildcard >= 0:
        for n in range(max(low, 3), high + 1):
            each += n - 2
    return length * each


@kernel
def _child(child, symbol, node, wanted):
    """Return the child of a node by its last symbol; 0, the root, if there is none."""
    left = np.int64(child[node])
    last = np.int64(child[node + 1])
    right = last
    while left < right:
        middle = (left + right) >> 1
        if symbol[middle] < wanted:
            left = middle + 1
        else:
            right = middle
    if left == last or symbol[left] != wanted:
        return np.int64(0)
    return left


@kernel
def _find_hidden(child, symbol, text, p, hidden, end, wildcard, node, low, found, number):
    """Go on from the node of ``text[p:hidden]`` with a wildcard; returns how many there are now."""
    node = _child(child, symbol, node, wildcard)
    if node > 0:
        for q in range(hidden + 1, end):
            node = _child(child, symbol, node, text[q])
            if node == 0:
                break
            if q - p + 1 >= low:
                found[number] = node
                number += 1
    return number


@kernel
def find_tokens(child, symbol, text, start, end, low, high, wildcard, found):
    """Return the nodes of all tokens of ``text[start:end]`` that are in the trie; returns how many.

    They are n-grams and, unless ``wildcard`` is negative, those with an inner symbol hidden.
    """
    number = 0
    for p in range(start, end):
        node = np.int64(0)
        last = min(p + high, end)
        for q in range(p, last):
            node = _child(child, symbol, node, text[q])
            if node == 0:
                break
            if q - p + 1 >= low:
                found[number] = node
                number += 1
            if wildcard >= 0 and q + 2 < last:
                number = _find_hidden(
                    child, symbol, text, p, q + 1, last, wildcard, node, low, found, number
                )
    return number


@kernel
def gather(tokens, times):
    """Sort tokens and merge equal ones, with how often each occurs; returns how many remain."""
    tokens.sort()
    kept = 0
    for i in range(len(tokens)):
        if kept > 0 and tokens[kept - 1] == tokens[i]:
            times[kept - 1] += 1
        else:
            tokens[kept] = tokens[i]
            times[kept] = 1
            kept += 1
    return kept
