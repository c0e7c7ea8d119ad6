"""Charagram by hand: slow, short, obviously right. It imports nothing from candgen."""

from collections.abc import Mapping, Sequence

import numpy as np

from tests.support.oracle import ngrams


def encode(text: str, table: Mapping[tuple[int, ...], np.ndarray], bias: np.ndarray) -> np.ndarray:
    """tanh(bias + the sum of the embeddings of the n-grams), those that have one, in float64."""
    total = np.array(bias, np.float64)
    for token in ngrams(text):
        if token in table:
            total = total + np.array(table[token], np.float64)
    return np.tanh(total)


def candidates(
    query: np.ndarray, vectors: np.ndarray, entities: Sequence[str], k: int
) -> list[tuple[str, np.float32]]:
    """Every entity's float32((1 + cos) / 2), sorted: best score, then shorter id, then smaller."""
    scored = []
    for entity, vector in zip(entities, np.array(vectors, np.float64), strict=True):
        cosine = float((vector * query).sum())
        score = np.float32((1 + min(1.0, max(-1.0, cosine))) / 2)
        if score > 0:
            scored.append((entity, score))
    return sorted(scored, key=lambda pair: (-pair[1], len(pair[0]), pair[0]))[:k]
