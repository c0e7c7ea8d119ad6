"""What a score is made of: tokens, prior and posterior, and the languages they were learned from.

One computation (`break_down`) serves the full `Explanation` of one entity and the `Shares` of many.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.index.token_index import TokenIndex
from candgen.kernels.score_breakdown import times_in_texts
from candgen.tables.source_mentions import SourceMention, SourceMentions
from candgen.text.normalize import normalize, normalize_many

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class TokenPart(NamedTuple):
    """What one token brings to a score: ``prior`` is c * P(e|t), ``posterior`` lam * c * P(t|e)."""

    token: str
    times: int
    prior: float
    posterior: float

    @property
    def value(self) -> float:
        """What the token brings in all."""
        return self.prior + self.posterior


@dataclass(frozen=True)
class Explanation:
    """The ``score`` of an ``entity`` for a ``mention``, taken apart.

    ``normalized`` is the mention as the index compares it, ``lam`` the weight of the posterior.
    ``tokens`` are those that the mention and the entity share, the largest part first. Their priors
    and posteriors add up to ``score``, together with the ``background`` of a smoothed index.
    ``unknown`` are tokens that no table has, ``elsewhere`` tokens that only other entities have.
    ``languages`` is each language's share of what the tokens bring, by the counts it contributed.
    ``sources`` are the entity's mentions in the tables, the most frequent first.
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
        """Return the explanation as JSON values."""
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


class Shares(NamedTuple):
    """A(e), lam * B(e), and each language's share of both together."""

    prior: float
    posterior: float
    languages: dict[str, float]


class Breakdown(NamedTuple):
    """What each token (a column) brings to the score of each entity (a row).

    ``posterior`` includes lam. ``languages`` has each language's share of an entity's score.
    """

    tokens: Integers
    prior: Floats
    posterior: Floats
    languages: list[dict[str, float]]


def break_down(
    index: TokenIndex,
    sources: SourceMentions,
    parameters: Mapping[str, Any],
    text: str,
    numbers: Sequence[int],
    *,
    lam: float,
) -> Breakdown:
    """Take the scores of entities, given by their inner numbers, apart for a normalized text."""
    tokens, times = index.tokens(text)
    layers = index.contributions(numbers, tokens, times)
    layers[1] *= lam
    prior, posterior = layers.sum(axis=1)
    value = prior + posterior
    if parameters.get("fusion") == "probabilities":  # each language has a layer of its own
        made = layers.sum(axis=(0, 3))
    else:
        made = _split_by_language(index, sources, parameters, numbers, tokens, value)
    total = value.sum(axis=1)
    made /= np.where(total > 0.0, total, 1.0)
    languages = [dict(zip(sources.languages, each, strict=True)) for each in made.T.tolist()]
    return Breakdown(tokens, prior, posterior, languages)


def _split_by_language(
    index: TokenIndex,
    sources: SourceMentions,
    parameters: Mapping[str, Any],
    numbers: Sequence[int],
    tokens: Integers,
    value: Floats,
) -> Floats:
    """Return what each language (a row) contributed to the score of each entity (a column).

    A token's value is split by alpha_l * n_l(t, e), which is counted again from the mentions.
    """
    inside = np.array(numbers, np.int64)
    first, last = sources.start[inside], sources.start[inside + 1]
    rows = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)] or [first])
    owner = np.repeat(np.arange(len(inside)), last - first)
    language = sources.language[rows]
    counted = np.zeros((len(sources.languages), *value.shape))
    for code in np.unique(language).tolist():
        name = sources.languages[code]
        mine = language == code
        texts = normalize_many(
            sources.mention.take(rows[mine]), parameters["normalizer"], language=name
        )
        times = np.zeros((len(texts), len(tokens)))
        times_in_texts(
            index.blocks.child,
            index.blocks.symbol,
            *index.vocabulary.symbols(texts),
            *index.vocabulary.shape,
            tokens,
            times,
        )
        weight = float(parameters["alpha"].get(name, 1.0)) * sources.count[rows[mine]]
        np.add.at(counted[code], owner[mine], weight[:, np.newaxis] * times)
    pooled = counted.sum(axis=0)
    made: Floats = (counted * (value / np.where(pooled > 0.0, pooled, 1.0))).sum(axis=2)
    return made


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
    """Return the explanation of an entity's score; ``number`` is its inner number."""
    text = normalize(mention, parameters["normalizer"], language=parameters["language"])
    found = break_down(index, sources, parameters, text, [number], lam=lam)
    pairs = zip(found.prior[0].tolist(), found.posterior[0].tolist(), strict=True)
    brought: dict[int | str, tuple[float, float]] = dict(
        zip(found.tokens.tolist(), pairs, strict=True)
    )
    # A token is known by its number, an unknown one by its text.
    spelled = [
        (shown if token is None else token, shown) for shown, token in index.vocabulary.spell(text)
    ]
    times = Counter(key for key, _ in spelled)
    parts = {
        key: TokenPart(shown, times[key], *brought.get(key, (0.0, 0.0))) for key, shown in spelled
    }
    shared = sum(part.value for part in parts.values())
    background = index.background(text, number, lam=lam) if shared else 0.0
    return Explanation(
        mention,
        text,
        entity,
        shared + background,
        lam,
        sorted((part for part in parts.values() if part.value > 0), key=lambda part: -part.value),
        [key for key in parts if isinstance(key, str)],
        found.languages[0],
        sources.of(number),
        background,
        [part.token for key, part in parts.items() if isinstance(key, int) and not part.value > 0],
    )
