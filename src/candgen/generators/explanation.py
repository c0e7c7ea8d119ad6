"""Why an entity is a candidate for a mention."""

from dataclasses import dataclass
from typing import NamedTuple

from candgen.sources import SourceMention


class TokenPart(NamedTuple):
    """What one token brings to a score: ``prior`` is c * P(e|t), ``posterior`` lam * c * P(t|e)."""

    token: str
    times: int
    prior: float
    posterior: float


@dataclass(frozen=True)
class Explanation:
    """The score of an entity for a mention, taken apart.

    ``tokens`` are those that mention and entity share, the weightiest first: their priors and
    posteriors add up to ``score``. ``unknown`` are tokens that the index has never seen, and
    ``languages`` the share of the score that each language's counts made. ``sources`` are the
    entity's mentions, the most frequent first.
    """

    mention: str
    normalized: str
    entity: str
    score: float
    lam: float
    tokens: list[TokenPart]
    unknown: list[str]
    languages: dict[str, float]
    sources: list[SourceMention]

    @property
    def prior(self) -> float:
        """The part of the score that is A(e)."""
        return sum(part.prior for part in self.tokens)

    @property
    def posterior(self) -> float:
        """The part of the score that is lam * B(e)."""
        return sum(part.posterior for part in self.tokens)
