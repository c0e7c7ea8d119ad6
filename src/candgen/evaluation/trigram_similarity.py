"""The similarity of names, and of languages, by the trigrams of names.

>>> faroese, danish = NameRows.of(["torshavn", "island"]), NameRows.of(["thorshavn", "norge"])
>>> most_similar(TrigramIndex.of(faroese), danish).tolist()
[705882, 0]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candgen.kernels import trigram_similarity as kernels
from candgen.text.normalize import normalize_many
from candgen.text.tokenizers import BOUNDARY, Symbols, split_codepoints

Integers = npt.NDArray[np.int64]
Trigrams = npt.NDArray[np.uint64]
Millionths = npt.NDArray[np.int64]
"""Similarities: Dice's coefficient of two multisets of trigrams, from 0 to WHOLE."""

WHOLE = kernels.WHOLE
N = 3
"""Other lengths, and all from 2 to 5, order languages alike; a trigram fits one number."""

_BITS = 21  # of a code point, or of the boundary mark


@dataclass(frozen=True)
class NameRows:
    """Normalized names, as rows of symbols between boundary marks."""

    symbols: Symbols

    @classmethod
    def of(
        cls, texts: Sequence[str], normalizer: str = "none", language: str | None = None
    ) -> "NameRows":
        """Normalize names; one that becomes empty has no trigram and so no similar name."""
        if not texts:
            none = np.zeros(0, np.int64)
            return cls(Symbols(np.array([BOUNDARY], np.uint32), none, none))
        normalized = normalize_many(texts, normalizer, language=language)
        return cls(split_codepoints("\n".join(text.replace("\n", " ") for text in normalized)))

    def __len__(self) -> int:
        return len(self.symbols.start)

    @property
    def sizes(self) -> Integers:
        """The number of trigrams of each name."""
        _, start, end = self.symbols
        sizes: Integers = np.maximum(end - start - N + 1, 0)
        return sizes

    def trigrams(self) -> tuple[Integers, Trigrams]:
        """Return every trigram of every name: the row, and the trigram as a number."""
        sizes = self.sizes
        rows = np.repeat(np.arange(len(self)), sizes)
        begins = self.symbols.start - np.cumsum(sizes) + sizes
        return rows, _pack(self.symbols.text)[np.arange(len(rows)) + np.repeat(begins, sizes)]


@dataclass(frozen=True)
class TrigramIndex:
    """Names by trigram: ``rows[first[t]:first[t + 1]]`` have trigram t."""

    trigrams: Trigrams
    first: Integers
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    sizes: Integers

    @classmethod
    def of(cls, names: NameRows) -> "TrigramIndex":
        """Sort the trigrams of names."""
        row, trigram = names.trigrams()
        trigrams, number = np.unique(trigram, return_inverse=True)
        keys, counts = np.unique(number * max(len(names), 1) + row, return_counts=True)
        number, rows = np.divmod(keys, max(len(names), 1))
        first = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=len(trigrams)))])
        return cls(
            trigrams,
            first.astype(np.int64),
            rows.astype(np.int32),
            counts.astype(np.int32),
            names.sizes,
        )


def most_similar(queries: TrigramIndex, names: NameRows) -> Millionths:
    """Return the similarity of each query to the name that is most similar to it."""
    best = np.zeros(len(queries.sizes), np.int64)
    if not len(queries.trigrams) or not len(names):
        return best
    known, trigrams = queries.trigrams, _pack(names.symbols.text)
    place = np.minimum(np.searchsorted(known, trigrams), len(known) - 1).astype(np.int32)
    place[known[place] != trigrams] = -1
    kernels.closest_of_all(
        place,
        names.symbols.start,
        names.symbols.end,
        N,
        queries.first,
        queries.rows,
        queries.counts,
        queries.sizes,
        np.zeros(len(known), np.int32),
        np.zeros(len(best), np.int32),
        best,
    )
    return best


def most_similar_in_group(
    names: NameRows, group: Integers, others: NameRows, first: Integers
) -> Millionths:
    """Return the similarity of each name to the most similar one among the others of its group.

    The others of group g are ``first[g]`` to ``first[g + 1]``.
    """
    best = np.zeros(len(names), np.int64)
    used = np.zeros(int(others.sizes.max(initial=0)), np.bool_)
    kernels.closest_in_group(*names.symbols, group, *others.symbols, first, N, used, best)
    return best


def overlap(first: NameRows, second: NameRows) -> float:
    """Return the overlap of two trigram distributions: the sum of the smaller probabilities.

    >>> overlap(NameRows.of(["ab"]), NameRows.of(["ab"]))
    1.0
    >>> overlap(NameRows.of(["ab"]), NameRows.of(["cd"]))
    0.0
    """
    (ours, counts), (theirs, their_counts) = (
        np.unique(names.trigrams()[1], return_counts=True) for names in (first, second)
    )
    if not len(ours) or not len(theirs):
        return 0.0
    _, mine, yours = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    size, their_size = int(counts.sum()), int(their_counts.sum())
    # Over the common denominator: whole numbers, so that a language overlaps itself by exactly 1.
    shared = np.minimum(counts[mine] * their_size, their_counts[yours] * size).sum()
    return int(shared) / (size * their_size)


def _pack(text: npt.NDArray[np.uint32]) -> Trigrams:
    """Return the trigram that begins at each position as a number; the last two have none."""
    padded = np.concatenate([text, np.zeros(N - 1, np.uint32)]).astype(np.uint64)
    bits = np.uint64(_BITS)
    return ((padded[:-2] << bits | padded[1:-1]) << bits) | padded[2:]
