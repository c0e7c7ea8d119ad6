"""Pooling: the weighted sum of the counts of several languages, after thresholding.

    n(t,e) = sum over languages l of  alpha_l * n_l(t,e)
    N(t)   = sum_e n(t,e)           N(e) = sum_t n(t,e)

Each language is counted once; pooling with other weights does not count again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from candgen.index.counts import Counts, Floats, Integers, LanguageCounts
from candgen.kernels import counting as kernels

MAX_VALUES = 1 << 22
"""Below this largest count, the counts of one language serve as the numbers of their values."""


@dataclass(frozen=True)
class PooledCounts:
    """n(t, e) after thresholding: entity e has ``tokens[indptr[e]:indptr[e + 1]]``, in no order.

    Counts stand in layers: one, the weighted sum of all languages, or one a language where each is
    normalized on its own. ``values[number[layer, i]]`` is the n(t, e) of posting i, and ``uses``
    says how often each value occurs. A prior is the sum over layers of n(t, e) / token_total[layer,
    t], a posterior that of n(t, e) / entity_total[layer, e]; totals are those before thresholding.
    ``dropped`` counts priors, posteriors and postings.
    """

    indptr: Integers
    tokens: npt.NDArray[np.uint32]
    number: npt.NDArray[np.uint32]
    values: Floats
    uses: Integers
    token_total: Floats
    entity_total: Floats
    dropped: Integers


def smallest_kept(threshold: float) -> float:
    """Return the smallest probability that a threshold keeps: just under it, against rounding."""
    return threshold * (1 - 1e-9)


def pool(
    counts: Counts, alpha: Mapping[str, float], *, threshold: float = 0.0, in_place: bool = False
) -> PooledCounts:
    """Return the weighted sum of the languages, without what is under the threshold.

    A prior or a posterior is kept if it is at least `smallest_kept`; a posting is dropped if both
    are. Languages are summed in the order of ``counts``. ``in_place`` saves memory: it may
    overwrite the counts, which cannot be used afterwards.
    """
    weights = np.array([alpha[language] for language in counts.languages], np.float64)
    parts = list(counts.languages.values())
    token_total = (weights @ np.stack([part.token_total for part in parts]))[np.newaxis]
    entity_total = (weights @ np.stack([part.entity_total for part in parts]))[np.newaxis]
    if len(parts) == 1 and threshold == 0.0 and parts[0].counts.max() < MAX_VALUES:
        tokens = parts[0].tokens if in_place else parts[0].tokens.copy()
        return _alone(replace(parts[0], tokens=tokens), weights[0], token_total, entity_total)
    room = None
    if in_place and len(parts) == 1 and parts[0].counts.dtype == np.int32:
        room = parts[0].tokens, parts[0].counts.view(np.uint32)[np.newaxis]
    layer_of = np.zeros(len(parts), np.int64)
    return sum_into_layers(
        counts, layer_of, weights, token_total, entity_total, threshold, room=room
    )


def sum_into_layers(
    counts: Counts,
    layer_of: Integers,
    weights: Floats,
    token_total: Floats,
    entity_total: Floats,
    threshold: float,
    *,
    room: tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]] | None = None,
) -> PooledCounts:
    """Sum language i, times ``weights[i]``, into layer ``layer_of[i]``; totals are given.

    ``room`` is memory for tokens and numbers, which may be that of the counts themselves.
    """
    parts = list(counts.languages.values())
    indptr = np.zeros(len(counts.entities) + 1, np.int64)
    size = sum(len(part.tokens) for part in parts)
    tokens, number = room or (
        np.empty(size, np.uint32),
        np.empty((len(token_total), size), np.uint32),
    )
    place = np.zeros(len(counts.vocabulary), np.uint32)
    dropped = np.zeros(3, np.int64)
    table = ValueTable()
    entity = filled = 0
    while entity < len(counts.entities):
        table.grow()
        entity, filled, table.distinct = kernels.pool(
            tuple(part.indptr for part in parts),
            tuple(part.tokens for part in parts),
            tuple(part.counts for part in parts),
            layer_of,
            weights,
            token_total,
            entity_total,
            smallest_kept(threshold),
            entity,
            place,
            indptr,
            tokens,
            number,
            filled,
            table.keys,
            table.ids,
            table.values,
            table.uses,
            table.distinct,
            dropped,
        )
    return PooledCounts(
        indptr,
        tokens[:filled],
        number[:, :filled],
        table.values[: table.distinct],
        table.uses[: table.distinct],
        token_total,
        entity_total,
        dropped,
    )


def _alone(
    part: LanguageCounts, alpha: float, token_total: Floats, entity_total: Floats
) -> PooledCounts:
    """Return the counts of one language, nothing dropped: each count is its value's number."""
    number = part.counts.astype(np.uint32, copy=False)
    uses = np.zeros(int(number.max()) + 1, np.int64)
    kernels.tally(number, uses)
    values = alpha * np.arange(len(uses), dtype=np.float64)
    dropped = np.zeros(3, np.int64)
    return PooledCounts(
        part.indptr,
        part.tokens,
        number[np.newaxis],
        values,
        uses,
        token_total,
        entity_total,
        dropped,
    )


class ValueTable:
    """Distinct values of n(t, e), numbered by a hash table that grows when it is half full."""

    def __init__(self) -> None:
        self.distinct = 0
        self.keys = np.full(0, kernels.EMPTY, np.uint64)
        self.ids = np.zeros(0, np.uint32)
        self.values = np.zeros(0, np.float64)
        self.uses = np.zeros(0, np.int64)

    def grow(self) -> None:
        """Make room for four times as many values, at least 65,536."""
        size = max(1 << 16, 4 * len(self.keys))
        keys, ids = np.full(size, kernels.EMPTY, np.uint64), np.zeros(size, np.uint32)
        kernels.rehash(self.keys, self.ids, keys, ids)
        self.keys, self.ids = keys, ids
        self.values = np.resize(self.values, size)
        uses = np.zeros(size, np.int64)
        uses[: self.distinct] = self.uses[: self.distinct]
        self.uses = uses
