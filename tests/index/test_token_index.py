"""The index against the oracle: ids, order and scores, whatever the path."""

import random
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import candgen
from candgen.index import layout
from candgen.index.layout import block_bits
from candgen.index.token_index import TokenIndex
from candgen.kernels import blocks as layout_kernels
from candgen.kernels import search as kernels
from candgen.kernels.bounds import add_group
from candgen.kernels.scoring import CHUNK, prepare_query, score_block
from tests.support.worlds import LAMS, World, large_world, mentions, worlds

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


def agree(found, expected):
    """Ids and order equal, scores to 1e-6."""
    assert [entity for entity, _ in found] == [entity for entity, _ in expected]
    assert [score for _, score in found] == pytest.approx(
        [score for _, score in expected], rel=1e-6
    )


LAYOUTS = {"flat": layout.MAX_FLAT_ENTITIES, "grouped": 0}


@given(
    worlds(),
    st.sampled_from(list(LAYOUTS)),
    st.lists(mentions() | st.just(""), min_size=1, max_size=4),
    LAMS,
    st.integers(1, 20),
)
@SLOW
def test_candidates_are_those_of_the_oracle(world, form, queries, lam, k):
    oracle = world.oracle()
    with mock.patch.object(layout, "MAX_FLAT_ENTITIES", LAYOUTS[form]):
        index = world.index()
    for answer, query in zip(index.candidates(queries, k, lam=lam), queries, strict=True):
        agree(answer, oracle.candidates(query, k, lam))
    for query in queries:
        agree(index.candidates([query], k)[0], oracle.candidates(query, k))


@given(worlds(), mentions(), st.integers(1, 20))
@SLOW
def test_shares_sum_to_one_over_the_candidate_space(world, query, k):
    oracle, index = world.oracle(), world.index()
    agree(index.candidates([query], k, scores="share")[0], oracle.share(query, k))
    everything = index.candidates([query], 10**9, scores="share")[0]
    if everything:
        assert sum(candidate.score for candidate in everything) == pytest.approx(1, rel=1e-6)


@given(worlds())
@SLOW
def test_what_the_threshold_drops_is_counted(world):
    assert tuple(world.index().parameters["dropped"].values()) == world.oracle().dropped()


@given(worlds(), mentions(), LAMS)
@SLOW
def test_explanations_add_up_to_the_score(world, query, lam):
    oracle, index = world.oracle(), world.index()
    scores = dict(index.candidates([query], 1000, lam=lam)[0])
    for entity in oracle.entity_total:
        explained = index.explain(query, entity, lam=lam)
        assert explained.score == pytest.approx(scores.get(entity, 0.0), rel=1e-6)
        assert explained.prior + explained.posterior == pytest.approx(explained.score)
        parts = [(c, lam * b) for c, b in oracle.parts(query, entity).values() if c + lam * b > 0]
        ours = [(part.prior, part.posterior) for part in explained.tokens]
        assert sorted(ours) == [pytest.approx(part) for part in sorted(parts)]
        if explained.score:
            assert sum(explained.languages.values()) == pytest.approx(1)


@given(worlds(), mentions())
@SLOW
def test_unknown_tokens_are_those_no_table_has(world, query):
    oracle, index = world.oracle(), world.index()
    entity = next(iter(oracle.entity_total))
    shown = world.tokenizer.tokens(query)
    expected = {
        token
        for token, true in zip(shown, world._tokenize(query), strict=True)
        if true not in oracle.token_total
    }
    assert set(index.explain(query, entity).unknown) == expected


LARGE = {
    "many ties": large_world(1, entities=700, letters="ab"),
    "many tokens": large_world(2, entities=1500, letters="abcdefghij"),
    "threshold": large_world(3, entities=700, letters="abc", threshold=0.02),
}


@pytest.fixture(scope="module", params=[(name, form) for name in LARGE for form in LAYOUTS])
def large(request):
    """A world whose blocks have four entities, and the same with eight, in groups."""
    name, form = request.param
    world = LARGE[name]
    with mock.patch.object(layout, "MAX_FLAT_ENTITIES", LAYOUTS[form]):
        index = world.index()
    assert index.token_index.blocks.group.shape[1] > 0 or form == "flat"
    return world.oracle(), index, _queries(world, 12)


def _queries(world: World, number: int) -> list[str]:
    rng = random.Random(0)
    letters = sorted({letter for mention, _, _ in world.target for letter in mention})
    made = ["".join(rng.choices(letters, k=rng.choice([1, 2, 4, 9, 40]))) for _ in range(number)]
    return ["", "x", *made, *(mention for mention, _, _ in rng.sample(world.target, number))]


@pytest.mark.parametrize("lam", [0.0, 0.4, 1.0])
def test_large_worlds(large, lam):
    oracle, index, queries = large
    answers = [index.candidates(queries, k, lam=lam) for k in (1, 30, 10_000)]
    for query, one, thirty, everything in zip(queries, *answers, strict=True):
        expected = oracle.candidates(query, 10_000, lam)
        agree(one, expected[:1])
        agree(thirty, expected[:30])
        agree(everything, expected)


def test_every_path_gives_the_same(large):
    _, index, queries = large
    queries = queries * 5
    expected = index.candidates(queries, 30, threads=1)
    assert index.candidates(queries, 30, threads=2) == expected
    assert index.candidates(queries, 30, threads=7) == expected
    assert [index.candidates([query], 30)[0] for query in queries] == expected
    for k in (1, 10):
        assert index.candidates(queries, k) == [answer[:k] for answer in expected]
    pruned = index.token_index.search(queries, 30, lam=0.4)
    exhaustive = index.token_index.search(queries, 30, lam=0.4, prune=False)
    assert np.array_equal(pruned.found, exhaustive.found)
    for row, found in enumerate(pruned.found):
        assert np.array_equal(pruned.score[row, :found], exhaustive.score[row, :found])
        assert np.array_equal(pruned.tie_order[row, :found], exhaustive.tie_order[row, :found])


def test_pruning_prunes(large):
    _, index, queries = large
    pruned = index.token_index.search(queries, 5, lam=0.4)
    exhaustive = index.token_index.search(queries, 5, lam=0.4, prune=False)
    assert pruned.work[:, 1].sum() < 0.8 * exhaustive.work[:, 1].sum()


@pytest.mark.parametrize("lam", [0.0, 0.2, 1.0, 50.0])
def test_no_bound_is_under_a_score(large, lam):
    _, index, queries = large
    check_bounds(index.token_index, queries, lam)


def check_bounds(index: TokenIndex, queries: list[str], lam: float) -> None:
    for query in queries:
        bound, unit, scores = bounds_and_scores(index, query, lam)
        within = bound < 65_535  # higher ones are not told apart
        reached = unit * scores.reshape(len(bound), -1).max(1)
        assert np.all(bound[within] >= reached[within] * (1 - 1e-6))


def bounds_and_scores(index: TokenIndex, text: str, lam: float):
    """Of every block, the bound that search computes and the true scores.

    Without what smoothing adds to all alike, which bounds leave out.
    """
    tokens, times = index.tokens(text)
    blocks, stop = index.blocks, np.zeros(1, np.uint8)
    scratch = kernels.Scratch(*(array.copy() for array in index._scratch()))
    unit, row, step, grouped = kernels._set_bounds(blocks, tokens, times, lam, stop, scratch)
    if grouped:
        for group in range(len(scratch.group_bound)):
            add_group(blocks.dense, row, step, group, scratch.bound)
        of_blocks = scratch.bound.reshape(len(scratch.group_bound), -1)
        assert np.all(scratch.group_bound >= of_blocks.max(1))
    least = index.threshold * (1 - 1e-9)
    bits, query = block_bits(blocks), prepare_query(blocks, tokens, times, lam, least)
    scores = np.zeros(blocks.entity_total.shape[1])
    for block in range(len(scratch.bound)):
        score_block(blocks, block, query)
        mine = np.arange(block << bits, (block + 1) << bits)
        inside = mine & layout_kernels.KEY_MASK
        scores[mine] = query.prior[inside] + lam * query.posterior[0, inside]
        if len(blocks.background):
            scores[mine] += lam * times.sum() * blocks.background[mine]
    return scratch.bound.astype(np.float64), unit, scores


@pytest.mark.parametrize("number", [1, 2, 128, 129, 1000])
def test_every_token_of_a_query_has_a_slot_of_its_own(number):
    rng = np.random.default_rng(number)
    tokens = np.sort(rng.choice(1 << 20, number, replace=False)).astype(np.int64) + 1
    total = np.ones((1, 1 << 21))
    total.setflags(write=False)  # like that of an index
    table = candgen.MentionTable.from_pairs([("Ey", "Q1")])
    index = candgen.PivotTokenIndex.build(pivots={"fo": table}).token_index
    blocks = index.blocks._replace(token_total=total)
    query = prepare_query(blocks, tokens, np.ones(number), 0.4, 0.0)
    factor = query.factor[np.arange(number) // CHUNK].astype(np.uint64)
    at = (tokens.astype(np.uint64) * factor & np.uint64(0xFFFFFFFF)) >> np.uint64(32 - query.bits)
    at += (np.arange(number) // CHUNK << query.bits).astype(np.uint64)
    assert np.array_equal(query.slot[at], tokens)
    assert np.array_equal(query.place[at], np.arange(number) % CHUNK)
    assert np.count_nonzero(query.slot) == number


def test_gaps_longer_than_sixteen_bits():
    """A token in blocks 1, 65536, 65537 and 200,000: distances are walked in steps of 65,535."""
    blocks = np.array([1, 65_536, 65_537, 200_000])
    counts = np.array([1.0, 2.0, 3.0, 4.0])
    block_start = np.searchsorted(blocks, np.arange(200_005))
    key = (blocks * 4 & layout_kernels.KEY_MASK).astype(np.uint32)  # token 0, its first entity
    value = np.concatenate((counts, np.zeros(252)))
    total = np.full((1, 4 * 200_004), 8.0)
    postings = layout.Postings(
        block_start,
        key,
        np.arange(4, dtype=np.uint8),
        value,
        np.zeros(len(block_start), np.int64),
        np.empty(0, np.int64),
        np.empty(0),
    )
    lengths = np.array([4 + 1 + 0 + 2])
    bounds, sums = layout._bounds(postings, lengths, np.array([[10.0]]), total, 2.0, 0.0)
    reached = np.cumsum(bounds.listed >> 16)
    assert sums.ravel() == pytest.approx([1.0, 1.25])
    assert len(reached) == lengths[0]
    for block, n in zip(blocks, counts, strict=True):
        entry = int(bounds.listed[reached == block][-1])
        prior, posterior = (entry >> 8 & 255) ** 2, (entry & 255) ** 2
        assert prior * bounds.scale[0, 0] == pytest.approx(n / 10, rel=1e-2)
        assert posterior * bounds.scale[0, 1] == pytest.approx(n / 8, rel=1e-2)
    assert np.count_nonzero(bounds.listed & 0xFFFF) == len(blocks)


def test_a_long_mention():
    world = large_world(4, entities=50, letters="ab")
    index = world.index()
    long = "ab" * 5_000 + "b"
    agree(index.candidates([long], 3)[0], world.oracle().candidates(long, 3))
    longer = long * 100
    assert index.candidates([longer], 3)[0] == index.candidates(["ab", longer], 3)[1]
    assert len(index.candidates([longer], 3)[0]) == 3


def test_ties_at_the_last_place():
    """Q21 before Q100, and top-1 is the first of top-2."""
    table = candgen.MentionTable.from_pairs([("Ey", "Q100"), ("Ey", "Q21"), ("Ey", "Q3")])
    index = candgen.PivotTokenIndex.build(pivots={"fo": table})
    for k in (1, 2, 3, 9):
        answer = index.candidates(["Ey"], k)[0]
        assert [candidate.entity for candidate in answer] == ["Q3", "Q21", "Q100"][:k]
        assert len({candidate.score for candidate in answer}) == 1
