"""Words that are translated, not copied: learned from names of the same things in two languages.

That नदी is a river is not in its letters, but in the names of rivers. A word w of one language is a
word v of the other with the probability t(v | w) of IBM's Model 1 (Brown et al., 1993): every word
of a name has come from one word of the other name, or from none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.tables.string_table import StringTable

MOST_WORDS = 8
"""Names with more words are not learned from: they tell little about each of them."""
NULL_WORD_WEIGHT = 0.01
"""What a word that has come from none counts beside t of the words that it may have come from."""
ROUNDS = 5
LEAST = 0.3
"""The probability that a translation must have."""


class Word(NamedTuple):
    """A word, what it is in the other language, and with which probability."""

    word: str
    translation: str
    probability: float


@dataclass(frozen=True)
class Lexicon:
    """The likeliest translation of each word that has one; ``words`` are sorted by their bytes.

    >>> names = [("amur nadi", "amur river"), ("amur", "amur"), ("don nadi", "don river")]
    >>> lexicon = Lexicon.learn(names)
    >>> lexicon.translated(["lena nadi"], ["lena nadī"]), lexicon.entry("nadi").translation
    (['lena river'], 'river')
    """

    words: StringTable
    translations: StringTable
    probability: npt.NDArray[np.float32]

    @classmethod
    def learn(cls, pairs: Iterable[tuple[str, str]]) -> "Lexicon":
        """What the words of the first of each pair are in the second.

        A word that may as well stay as it is, which is at least half as likely as its likeliest
        translation, has none.
        """
        found = []
        for word, some in sorted(_translations(pairs).items()):
            best, other = min(some, key=lambda each: (-each[0], each[1]))
            stays = any(each == word and share >= best / 2 for share, each in some)
            if best >= LEAST and not stays:
                found.append(Word(word, other, best))
        return cls(
            StringTable(**StringTable.pack(each.word for each in found)),
            StringTable(**StringTable.pack(each.translation for each in found)),
            np.array([each.probability for each in found], np.float32),
        )

    def translated(self, texts: Sequence[str], written: Sequence[str]) -> list[str | None]:
        """Texts with the words that have translations replaced; None where no word has one.

        Words are looked up as they are in ``texts``, and those without translation are as they are
        in ``written``, which has the same words. Where it has not, nothing is translated.
        """
        both = [(text.split(), other.split()) for text, other in zip(texts, written, strict=True)]
        fit = [len(words) == len(others) <= MOST_WORDS for words, others in both]
        known = self._known(
            {word for (words, _), fits in zip(both, fit, strict=True) if fits for word in words}
        )
        found: list[str | None] = []
        for (words, others), fits in zip(both, fit, strict=True):
            if fits and any(word in known for word in words):
                pairs = zip(words, others, strict=True)
                found.append(" ".join(known.get(word, other) for word, other in pairs))
            else:
                found.append(None)
        return found

    def entry(self, word: str) -> Word | None:
        """What is known of a word."""
        (place,) = self.words.places([word]).tolist()
        if place < 0:
            return None
        return Word(word, self.translations[place], float(self.probability[place]))

    def _known(self, words: Iterable[str]) -> dict[str, str]:
        every = sorted(words)
        places = self.words.places(every)
        here = np.flatnonzero(places >= 0)
        translations = self.translations.take(places[here])
        return dict(zip((every[at] for at in here.tolist()), translations, strict=True))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything, to be stored."""
        return {
            **add_prefix("word", self.words.arrays()),
            **add_prefix("translation", self.translations.arrays()),
            "probability": self.probability,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "Lexicon":
        """The lexicon that ``arrays`` describe."""
        return cls(
            StringTable(**strip_prefix("word", arrays)),
            StringTable(**strip_prefix("translation", arrays)),
            arrays["probability"],
        )


def _translations(pairs: Iterable[tuple[str, str]]) -> dict[str, list[tuple[float, str]]]:
    """What each word may be, with the probabilities, but for those that are too small to count.

    Expectation maximisation over all pairs of words that stand in a pair of names.
    """
    words, others = _Numbers(), _Numbers()
    word_of, other_of, group_of = [], [], []
    groups = 0
    for name, other in pairs:
        mine, theirs = dict.fromkeys(name.split()), dict.fromkeys(other.split())
        if max(len(mine), len(theirs)) > MOST_WORDS:
            continue
        for at, (v, w) in enumerate(product(theirs, mine)):
            word_of.append(words[w])
            other_of.append(others[v])
            group_of.append(groups + at // len(mine))
        groups += len(theirs) if mine else 0
    if not groups:
        return {}
    keys, key = np.unique(
        np.array(word_of, np.int64) * len(others) + np.array(other_of), return_inverse=True
    )
    group = np.array(group_of)
    word, translation = keys // len(others), keys % len(others)
    likely = np.ones(len(keys))
    for _ in range(ROUNDS):
        share = likely[key]
        whole = np.bincount(group, share) + NULL_WORD_WEIGHT
        count = np.bincount(key, share / whole[group])
        likely = count / np.bincount(word, count)[word]
    spelled, spelled_others = list(words), list(others)
    found: dict[str, list[tuple[float, str]]] = {}
    for at in np.flatnonzero(likely >= LEAST / 2).tolist():
        one = float(likely[at]), spelled_others[translation[at]]
        found.setdefault(spelled[word[at]], []).append(one)
    return found


class _Numbers(dict[str, int]):
    """Words with numbers, in the order in which they are met."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number
