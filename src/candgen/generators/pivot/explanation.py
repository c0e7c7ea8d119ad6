"""Why an entity is a candidate for a mention."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from candgen.index.token_index import Match, TokenIndex
from candgen.tables.source_mentions import SourceMention, SourceMentions
from candgen.text.normalize import normalize


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
    posteriors add up to ``score``, with the ``background`` where an index is smoothed. ``unknown``
    are tokens that the index has never seen, ``elsewhere`` those that it has seen with other
    entities only, and ``languages`` the share that each language's counts made of what the tokens
    bring. ``sources`` are the entity's mentions, the most frequent first.
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
    background: float = 0.0
    elsewhere: Sequence[str] = ()

    @property
    def prior(self) -> float:
        """The part of the score that is A(e)."""
        return sum(part.prior for part in self.tokens)

    @property
    def posterior(self) -> float:
        """The part of the score that is lam * B(e)."""
        return sum(part.posterior for part in self.tokens)

    def as_json(self) -> dict[str, Any]:
        """All that it says, as JSON values."""
        return {
            "mention": self.mention,
            "normalized": self.normalized,
            "entity": self.entity,
            "score": self.score,
            "prior": self.prior,
            "posterior": self.posterior,
            "background": self.background,
            "lam": self.lam,
            "tokens": [part._asdict() for part in self.tokens],
            "unknown": self.unknown,
            "elsewhere": list(self.elsewhere),
            "languages": self.languages,
            "sources": [source._asdict() for source in self.sources],
        }


def explain(
    index: TokenIndex,
    sources: SourceMentions,
    parameters: Mapping[str, Any],
    mention: str,
    entity: str,
    *,
    number: int,
    lam: float,
) -> Explanation:
    """Take the score of an entity, which has this number inside, apart."""
    text = normalize(mention, parameters["normalizer"], language=parameters["language"])
    matches = index.matches(text, number)
    parts = [
        TokenPart(match.shown, match.times, match.prior, lam * match.posterior) for match in matches
    ]
    shared = sum(part.prior + part.posterior for part in parts)
    background = index.background(text, number, lam=lam) if shared else 0.0
    if parameters.get("fusion") == "probabilities":
        made = _by_layer(matches, sources, lam)
    else:
        made = _by_counts(matches, _counted(index, sources, parameters, number), lam)
    return Explanation(
        mention,
        text,
        entity,
        shared + background,
        lam,
        sorted(
            (part for part in parts if part.prior + part.posterior > 0),
            key=lambda part: -(part.prior + part.posterior),
        ),
        [match.shown for match in matches if match.token is None],
        {language: value / shared if shared else 0.0 for language, value in made.items()},
        sources.of(number),
        background,
        [
            match.shown
            for match, part in zip(matches, parts, strict=True)
            if match.token is not None and not part.prior + part.posterior > 0
        ],
    )


def _by_layer(matches: list[Match], sources: SourceMentions, lam: float) -> dict[str, float]:
    """What each language made of a score where each has a layer of its own."""
    made = np.zeros(len(sources.languages))
    for match in matches:
        made += match.layers[0] + lam * match.layers[1]
    return dict(zip(sources.languages, made.tolist(), strict=True))


def _by_counts(
    matches: list[Match], counted: dict[str, dict[int, float]], lam: float
) -> dict[str, float]:
    """What each language made of a score where their counts are pooled: by its share of them."""
    made = dict.fromkeys(counted, 0.0)
    for match in matches:
        value = match.prior + lam * match.posterior
        if match.token is None or value <= 0:
            continue
        n = {language: tokens.get(match.token, 0.0) for language, tokens in counted.items()}
        for language, part in n.items():
            made[language] += value * part / sum(n.values())
    return made


def _counted(
    index: TokenIndex, sources: SourceMentions, parameters: Mapping[str, Any], number: int
) -> dict[str, dict[int, float]]:
    """alpha_l * n_l(t, e) of one entity, counted again from its mentions."""
    alpha = parameters["alpha"]
    counted: dict[str, dict[int, float]] = {language: {} for language in sources.languages}
    for source in sources.of(number):
        text = normalize(source.mention, parameters["normalizer"], language=source.language)
        tokens, times = index.tokens(text)
        weight = alpha.get(source.language, 1.0) * source.count
        of_language = counted[source.language]
        for token, c in zip(tokens.tolist(), times.tolist(), strict=True):
            of_language[token] = of_language.get(token, 0.0) + weight * c
    return counted
