"""WikiPriors and cascades in dictionaries: the tiers of the oracle, one after the other.

It imports nothing from candgen, and mentions are taken as they are: normalise them first.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from tests.support.oracle import Oracle, Row, _float32, whole, words

Answer = Sequence[tuple[str, float]]


class PriorsOracle:
    """Target mentions, pivot mentions, target words, pivot words; without a target, two of them."""

    def __init__(
        self,
        pivots: Mapping[str, Iterable[Row]],
        target: Iterable[Row] | None,
        *,
        released: bool = False,
    ) -> None:
        self.released = released
        groups = [] if target is None else [{"the target": list(target)}]
        groups += [pivots] if pivots else []
        cuts = [whole, str.split if released else words]
        self.mentions, self.words = (
            [Oracle(group, dict.fromkeys(group, 1.0), lam=0.0, tokenize=cut) for group in groups]
            for cut in cuts
        )

    def candidates(self, mention: str, k: int) -> list[tuple[str, float]]:
        """The first k."""
        if not self.released:
            tiers = [tier.candidates(mention, 10**9) for tier in (*self.mentions, *self.words)]
            return in_turn(tiers, k, fill=True)
        several = len(mention.split()) > 1
        scores: dict[str, list[float]] = {}
        for tier in (*self.mentions, *(self.words if several else ())):
            for entity, score in tier.scores(mention).items():
                scores.setdefault(entity, []).append(score)
        rounded = [(entity, _float32(math.fsum(some))) for entity, some in scores.items()]
        return sorted(rounded, key=lambda c: (-c[1], len(c[0]), c[0]))[:k]

    def priors(self) -> int:
        """How many P(e|t) there are."""
        return sum(len(tier.prior) for tier in (*self.mentions, *self.words))

    def entities(self) -> set[str]:
        """Who can be a candidate."""
        return {entity for tier in self.mentions for entity in tier.entity_total}


def in_turn(answers: Sequence[Answer], k: int, *, fill: bool) -> list[tuple[str, float]]:
    """The first k: all that the first answer has, then what is new in the next, and so on.

    Without ``fill``, only the first answer that has anything.
    """
    found: list[tuple[str, float]] = []
    for place, answer in enumerate(answers):
        left = len(answers) - place - 1
        for entity, score in answer:
            if entity not in [other for other, _ in found]:
                found.append((entity, left + score / (1 + score)))
        if found and not fill:
            break
    return found[:k]
