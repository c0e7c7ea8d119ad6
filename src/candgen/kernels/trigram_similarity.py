"""Kernels that compute how similar names are: Dice's coefficient of their n-grams, in millionths.

    similarity = 2 * (n-grams of both, each as often as both have it) / (n-grams of one + the other)

Millionths are whole numbers, so that sums of them do not depend on the order of adding. Names are
rows of symbols between two boundary marks; the similarity of an empty name to any other is 0.
"""

import numpy as np

from candgen.kernels import kernel

WHOLE = 1_000_000


@kernel
def ngram_count(start, end, n):
    """Return how many n-grams a row has."""
    return max(end - start - n + 1, 0) if end - start > 2 else 0


@kernel
def _shared(a, b, n, used):
    """Return how many n-grams two rows share."""
    shared = 0
    places = len(b) - n + 1
    for j in range(places):
        used[j] = False
    for i in range(len(a) - n + 1):
        for j in range(places):
            if not used[j] and a[i] == b[j]:
                same = 1
                while same < n and a[i + same] == b[j + same]:
                    same += 1
                if same == n:
                    used[j] = True
                    shared += 1
                    break
    return shared


@kernel
def closest_in_group(
    text, start, end, group, other_text, other_start, other_end, first, n, used, best
):
    """Write each row's similarity to the most similar one of the others of its group.

    The others of group g are ``first[g]`` to ``first[g + 1]``; ``used`` is scratch.
    """
    for row in range(len(start)):
        size = ngram_count(start[row], end[row], n)
        for other in range(first[group[row]], first[group[row] + 1]):
            other_size = ngram_count(other_start[other], other_end[other], n)
            # Even if all n-grams of the smaller one were shared, it might not be the best.
            most = 2 * WHOLE * min(size, other_size)
            if most > best[row] * (size + other_size):
                shared = _shared(
                    text[start[row] : end[row]],
                    other_text[other_start[other] : other_end[other]],
                    n,
                    used,
                )
                best[row] = max(best[row], 2 * WHOLE * shared // (size + other_size))


@kernel
def closest_of_all(tokens, start, end, n, first, rows, counts, sizes, seen, shared, best):
    """Write each query's similarity to the most similar name, in one pass over the names.

    ``tokens`` has the number of the n-gram that begins at each position, -1 where no query has it;
    n-gram t is in the queries ``rows[first[t]:first[t + 1]]``, ``counts`` times in each, which have
    ``sizes`` n-grams in all. ``seen`` and ``shared`` are scratch, zeros before and after.
    """
    touched = np.empty(len(best), np.int32)
    for row in range(len(start)):
        size = ngram_count(start[row], end[row], n)
        filled = 0
        for p in range(start[row], start[row] + size):
            token = tokens[p]
            if token < 0:
                continue
            seen[token] += 1
            for i in range(first[token], first[token + 1]):
                if counts[i] >= seen[token]:
                    query = rows[i]
                    if shared[query] == 0:
                        touched[filled] = query
                        filled += 1
                    shared[query] += 1
        for i in range(filled):
            query = touched[i]
            similarity = 2 * WHOLE * np.int64(shared[query]) // (size + sizes[query])
            best[query] = max(best[query], similarity)
            shared[query] = 0
        for p in range(start[row], start[row] + size):
            if tokens[p] >= 0:
                seen[tokens[p]] = 0
