"""Figures to compare a world with a real Wikipedia."""

import numba
import numpy as np
import pyarrow.compute as pc

from world.chance import Integers
from world.table import World
from world.text import join


@numba.njit
def count_postings(characters: Integers, offsets: Integers, entity: Integers) -> tuple[int, int]:
    """Count distinct (token, entity) and all tokens, n = 2..5, of pairs sorted by entity.

    The characters of each name stand between two boundary marks. A token is told by a hash of
    64 bits: a chance collision within one entity is out of the question.
    """
    postings, tokens = 0, 0
    start = 0
    while start < len(entity):
        end = start
        while end < len(entity) and entity[end] == entity[start]:
            end += 1
        hashes = np.empty(4 * (offsets[end] - offsets[start]), np.uint64)
        filled = 0
        for row in range(start, end):
            for first in range(offsets[row], offsets[row + 1]):
                token = np.uint64(0)
                for last in range(first, min(first + 5, offsets[row + 1])):
                    token = (token + np.uint64(characters[last])) * np.uint64(0x9E3779B97F4A7C15)
                    token ^= token >> np.uint64(29)
                    if last > first:
                        hashes[filled] = token
                        filled += 1
        ordered = np.sort(hashes[:filled])
        tokens += filled
        postings += 1 + np.count_nonzero(ordered[1:] != ordered[:-1])
        start = end
    return postings, tokens


def figures(world: World) -> dict[str, float]:
    """Return the figures to compare with a real Wikipedia."""
    marked = join("\x02", world.names, "\x02")
    length = pc.utf8_length(marked).to_numpy().astype(np.int64)
    text = marked.buffers()[2].to_pybytes().decode()
    characters = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(length)])
    postings, tokens = count_postings(characters, offsets, world.entity.astype(np.int64))
    by_entity = np.bincount(world.entity, weights=world.count)
    by_name = pc.value_counts(world.names).field("counts").to_numpy()
    return {
        "entities": len(world.identifiers),
        "pairs": len(world.names),
        "distinct mentions": len(by_name),
        "mentions of several entities": int((by_name > 1).sum()),
        "entities of the most ambiguous": int(by_name.max()),
        "occurrences": int(world.count.sum()),
        "occurrences of the most popular entity": int(by_entity.max()),
        "entities seen once": int((by_entity == 1).sum()),
        "tokens": tokens,
        "postings": postings,
        "postings per entity": round(postings / len(world.identifiers), 2),
        "characters per mention": round(float(length.mean() - 2), 2),
    }
