"""Measures: by hand, against SciPy and plain resampling, and what they refuse."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from candgen.errors import ParameterError
from candgen.evaluation.metrics import (
    Comparison,
    Interval,
    bootstrap,
    by_type,
    compare,
    hits,
    macro_recall,
    mcnemar,
    mrr,
    recall,
    reciprocals,
)

# Ten queries: rank and type. Found at 1: three; at 2: five; at 30: six; at 31: seven.
RANKS = np.array([1, 1, 2, 31, 1, 0, 2, 0, 0, 30])
KINDS = ["easy"] * 4 + ["medium"] * 2 + ["hard"] * 4

rank_lists = st.lists(st.integers(0, 40), min_size=1, max_size=30)


def array(values):
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("k", "micro", "easy", "medium", "hard"),
    [
        (1, 30, 50, 50, 0),
        (2, 50, 75, 50, 25),
        (29, 50, 75, 50, 25),
        (30, 60, 75, 50, 50),
        (31, 70, 100, 50, 50),
        (10**9, 70, 100, 50, 50),
    ],
)
def test_recall_by_hand(k, micro, easy, medium, hard):
    assert recall(RANKS, k) == pytest.approx(micro)
    parts = by_type(RANKS, KINDS)
    assert {kind: recall(part, k) for kind, part in parts.items()} == {
        "easy": easy,
        "medium": medium,
        "hard": hard,
    }
    assert macro_recall(RANKS, KINDS, k) == pytest.approx((easy + medium + hard) / 3)


def test_reciprocal_ranks_by_hand():
    # 1 + 1 + 1/2 + 1/31 + 1 + 0 + 1/2 + 0 + 0 + 1/30, of ten
    assert mrr(RANKS) == pytest.approx((4 + 1 / 31 + 1 / 30) / 10)
    assert reciprocals(array([0, 1, 8])).tolist() == [0, 1, 0.125]


def test_a_restricted_measure_is_the_measure_of_those_queries():
    unlike = array([1, 0, 0, 1, 0, 0, 1, 1, 0, 1]).astype(bool)  # ranks 1, 31, 2, 0, 30
    assert recall(RANKS[unlike], 1) == pytest.approx(20)
    assert recall(RANKS[unlike], 30) == pytest.approx(60)


def test_types_come_in_order_of_difficulty():
    kinds = ["hard", None, "other", "easy", "medium", "hard"]
    parts = by_type(array([1, 2, 3, 4, 5, 6]), kinds)
    assert list(parts) == ["easy", "medium", "hard", "other", None]
    assert [part.tolist() for part in parts.values()] == [[4], [5], [1, 6], [3], [2]]


def test_queries_without_a_type_count_as_one_type():
    assert macro_recall(RANKS, [None] * 10, 30) == recall(RANKS, 30)
    # None of the one untyped, one of one easy.
    assert macro_recall(array([0, 1]), [None, "easy"], 30) == pytest.approx(50)


def test_no_queries():
    nothing = array([])
    assert math.isnan(recall(nothing, 30))
    assert math.isnan(mrr(nothing))
    assert math.isnan(macro_recall(nothing, [], 30))
    assert hits(nothing, 1).tolist() == []
    assert all(map(math.isnan, bootstrap(nothing)))
    assert all(map(math.isnan, bootstrap(nothing, types=[])))
    found = compare(nothing, nothing, 30)
    assert math.isnan(found.difference)
    assert found[2:] == (0, 0, 1.0)


@given(rank_lists, st.integers(1, 41))
def test_measures_are_those_of_plain_python(ranks, k):
    found = [0 < rank <= k for rank in ranks]
    assert hits(array(ranks), k).tolist() == found
    assert recall(array(ranks), k) == pytest.approx(100 * sum(found) / len(found))
    assert mrr(array(ranks)) == pytest.approx(sum(1 / r for r in ranks if r) / len(ranks))


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["easy", "hard", None]))))
def test_types_neither_lose_nor_mix_queries(queries):
    ranks, kinds = array([rank for rank, _ in queries]), [kind for _, kind in queries]
    parts = by_type(ranks, kinds)
    assert {kind: part.tolist() for kind, part in parts.items()} == {
        kind: [rank for rank, own in queries if own == kind] for kind in set(kinds)
    }


# Intervals


@pytest.mark.parametrize(("found", "queries"), [(70, 100), (500, 1000), (2970, 3000), (3, 3000)])
def test_the_interval_of_recall_is_that_of_the_binomial(found, queries):
    """The mean of a resample of hits is binomial, so its quantiles are known exactly."""
    values = np.repeat([100.0, 0.0], [found, queries - found])
    low, high = bootstrap(values, resamples=40_000)
    exact = stats.binom.ppf([0.025, 0.975], queries, found / queries)
    # Which of two neighbours a quantile falls on is chance where both are as near.
    assert np.abs(np.array([low, high]) * queries / 100 - exact).max() <= 1
    wider = bootstrap(values, resamples=40_000, level=0.99)
    exact = stats.binom.ppf([0.005, 0.995], queries, found / queries)
    assert np.abs(np.array(wider) * queries / 100 - exact).max() <= max(1, queries // 1000)
    assert wider.low <= low < high < wider.high


@pytest.mark.parametrize("truth", [0.4019, 0.8017, 0.9018])
def test_intervals_cover_what_they_should(truth):
    """Of 95% intervals, about 95 in 100 contain the truth; of the exact ones, at least 95.

    Every number of hits that may come about is weighed by how often it does.
    """
    queries = 400
    coverage = exact_coverage = seen = 0.0
    for found in range(*stats.binom.ppf([0.0005, 0.9995], queries, truth).astype(int)):
        chance = stats.binom.pmf(found, queries, truth)
        low, high = bootstrap(np.repeat([1.0, 0.0], [found, queries - found]))
        exact = stats.binomtest(found, queries).proportion_ci(0.95)
        seen += chance
        coverage += chance * (low <= truth <= high)
        exact_coverage += chance * (exact.low <= truth <= exact.high)
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.008)
    assert 0.998 < seen < 1
    assert 0.93 < coverage < 0.97
    assert exact_coverage > 0.948


def resampled(values, rng, resamples):
    picked = rng.integers(0, len(values), size=(resamples, len(values)))
    return np.asarray(values)[picked].mean(axis=1)


def test_intervals_are_those_of_plain_resampling():
    rng = np.random.default_rng(3)
    values = reciprocals(rng.integers(0, 31, size=200))
    kinds = rng.choice(["easy", "medium", "hard"], size=200, p=[0.1, 0.2, 0.7]).tolist()
    plain = np.quantile(resampled(values, rng, 20_000), [0.025, 0.975])
    assert bootstrap(values, resamples=20_000) == pytest.approx(tuple(plain), abs=0.003)
    apart = [resampled(part, rng, 20_000) for part in by_type(values, kinds).values()]
    macro = np.quantile(np.mean(apart, axis=0), [0.025, 0.975])
    found = bootstrap(values, types=kinds, resamples=20_000)
    assert found == pytest.approx(tuple(macro), abs=0.003)


def test_few_queries_of_a_type_make_macro_recall_uncertain():
    """20 easy and 180 hard queries, half of each found: about 1.96 standard errors either side."""
    values, kinds = np.tile([100, 0], 100), ["easy"] * 20 + ["hard"] * 180
    micro, macro = bootstrap(values), bootstrap(values, types=kinds)
    assert micro.high - 50 == pytest.approx(1.96 * 50 / math.sqrt(200), rel=0.1)
    errors = [50 / math.sqrt(20), 50 / math.sqrt(180)]
    assert macro.high - 50 == pytest.approx(1.96 * math.hypot(*errors) / 2, rel=0.1)


def test_types_are_resampled_apart():
    """All easy and no hard queries are found: whatever is drawn, macro recall is a half."""
    values, kinds = [100] * 9 + [0], ["easy"] * 9 + ["hard"]
    assert bootstrap(values, types=kinds) == Interval(50, 50)
    assert bootstrap(values).low < 90 < bootstrap(values).high


def test_intervals_are_the_same_for_the_same_seed():
    values = reciprocals(np.random.default_rng(0).integers(0, 31, size=100))
    assert bootstrap(values, seed=1) == bootstrap(values, seed=1)
    assert bootstrap(values, seed=1) != bootstrap(values, seed=2)
    assert bootstrap(values, seed=1) == bootstrap(values[::-1], seed=1)


def test_values_that_are_all_different_are_drawn_in_parts():
    values = np.random.default_rng(1).random(2000)  # 2,000 x 1,500 numbers: three parts
    low, high = bootstrap(values, resamples=1500)
    spread = 1.96 * values.std() / math.sqrt(2000)
    assert (low, high) == pytest.approx((values.mean() - spread, values.mean() + spread), abs=0.002)


def test_what_never_varies_has_no_width():
    assert bootstrap([100.0] * 5) == Interval(100, 100)


# Comparisons


def test_a_comparison_by_hand():
    # Of ten queries at k = 10: both 2, the first alone 5, the second alone 1, neither 2.
    first = array([1, 1, 1, 2, 3, 10, 4, 0, 11, 11])
    second = array([1, 9, 0, 0, 11, 30, 0, 10, 0, 12])
    found = compare(first, second, 10)
    assert found.difference == pytest.approx(40)  # 70 - 30
    assert (found.only_first, found.only_second) == (5, 1)
    assert found.p_value == pytest.approx(2 * (1 + 6) / 2**6)
    back = compare(second, first, 10)
    assert back.difference == pytest.approx(-40)
    assert (back.only_first, back.only_second) == (1, 5)
    assert back.p_value == found.p_value
    values = [100] * 5 + [-100] + [0] * 4
    assert found.interval == bootstrap(values)
    assert found.interval.low < 40 < found.interval.high


def test_a_comparison_keeps_queries_paired():
    """Answers that differ on one query of a thousand: apart, their intervals overlap widely."""
    first = np.tile(array([1, 0]), 500)
    second = first.copy()
    second[0] = 0
    found = compare(first, second, 30)
    assert found.interval.low == 0
    assert found.interval.high <= 0.4
    assert found.p_value == 1


def test_a_comparison_has_a_seed():
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 3, size=997), rng.integers(0, 2, size=997)
    values = 100 * (hits(first, 1).astype(int) - hits(second, 1))
    found = [compare(first, second, 1, seed=seed).interval for seed in range(4)]
    assert found == [bootstrap(values, seed=seed) for seed in range(4)]
    assert len(set(found)) > 1


def test_equal_generators():
    assert compare(RANKS, RANKS, 30) == Comparison(0.0, Interval(0, 0), 0, 0, 1.0)


@given(rank_lists, st.integers(1, 41), st.randoms())
def test_the_difference_is_that_of_the_recalls(ranks, k, random):
    other = random.sample(ranks, len(ranks))
    other[0] = random.randint(0, 40)
    found = compare(array(ranks), array(other), k)
    assert found.difference == pytest.approx(recall(array(ranks), k) - recall(array(other), k))
    pairs = [(0 < a <= k, 0 < b <= k) for a, b in zip(ranks, other, strict=True)]
    assert (found.only_first, found.only_second) == (
        pairs.count((True, False)),
        pairs.count((False, True)),
    )


@given(st.integers(0, 400), st.integers(0, 400))
def test_p_values_are_those_of_scipy(b, c):
    expected = stats.binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("b", "c"), [(49_000, 51_000), (99_700, 100_300), (150_000, 150_001), (1_000, 300_000)]
)
def test_p_values_of_many_queries(b, c):
    assert mcnemar(b, c) == pytest.approx(stats.binomtest(b, b + c, 0.5).pvalue, rel=1e-7)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        (0, 0, 1),
        (0, 1, 1),
        (3, 3, 1),
        (0, 2, 1 / 2),
        (0, 5, 1 / 16),
        (0, 10, 1 / 512),
        (2, 8, 2 * (1 + 10 + 45) / 1024),
    ],
)
def test_p_values_by_hand(b, c, p):
    assert mcnemar(b, c) == pytest.approx(p)
    assert mcnemar(c, b) == pytest.approx(p)


# What is refused


@pytest.mark.parametrize("k", [0, -1, 1.0, "5", True, None])
def test_k_is_refused(k):
    for measure in (hits, recall):
        with pytest.raises(ParameterError, match=r"k is .*expected a whole number of at least 1"):
            measure(RANKS, k)
    with pytest.raises(ParameterError, match="k is"):
        compare(RANKS, RANKS, k)
    with pytest.raises(ParameterError, match="k is"):
        macro_recall(RANKS, KINDS, k)


def test_k_may_be_a_number_of_numpy():
    assert recall(RANKS, np.int64(30)) == recall(RANKS, 30)


@pytest.mark.parametrize(
    ("ranks", "sentence"),
    [
        ([1, -1], "a rank is -1: expected 1 or more, or 0"),
        ([1.0, 2.0], "ranks are 1-d float64, expected whole numbers"),
        ([True, False], "ranks are 1-d bool"),
        ([[1, 2]], "ranks are 2-d int64"),
    ],
)
def test_ranks_are_refused(ranks, sentence):
    wrong = np.array(ranks)
    for measure in (mrr, reciprocals, lambda ranks: hits(ranks, 1)):
        with pytest.raises(ParameterError, match=sentence):
            measure(wrong)
    with pytest.raises(ParameterError, match=sentence):
        macro_recall(wrong, ["easy"] * len(wrong), 1)
    with pytest.raises(ParameterError, match=sentence):
        compare(wrong, wrong, 1)


def test_lengths_that_differ_are_refused():
    with pytest.raises(ParameterError, match="10 ranks cannot be compared with 9"):
        compare(RANKS, RANKS[1:], 30)
    with pytest.raises(ParameterError, match="there are 10 values and 9 types"):
        macro_recall(RANKS, KINDS[1:], 30)
    with pytest.raises(ParameterError, match="there are 10 values and 9 types"):
        bootstrap(RANKS, types=KINDS[1:])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"resamples": 0}, "resamples is 0: expected a whole number of at least 1"),
        ({"level": 95}, "level is 95: expected between 0 and 1"),
        ({"level": 0}, "level is 0"),
        ({"level": math.nan}, "level is nan"),
    ],
)
def test_intervals_are_refused(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        bootstrap([1.0, 0.0], **options)


@pytest.mark.parametrize("values", [[math.nan], [math.inf, 1], [[1.0]], 1.0])
def test_values_are_refused(values):
    with pytest.raises(ParameterError, match="expected one finite number for each query"):
        bootstrap(values)


def test_numbers_of_pairs_are_refused():
    with pytest.raises(ParameterError, match="are 3 and -1: expected at least 0"):
        mcnemar(3, -1)
