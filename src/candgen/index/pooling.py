"""Pooling: the weighted sum of the counts of several languages, after thresholding.

    n(t,e) = sum over languages l of  alpha_l * n_l(t,e)
    N(t)   = sum_e n(t,e)           N(e) = sum_t n(t,e)

Each language is counted once; pooling with other weights does not count again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candgen.index.counts import Counts, Floats, Integers
from candgen.index.vocabulary import empty_table, longer
from candgen.kernels import counting as kernels

LARGE_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class PooledCounts:
    """n(t, e) after thresholding: entity e has ``tokens[indptr[e]:indptr[e + 1]]``, in no order.

    Counts stand in layers: one, the weighted sum of all languages, or one a language where each is
    normalized on its own. ``values[number[layer, i]]`` is the n(t, e) of posting i, and ``uses``
    says how often each value occurs. Most numbers fit a byte; where it is 0, the number is in
    ``high``, and ``at`` has the places of these, layer after layer. A prior is the sum over layers
    of n(t, e) / token_total[layer, t], a posterior that of n(t, e) / entity_total[layer, e]; totals
    are those before thresholding. ``dropped`` counts priors, posteriors and postings.
    """

    indptr: Integers
    tokens: npt.NDArray[np.uint32]
    number: npt.NDArray[np.uint8]
    at: Integers
    high: npt.NDArray[np.uint32]
    values: Floats
    uses: Integers
    token_total: Floats
    entity_total: Floats
    dropped: Integers

    def n(self) -> Floats:
        """Return n(t, e) of each layer and posting."""
        n = self.values[self.number.ravel()]
        n[self.at] = self.values[self.high]
        return n.reshape(self.number.shape)


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
    if len(parts) == 1 and threshold == 0.0:
        return _alone(counts, weights[0], token_total, entity_total, in_place=in_place)
    layer_of = np.zeros(len(parts), np.int64)
    return sum_into_layers(
        counts, layer_of, weights, token_total, entity_total, threshold, in_place=in_place
    )


def sum_into_layers(
    counts: Counts,
    layer_of: Integers,
    weights: Floats,
    token_total: Floats,
    entity_total: Floats,
    threshold: float,
    *,
    in_place: bool = False,
) -> PooledCounts:
    """Sum language i, times ``weights[i]``, into layer ``layer_of[i]``; totals are given."""
    counted = counts.counted
    languages = np.stack([part.indptr for part in counts.languages.values()])
    indptr = np.zeros(len(counts.entities) + 1, np.int64)
    if in_place and len(languages) == 1:
        tokens, number = counted.tokens, counted.low[np.newaxis]
    else:
        tokens = np.empty(len(counted.tokens), np.uint32)
        number = np.empty((len(token_total), len(tokens)), np.uint8)
    next_high = np.searchsorted(counted.at, languages[:, 0])
    place = np.full(len(counts.vocabulary), -1, np.int64)
    dropped = np.zeros(3, np.int64)
    table = ValueTable()
    larges: list[tuple[Integers, npt.NDArray[np.uint32]]] = []
    entity = filled = 0
    while entity < len(counts.entities):
        # What one entity can need at most: values and large numbers.
        more = len(number) * int((languages[:, entity + 1] - languages[:, entity]).sum())
        table.reserve(more)
        large_place = np.empty((max(LARGE_AT_ONCE, more), 2), np.int64)
        large = np.empty(len(large_place), np.uint32)
        entity, filled, size, table.distinct = kernels.pool(
            languages,
            counted.tokens,
            counted.low,
            counted.high,
            next_high,
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
            large_place,
            large,
            table.table,
            table.values,
            table.uses,
            table.distinct,
            dropped,
        )
        larges.append((large_place[:size].copy(), large[:size].copy()))
    if in_place:
        counted.clear()
    places, high = (np.concatenate(arrays) for arrays in zip(*larges, strict=True))
    at = places[:, 1] * filled + places[:, 0]
    order = np.argsort(at, kind="stable")  # layer after layer
    return PooledCounts(
        indptr,
        tokens[:filled],
        number[:, :filled],
        at[order],
        high[order],
        table.values[: table.distinct],
        table.uses[: table.distinct],
        token_total,
        entity_total,
        dropped,
    )


def _alone(
    counts: Counts, alpha: float, token_total: Floats, entity_total: Floats, *, in_place: bool
) -> PooledCounts:
    """Return the counts of one language, nothing dropped: small counts are numbers of values."""
    (language,) = counts.languages.values()
    counted = counts.counted
    tokens, low = counted.tokens, counted.low
    large, place, large_uses = np.unique(counted.high, return_inverse=True, return_counts=True)
    uses = np.zeros(kernels.LARGE, np.int64)
    kernels.tally(low, uses)
    uses[0] = 0  # large ones
    return PooledCounts(
        language.indptr,
        tokens if in_place else tokens.copy(),
        (low if in_place else low.copy())[np.newaxis],
        counted.at,
        (kernels.LARGE + place).astype(np.uint32),
        alpha * np.concatenate((np.arange(kernels.LARGE), large)).astype(np.float64),
        np.concatenate((uses, large_uses)),
        token_total,
        entity_total,
        np.zeros(3, np.int64),
    )


class ValueTable:
    """Distinct values of n(t, e), numbered from 1 by a hash table that is at most half full."""

    def __init__(self) -> None:
        self.distinct = 1
        self.table = empty_table(0)
        self.values = np.zeros(0, np.float64)
        self.uses = np.zeros(0, np.int64)

    def reserve(self, more: int) -> None:
        """Make room for more values."""
        size = max(1 << 16, len(self.table))
        while self.distinct + more > size // 2:
            size *= 4
        if size > len(self.table):
            table = empty_table(size)
            kernels.rehash(self.table, table)
            self.table = table
            self.values = longer(self.values, size)
            self.uses = longer(self.uses, size)
