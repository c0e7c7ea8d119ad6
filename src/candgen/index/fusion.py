"""Probability-level fusion: every language is normalized on its own, and the results are mixed.

    P(e|t) = sum over languages l of  w_l * P_l(e|t) / Z(t)      Z(t): the w_l of those that know t
    P(t|e) = sum over languages l of  w_l * P_l(t|e) / Z(e)      Z(e): the w_l of those that know e

    P_l(e|t) = n_l(t,e) / N_l(t)      P_l(t|e) = n_l(t,e) / N_l(e)      w = alpha, 1 for the target

With additive smoothing by s, a pivot knows every token and every entity of the index,

    P_l(e|t) = (n_l(t,e) + s) / (N_l(t) + s * E)      P_l(t|e) = (n_l(t,e) + s) / (N_l(e) + s * T)

where E and T are how many entities and tokens there are. What s adds is the same for all entities
of a token, and for all tokens of an entity: it is kept as one number each, not as postings.
"""

from collections.abc import Collection, Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError
from candgen.index.counts import Counts
from candgen.index.layout import Background
from candgen.index.pooling import PooledCounts, pool, sum_into_layers
from candgen.index.token_index import TokenIndex

Floats = npt.NDArray[np.float64]
Fusion = Literal["counts", "probabilities"]


def build_index(
    counts: Counts,
    weights: Mapping[str, float],
    *,
    pivots: Collection[str],
    lam: float,
    fusion: Fusion = "counts",
    smoothing: float = 0.0,
    threshold: float = 0.0,
    threads: int = 1,
    in_place: bool = False,
) -> tuple[TokenIndex, PooledCounts]:
    """Return the index of languages mixed by counts or by probabilities, and the pooled counts.

    Search is fastest with ``lam``. ``in_place`` saves memory: the counts cannot be used afterwards.
    """
    background = None
    if fusion == "counts":
        pooled = pool(counts, weights, threshold=threshold, in_place=in_place)
    else:
        pooled, background = fuse(
            counts,
            weights,
            pivots=pivots,
            smoothing=smoothing,
            threshold=threshold,
            in_place=in_place,
        )
    index = TokenIndex.build(
        counts,
        pooled,
        lam=lam,
        threshold=threshold,
        threads=threads,
        background=background,
        in_place=in_place,
    )
    return index, pooled


def check_fusion(fusion: str, smoothing: float, threshold: float) -> None:
    """Raise ParameterError if a value is invalid, or if the values exclude each other."""
    if threshold > 1:
        raise ParameterError(f"threshold is {threshold}: expected a probability, from 0 to 1")
    if fusion not in ("counts", "probabilities"):
        raise ParameterError(f"fusion is {fusion!r}: choose 'counts' or 'probabilities'")
    if smoothing and fusion == "counts":
        raise ParameterError(
            f"smoothing is {smoothing} and fusion 'counts': probabilities are what is smoothed, "
            "choose fusion='probabilities'"
        )
    if smoothing and threshold:
        raise ParameterError(
            f"smoothing is {smoothing} and threshold {threshold}: smoothing gives every entity a "
            "probability, so choose one of the two"
        )


def fuse(
    counts: Counts,
    weights: Mapping[str, float],
    *,
    pivots: Collection[str],
    smoothing: float = 0.0,
    threshold: float = 0.0,
    in_place: bool = False,
) -> tuple[PooledCounts, Background | None]:
    """Counts with a layer for each language, and what smoothing adds to all.

    ``in_place`` may overwrite the counts to save memory.
    """
    parts = list(counts.languages.values())
    alpha = np.array([weights[language] for language in counts.languages], np.float64)
    added = np.array([smoothing * (language in pivots) for language in counts.languages])
    of_token = np.stack([part.token_total for part in parts]).astype(np.float64)
    of_entity = np.stack([part.entity_total for part in parts]).astype(np.float64)
    is_token = of_token.any(axis=0)
    tokens, entities = int(np.count_nonzero(is_token)), of_entity.shape[1]
    token_total = _totals(of_token + np.outer(added * entities, is_token), alpha)
    entity_total = _totals(of_entity + added[:, np.newaxis] * tokens, alpha)
    ones = np.ones(len(parts), np.float64)
    layers = np.arange(len(parts), dtype=np.int64)
    pooled = sum_into_layers(
        counts, layers, ones, token_total, entity_total, threshold, in_place=in_place
    )
    if smoothing == 0.0:
        return pooled, None
    return pooled, Background(added @ (1 / token_total), added @ (1 / entity_total))


def _totals(total: Floats, alpha: Floats) -> Floats:
    """Return what a count of each language is divided by: N * Z / w; infinity where N is 0."""
    whole = alpha @ (total > 0)
    return np.where(total > 0, total * whole / alpha[:, np.newaxis], np.inf)
