"""Readings: a mention in the words of the names that are searched."""

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

from candgen.generators.translation.aligned_names import (
    SCRIPT_NORMALIZER,
    SEARCHED_NORMALIZER,
    words_of,
)
from candgen.generators.translation.lexicon import Lexicon, WeightedWord
from candgen.text.normalize import normalize_many

MAX_WORDS = 8
"""Longer mentions are not looked up whole: few names have more words."""
MAX_REORDERED = 4
"""Longer translations are looked up in one order only."""
MOST_TEXTS = 10
"""How many translations of a mention are looked up, the likeliest."""
UNTRANSLATED = 0.1
"""The weight of a word that stays as it is, romanized, where it has translations as well."""


class Reading(NamedTuple):
    """What a mention may be: its likeliest translations as texts, and the weight of each word."""

    texts: list[tuple[str, float]]
    weights: dict[str, float]

    def reordered(self) -> list[tuple[str, float]]:
        """Return the texts in all other orders of their words."""
        return [(other, probability) for text, probability in self.texts for other in reorder(text)]


def read_mentions(mentions: Sequence[str], lexicon: Lexicon, language: str | None) -> list[Reading]:
    """Return the reading of each mention."""
    words = words_of(normalize_many(mentions, SCRIPT_NORMALIZER, language=language))
    romanized = words_of(normalize_many(mentions, SEARCHED_NORMALIZER, language=language))
    known = lexicon.look_up({word for some in words for word in some})
    found = []
    for some, latin in zip(words, romanized, strict=True):
        if len(some) != len(latin):  # romanization has cut or joined words: each by itself
            cut = words_of(normalize_many(some, SEARCHED_NORMALIZER, language=language))
            latin = [" ".join(each) for each in cut]  # noqa: PLW2901
        choices = [
            _choices(known.get(word, []), stays) for word, stays in zip(some, latin, strict=True)
        ]
        found.append(_read([each for each in choices if each]))
    return found


def _choices(translations: list[WeightedWord], romanized: str) -> list[WeightedWord]:
    """Return what a word may be: one of its translations, or itself."""
    if not translations:
        return [WeightedWord(romanized, 1.0)] if romanized else []
    if not romanized or any(each.word == romanized for each in translations):
        return translations
    return [*translations, WeightedWord(romanized, UNTRANSLATED)]


def _read(choices: list[list[WeightedWord]]) -> Reading:
    weights: dict[str, float] = {}
    for some in choices:
        for text, probability in some:
            for word in text.split():
                weights[word] = weights.get(word, 0.0) + probability
    return Reading(combine(choices) if 0 < len(choices) <= MAX_WORDS else [], weights)


def combine(choices: Sequence[Sequence[tuple[str, float]]]) -> list[tuple[str, float]]:
    """Return the likeliest combinations, a word from each choice, with their probabilities.

    >>> combine([[("reka", 0.1), ("river", 0.8)], [("lena", 1.0)]])
    [('river lena', 0.8), ('reka lena', 0.1)]
    """
    best = [("", 1.0)]
    for some in choices:
        longer = [
            (f"{text} {word}".lstrip(), probability * share)
            for text, probability in best
            for word, share in some
        ]
        # The beginnings of the likeliest combinations are themselves the likeliest beginnings.
        best = sorted(longer, key=lambda each: (-each[1], each[0]))[:MOST_TEXTS]
    return best


def reorder(text: str) -> list[str]:
    """Return the words of a text in all other orders; of a long text none.

    >>> reorder("lena river"), reorder("a a"), reorder("v w x y z")
    (['river lena'], [], [])
    """
    words = text.split()
    if len(words) > MAX_REORDERED:
        return []
    orders = dict.fromkeys(" ".join(order) for order in permutations(words))
    return [order for order in orders if order != text]
