"""Pooled counts against sums in dictionaries: many values, several layers, little room."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from candgen import CharNgrams, MentionTable, PivotTokenIndex
from candgen.index import counts as counting
from candgen.index import layout, pooling
from candgen.index.fusion import fuse

ALPHA = {"is": 0.4, "da": 1 / 3, "fo": 1.0}


def rows_of(seed):
    """Counts on both sides of what fits a byte, and more different values than a byte has."""
    rng = random.Random(seed)
    pairs = {
        (
            "".join(rng.choices("abc ", k=rng.randint(1, 9))).strip() or "a",
            f"Q{rng.randint(1, 150)}",
        )
        for _ in range(600)
    }
    return [(*pair, rng.choice([1, 2, 255, 256, rng.randint(1, 10**4)])) for pair in sorted(pairs)]


ROWS = {language: rows_of(seed) for seed, language in enumerate(ALPHA)}


def count(languages):
    tables = {each: MentionTable.from_pairs(ROWS[each]) for each in languages}
    return counting.count(tables, tokenizer=CharNgrams(1, 3), normalizer="none")


def expected(counts, language):
    """n_l(t, e) by the numbers of token and entity."""
    number = {entity: e for e, entity in enumerate(counts.entities.to_pylist())}
    n = Counter()
    for mention, entity, times in ROWS[language]:
        for _, token in counts.vocabulary.spell(mention):
            n[token, number[entity]] += times
    return n


def found(pooled, layer):
    entity = np.repeat(np.arange(len(pooled.indptr) - 1), np.diff(pooled.indptr))
    pairs = zip(pooled.tokens.tolist(), entity.tolist(), strict=True)
    return {pair: n for pair, n in zip(pairs, pooled.n()[layer].tolist(), strict=True) if n}


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    monkeypatch.setattr(pooling, "LARGE_AT_ONCE", 1)
    monkeypatch.setattr(counting, "SYMBOLS_AT_ONCE", 500)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("languages", [["fo"], ["is"], ["is", "fo"], ["da", "is", "fo"]])
def test_counts_are_weighted_sums(languages, in_place):
    counts = count(languages)
    n = defaultdict(float)
    for language in languages:
        for pair, times in expected(counts, language).items():
            n[pair] += ALPHA[language] * times
    pooled = pooling.pool(counts, ALPHA, in_place=in_place)
    assert found(pooled, 0) == n
    assert len(pooled.at) > 100
    assert sum(pooled.uses) == len(pooled.tokens) == len(n)
    assert np.array_equal(
        pooled.uses[pooled.values > 0] > 0,
        np.isin(pooled.values[pooled.values > 0], list(n.values())),
    )


def test_one_language_is_pooled_as_several_are():
    """The short way for one language has other numbers, but the same values."""
    counts = count(["is"])
    one = np.zeros(1, np.int64), np.array([0.4])
    short = pooling.pool(counts, ALPHA)
    general = pooling.sum_into_layers(counts, *one, short.token_total, short.entity_total, 0.0)
    assert np.array_equal(general.n(), short.n())
    assert np.array_equal(general.tokens, short.tokens)


def test_every_layer_has_its_own_counts():
    languages = list(ALPHA)
    counts = count(languages)
    pooled, _ = fuse(counts, ALPHA, pivots=languages[:2])
    for layer, language in enumerate(languages):
        assert found(pooled, layer) == expected(counts, language)
    assert (np.diff(pooled.at) > 0).all()


@pytest.mark.parametrize("fusion", ["counts", "probabilities"])
@pytest.mark.parametrize("threshold", [0.0, 0.01])
@pytest.mark.parametrize("grouped", [False, True])
def test_arrays_do_not_depend_on_threads_and_parts(monkeypatch, fusion, threshold, grouped):
    if grouped:
        monkeypatch.setattr(layout, "MAX_FLAT_ENTITIES", 0)
    tables = {each: MentionTable.from_pairs(ROWS[each]) for each in ("is", "da")}

    def arrays(threads):
        index = PivotTokenIndex.build(
            tables, fusion=fusion, threshold=threshold, threads=threads, normalizer="none"
        )
        return index.contents().arrays

    first = arrays(1)
    for threads, parts in ((1, 1), (2, 3), (3, 64), (50, 2)):
        monkeypatch.setattr(layout, "PARTS", parts)
        again = arrays(threads)
        assert again.keys() == first.keys()
        for name, array in again.items():
            assert np.array_equal(array, first[name]), name
            assert array.dtype == first[name].dtype


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_long_gaps_take_several_entries_of_a_list(threads):
    """One token, in four blocks of eight entities that are far from each other."""
    entities = 8 * np.array([1, 65_536, 65_537, 200_000])
    indptr = np.searchsorted(entities, np.arange(8 * 200_004 + 1))
    pooled = pooling.PooledCounts(
        indptr,
        tokens=np.zeros(4, np.uint32),
        number=np.ones((1, 4), np.uint8),
        at=np.empty(0, np.int64),
        high=np.empty(0, np.uint32),
        values=np.array([0.0, 1.0]),
        uses=np.array([0, 4]),
        token_total=np.array([[4.0]]),
        entity_total=np.ones((1, len(indptr) - 1)),
        dropped=np.zeros(3, np.int64),
    )
    postings, lengths = layout._postings(pooled, 1, threads)
    assert lengths.tolist() == [4 + 1 + 0 + 2]
    assert np.flatnonzero(np.diff(postings.block_start)).tolist() == (entities // 8).tolist()
