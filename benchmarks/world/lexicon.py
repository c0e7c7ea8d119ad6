"""Lexicons: some 100,000 words of each sort, from a Markov chain over CLDR's names."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import regex
from babel import Locale

from world.chance import draw, some, sometimes
from world.elements import (
    GIVEN_NAMES,
    NOUNS,
    PLACE_ENDINGS,
    PLACE_STEMS,
    SURNAME_ENDINGS,
    SURNAME_STEMS,
    WORD_ENDINGS,
)
from world.text import TEXT, fold, join

LONGEST_WORD = 14


@dataclass(frozen=True)
class Lexicons:
    """Words by their use in names, each list from frequent to rare."""

    words: pa.Array
    stems: pa.Array
    given_names: pa.Array
    surnames: pa.Array
    places: pa.Array


def make_lexicons(rng: np.random.Generator) -> Lexicons:
    """Make some 100,000 words of each sort."""
    chain = babel_words()
    for stem in (*SURNAME_STEMS, *PLACE_STEMS):
        endings = rng.choice(np.array([*PLACE_ENDINGS, *SURNAME_ENDINGS, *WORD_ENDINGS]), size=8)
        chain.update(fold(stem + ending) for ending in endings.tolist())
    invented = markov_words(chain, 1_500_000, rng)
    length = pc.utf8_length(invented)
    stems = invented.filter(pc.less_equal(length, 7))
    size = 1_000_000
    derived = join(draw(stems, size, rng, shift=2_000), some(WORD_ENDINGS, size, rng))
    plain = sometimes(0.25, some(NOUNS, size, rng), draw(invented, size, rng, shift=300), rng)
    surnames = join(
        sometimes(0.2, some(SURNAME_STEMS, size, rng), draw(stems, size, rng, shift=1_000), rng),
        sometimes(0.7, some(SURNAME_ENDINGS, size, rng), "", rng),
    )
    given = invented.filter(pc.and_(pc.greater(length, 3), pc.less(length, 9))).slice(500, 20_000)
    places = join(
        sometimes(0.2, some(PLACE_STEMS, size, rng), draw(stems, size, rng, shift=1_000), rng),
        some(PLACE_ENDINGS, size, rng),
    )
    return Lexicons(
        words=by_frequency(sometimes(0.4, derived, plain, rng), rng),
        stems=stems,
        given_names=pa.concat_arrays([pa.array(GIVEN_NAMES, TEXT), given]),
        surnames=by_frequency(surnames, rng),
        places=by_frequency(pa.concat_arrays([places, invented.slice(0, 60_000)]), rng),
    )


def by_frequency(words: pa.Array, rng: np.random.Generator) -> pa.Array:
    """Return the distinct words, frequent ones first, equally frequent ones in random order."""
    counted = pc.value_counts(words)
    shuffled = counted.take(pa.array(rng.permutation(len(counted))))
    order = np.argsort(-shuffled.field("counts").to_numpy(), kind="stable")
    return shuffled.field("values").take(pa.array(order))


def markov_words(training: Counter[str], attempts: int, rng: np.random.Generator) -> pa.Array:
    """Distinct words from a Markov chain of order 3 over characters, frequent ones first.

    All words grow at once, a character a step. The transitions lie sorted by state, so the
    state's share of their cumulated counts is a range, and a draw in it is a binary search.
    """
    transitions: Counter[tuple[str, str]] = Counter()
    for word, weight in training.items():
        marked = "   " + word + "\0"
        for start in range(len(word) + 1):
            transitions[marked[start : start + 3], marked[start + 3]] += weight
    ordered = sorted(transitions.items())
    states = {state: number for number, state in enumerate(sorted({s for s, _ in transitions}))}
    origin = np.array([states[state] for (state, _), _ in ordered])
    letter = np.array([ord(character) for (_, character), _ in ordered], dtype=np.uint32)
    following = np.array([states.get(s[1:] + c, 0) for (s, c), _ in ordered])
    cumulated = np.cumsum([weight for _, weight in ordered])
    before = np.concatenate([[0], cumulated])
    first = np.searchsorted(origin, np.arange(len(states)))
    last = np.searchsorted(origin, np.arange(len(states)), side="right")

    text = np.zeros((attempts, LONGEST_WORD + 1), dtype=np.uint32)
    growing, state = np.arange(attempts), np.full(attempts, states["   "])
    for position in range(LONGEST_WORD + 1):
        low, high = before[first[state]], before[last[state]]
        drawn = low + (rng.random(len(state)) * (high - low)).astype(np.int64)
        taken = np.searchsorted(cumulated, drawn, side="right")
        text[growing, position] = letter[taken]
        unfinished = letter[taken] != 0
        growing, state = growing[unfinished], following[taken[unfinished]]
    good = (text[:, LONGEST_WORD] == 0) & (text[:, 2] != 0)
    words = text[good, :LONGEST_WORD].copy().view(f"U{LONGEST_WORD}").ravel()
    return by_frequency(pa.array(words, TEXT), rng)


def babel_words() -> Counter[str]:
    """The words of CLDR's names in German and its neighbours, German ones counted most."""
    words: Counter[str] = Counter()
    for language, weight in {"de": 4, "nl": 1, "da": 1, "sv": 1, "en": 2}.items():
        locale = Locale(language)
        cities = [zone.get("city", "") for zone in locale.time_zones.values()]
        for names in (
            locale.territories.values(),
            locale.languages.values(),
            locale.currencies.values(),
            cities,
        ):
            types = set(regex.findall(r"\p{Latin}{3,}", fold(" ".join(names))))
            words.update(dict.fromkeys(types, weight))
    return words
