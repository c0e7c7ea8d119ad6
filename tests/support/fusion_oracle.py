"""Probability-level fusion and additive smoothing in dictionaries, by the formulas as they stand.

Every smoothed probability is computed for every token and entity, where the index adds what is the
same for all of them analytically.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from tests.support.oracle import Row, Token, _float32, ngrams


class FusedOracle:
    """Languages are normalised each on its own; pivots are smoothed; the target's weight is 1."""

    def __init__(
        self,
        tables: Mapping[str, Iterable[Row]],
        weights: Mapping[str, float],
        pivots: Collection[str],
        *,
        smoothing: float = 0.0,
        threshold: float = 0.0,
        tokenize: Callable[[str], Iterable[Token]] = ngrams,
    ) -> None:
        self.tokenize = tokenize
        self.least = threshold * (1 - 1e-9)
        self.weights = {language: weights[language] for language in tables if weights[language] > 0}
        self.smoothing = {
            language: smoothing if language in pivots else 0.0 for language in self.weights
        }
        self.n: dict[str, Counter[tuple[Token, str]]] = {}
        self.of_token: dict[str, Counter[Token]] = {}
        self.of_entity: dict[str, Counter[str]] = {}
        for language in self.weights:
            n, of_token, of_entity = Counter(), Counter(), Counter()
            for mention, entity, count in tables[language]:
                for token in tokenize(mention):
                    n[token, entity] += count
                    of_token[token] += count
                    of_entity[entity] += count
            self.n[language], self.of_token[language], self.of_entity[language] = (
                n,
                of_token,
                of_entity,
            )
        self.tokens = {token for totals in self.of_token.values() for token in totals}
        self.entities = {entity for totals in self.of_entity.values() for entity in totals}

    def prior(self, token: Token, entity: str) -> float:
        return self._mixed(token, entity, self.of_token, token, len(self.entities))

    def posterior(self, token: Token, entity: str) -> float:
        return self._mixed(token, entity, self.of_entity, entity, len(self.tokens))

    def _mixed(self, token: Token, entity: str, totals: dict, key: Token, size: int) -> float:
        parts, whole = [], 0.0
        for language, weight in self.weights.items():
            s = self.smoothing[language]
            total = totals[language][key] + s * size
            if total > 0:
                parts.append(weight * (self.n[language][token, entity] + s) / total)
                whole += weight
        mixed = math.fsum(parts) / whole
        return mixed if mixed >= self.least else 0.0

    def shares_a_token(self, mention: str, entity: str) -> bool:
        return any(n[token, entity] for token in self.tokenize(mention) for n in self.n.values())

    def scores(self, mention: str, lam: float) -> dict[str, float]:
        tokens = Counter(token for token in self.tokenize(mention) if token in self.tokens)
        return {
            entity: math.fsum(c * self.prior(t, entity) for t, c in tokens.items())
            + lam * math.fsum(c * self.posterior(t, entity) for t, c in tokens.items())
            for entity in self.entities
            if self.shares_a_token(mention, entity)
        }

    def candidates(self, mention: str, k: int, lam: float) -> list[tuple[str, float]]:
        rounded = {e: _float32(score) for e, score in self.scores(mention, lam).items()}
        found = [(entity, score) for entity, score in rounded.items() if score > 0]
        return sorted(found, key=lambda c: (-c[1], len(c[0]), c[0]))[:k]

    def dropped(self) -> tuple[int, int, int]:
        postings = {posting for n in self.n.values() for posting in n}
        priors = {posting for posting in postings if not self.prior(*posting)}
        posteriors = {posting for posting in postings if not self.posterior(*posting)}
        return len(priors), len(posteriors), len(priors & posteriors)
