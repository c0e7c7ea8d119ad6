"""N-grams of which one character may be any: as tokens, in the index, in the grid, in files."""

import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import candgen
from candgen import CharNgrams, MentionTable, PivotTokenIndex
from candgen.generators import METHODS
from candgen.kernels.trie import token_room
from candgen.protocols import Training, rank_golds
from candgen.tables.queries import Query
from candgen.text.tokenizers import WILDCARD
from tests.support.oracle import Oracle, ngrams
from tests.support.worlds import ENTITIES, any_worlds, large_world, mentions, tables

PTI = METHODS["pti"]
WILD = CharNgrams(2, 5, wildcards=True)
TOKENIZERS = st.builds(
    lambda low, more: CharNgrams(low, low + more, wildcards=True),
    st.integers(1, 5),
    st.integers(0, 4),
)


def build(rows, tokenizer=WILD, **options):
    table = MentionTable.from_pairs(rows)
    return PivotTokenIndex.build({"is": table}, tokenizer=tokenizer, normalizer="none", **options)


def judge(rows, tokenizer=WILD):
    """The oracle of the same table."""
    tokenize = partial(ngrams, low=tokenizer.low, high=tokenizer.high, wildcards=True)
    return Oracle({"is": rows}, {"is": 1.0}, lam=0.4, tokenize=tokenize)


def agree(found, expected):
    assert [entity for entity, _ in found] == [entity for entity, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])


# Tokens


def test_by_hand():
    assert CharNgrams(3, 4, wildcards=True).tokens("ab") == [
        "^ab",
        "ab$",
        "^ab$",
        "^*b",
        "a*$",
        "^*b$",
        "^a*$",
    ]
    assert CharNgrams(3, 3, wildcards=True).tokens("aaaa").count("a*a") == 2


@given(mentions(), st.integers(1, 6), st.integers(0, 4))
def test_an_ngram_has_a_form_for_each_inner_character(text, low, more):
    plain = CharNgrams(low, low + more).tokens(text)
    forms = CharNgrams(low, low + more, wildcards=True).tokens(text)[len(plain) :]
    assert len(forms) == sum(
        max(n - 2, 0) * max(len(text) + 2 - n + 1, 0) for n in range(low, low + more + 1)
    )
    assert all(form.count("*") == 1 and "*" not in form[0] + form[-1] for form in forms)


def test_bigrams_have_no_inner_character():
    assert CharNgrams(1, 2, wildcards=True).tokens("abc") == CharNgrams(1, 2).tokens("abc")
    # Three letters, the mark, which is the same at both ends, and four bigrams.
    assert build([("abc", "Q1")], CharNgrams(1, 2, wildcards=True)).token_index.postings == 8


@given(st.text("ab", min_size=1, max_size=12), TOKENIZERS)
def test_there_is_room_for_all_tokens(text, tokenizer):
    low, high = tokenizer.low, tokenizer.high
    for wildcard in (-1, WILDCARD):
        tokens = ngrams(text, low, high, wildcards=wildcard >= 0)
        assert len(tokens) <= token_room(len(text) + 2, low, high, wildcard)


# The index


@given(any_worlds(), TOKENIZERS, st.lists(mentions(), min_size=1, max_size=4))
def test_candidates_are_those_of_the_oracle(world, tokenizer, queries):
    world = replace(world, tokenizer=tokenizer)
    oracle = world.oracle()
    if not oracle.token_total:
        return
    index = world.index()
    for query, found in zip(queries, index.candidates(queries, 20), strict=True):
        agree(found, oracle.candidates(query, 20))


@pytest.mark.parametrize("letters", ["ab", "abcdefgh"])
def test_large_worlds(letters):
    world = large_world(6, entities=700, letters=letters, threshold=0.001)
    world = replace(world, tokenizer=CharNgrams(2, 5, wildcards=True))
    oracle, index = world.oracle(), world.index()
    queries = [mention for mention, _, _ in random.Random(0).sample(world.target, 25)]
    for query, found in zip(queries, index.candidates(queries, 30), strict=True):
        agree(found, oracle.candidates(query, 30))
    pruned = index.token_index.search(queries, 5, lam=0.4)
    exhaustive = index.token_index.search(queries, 5, lam=0.4, prune=False)
    assert np.array_equal(pruned.score, exhaustive.score)
    assert pruned.work[:, 1].sum() < exhaustive.work[:, 1].sum()


@given(tables(), TOKENIZERS)
def test_stored_tokens_are_those_of_the_oracle(rows, tokenizer):
    oracle = judge(rows, tokenizer)
    if not oracle.token_total:
        return
    index = build(rows, tokenizer, alpha=1.0).token_index
    total = np.ravel(index.blocks.token_total)
    assert sorted(total[total > 0]) == sorted(oracle.token_total.values())
    assert index.postings == len(oracle.n)
    ends_hidden = index.vocabulary.symbol == WILDCARD
    assert not total[ends_hidden].any()
    assert np.all(np.diff(index.vocabulary.child.astype(int))[ends_hidden] > 0)


def test_names_that_differ_by_a_letter_share_tokens():
    index = build([("Rín", "Q584"), ("Oslo", "Q585")], CharNgrams(4, 5, wildcards=True))
    assert [c.entity for c in index.candidates(["Rún"])[0]] == ["Q584"]
    assert build([("Rín", "Q584")], CharNgrams(4, 5)).candidates(["Rún"]) == [[]]


@pytest.mark.parametrize("unit", ["codepoint", "grapheme"])
def test_a_letter_never_seen_may_be_hidden(unit):
    """The ẍ is not in the index: what it was is not asked, where it stands is."""
    index = build([("abc", "Q1"), ("abbc", "Q2")], CharNgrams(3, 5, unit=unit, wildcards=True))
    why = index.explain("aẍc", "Q1")
    assert {part.token for part in why.tokens} == {"a*c", "^a*c", "a*c$", "^a*c$"}
    assert all(part.times == 1 for part in why.tokens)
    assert "ẍ*$" in why.unknown
    assert [c.entity for c in index.candidates(["aẍc"])[0]] == ["Q1"]


def test_a_grapheme_cluster_is_hidden_whole():
    """A flag is two code points and one cluster, and so is नि."""
    tokenizer = CharNgrams(3, 3, unit="grapheme", wildcards=True)
    assert tokenizer.tokens("🇫🇴निa") == ["^🇫🇴नि", "🇫🇴निa", "निa$", "^*नि", "🇫🇴*a", "नि*$"]
    index = build([("🇫🇴निa", "Q1")], tokenizer)
    assert [part.token for part in index.explain("🇫🇴🇮🇸a", "Q1").tokens] == ["🇫🇴*a"]


@given(tables(), st.lists(mentions(), min_size=1, max_size=3))
def test_graphemes_of_one_letter_are_like_code_points(rows, queries):
    rows = [(mention.replace("\u0301", "x"), entity, count) for mention, entity, count in rows]
    points = build(rows)
    clusters = build(rows, CharNgrams(2, 5, unit="grapheme", wildcards=True))
    queries = [query.replace("\u0301", "x") for query in queries]
    assert points.candidates(queries) == clusters.candidates(queries)


def test_an_asterisk_in_a_text_is_no_wildcard():
    rows = [("abc", "Q1", 1), ("a*c", "Q2", 3), ("^a$", "Q3", 2)]
    index, oracle = build(rows, alpha=1.0), judge(rows)
    for query in ("abc", "a*c", "*", "a**c", "^a*c$"):
        agree(index.candidates([query])[0], oracle.candidates(query, 30))
    shares = [part.prior for part in index.explain("a*c", "Q2").tokens if part.token == "a*c"]
    assert sorted(shares) == pytest.approx([3 / 4, 1.0])  # the wildcard is Q1's too


def test_a_long_mention():
    index = build([("ab" * 20, "Q1"), ("ba" * 3, "Q2")])
    long = "ab" * 3_000
    tokens, times = index.token_index.tokens(long)
    assert times.sum() > 0.99 * len(index.token_index.vocabulary.tokenizer.tokens(long))
    assert [c.entity for c in index.candidates([long])[0]] == ["Q1", "Q2"]
    assert len(tokens) == len(set(tokens.tolist()))


# The grid


@given(
    st.lists(tables(), min_size=2, max_size=2),
    TOKENIZERS,
    st.lists(st.builds(Query, mentions(), ENTITIES), min_size=1, max_size=8),
)
def test_ranks_under_many_weights_are_those_of_indexes(rows, tokenizer, queries):
    target, pivot = (MentionTable.from_pairs(some) for some in rows)
    if not any(tokenizer.tokens(mention) for some in rows for mention, _, _ in some):
        return
    training = Training({"is": pivot}, target, "fo")
    choices = [
        {"alpha": alpha, "lam": lam, "normalizer": "none", "tokenizer": tokenizer}
        for alpha in (0.4, 1 / 3)
        for lam in (0.0, 0.4)
    ]
    ours = PTI.ranks(training, choices, queries, 4)
    expected = [rank_golds(PTI(training, choice), queries, 4) for choice in choices]
    assert [some.tolist() for some in ours] == [some.tolist() for some in expected]


# Files


def test_files(tmp_path):
    world = large_world(7, entities=200, letters="abcd")
    tokenizer = CharNgrams(2, 4, wildcards=True)
    rows = world.pivots["is"]
    index = build(rows, tokenizer)
    index.save(tmp_path / "a")
    build(random.Random(0).sample(rows, len(rows)), tokenizer).save(tmp_path / "b")
    a, b = ({file.name: file.read_bytes() for file in (tmp_path / x).iterdir()} for x in ("a", "b"))
    assert a == b
    loaded = candgen.load(tmp_path / "a")
    assert loaded.token_index.vocabulary.tokenizer == tokenizer
    queries = [mention for mention, _, _ in world.target[:40]]
    assert loaded.candidates(queries) == index.candidates(queries)
    why = loaded.explain(queries[0], rows[0][1])
    assert why == index.explain(queries[0], rows[0][1])


def test_real_names(shared_data):
    """More tokens of the same names find more of what is spelled otherwise."""
    table = MentionTable.read(shared_data / "names" / "is.tsv.gz")
    faroese = MentionTable.read(shared_data / "names" / "fo.tsv.gz")
    known = {entity for _, entity, _ in table}
    queries = [Query(mention, entity) for mention, entity, _ in faroese if entity in known][:1500]
    plain, hidden = (
        PivotTokenIndex.build({"is": table}, language="fo", tokenizer=tokenizer)
        for tokenizer in (CharNgrams(2, 5), CharNgrams(2, 5, wildcards=True))
    )
    assert (
        2 * plain.token_index.postings
        < hidden.token_index.postings
        < 4 * plain.token_index.postings
    )
    found = [np.count_nonzero(rank_golds(index, queries, 30)) for index in (plain, hidden)]
    assert found[1] >= 0.99 * found[0] > 0
