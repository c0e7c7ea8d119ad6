"""What the scores of several candidates are made of: as `explain` says it, sooner, and not more."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.index.token_index import TokenIndex
from candgen.kernels import score_breakdown as kernels
from candgen.tables.source_mentions import SourceMentions
from candgen.text.normalize import normalize_many

Floats = npt.NDArray[np.float64]


class Shares(NamedTuple):
    """A(e), lam * B(e), and the share that each language's counts made of both together."""

    prior: float
    posterior: float
    languages: dict[str, float]


def shares(
    index: TokenIndex,
    sources: SourceMentions,
    parameters: Mapping[str, Any],
    text: str,
    numbers: Sequence[int],
    *,
    lam: float,
) -> list[Shares]:
    """Take apart the scores of entities, by their inner numbers, for a normalised text."""
    tokens, times = index.tokens(text)
    inside = np.array(numbers, np.int64)
    n = np.zeros((len(inside), len(tokens)))
    kernels.counts_of_entities(index.blocks, inside, tokens, n)
    least = index.threshold * (1 - 1e-9)
    prior = _kept(n / index.blocks.token_total[0, tokens], least) * times
    posterior = _kept(n / index.blocks.entity_total[0, inside, np.newaxis], least) * times * lam
    value = prior + posterior
    total = value.sum(axis=1)
    made = _by_language(index, sources, parameters, inside, tokens, value)
    made /= np.where(total > 0.0, total, 1.0)
    return [
        Shares(a, b, dict(zip(sources.languages, each, strict=True)))
        for a, b, each in zip(
            prior.sum(axis=1).tolist(), posterior.sum(axis=1).tolist(), made.T.tolist(), strict=True
        )
    ]


def _kept(probabilities: Floats, least: float) -> Floats:
    """Probabilities that the threshold left."""
    return np.where(probabilities >= least, probabilities, 0.0)


def _by_language(
    index: TokenIndex,
    sources: SourceMentions,
    parameters: Mapping[str, Any],
    numbers: npt.NDArray[np.int64],
    tokens: npt.NDArray[np.int64],
    value: Floats,
) -> Floats:
    """What each language (a row) made of the score of each entity (a column).

    A token's value is split by alpha_l * n_l(t, e), which is counted again from the mentions.
    """
    first, last = sources.start[numbers], sources.start[numbers + 1]
    rows = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)] or [first])
    owner = np.repeat(np.arange(len(numbers)), last - first)
    language = sources.language[rows]
    counted = np.zeros((len(sources.languages), *value.shape))
    for code in np.unique(language).tolist():
        name = sources.languages[code]
        mine = language == code
        texts = normalize_many(
            sources.mention.take(rows[mine]), parameters["normalizer"], language=name
        )
        times = np.zeros((len(texts), len(tokens)))
        kernels.times_in_texts(
            index.blocks.child,
            index.blocks.symbol,
            *index.vocabulary.symbols(texts),
            *index.vocabulary.shape,
            tokens,
            times,
        )
        weight = parameters["alpha"].get(name, 1.0) * sources.count[rows[mine]]
        np.add.at(counted[code], owner[mine], weight[:, np.newaxis] * times)
    pooled = counted.sum(axis=0)
    made: Floats = (counted * (value / np.where(pooled > 0.0, pooled, 1.0))).sum(axis=2)
    return made
