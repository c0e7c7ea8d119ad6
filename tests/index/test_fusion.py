"""Probability-level fusion and smoothing: the index against dictionaries."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import candgen
from candgen import MentionTable, PivotTokenIndex
from candgen.errors import ParameterError
from tests.index.test_token_index import agree, check_bounds
from tests.support.fusion_oracle import FusedOracle
from tests.support.toy import FAROESE, ICELANDIC
from tests.support.worlds import LAMS, World, large_world, mentions, worlds

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
SMOOTHINGS = st.sampled_from([0.0, 0.01, 1.0, 30.0])


def oracle_of(world: World, smoothing: float) -> FusedOracle:
    tables, weights = dict(world.pivots), dict(world.alpha)
    if world.target is not None:
        tables = {"target": world.target, **tables}
        weights["target"] = 1.0
    threshold = 0.0 if smoothing else world.threshold
    return FusedOracle(
        tables,
        weights,
        world.pivots,
        smoothing=smoothing,
        threshold=threshold,
        tokenize=world._tokenize,
    )


def index_of(world: World, smoothing: float) -> PivotTokenIndex:
    if smoothing:
        world = World(**{**vars(world), "threshold": 0.0})
    return world.index(fusion="probabilities", smoothing=smoothing)


def assume_no_entry_at_the_threshold(world: World, oracle: FusedOracle) -> None:
    """Mixed probabilities are sums, and may be a rounding away from the threshold."""
    if world.threshold and oracle.least:
        oracle_least, oracle.least = oracle.least, 0.0
        for n in oracle.n.values():
            for posting in n:
                for p in (oracle.prior(*posting), oracle.posterior(*posting)):
                    assume(abs(p - oracle_least) > 1e-12)
        oracle.least = oracle_least


@given(
    worlds(),
    SMOOTHINGS,
    st.lists(mentions() | st.just(""), min_size=1, max_size=4),
    LAMS,
    st.integers(1, 20),
)
@SLOW
def test_candidates_are_those_of_the_oracle(world, smoothing, queries, lam, k):
    oracle, index = oracle_of(world, smoothing), index_of(world, smoothing)
    assume_no_entry_at_the_threshold(world, oracle)
    for answer, query in zip(index.candidates(queries, k, lam=lam), queries, strict=True):
        agree(answer, oracle.candidates(query, k, lam))
    if not smoothing:
        assert tuple(index.parameters["dropped"].values()) == oracle.dropped()


@given(worlds(), SMOOTHINGS, mentions(), LAMS)
@SLOW
def test_explanations_add_up_to_the_score(world, smoothing, query, lam):
    index = index_of(world, smoothing)
    scores = dict(index.candidates([query], 1000, lam=lam)[0])
    for entity in oracle_of(world, smoothing).entities:
        explained = index.explain(query, entity, lam=lam)
        assert explained.score == pytest.approx(scores.get(entity, 0.0), rel=1e-6)
        parts = explained.prior + explained.posterior + explained.background
        assert parts == pytest.approx(explained.score)
        if explained.score:
            assert sum(explained.languages.values()) == pytest.approx(1)


@given(worlds(), mentions(), LAMS)
@SLOW
def test_one_language_fused_is_the_language(world, query, lam):
    """Whatever alpha, with count-level and with probability-level fusion."""
    target = world.target or [("ab", "Q1", 1)]
    alone = World(**{**vars(world), "target": target, "pivots": {}, "alpha": {}})
    assume(alone.oracle().token_total)
    fused = index_of(alone, 0.0).candidates([query], 30, lam=lam)[0]
    agree(fused, alone.index().candidates([query], 30, lam=lam)[0])


LARGE = {
    "many ties": (large_world(1, entities=700, letters="ab"), 0.0),
    "many tokens": (large_world(2, entities=900, letters="abcdefghij"), 0.0),
    "smoothed": (large_world(5, entities=700, letters="abcde"), 0.5),
    "heavily smoothed": (large_world(6, entities=500, letters="abc"), 50.0),
}


@pytest.fixture(scope="module", params=LARGE)
def large(request):
    world, smoothing = LARGE[request.param]
    queries = ["", "x", "a", "ab", "abcabba", "bca" * 9]
    queries += [mention for mention, _, _ in world.target[::40]]
    return oracle_of(world, smoothing), index_of(world, smoothing), queries


@pytest.mark.parametrize("lam", [0.0, 0.4, 5.0])
def test_large_worlds(large, lam):
    oracle, index, queries = large
    answers = [index.candidates(queries, k, lam=lam) for k in (1, 30, 10_000)]
    for query, one, thirty, everything in zip(queries, *answers, strict=True):
        expected = oracle.candidates(query, 10_000, lam)
        agree(one, expected[:1])
        agree(thirty, expected[:30])
        agree(everything, expected)


def test_pruning_changes_nothing_and_prunes(large):
    _, index, queries = large
    pruned = index.token_index.search(queries, 5, lam=0.4)
    exhaustive = index.token_index.search(queries, 5, lam=0.4, prune=False)
    assert np.array_equal(pruned.found, exhaustive.found)
    for row, found in enumerate(pruned.found):
        assert np.array_equal(pruned.score[row, :found], exhaustive.score[row, :found])
        assert np.array_equal(pruned.tie_order[row, :found], exhaustive.tie_order[row, :found])
    assert pruned.work[:, 1].sum() < exhaustive.work[:, 1].sum()


@pytest.mark.parametrize("lam", [0.0, 0.2, 50.0])
def test_no_bound_is_under_a_score(large, lam):
    _, index, queries = large
    check_bounds(index.token_index, queries, lam)


def test_a_saved_index_answers_the_same(large, tmp_path):
    _, index, queries = large
    index.save(tmp_path / "fused.candgen")
    again = candgen.load(tmp_path / "fused.candgen")
    assert again.candidates(queries) == index.candidates(queries)
    entity = index.candidates(["ab"], 1)[0][0].entity
    assert again.explain("ab", entity) == index.explain("ab", entity)
    assert again.parameters == index.parameters


def test_the_toy_world_by_hand():
    """Vín: bigrams ^v vi in n$; alpha 0.5 for Icelandic, so Z is 1.5 where both know the token."""
    index = PivotTokenIndex.build(
        pivots={"is": MentionTable.from_pairs(ICELANDIC)},
        target=MentionTable.from_pairs(FAROESE),
        language="fo",
        alpha=0.5,
        tokenizer=candgen.CharNgrams(2, 2),
        fusion="probabilities",
    )
    # ^v, vi: is 3/4, 1/4; fo 0, 1. in: is 3/6, 1/6, 2/6; fo 0, 1. n$: is the same; fo 1/2, 1/2.
    vienna = 2 * (0.5 * 3 / 4) / 1.5 + (0.5 * 3 / 6) / 1.5 + (0.5 * 3 / 6 + 1 / 2) / 1.5
    wine = 2 * (0.5 / 4 + 1) / 1.5 + (0.5 / 6 + 1) / 1.5 + (0.5 / 6 + 1 / 2) / 1.5
    rhine = (0.5 * 2 / 6) / 1.5 + (0.5 * 2 / 6) / 1.5
    found = index.candidates(["Vín"], lam=0.0)[0]
    agree(found, [("Q282", wine), ("Q1741", vienna), ("Q584", rhine)])
    # P(t|e): Vienna is 1/4 each by Icelandic; by Faroese n$ is 1 of 5 (^w wi ie en n$); Z = 1.5.
    posterior = (3 * 0.5 / 4 + 0.5 / 4 + 1 / 5) / 1.5
    scores = dict(index.candidates(["Vín"], lam=1.0)[0])
    assert scores["Q1741"] == pytest.approx(vienna + posterior, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"fusion": "both"}, "fusion is 'both': choose 'counts' or 'probabilities'"),
        ({"smoothing": 0.1}, "choose fusion='probabilities'"),
        ({"fusion": "probabilities", "smoothing": -1}, "smoothing is -1: expected a finite"),
        ({"fusion": "probabilities", "smoothing": 0.1, "threshold": 0.1}, "one of the two"),
    ],
)
def test_what_does_not_go_together_is_refused(options, sentence):
    with pytest.raises(ParameterError, match=sentence.replace("(", r"\(")):
        PivotTokenIndex.build(pivots={"is": MentionTable.from_pairs(ICELANDIC)}, **options)


def test_shares_are_refused_with_smoothing():
    index = PivotTokenIndex.build(
        pivots={"is": MentionTable.from_pairs(ICELANDIC)}, fusion="probabilities", smoothing=1.0
    )
    with pytest.raises(ParameterError, match="not defined with smoothing"):
        index.candidates(["Vín"], scores="share")


@given(worlds(), SMOOTHINGS)
@SLOW
def test_tokens_are_counted(world, smoothing):
    """Nodes of the trie that are no tokens have no totals, also with smoothing."""
    assert index_of(world, smoothing).token_index.known == len(oracle_of(world, smoothing).tokens)


@pytest.mark.parametrize("lam", [1.0, 1e6])
def test_bounds_hold_what_smoothing_adds(lam):
    """The background outweighs everything else, and still fits the whole numbers of the bounds."""
    world = large_world(7, entities=600, letters="ab")
    index = index_of(world, 1e4)
    queries = [mention for mention, _, _ in world.target[::60]] + ["ab" * 40]
    pruned = index.token_index.search(queries, 10, lam=lam)
    exhaustive = index.token_index.search(queries, 10, lam=lam, prune=False)
    assert np.array_equal(pruned.score, exhaustive.score)
    assert np.array_equal(pruned.tie_order, exhaustive.tie_order)
