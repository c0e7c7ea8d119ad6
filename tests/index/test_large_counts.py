"""Counts up to the largest that a table may hold, beside ordinary ones, give exact answers."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from candgen import CharNgrams, MentionTable, PivotTokenIndex, WikiPriors
from candgen.errors import TableError
from candgen.generators import METHODS
from candgen.generators.pivot.weight_search import search_weights
from candgen.index import counts as counting
from candgen.index import vocabulary
from candgen.protocols import Training, first_stage_of, rank_golds
from candgen.tables.queries import Query
from candgen.tables.rows import MAX_COUNT
from tests.support.exact_oracle import ExactOracle
from tests.support.worlds import ENTITIES

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
PTI = METHODS["pti"]
NAMES = ("target", "is", "da")

COUNTS = st.sampled_from(
    [1, 2, 3, 2**22, 2**31 - 1, 2**31, 2**32, 2**32 + 1, 10**12, 2**49, MAX_COUNT - 100, MAX_COUNT]
)
ALPHAS = st.sampled_from([1e-30, 1e-15, 0.1, 0.4, 1 / 3, 1.0, 1e15, 1e30])
LAMS = st.sampled_from([0.0, 1e-30, 0.4, 1.0, 1e30])
MENTIONS = st.text(st.sampled_from("abc"), min_size=1, max_size=6)
QUERIES = st.lists(MENTIONS, min_size=1, max_size=3)


@st.composite
def tables(draw):
    """Rows without repeated pairs, whose counts add up to at most what a table may hold."""
    pairs = draw(st.lists(st.tuples(MENTIONS, ENTITIES), min_size=1, max_size=8, unique=True))
    rows, left = [], MAX_COUNT
    for at, (mention, entity) in enumerate(pairs):
        count = min(draw(COUNTS), left - (len(pairs) - at - 1))
        left -= count
        rows.append((mention, entity, count))
    return rows


@st.composite
def several(draw):
    """One to three languages and their weights; there may be no target."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    alpha = {name: 1.0 if name == "target" else draw(ALPHAS) for name in names}
    return {name: draw(tables()) for name in names}, alpha


def split_target(rows, alpha):
    """Arguments of a build."""
    made = {name: MentionTable.from_pairs(some) for name, some in rows.items()}
    target = made.pop("target", None)
    return made, target, {name: alpha[name] for name in made}


def build(rows, alpha, **options):
    pivots, target, weights = split_target(rows, alpha)
    return PivotTokenIndex.build(pivots, target, alpha=weights, normalizer="none", **options)


@given(several(), QUERIES, LAMS, st.integers(1, 5))
@SLOW
def test_candidates_are_those_of_the_oracle(languages, queries, lam, k):
    rows, alpha = languages
    oracle, index = ExactOracle(rows, alpha), build(rows, alpha)
    for query, answer in zip(queries, index.candidates(queries, k, lam=lam), strict=True):
        oracle.check(answer, query, k, lam)


@given(several(), st.sampled_from([0.0, 1e-30, 0.5, 1e30]), QUERIES, LAMS)
@SLOW
def test_fused_candidates_are_those_of_the_oracle(languages, smoothing, queries, lam):
    rows, alpha = languages
    oracle = ExactOracle(rows, alpha, fused=True, smoothing=smoothing)
    index = build(rows, alpha, fusion="probabilities", smoothing=smoothing)
    for query, answer in zip(queries, index.candidates(queries, 5, lam=lam), strict=True):
        oracle.check(answer, query, 5, lam)


@given(several(), MENTIONS, LAMS)
@SLOW
def test_explanations_add_up(languages, query, lam):
    rows, alpha = languages
    oracle, index = ExactOracle(rows, alpha), build(rows, alpha)
    for entity in sorted(oracle.entities):
        explained = index.explain(query, entity, lam=lam)
        assert explained.score == pytest.approx(float(oracle.score(query, entity, lam)), rel=1e-9)
        if explained.score > 0:
            assert sum(explained.languages.values()) == pytest.approx(1)


@given(several(), st.lists(st.builds(Query, MENTIONS, ENTITIES), min_size=1, max_size=4), st.data())
@SLOW
def test_ranks_are_those_of_indexes(languages, queries, data):
    rows, alpha = languages
    pivots, target, weights = split_target(rows, alpha)
    training = Training(pivots, target, "fo")
    others = {name: data.draw(ALPHAS) for name in weights}
    choices = [
        {"alpha": each, "lam": data.draw(LAMS), "normalizer": "none", "threshold": threshold}
        for each, threshold in ((weights, 0.0), (others, 0.0), (weights, 0.1))
    ]
    expected = [rank_golds(PTI(training, choice), queries, 5).tolist() for choice in choices]
    assert [some.tolist() for some in PTI.ranks(training, choices, queries, 5)] == expected


def test_scores_that_are_equal_after_rounding_to_few_bits():
    """Scores of 6.0e-45 and 6.3e-45 are both rounded to 4 steps of 1.4e-45: ids decide."""
    rows = {"target": [("ab", "Q9", MAX_COUNT)], "is": [("ab", "Q1", 1)], "da": [("ab", "Q2", 1)]}
    pivots, target, weights = split_target(rows, {"is": 1e-30, "da": 1.05e-30})
    training, choice = Training(pivots, target), {"alpha": weights, "lam": 0.0}
    index = PTI(training, choice)
    assert [each.entity for each in index.candidates(["ab"])[0]] == ["Q9", "Q1", "Q2"]
    queries = [Query("ab", entity) for entity in ("Q1", "Q2", "Q9")]
    assert [ranks.tolist() for ranks in PTI.ranks(training, [choice], queries, 3)] == [[2, 3, 1]]


@given(several(), MENTIONS)
@SLOW
def test_all_scores_are_finite_with_any_threshold(languages, query):
    rows, alpha = languages
    for threshold in (1e-30, 1e-15, 0.5, 1.0):
        index = build(rows, alpha, threshold=threshold)
        answers = [index.candidates([query], lam=lam)[0] for lam in (0.0, 1e-30, 0.4, 1e30)]
        scores = [candidate.score for answer in answers for candidate in answer]
        assert all(0 < score < math.inf for score in scores)


@pytest.mark.parametrize("count", [255, 256, 71_582_789, 2**31 - 1, 2**31, MAX_COUNT - 3])
def test_counts_of_one_language_may_need_more_bits(count):
    """Counts have a byte, or are listed apart; other parts of the library read them in 32 or 64."""
    large = MentionTable.from_pairs([("Torshavn", "Q1", count), ("Klaksvik", "Q2", 3)])
    small = MentionTable.from_pairs([("Torshavn", "Q1", 5), ("Klaksvik", "Q2", 3)])
    counts = counting.count(
        {"is": large, "da": small}, tokenizer=CharNgrams(), normalizer="default"
    )
    wide = counts.counted.counts()
    assert wide.dtype == (np.int32 if count < 2**31 else np.int64)
    assert sorted(set(wide.tolist())) == [3, 5, count]
    assert set(counts.counted.high.tolist()) == ({count} if count >= 256 else set())
    index = PivotTokenIndex.build({"is": large, "da": small}, lam=1.0)
    assert index.candidates(["Torshavn"]) == [[("Q1", 31.0)]]
    assert index.sources.of(index.token_index.number(0))[0].count == count


# Counts that need 64 bits in one language, and ordinary ones in the others.
MIXED = {
    "fo": [("Vín", "Q282", 2), ("Oslo", "Q585", 1)],
    "is": [("Vínarborg", "Q1741", MAX_COUNT - 9), ("Vín", "Q282", 9)],
    "da": [("Wien", "Q1741", 5), ("Vin", "Q282", 3)],
}
TRAINING = Training(
    {name: MentionTable.from_pairs(rows) for name, rows in MIXED.items() if name != "fo"},
    MentionTable.from_pairs(MIXED["fo"]),
    "fo",
)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.neural])
def test_every_method_takes_counts_of_both_kinds(name):
    method = METHODS[name]
    queries = [Query("Vínið", "Q282", "medium"), Query("Wienar", "Q1741", "medium")]
    (answer,) = method(TRAINING, {}).candidates(["Vín Oslo Wien"])
    # A part of a mention is translated into pivots' languages, where nothing is called Oslo.
    others = set() if name == "translation" else {"Q585"}
    assert {entity for entity, _ in answer} == {"Q282", "Q1741", *others}
    assert all(0 < score < math.inf for _, score in answer)
    if method.ranks is None:
        return
    choices = method.choices(TRAINING, {})
    built = [first_stage_of(method(TRAINING, choice)) for choice in choices]
    expected = [rank_golds(generator, queries, 3).tolist() for generator in built]
    assert [each.tolist() for each in method.ranks(TRAINING, choices, queries, 3)] == expected


def test_weights_are_searched_with_counts_of_both_kinds():
    queries = [Query("Vínið", "Q282"), Query("Wienar", "Q1741")]
    found = search_weights(TRAINING, {}, queries, k=2)
    for step in found.steps:
        assert (
            step.ranks.tolist() == rank_golds(PTI(TRAINING, step.parameters), queries, 2).tolist()
        )


# Refusals


def test_totals_beyond_64_bits_are_refused():
    """A mention of 1,000 characters, and two marks, has 1001 + 1000 + 999 + 998 tokens."""
    longest = MentionTable.from_pairs([("ab" * 500, "Q1", MAX_COUNT)])
    small = MentionTable.from_pairs([("ab", "Q1")])
    index = PivotTokenIndex.build({"is": longest, "da": small}, lam=0.0)
    assert index.candidates(["ab"])[0][0].entity == "Q1"
    longer = MentionTable.from_pairs([("ab" * 510, "Q1", MAX_COUNT)])
    with pytest.raises(TableError) as caught:
        PivotTokenIndex.build({"is": longer, "da": small})
    assert str(caught.value) == (
        "the counts of 'is', each times the tokens of its mention, add up to 4.08e+18, "
        "expected at most 4e+18: scale the counts down"
    )


def test_a_tier_of_wikipriors_is_not_left_out_silently(monkeypatch):
    monkeypatch.setattr(counting, "MAX_TOTAL", 10)
    with pytest.raises(TableError, match="'is', each times the tokens of its mention, add up to"):
        WikiPriors.build({"is": MentionTable.from_pairs([("Saint Pierre", "Q1", 8)])})


def test_too_many_tokens_are_refused(monkeypatch):
    """The number of a token, shifted by three bits, must fit 32 bits."""
    assert (vocabulary.MAX_NODES << 3).bit_length() == 32
    table = MentionTable.from_pairs([("ab", "Q1")])
    every = len(PivotTokenIndex.build({"is": table}).token_index.vocabulary)
    monkeypatch.setattr(vocabulary, "MAX_NODES", every)
    assert PivotTokenIndex.build({"is": table}).candidates(["ab"])[0]
    monkeypatch.setattr(vocabulary, "MAX_NODES", every - 1)
    with pytest.raises(TableError, match=f"more than {every - 1} different tokens: give fewer"):
        PivotTokenIndex.build({"is": table})
