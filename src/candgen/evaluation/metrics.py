"""Measures: pure functions of ranks, the places of the golds among the candidates.

    >>> ranks = np.array([1, 3, 0, 31])     # first, third, not among the candidates, 31st
    >>> recall(ranks, 1), recall(ranks, 30), recall(ranks, 100)
    (25.0, 50.0, 75.0)

Recall is in percent of the queries. A measure over some of the queries is the measure of their
ranks: ``recall(ranks[mask], 30)``. That of no queries is nan.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError, check_whole_number
from candgen.protocols import Ranks
from candgen.tables.queries import TYPES

_NUMBERS_AT_ONCE = 1 << 20  # limits memory, whatever the number of distinct values

Flags = npt.NDArray[np.bool_]
Values = npt.NDArray[Any]


class Interval(NamedTuple):
    """The lower and the upper end of a confidence interval."""

    low: float
    high: float

    @property
    def shown(self) -> str | None:
        """Both ends as text; None if there are no queries."""
        return None if math.isnan(self.low) else f"{self.low:.1f}–{self.high:.1f}"


class Comparison(NamedTuple):
    """Two generators on the same queries, by recall@k.

    ``difference`` is the recall of the first minus that of the second, in points, with its
    ``interval``. ``only_first`` queries are answered by the first alone, ``only_second`` by the
    second alone. ``p_value`` is the probability of a split at least as uneven if both were equal.
    """

    difference: float
    interval: Interval
    only_first: int
    only_second: int
    p_value: float


def hits(ranks: Ranks, k: int) -> Flags:
    """Return which queries have their gold among the first k candidates.

    >>> hits(np.array([1, 3, 0, 31]), 3).tolist()
    [True, True, False, False]
    """
    places = _check_ranks(ranks)
    return (places > 0) & (places <= check_whole_number("k", k))


def reciprocals(ranks: Ranks) -> npt.NDArray[np.float64]:
    """Return 1 / rank of each query, 0 where the gold is not among the candidates.

    >>> reciprocals(np.array([1, 4, 0])).tolist()
    [1.0, 0.25, 0.0]
    """
    places = _check_ranks(ranks)
    return np.divide(1.0, places, out=np.zeros(len(places)), where=places > 0)


def recall(ranks: Ranks, k: int) -> float:
    """Return the percentage of queries with their gold among the first k: micro recall@k.

    >>> recall(np.array([2, 0, 1]), 2)
    66.66666666666667
    """
    found = hits(ranks, k)
    return 100 * int(np.count_nonzero(found)) / len(found) if len(found) else math.nan


def mrr(ranks: Ranks) -> float:
    """Return the mean reciprocal rank, from 0 to 1.

    >>> mrr(np.array([1, 4, 0, 2]))     # (1 + 1/4 + 0 + 1/2) / 4
    0.4375
    """
    values = reciprocals(ranks)
    return float(values.mean()) if len(values) else math.nan


def by_type(values: Values, types: Sequence[str | None]) -> dict[str | None, Values]:
    """Group values, such as ranks, by the types of their queries, the easiest type first.

    Queries without a type are the last group, under None.

    >>> groups = by_type(np.array([1, 3, 0]), ["hard", "easy", "hard"])
    >>> {type: group.tolist() for type, group in groups.items()}
    {'easy': [3], 'hard': [1, 0]}
    """
    if len(values) != len(types):
        raise ParameterError(
            f"there are {len(values)} values and {len(types)} types: expected one type for each"
        )
    labels = np.array([type_ or "" for type_ in types], dtype=np.str_)
    present = sorted({type_ or "" for type_ in types}, key=_difficulty)
    return {name or None: values[labels == name] for name in present}


def macro_recall(ranks: Ranks, types: Sequence[str | None], k: int) -> float:
    """Return the mean over the types that are present of the recall@k of each.

    >>> macro_recall(np.array([1, 2, 0, 1]), ["easy", "easy", "easy", "hard"], 1)
    66.66666666666667

    One of three easy queries and the only hard one: (33.3 + 100) / 2; micro recall is 50.
    """
    groups = by_type(_check_ranks(ranks), types).values()
    return sum(recall(group, k) for group in groups) / len(groups) if groups else math.nan


def bootstrap(
    values: npt.ArrayLike,
    *,
    types: Sequence[str | None] | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
) -> Interval:
    """Return the percentile bootstrap interval of the mean of one value for each query.

    For recall the values are ``100 * hits(ranks, k)``, for MRR ``reciprocals(ranks)``. With
    ``types`` it is the interval of the macro mean: each type is resampled apart, from its own
    queries, and the mean of their means is taken.

    Drawing n of n queries with replacement means drawing how often each distinct value occurs. If
    n_v queries have the value v, then these numbers are

        (c_v) ~ Multinomial(n; n_v / n)     and the mean of the resample is  sum_v c_v * v / n,

    so the cost of a resample depends on the number of distinct values, which is two for recall, and
    not on that of the queries. If all values are equal, so are both ends. The same values, seed and
    version of NumPy give the same interval.

    >>> bootstrap(100 * np.repeat([1, 0], [70, 30]))
    Interval(low=61.0, high=79.0)
    """
    check_whole_number("resamples", resamples)
    if not 0 < level < 1:
        raise ParameterError(f"level is {level!r}: expected between 0 and 1, such as 0.95")
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or not np.isfinite(given).all():
        raise ParameterError("values to resample: expected one finite number for each query")
    if not len(given):
        return Interval(math.nan, math.nan)
    groups = [given] if types is None else list(by_type(given, types).values())
    rng = np.random.default_rng(seed)
    means = np.mean([_resample_means(group, resamples, rng) for group in groups], axis=0)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def compare(first: Ranks, second: Ranks, k: int, *, seed: int = 0) -> Comparison:
    """Compare two generators by their ranks of the same queries: bootstrap and McNemar's test.

    The interval resamples queries, so that the two stay paired. The test is the exact two-sided
    one, of the hypothesis that a query which only one of the two answers is as likely to be
    answered by the first as by the second.

    >>> found = compare(np.array([1, 2, 9, 1, 1, 0]), np.array([1, 0, 0, 40, 0, 0]), k=30)
    >>> found.only_first, found.only_second, round(found.p_value, 9)
    (4, 0, 0.125)

    Four queries are answered by the first alone, none by the second: p = 2 * (1/2)**4.
    """
    if len(first) != len(second):
        raise ParameterError(
            f"{len(first)} ranks cannot be compared with {len(second)}: "
            "expected those of the same queries"
        )
    ours, theirs = hits(first, k), hits(second, k)
    only_first, only_second = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    differences = 100.0 * (ours.astype(np.int64) - theirs)
    return Comparison(
        100 * (only_first - only_second) / len(ours) if len(ours) else math.nan,
        bootstrap(differences, seed=seed),
        only_first,
        only_second,
        mcnemar(only_first, only_second),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p-value of McNemar's test for the numbers of discordant pairs.

        p = min(1, 2 * P(X <= m)),   X ~ Binomial(n, 1/2),   n = b + c,   m = min(b, c)

    The terms are computed relative to the largest, C(n, m), each by its ratio to the one before:
    C(n, i-1) / C(n, i) = i / (n - i + 1). So nothing overflows.

    >>> round(mcnemar(1, 5), 9)       # 2 * (C(6,0) + C(6,1)) / 2**6 = 14 / 64
    0.21875
    """
    if min(only_first, only_second) < 0:
        raise ParameterError(
            f"the numbers of discordant pairs are {only_first} and {only_second}: "
            "expected at least 0"
        )
    m, n = min(only_first, only_second), only_first + only_second
    if 2 * m >= n - 1:  # the most even splits, and no discordant pairs at all
        return 1.0
    i = np.arange(m, 0, -1, dtype=np.float64)
    terms = 1 + float(np.cumprod(i / (n - i + 1)).sum())
    largest = math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)
    return math.exp(largest + math.log(terms) - (n - 1) * math.log(2))


def _check_ranks(ranks: Iterable[int] | Ranks) -> Ranks:
    places = np.asarray(ranks)
    if places.ndim != 1 or (len(places) and not np.issubdtype(places.dtype, np.integer)):
        raise ParameterError(
            f"ranks are {places.ndim}-d {places.dtype}, expected whole numbers, one for each query"
        )
    if len(places) and places.min() < 0:
        raise ParameterError(
            f"a rank is {places.min()}: expected 1 or more, or 0 where the gold is missing"
        )
    return cast("Ranks", places)


def _difficulty(name: str) -> tuple[int, str]:
    if name in TYPES:
        return TYPES.index(name), ""
    return (len(TYPES), name) if name else (len(TYPES) + 1, "")


def _resample_means(
    values: npt.NDArray[np.float64], resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    distinct, counts = np.unique(values, return_counts=True)
    means = np.empty(resamples)
    rows = max(1, _NUMBERS_AT_ONCE // len(distinct))
    for start in range(0, resamples, rows):
        drawn = means[start : start + rows]
        drawn[:] = rng.multinomial(len(values), counts / len(values), size=len(drawn)) @ distinct
    return means / len(values)
