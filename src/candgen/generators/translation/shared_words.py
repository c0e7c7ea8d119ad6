"""SharedWords: names that share words with a text, rare words counting more."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from candgen.generators.translation.lexicon import ranges
from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_offsets, check_range
from candgen.tables.string_table import StringTable

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SHORTEST = 0.5
"""Below the length of any name: that of a word that all names have is log 2."""


@dataclass(frozen=True)
class SharedWords:
    """Word w is in the names ``name[start[w]:start[w + 1]]``; ``words`` are sorted by their bytes.

    Each name is a vector with r(w) for each of its words, and ``length`` has their lengths:

        r(w) = log(1 + number of names / number of names with w)
    """

    words: StringTable
    start: Integers
    name: npt.NDArray[np.uint32]
    length: npt.NDArray[np.float32]

    @classmethod
    def build(cls, names: StringTable) -> "SharedWords":
        """Cut names at spaces."""
        lists = pc.split_pattern(names.to_arrow(), " ")
        coded = pc.list_flatten(lists).dictionary_encode()
        order = pc.array_sort_indices(coded.dictionary).to_numpy().astype(np.int64)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        word = place[coded.indices.to_numpy()]
        number = pc.list_parent_indices(lists).to_numpy()
        pairs = np.unique(word * max(len(names), 1) + number)
        word, name = np.divmod(pairs, max(len(names), 1))
        start = np.searchsorted(word, np.arange(len(order) + 1)).astype(np.int64)
        squares = _rarity(np.diff(start), len(names))[word] ** 2
        length = np.sqrt(np.bincount(name, squares, len(names))).astype(np.float32)
        words = StringTable.from_arrow(coded.dictionary.take(order))
        return cls(words, start, name.astype(np.uint32), length)

    def match(self, weights: Mapping[str, float]) -> tuple[Integers, Floats]:
        """Return the names that share a word with a text, and the cosine of both vectors.

        The text has the weight of a word times its rarity.
        """
        places = self.words.places(weights)
        known = places >= 0
        places = places[known]
        first, last = self.start[places], self.start[places + 1]
        rare = _rarity(last - first, len(self.length))
        of_text = np.array(list(weights.values()), np.float64)[known] * rare
        whole = math.sqrt(math.fsum((of_text * of_text).tolist()))
        names, inverse = np.unique(self.name[ranges(first, last)], return_inverse=True)
        product = np.bincount(inverse, np.repeat(of_text * rare, last - first), len(names))
        cosine: Floats = product / (whole * self.length[names].astype(np.float64))
        return names.astype(np.int64), cosine

    def validate(self, names: int) -> None:
        """Raise ValueError unless all words are in names of which there are so many."""
        number = len(self.name)
        self.words.validate("words.words", is_sorted=True)
        check_offsets("words.start", self.start, len(self.words), number)
        check_array("words.name", self.name, np.uint32, number)
        check_range("words.name", self.name, 0, names - 1)
        check_array("words.length", self.length, np.float32, names)
        check_range("words.length", self.length, SHORTEST, float(np.finfo(np.float32).max))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything, to be stored."""
        return {
            **add_prefix("words", self.words.arrays()),
            "start": self.start,
            "name": self.name,
            "length": self.length,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "SharedWords":
        """Return the words that ``arrays`` describe."""
        words = StringTable(**strip_prefix("words", arrays))
        return cls(words, arrays["start"], arrays["name"], arrays["length"])


def _rarity(names_with: Integers, names: int) -> Floats:
    """Return r(w) for words that so many of the names have."""
    rare: Floats = np.log1p(names / np.maximum(names_with, 1))
    return rare
