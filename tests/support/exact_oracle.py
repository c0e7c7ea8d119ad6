"""The formula of docs/design.md in fractions: nothing is rounded, however large the counts."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from tests.support.oracle import Row, ngrams

HALF_OF_SMALLEST = Fraction(1, 2**150)
"""Half of the smallest single precision number: a score that is not more is 0."""


class ExactOracle:
    """Exact scores, of counts or, with ``fused``, of probabilities with smoothing of the pivots."""

    def __init__(
        self,
        tables: Mapping[str, Iterable[Row]],
        alpha: Mapping[str, float],
        *,
        fused: bool = False,
        smoothing: float = 0.0,
        target: str = "target",
    ) -> None:
        self.alpha = {name: Fraction(alpha[name]) for name in tables if alpha[name] > 0}
        self.fused = fused
        self.smoothing = {name: Fraction(smoothing * (name != target)) for name in self.alpha}
        self.n: dict[str, Counter] = {}
        self.of_token: dict[str, Counter] = {}
        self.of_entity: dict[str, Counter] = {}
        for name in self.alpha:
            n = Counter()
            for mention, entity, count in tables[name]:
                for token in ngrams(mention):
                    n[token, entity] += count
            self.n[name], self.of_token[name], self.of_entity[name] = n, Counter(), Counter()
            for (token, entity), count in n.items():
                self.of_token[name][token] += count
                self.of_entity[name][entity] += count
        self.tokens = {token for totals in self.of_token.values() for token in totals}
        self.entities = {entity for totals in self.of_entity.values() for entity in totals}

    def _probability(self, token, entity, totals, key, size) -> Fraction:
        if not self.fused:
            whole = sum(alpha * totals[name][key] for name, alpha in self.alpha.items())
            return sum(a * self.n[name][token, entity] for name, a in self.alpha.items()) / whole
        mixed = whole = Fraction(0)
        for name, alpha in self.alpha.items():
            s = self.smoothing[name]
            if total := totals[name][key] + s * size:
                mixed += alpha * (self.n[name][token, entity] + s) / total
                whole += alpha
        return mixed / whole

    def score(self, mention: str, entity: str, lam: float) -> Fraction:
        tokens = {t: c for t, c in Counter(ngrams(mention)).items() if t in self.tokens}
        if not any(n[token, entity] for token in tokens for n in self.n.values()):
            return Fraction(0)
        prior = posterior = Fraction(0)
        for t, c in tokens.items():
            prior += c * self._probability(t, entity, self.of_token, t, len(self.entities))
            posterior += c * self._probability(t, entity, self.of_entity, entity, len(self.tokens))
        return prior + Fraction(lam) * posterior

    def check(self, found: list[tuple[str, float]], mention: str, k: int, lam: float) -> None:
        """Assert that these are the k best: scores to one rounding step, none better left out."""
        exact = {entity: self.score(mention, entity, lam) for entity in self.entities}
        for entity, score in found:
            steps = [float(np.nextafter(np.float32(score), np.float32(end))) for end in (0, np.inf)]
            assert steps[0] <= exact[entity] <= steps[1], (entity, score, float(exact[entity]))
        assert found == sorted(found, key=lambda each: (-each[1], len(each[0]), each[0]))
        assert len({entity for entity, _ in found}) == len(found) <= k
        least = np.nextafter(np.float32(found[-1][1]), np.float32(np.inf)) if found else 0.0
        missed = exact.keys() - dict(found)
        if len(found) < k:
            assert all(exact[entity] <= HALF_OF_SMALLEST for entity in missed)
        else:
            assert all(exact[entity] <= float(least) for entity in missed)
