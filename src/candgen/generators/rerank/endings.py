"""Endings of words, learned from the names of a language, which need no entities for that.

In Marathi, *arjentina* has the forms *arjentinacha* and *arjentinala*. Where a word and a longer
one both occur in names, that is evidence for the ending. An ending that many words have tells which
form a word has, and little about which word it is: if a mention is a word of a name with such an
ending, nearly all of it is explained.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.generators.rerank.edit_model import EditModel
from candgen.kernels.word_match import LONGEST_ENDING
from candgen.storage.validation import check_array, check_range

MIN_STEM = 3
"""The least symbols of the word that an ending is added to."""
MIN_WORDS = 3
"""How many words must have an ending."""
MAX_WORDS = 200_000
"""How many words are looked at; of more, evenly spaced ones."""
MAX_RATIO = 1e12


@dataclass(frozen=True)
class Endings:
    """Endings by their codes, which are sorted; ``ratio`` has P(ending) / P(its symbols) of each.

    P(ending) is the share of words that are another word with this ending. A code has the number of
    a symbol in each byte, that of the last symbol in the lowest.

    >>> names = ["nes", "nesi", "vik", "viki", "dal", "dali"]
    >>> model = EditModel.plain(names)
    >>> endings = Endings.learn(names, model)
    >>> [model.alphabet[int(code)] for code in endings.code]
    ['i']
    """

    code: npt.NDArray[np.uint64]
    ratio: npt.NDArray[np.float64]

    @classmethod
    def learn(cls, texts: Iterable[str], model: EditModel) -> "Endings":
        """Learn from names that are normalized, in the numbers of an edit model."""
        known = {word for text in texts for word in text.split(" ")}
        words = sorted(known)
        words = words[:: -(-len(words) // MAX_WORDS) or 1]
        found: Counter[str] = Counter()
        for word in words:
            for at in range(max(MIN_STEM, len(word) - LONGEST_ENDING), len(word)):
                if word[:at] in known:
                    found[word[at:]] += 1
        ratios: dict[int, float] = {}
        for ending, number in found.items():
            symbols, _ = model.encode([ending])
            if number >= MIN_WORDS and symbols.all():  # 0 stands for all that are unknown
                ratio = number / len(words) / float(np.prod(model.common[symbols]))
                ratios[int.from_bytes(symbols.tobytes())] = min(ratio, MAX_RATIO)
        code = np.array(sorted(ratios), np.uint64)
        ratio_of = np.array([ratios[each] for each in code.tolist()], np.float64)
        for array in (code, ratio_of):
            array.setflags(write=False)  # like those of a stored index: kernels compile once
        return cls(code, ratio_of)

    def validate(self) -> None:
        """Raise ValueError unless codes are sorted and have a possible ratio each."""
        check_array("endings.code", self.code, np.uint64, -1)
        if np.any(self.code[1:] <= self.code[:-1]):
            raise ValueError("the array endings.code is not sorted")
        check_array("endings.ratio", self.ratio, np.float64, len(self.code))
        check_range("endings.ratio", self.ratio, 0.0, MAX_RATIO)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored."""
        return {"code": self.code, "ratio": self.ratio}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "Endings":
        """Return what was stored."""
        return cls(arrays["code"], arrays["ratio"])
