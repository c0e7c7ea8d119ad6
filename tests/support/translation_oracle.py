"""The translation baseline in dictionaries: five tiers, one after the other.

It imports nothing from candgen. Mentions and names are taken as they are, so they must be ASCII in
lower case; the translations of words are given.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations, product

from tests.support.oracle import Row, _float32, words
from tests.support.tiers_oracle import in_turn

MAX_WORDS, MAX_REORDERED, MOST_TEXTS, UNTRANSLATED = 8, 4, 10, 0.1

Choices = Sequence[tuple[str, float]]
"""What a word may be, each with its probability."""


class TranslationOracle:
    """Names of the target, of the pivots, and those that translations are looked up among."""

    def __init__(
        self,
        pivots: Mapping[str, Iterable[Row]],
        target: Iterable[Row] | None,
        english: Iterable[Row] | None,
        translations: Mapping[str, Choices],
    ) -> None:
        self.translations = translations
        own = list(target or ())
        related = [row for rows in pivots.values() for row in rows]
        searched = related or own if english is None else english
        spaced = [(" ".join(words(name)), entity, n) for name, entity, n in searched]
        self.own, self.related, self.searched = map(_shares, (own, related, spaced))
        of_word = Counter(word for name in self.searched for word in set(name.split()))
        self.rarity = {word: math.log1p(len(self.searched) / n) for word, n in of_word.items()}

    def entities(self) -> set[str]:
        """Who can be a candidate."""
        every = (self.own, self.related, self.searched)
        return {entity for shares in every for some in shares.values() for entity in some}

    def candidates(self, mention: str, k: int) -> list[tuple[str, float]]:
        """The first k."""
        choices = [self._choices(word) for word in words(mention)]
        texts = _combinations(choices) if 0 < len(choices) <= MAX_WORDS else {}
        others: dict[str, float] = defaultdict(float)
        for text, probability in texts.items():
            split = text.split()
            orders = {" ".join(order) for order in permutations(split[:MAX_REORDERED])} - {text}
            for order in orders if len(split) <= MAX_REORDERED else ():
                others[order] += probability
        tiers = [
            _look_up(self.own, {mention: 1.0}),
            _look_up(self.related, {mention: 1.0}),
            _look_up(self.searched, texts),
            _look_up(self.searched, others),
            self._by_words(choices),
        ]
        return in_turn([_ranked(tier) for tier in tiers], k, fill=True)

    def _choices(self, word: str) -> Choices:
        known = self.translations.get(word)
        if not known:
            return [(word, 1.0)]
        stays = [] if word in dict(known) else [(word, UNTRANSLATED)]
        return [*known, *stays]

    def _by_words(self, choices: Sequence[Choices]) -> dict[str, float]:
        weight: dict[str, float] = defaultdict(float)
        for some in choices:
            for word, probability in some:
                if word in self.rarity:
                    weight[word] += probability * self.rarity[word]
        whole = math.sqrt(math.fsum(each**2 for each in weight.values()))
        best: dict[str, float] = defaultdict(float)
        for name, shares in self.searched.items():
            some = set(name.split())
            length = math.sqrt(math.fsum(self.rarity[word] ** 2 for word in some))
            product_ = math.fsum(weight[word] * self.rarity[word] for word in some & {*weight})
            for entity, share in shares.items() if product_ else ():
                best[entity] = max(best[entity], product_ / (whole * length) * share)
        return best


def _shares(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """P(e | name), by name; the empty name has none."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, entity, n in rows:
        if name:
            counts[name][entity] += n
    return {
        name: {entity: n / some.total() for entity, n in some.items()}
        for name, some in counts.items()
    }


def _combinations(choices: Sequence[Choices]) -> dict[str, float]:
    """The likeliest texts with a word of each choice."""
    found = [
        (math.prod(probability for _, probability in some), " ".join(word for word, _ in some))
        for some in product(*choices)
    ]
    best = sorted(found, key=lambda each: (-each[0], each[1]))[:MOST_TEXTS]
    return {text: probability for probability, text in best}


def _look_up(
    names: Mapping[str, Mapping[str, float]], texts: Mapping[str, float]
) -> dict[str, float]:
    scores: dict[str, list[float]] = defaultdict(list)
    for text, probability in texts.items():
        for entity, share in names.get(text, {}).items():
            scores[entity].append(probability * share)
    return {entity: math.fsum(some) for entity, some in scores.items()}


def _ranked(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    rounded = [(entity, _float32(score)) for entity, score in scores.items()]
    return sorted(rounded, key=lambda each: (-each[1], len(each[0]), each[0]))
