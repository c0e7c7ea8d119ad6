"""Deterministic random draws, the same on every machine.

Only additions, divisions and square roots of floats, which IEEE 754 defines to the last bit,
decide anything.
"""

import zlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from world.text import TEXT, scalar

Integers = npt.NDArray[np.int64]


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return a random generator for one purpose, independent of those for other purposes."""
    return np.random.Generator(np.random.PCG64([seed, zlib.crc32(purpose.encode())]))


def draw_weighted(
    weights: npt.NDArray[np.float64], size: int, rng: np.random.Generator
) -> Integers:
    """Draw positions with replacement, in proportion to their weights."""
    # cumsum adds one by one on every machine; sum does not.
    cumulated = np.cumsum(weights)
    drawn: Integers = np.searchsorted(cumulated, rng.random(size) * cumulated[-1], side="right")
    return drawn.clip(max=len(weights) - 1)


def draw(lexicon: pa.Array, size: int, rng: np.random.Generator, *, shift: int = 20) -> pa.Array:
    """Draw words by Zipf's law; a larger shift makes the first words less frequent."""
    weights = 1.0 / (np.arange(len(lexicon)) + shift)
    return lexicon.take(pa.array(draw_weighted(weights, size, rng)))


def some(words: list[str], size: int, rng: np.random.Generator) -> pa.Array:
    """Draw from a short list, the first ones more often."""
    return draw(pa.array(words, TEXT), size, rng, shift=3)


def sometimes(
    share: float, text: pa.Array, otherwise: pa.Array | str, rng: np.random.Generator
) -> pa.Array:
    """Return the text in a fraction of the rows, and another text in the others."""
    chosen = pa.array(rng.random(len(text)) < share)
    return pc.if_else(chosen, text, scalar(otherwise) if isinstance(otherwise, str) else otherwise)
