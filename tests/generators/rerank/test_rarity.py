"""How rare n-grams and words are: counts against dictionaries, and what is refused."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candgen import MentionTable
from candgen.generators.rerank.edit_model import EditModel
from candgen.generators.rerank.logarithms import decode_logarithm, encode_logarithm
from candgen.generators.rerank.rarity import MIN_BITS, NO_SPACE, Rarity
from candgen.generators.rerank.rerank import Rerank
from candgen.kernels import rarity as kernels
from tests.generators.rerank.test_rerank import SHARE, Listed
from tests.support.rerank_oracle import NaiveModel, NaiveRarity, hashed, logarithm

LARGE = 1 << 22
NAMES = st.lists(st.text(st.sampled_from("abcdeé 𝔸x"), min_size=1, max_size=12), max_size=30)
KNOWN = "abcdeé 𝔸"


def both(names, texts=(KNOWN,)):
    """The counts of names, and the same by dictionaries; x is in no text, unless it is given."""
    model = EditModel.plain(texts)
    naive = NaiveModel.of(model.alphabet, *model.tables, model.common)
    symbols, start = model.encode(names)
    return Rarity.build(symbols, start, model.space), NaiveRarity(naive, names), model


@given(NAMES)
@settings(deadline=None)
def test_counts_are_never_too_small(names):
    rarity, naive, _ = both(names)
    size = len(rarity.table)
    for part, count in naive.counts.items():
        assert decode_logarithm(rarity.table[hashed(part) % size]) >= logarithm(count) - 1e-9
    shared = NaiveRarity(naive.model, names, size)
    expected = encode_logarithm(np.array([shared.counts[place] for place in range(size)]))
    assert rarity.table.tolist() == expected.tolist()


@given(NAMES)
@settings(max_examples=20, deadline=None)
def test_counts_are_right_where_nothing_shares_a_place(names):
    _, naive, model = both(names)
    symbols, start = model.encode(names)
    counts = np.zeros(LARGE, np.uint32)
    kernels.count_codes(symbols, start, model.space, counts)
    expected = {hashed(part) % LARGE: count for part, count in naive.counts.items()}
    assert len(expected) == len(naive.counts)  # no two share one
    found = np.flatnonzero(counts)
    assert dict(zip(found.tolist(), counts[found].tolist(), strict=True)) == expected


@given(NAMES, st.booleans())
@settings(deadline=None)
def test_lengths_are_those_of_distinct_ngrams(names, with_space):
    texts = [KNOWN] if with_space else [KNOWN.replace(" ", "")]
    rarity, naive, _ = both(names, texts)
    shared = NaiveRarity(naive.model, names, len(rarity.table))
    assert rarity.space == (1 if with_space else NO_SPACE)
    assert rarity.length.tolist() == pytest.approx([shared.length(name) for name in names])


def test_what_is_counted_by_hand():
    """Of ab: _a, _ab, _ab_, ab, ab_, b_, and the word; a longer word has beginnings from three."""
    _, naive, _ = both(["ab", "abcde ab", "axb"])
    parts = {(kind, "".join(" abcdeé𝔸"[n - 1] if n < 256 else "_" for n in numbers)): count
             for (kind, numbers), count in naive.counts.items() if 0 not in numbers}  # fmt: skip
    assert {text: n for (kind, text), n in parts.items() if kind == "beginning"} == {
        "ab": 2,
        "abc": 1,
        "abcd": 1,
        "abcde": 1,
    }
    grams = {text: n for (kind, text), n in parts.items() if kind == "n-gram"}
    assert (grams["_ab_"], grams["ab"], grams["_a"], grams["_abcd"]) == (2, 3, 4, 1)
    assert (grams["b_"], "_abcde" in grams) == (3, False)
    assert max(map(len, grams)) == 5
    assert naive.counts["beginning", (2, 0, 3)] == 1  # x is a symbol like all that are unknown


def test_every_name_counts_its_ngrams_as_often_as_they_occur_and_its_length_once():
    one, naive, _ = both(["abab"])
    twice = naive.counts["n-gram", (2, 3)]
    assert twice == 2
    size = len(one.table)
    assert one.table[hashed(("n-gram", (2, 3))) % size] >= encode_logarithm(np.array([2]))[0]


def test_sizes_of_tables():
    assert len(both(["a"])[0].table) == 1 << MIN_BITS
    names = [f"{'ab' * 50}{n}" for n in range(40)]
    size = len(both(names)[0].table)
    symbols = sum(map(len, names))
    assert size / 2 <= symbols < size
    assert size & (size - 1) == 0


def test_names_of_nobody():
    rarity, _, _ = both([])
    assert (rarity.length.tolist(), int(rarity.table.max())) == ([], 0)
    rarity.validate(0)


def test_common_words_still_weigh_something():
    rarity, _, _ = both(["abcd"] * 500)
    _, ngram, word, _ = rarity.tables
    assert word.min() == pytest.approx(0.1)
    assert ngram.min() == 1.0
    assert word.max() == pytest.approx(np.log(502))
    assert ngram.max() == pytest.approx(1 + np.log(501))


def damaged(**changes):
    rarity, _, _ = both(["ab", "cd"])
    return replace(rarity, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"table": np.zeros(1000, np.uint8)},
        {"table": np.zeros(1 << (MIN_BITS - 1), np.uint8)},
        {"table": np.zeros(1 << 25, np.uint8)},
        {"table": np.zeros(0, np.uint8)},
        {"table": np.zeros((1 << MIN_BITS, 1), np.uint8)},
        {"table": np.zeros(1 << MIN_BITS, np.uint32)},
        {"table": np.zeros(1 << MIN_BITS, np.int8)},
        {"length": np.zeros(3, np.float32)},
        {"length": np.zeros(2, np.float64)},
        {"length": np.array([1.0, np.nan], np.float32)},
        {"length": np.array([1.0, np.inf], np.float32)},
        {"length": np.array([-1.0, 1.0], np.float32)},
    ],
)
def test_what_is_refused(changes):
    with pytest.raises(ValueError, match=r"rarity\.(table|length)"):
        damaged(**changes).validate(2)
    damaged().validate(2)


# ---------------------------------------------------------------- properties


def properties(mention, names, **options):
    """Cosine, coverage, words and skeleton of the entity that has all names but those of others."""
    table = MentionTable.from_pairs(names)
    rerank = Rerank(Listed(("Q1", 1.0)), pivots={"is": table}, normalizer="none", **options)
    told = {each.name: each.value for each in rerank.explain(mention, "Q1").properties}
    return [told[name] for name in ("cosine", "coverage", "words", "skeleton")]


def long_names(seed):
    """Names of words of any length, of which many share their beginnings, or all of a word."""
    rng = random.Random(seed)
    stems = ["".join(rng.choices("abdefgikmnorstuv", k=rng.randint(1, 9))) for _ in range(25)]
    endings = ["", "", "a", "ur", "inum", "sson"]
    names = {"kom kom": None, "kom": None}
    for _ in range(60):
        words = [rng.choice(stems) + rng.choice(endings) for _ in range(rng.randint(1, 3))]
        names["kom " * rng.randint(1, 3) + " ".join(words)] = None
    return list(names), rng


@pytest.mark.parametrize("seed", range(3))
def test_properties_of_long_names_are_those_of_dictionaries(seed):
    """Two names of each entity; mentions are names with other words, and with unknown symbols."""
    names, rng = long_names(seed)
    owners = {name: f"Q{number // 2}" for number, name in enumerate(names)}
    entities = sorted(set(owners.values()))
    table = MentionTable.from_pairs(owners.items())
    first = Listed(*((entity, 1.0) for entity in entities))
    rerank = Rerank(first, pivots={"is": table}, normalizer="none")
    model = rerank.stage.edits
    naive = NaiveModel.of(model.alphabet, *model.tables, model.common)
    rarity = NaiveRarity(naive, names, len(rerank.stage.rarity.table), SHARE)
    compared = 0
    for name in rng.sample(names, 12):
        words = name.split()
        rng.shuffle(words)
        mention = " ".join(words)[: rng.randint(5, 30)] + rng.choice(["", "Ω", "inum", "  rost"])
        for entity in (owners[name], *rng.sample(entities, 3)):
            mine = [each for each in names if owners[each] == entity]
            if any(rarity.is_doubtful(mention, each) for each in mine):
                continue
            near = rarity.compared(mention, mine)
            told = [each.value for each in rerank.explain(mention, entity).properties[6:10]]
            expected = [
                max(rarity.cosine(mention, each) for each in mine),
                *(max(rarity.match(mention, each)[at] for each in near) for at in (0, 1, 2)),
            ]
            assert told == pytest.approx(expected, rel=1e-6, abs=1e-9)
            compared += 1
    assert compared > 30


OTHERS = [("kirk vold", "Q2"), ("nor kirk", "Q3"), ("sund", "Q4")]


def test_a_name_itself_and_its_words_in_any_order():
    names = [("gran vold", "Q1"), *OTHERS]
    for mention in ("gran vold", "vold gran"):
        assert properties(mention, names) == pytest.approx([1.0, 1.0, 1.0, 1.0], abs=1e-6)
    assert max(properties("gran vold", names)) <= 1.0 + 1e-9


def test_a_word_alone_is_covered_but_does_not_cover():
    names = [("gran vold", "Q1"), *OTHERS]
    cosine, coverage, words, skeleton = properties("gran", names)
    assert coverage == skeleton == pytest.approx(1.0)
    assert 0.3 < cosine < 1.0
    assert 0.3 < words < 1.0
    _, more, *_ = properties("gran vold extra", names)
    assert 0.3 < more < 1.0


def test_each_is_that_of_the_name_for_which_it_is_largest():
    names = [("gran vold", "Q1"), ("xyz", "Q1"), *OTHERS]
    alone = properties("vold gran", [("gran vold", "Q1"), ("xyz", "Q9"), *OTHERS])
    assert properties("vold gran", names) == pytest.approx(alone, rel=1e-6)


@pytest.mark.parametrize("mention", ["", " ", "   "])
def test_mentions_without_words(mention):
    assert properties(mention, [("gran vold", "Q1"), *OTHERS]) == [0.0, 0.0, 0.0, 0.0]
    assert properties("gran", [(" ", "Q1"), *OTHERS]) == [0.0, 0.0, 0.0, 0.0]


def test_without_a_space_in_names_a_mention_is_one_word():
    names = [("gran", "Q1"), ("sund", "Q2")]
    assert properties("gran", names) == pytest.approx([1.0, 1.0, 1.0, 1.0], abs=1e-6)
    _, coverage, *_ = properties("vold gran", names)
    _, apart, *_ = properties("vold gran", [*names, ("a b", "Q3")])
    assert coverage != pytest.approx(apart)
