"""How rare n-grams and words are among names: a rare one tells more than a frequent one.

Of *Esbjerg kommuna*, *Esbjerg* tells which entity is meant: thousands of names have the other word.
What is counted are character n-grams of words, for the cosine of two names, and beginnings of
words, for the weight of a word. A word counts as its first three fourths, so that its other forms
count with it. The counts stand in a table of hashes, a byte each, as large as all names together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.generators.rerank.logarithms import decode_logarithm, encode_logarithm
from candgen.kernels import rarity as kernels
from candgen.storage.validation import check_array, check_range

Floats = npt.NDArray[np.float64]

MIN_BITS, MAX_BITS = 10, 24
NO_SPACE = 256
"""Stands for the space where no name has one."""
MIN_WORD_WEIGHT = 0.1
"""Weight of a word that all names have: a mention of such words alone is still compared."""


@dataclass(frozen=True)
class Rarity:
    """Counts of n-grams and beginnings of words; ``length`` has the vector's length of each name.

    With N names, an n-gram that occurs c times has the weight 1 + log((1 + N) / (1 + c)), and a
    word whose beginning occurs c times log((2 + N) / (1 + c)); neither is below a minimum.
    """

    table: npt.NDArray[np.uint8]
    length: npt.NDArray[np.float32]
    space: int

    @classmethod
    def build(cls, symbols: npt.NDArray[np.uint8], start: npt.NDArray[Any], space: int) -> "Rarity":
        """Count the n-grams of all names; ``space`` is the number of the space, 0 if it has none.

        ``symbols[start[i]:start[i + 1]]`` are those of name i.
        """
        space = space or NO_SPACE
        bits = min(max(len(symbols).bit_length(), MIN_BITS), MAX_BITS)
        counts = np.zeros(1 << bits, np.uint32)
        kernels.count_codes(symbols, start, space, counts)
        table = encode_logarithm(counts)
        length = np.zeros(len(start) - 1, np.float32)
        table.setflags(write=False)  # like those of a stored index: kernels compile once
        weights = _ngram_weights(len(length))
        kernels.measure_names(symbols, start, space, table, weights, length)
        length.setflags(write=False)
        return cls(table, length, space)

    @property
    def tables(self) -> tuple[npt.NDArray[np.uint8], Floats, Floats, int]:
        """The codes of counts, the weights of n-grams and words by code, and the space."""
        names = len(self.length)
        return self.table, _ngram_weights(names), _word_weights(names), self.space

    def validate(self, names: int) -> None:
        """Raise ValueError unless there is a table, and a length for each name."""
        size = len(self.table)
        if not MIN_BITS <= size.bit_length() - 1 <= MAX_BITS or size & (size - 1):
            raise ValueError(f"rarity.table has {size} counts")
        check_array("rarity.table", self.table, np.uint8, size)
        check_array("rarity.length", self.length, np.float32, names)
        check_range("rarity.length", self.length, 0.0, float(np.finfo(np.float32).max))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored."""
        return {"table": self.table, "length": self.length}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], space: int) -> "Rarity":
        """Return what was stored; ``space`` as for ``build``."""
        return cls(arrays["table"], arrays["length"], space or NO_SPACE)


def _ngram_weights(names: int) -> Floats:
    """Return the weight of each code of a count."""
    weights: npt.NDArray[np.float64] = 1.0 + np.maximum(np.log1p(names) - _every_logarithm(), 0.0)
    return weights


def _word_weights(names: int) -> Floats:
    weights: npt.NDArray[np.float64] = np.log(names + 2.0) - _every_logarithm()
    return np.maximum(weights, MIN_WORD_WEIGHT)


def _every_logarithm() -> Floats:
    return decode_logarithm(np.arange(256, dtype=np.uint8))
