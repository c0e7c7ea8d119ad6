"""Lexicon: the likeliest translations of words, learned from names of the same entities."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.generators.rerank.translations import word_translations
from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_offsets, check_range
from candgen.tables.string_table import StringTable

MOST_TRANSLATIONS = 3
"""How many translations of a word are kept."""
SMALLEST = 1e-6
"""Below any probability that is learned, and large enough to divide by."""

Pairs = Iterable[tuple[str, str]]
"""Names of an entity in two languages, words between spaces."""


class WeightedWord(NamedTuple):
    """A word of the names that are searched, and the probability that it translates another."""

    word: str
    probability: float


@dataclass(frozen=True)
class Lexicon:
    """Translations ``start[w]`` to ``start[w + 1] - 1`` are those of word w, likeliest first.

    ``words`` are sorted by their bytes.

    >>> names = [("река лена", "lena river"), ("лена", "lena"), ("река дон", "don river")]
    >>> lexicon = Lexicon.learn([names])
    >>> lexicon.look_up(["река", "волга"])["река"][0].word
    'river'
    """

    words: StringTable
    start: npt.NDArray[np.int64]
    translations: StringTable
    probability: npt.NDArray[np.float32]

    @classmethod
    def learn(cls, teachers: Sequence[Pairs]) -> "Lexicon":
        """Return what the words of the first name of each pair are in the second.

        The ``teachers`` are asked in order: a word has the translations of the first that knows it.
        """
        found: dict[str, list[tuple[float, str]]] = {}
        for pairs in teachers:
            found = {**word_translations(pairs), **found}
        words = sorted(found)  # the order of code points is that of UTF-8 bytes
        likeliest = [
            sorted(found[word], key=lambda each: (-each[0], each[1]))[:MOST_TRANSLATIONS]
            for word in words
        ]
        every = [each for some in likeliest for each in some]
        return cls(
            StringTable(**StringTable.pack(words)),
            np.cumsum([0, *map(len, likeliest)], dtype=np.int64),
            StringTable(**StringTable.pack(other for _, other in every)),
            np.array([probability for probability, _ in every], np.float32),
        )

    def look_up(self, words: Iterable[str]) -> dict[str, list[WeightedWord]]:
        """Return the translations of the words that have any, likeliest first."""
        every = sorted(set(words))
        places = self.words.places(every)
        here = np.flatnonzero(places >= 0)
        first, last = self.start[places[here]], self.start[places[here] + 1]
        rows = ranges(first, last)
        made = list(
            map(WeightedWord, self.translations.take(rows), self.probability[rows].tolist())
        )
        ends = pairwise([0, *np.cumsum(last - first).tolist()])
        return {
            every[at]: made[start:end] for at, (start, end) in zip(here.tolist(), ends, strict=True)
        }

    def validate(self) -> None:
        """Raise ValueError unless every word has translations with probabilities."""
        self.words.validate("lexicon.words", is_sorted=True)
        self.translations.validate("lexicon.translations")
        number = len(self.translations)
        check_offsets("lexicon.start", self.start, len(self.words), number)
        check_array("lexicon.probability", self.probability, np.float32, number)
        check_range("lexicon.probability", self.probability, SMALLEST, 1.0)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything, to be stored."""
        return {
            **add_prefix("words", self.words.arrays()),
            "start": self.start,
            **add_prefix("translations", self.translations.arrays()),
            "probability": self.probability,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "Lexicon":
        """Return the lexicon that ``arrays`` describe."""
        return cls(
            StringTable(**strip_prefix("words", arrays)),
            arrays["start"],
            StringTable(**strip_prefix("translations", arrays)),
            arrays["probability"],
        )


def ranges(first: npt.NDArray[Any], last: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the numbers from each ``first`` to before its ``last``, one range after the other.

    >>> ranges(np.array([7, 2]), np.array([9, 5])).tolist()
    [7, 8, 2, 3, 4]
    """
    first, sizes = first.astype(np.int64), (last - first).astype(np.int64)
    before = np.cumsum(sizes) - sizes
    return np.repeat(first - before, sizes) + np.arange(sizes.sum())
