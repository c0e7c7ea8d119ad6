"""The edit model: its kernels against naive ones, and what it learns."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candgen.generators.rerank import edit_model
from candgen.generators.rerank.edit_model import OTHER, Edit, EditModel, _reestimate
from candgen.kernels import edit_model as kernels
from tests.support.rerank_oracle import NaiveModel

SYMBOLS = "abé𝔸"
TEXT = st.text(st.sampled_from(SYMBOLS + "x😀" + OTHER), max_size=9)
SHORT = st.text(st.sampled_from("abx"), max_size=4)


def made_up(seed, symbols=SYMBOLS):
    """A model whose probabilities are anything, and add up to 1 for each symbol."""
    rng = np.random.default_rng(seed)
    size = len(symbols) + 1
    rows = rng.dirichlet(np.full(2 * size + 1, 0.5), size) + 1e-4
    added = rows[:, :size].mean(axis=0)
    rest = rows[:, size:] * ((1 - added.sum()) / rows[:, size:].sum(axis=1, keepdims=True))
    common = rng.dirichlet(np.ones(size)) + 0.01
    return EditModel(
        OTHER + symbols, rest[:, :size].copy(), added, rest[:, size].copy(), common / common.sum()
    )


def naive(model):
    return NaiveModel.of(model.alphabet, *model.tables, model.common)


def log_probability(model, query, name):
    text, symbols = (model.encode([each])[0] for each in (query, name))
    room = np.empty(len(text) + 1)
    return kernels.likelihood_of_name(symbols, text, model.tables, room)


MODELS = st.integers(0, 30).map(made_up)


# ---------------------------------------------------------------- likelihood and likeness


@given(MODELS, TEXT, TEXT)
def test_the_likelihood_is_the_sum_over_all_ways(model, query, name):
    expected = float(naive(model).probability(query, name).ln())
    assert log_probability(model, query, name) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(MODELS, SHORT, SHORT)
def test_the_naive_table_is_the_sum_over_all_ways(model, query, name):
    """Judges the judge."""
    every = math.fsum(value for _, value in naive(model).paths(name, query))
    assert float(naive(model).probability(query, name)) == pytest.approx(every, rel=1e-12)


@given(MODELS, TEXT, TEXT)
def test_similarity(model, query, name):
    expected = naive(model).similarity(query, name)
    assert model.similarity(query, name) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("length", "seed"), [(60, 1), (60, 2), (310, 3)])
def test_long_names(length, seed):
    """Rows have to be scaled: so long a name has a probability that no float64 can hold."""
    rng = random.Random(seed)
    texts = ["".join(rng.choices("abcdefghijklmnop", k=length)) for _ in range(2)]
    model = EditModel.plain(texts)
    name = texts[0]
    changed = "".join(rng.choice("abx") if rng.random() < 0.2 else each for each in name)
    for query in (name, changed, name[7:], name + "abc", name[: -length // 8]):
        expected = naive(model).similarity(query, name)
        assert expected > 0.3
        assert model.similarity(query, name) == pytest.approx(expected, rel=1e-9)


def test_a_long_name_that_is_another_tells_nothing():
    """Smaller than any float64, beside what else could be made: not as if it were the least."""
    model = EditModel.plain(["abcdefghijklmnop"] * 9)
    for query, name in [
        ("a" * 400, "b"),
        ("a", "b" * 400),
        ("a" * 300, "b" * 300),
        ("ab" * 300, ""),
    ]:
        assert naive(model).similarity(query, name) == 0.0
        assert model.similarity(query, name) == 0.0
    assert log_probability(model, "a" * 400, "b") == -math.inf


def test_symbols_that_come_more_often_than_they_are_common():
    """Beside how common they are, they are likelier and likelier: rows have to be scaled down."""
    model = made_up(1)
    common = np.array([0.7, 0.1, 0.1, 1e-3, 0.1])
    rare = EditModel(model.alphabet, *model.tables, common)
    for length, name in [(3, ""), (120, "a"), (120, "é" * 30)]:
        expected = naive(rare).similarity("é" * length, name)
        assert expected > 2.5
        assert rare.similarity("é" * length, name) == pytest.approx(expected, rel=1e-9)
    # So many, beside which what came before vanishes: near, and neither infinite nor no number.
    assert rare.similarity("é" * 300, "é" * 300) == pytest.approx(5.5, abs=0.3)


@given(TEXT)
def test_nothing_is_more_like_a_name_than_itself_under_the_plain_model(name):
    model = EditModel.plain([SYMBOLS] * 3)
    others = [name + "a", "b" + name, name[1:], name.replace("a", "b"), ""]
    assert all(model.similarity(name, name) >= model.similarity(name, other) for other in others)


def test_no_text_at_all():
    model = EditModel.plain([])
    assert model.alphabet == OTHER
    assert model.common.tolist() == [1.0]
    assert model.similarity("", "") == model.similarity("", "abc") == 0.0
    assert model.edits("", "") == []
    assert model.similarity("abc", "") == 0.0


def test_the_plain_model_by_hand():
    """Two symbols and what stands for others: 0.8 stays, 0.08 / 3 for each change, 0.06 goes."""
    model = EditModel.plain(["aab"])
    assert model.alphabet == f"{OTHER}ab"
    assert model.common.tolist() == pytest.approx(
        [0.9 * count / 6 + 0.1 / 3 for count in (1, 3, 2)]
    )
    added, changed = 0.06 / 3, 0.08 / 3
    one = changed + 0.06 * added + added * 0.06  # a becomes b, or goes after or before b comes
    assert log_probability(model, "b", "a") == pytest.approx(math.log(one))
    assert model.change.sum(axis=1) + model.drop + model.add.sum() == pytest.approx(
        np.full(3, 0.8 + 0.08 * 2 / 3 + 0.12)
    )


def test_what_has_no_place_in_the_alphabet_stands_for_itself(monkeypatch):
    monkeypatch.setattr(edit_model, "MAX_ALPHABET", 3)
    model = EditModel.plain(["aaabbb", "cd", f"{OTHER}{OTHER}{OTHER}{OTHER}"])
    assert model.alphabet == f"{OTHER}ab"
    assert model.encode(["acb", "𝔸"])[0].tolist() == [1, 0, 2, 0]
    assert model.encode(["acb", "𝔸"])[1].tolist() == [0, 3, 4]
    assert model.decode(model.encode(["acb"])[0]) == f"a{OTHER}b"
    # Others are as common as c and d together, so that two of them are no proof of anything.
    assert model.common[0] == pytest.approx(0.9 * 3 / 11 + 0.1 / 3)
    assert model.similarity("c", "d") < model.similarity("a", "a") + 0.5


def test_a_large_alphabet_fits_a_byte():
    texts = [
        "".join(map(chr, range(0x4E00, 0x4E00 + 600))),
        "".join(map(chr, range(0x4E64, 0x4E80))),
    ]
    model = EditModel.plain(texts)
    assert len(model.alphabet) == 255
    assert model.encode(texts)[0].max() == 254
    assert set(texts[1]) <= set(model.alphabet)  # those seen twice come first


# ---------------------------------------------------------------- edits


@given(MODELS, SHORT, SHORT)
def test_the_edits_are_the_likeliest(model, query, name):
    found = model.edits(query, name)
    best = max(value for _, value in naive(model).paths(name, query))
    assert math.prod(edit.probability for edit in found) == pytest.approx(best, rel=1e-9)


@given(MODELS, TEXT, TEXT)
def test_the_edits_spell_both(model, query, name):
    found = model.edits(query, name)
    assert "".join(edit.before for edit in found) == name
    assert "".join(edit.after for edit in found) == query
    steps = naive(model)
    for before, after, probability in found:
        step = steps.step("".join(steps.known(before)), "".join(steps.known(after)))
        assert probability == step


def test_edits_of_a_name():
    model = EditModel.plain(["rúmenía"] * 5 + ["rumenien"] * 5)
    assert [each[:2] for each in model.edits("rumena", "rumen")] == [
        ("r", "r"),
        ("u", "u"),
        ("m", "m"),
        ("e", "e"),
        ("n", "n"),
        ("", "a"),
    ]


# ---------------------------------------------------------------- learning


def expected_counts(model, pairs, odds):
    """By hand: every way of every pair, weighed by how probable it is that the two are related."""
    slow, counts, total = naive(model), {}, 0.0
    for query, name in pairs:
        every = list(slow.paths(name, query))
        likely = math.fsum(value for _, value in every)
        made = math.prod(slow.common[symbol] for symbol in slow.known(query))
        share = math.exp(odds) * likely / (math.exp(odds) * likely + made)
        total += math.log(math.exp(odds) * likely + made)
        for path, value in every:
            for before, after in path:
                step = "".join(slow.known(before)), "".join(slow.known(after))
                counts[step] = counts.get(step, 0.0) + share * value / likely
    return counts, total


@given(MODELS, st.lists(st.tuples(SHORT, SHORT), min_size=1, max_size=4), st.sampled_from([-1, 2]))
@settings(max_examples=60)
def test_expected_edits_are_those_of_all_ways(model, pairs, odds):
    queries, names = (model.encode([pair[side] for pair in pairs]) for side in (0, 1))
    tables = [np.zeros_like(table) for table in model.tables]
    total = kernels.expect_edits(names, queries, model.tables, model.common, float(odds), *tables)
    counts, expected = expected_counts(model, pairs, odds)
    assert total == pytest.approx(expected, rel=1e-9, abs=1e-9)
    changes, adds, drops = tables
    for i, a in enumerate(model.alphabet):
        # A pair that is hardly related counts for nothing, rather than for less than a thousandth.
        assert adds[i] == pytest.approx(counts.get(("", a), 0.0), rel=1e-9, abs=0.02)
        assert drops[i] == pytest.approx(counts.get((a, ""), 0.0), rel=1e-9, abs=0.02)
        for j, b in enumerate(model.alphabet):
            assert changes[i, j] == pytest.approx(counts.get((a, b), 0.0), rel=1e-9, abs=0.02)


def related(seed, number=60):
    """Pairs of names in two made-up languages: v is w, u is o, and -r is added; some are others."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(number):
        name = "".join(rng.choices("vumenidrak", k=rng.randint(3, 9)))
        other = "".join(rng.choices("vumenidrak", k=rng.randint(3, 9)))
        query = (other if rng.random() < 0.2 else name).replace("v", "w").replace("u", "o") + "r"
        pairs.append((query, name))
    return pairs


def log_likelihood(model, pairs):
    queries, names = (model.encode([pair[side] for pair in pairs]) for side in (0, 1))
    tables = [np.zeros_like(table) for table in model.tables]
    return kernels.expect_edits(
        names, queries, model.tables, model.common, edit_model.LOG_ODDS_RELATED, *tables
    )


@pytest.mark.parametrize("belief", [1e-9, edit_model.PRIOR_STRENGTH])
@pytest.mark.parametrize("seed", range(3))
def test_every_round_makes_the_pairs_likelier(monkeypatch, belief, seed):
    """With belief, the pairs and what is believed together."""
    monkeypatch.setattr(edit_model, "PRIOR_STRENGTH", belief)
    pairs = related(seed)
    texts = [each for pair in pairs for each in pair]
    queries, names = (EditModel.plain(texts).encode([p[side] for p in pairs]) for side in (0, 1))
    plain = model = EditModel.plain(texts)
    weight = belief * len(model.alphabet)

    def objective(model):
        believed = sum(
            (before * np.log(now)).sum()
            for before, now in zip(plain.tables, model.tables, strict=True)
        )
        return log_likelihood(model, pairs) + weight * believed

    reached = []
    for _ in range(8):
        model = _reestimate(model, plain, names, queries)
        sums = model.change.sum(axis=1) + model.drop + model.add.sum()
        assert sums == pytest.approx(np.ones(len(sums)))
        reached.append(objective(model))
    assert np.diff(reached) == pytest.approx(np.abs(np.diff(reached)), abs=1e-2)
    assert reached[-1] > reached[0] + 1


def test_changes_are_learned():
    pairs = related(7, 300)
    model = EditModel.learn(pairs, [each for pair in pairs for each in pair])
    at = model.alphabet.index
    assert model.change[at("v"), at("w")] > 0.5 > 0.3 > model.change[at("v"), at("v")]
    assert model.change[at("e"), at("e")] > 0.6
    assert model.add[at("r")] == model.add.max()
    assert ("v", "w") in [edit[:2] for edit in model.notable(4)]
    assert Edit("v", "w", model.change[at("v"), at("w")]) in model.notable(4)
    probabilities = [edit.probability for edit in model.notable(20)]
    assert probabilities == sorted(probabilities, reverse=True)
    assert model.similarity("winr", "vin") > model.similarity("winr", "kin")


def test_unrelated_names_do_not_spoil_it():
    rng = random.Random(3)
    pairs = related(1, 200)
    names = ["".join(rng.choices("vumenidrak", k=6)) for _ in range(400)]
    others = list(zip(names[:200], names[200:], strict=True))
    texts = [each for pair in pairs + others for each in pair]
    alone, spoilt = (EditModel.learn(some, texts) for some in (pairs, pairs + others))
    at = alone.alphabet.index
    here, there = at("v"), at("w")
    assert spoilt.change[here, there] == pytest.approx(alone.change[here, there], abs=0.1)


def test_nothing_to_learn_from():
    plain = EditModel.plain(["abc"])
    for pairs in ([], [("", "a"), ("a", "")], [("a" * 65, "a" * 65)]):
        model = EditModel.learn(pairs, ["abc"])
        assert model.change.tolist() == plain.change.tolist()
        assert model.add.tolist() == plain.add.tolist()


def test_few_pairs_are_not_believed():
    """One Vín that is Wien does not make w of every v."""
    texts = ["vin", "wien", "rin"]
    once, often = (EditModel.learn([("wien", "vin")] * times, texts) for times in (1, 200))
    at = once.alphabet.index
    assert once.change[at("v"), at("v")] > 0.7
    assert often.change[at("v"), at("w")] > 0.7


def test_the_longest_pairs_that_are_learned_from_are_no_number():
    """Two unlike names of 64 symbols: a probability of 0 in a float64, and no warning."""
    pairs = [("a" * 64, "b" * 64)] + [("vin", "win")] * 5
    model = EditModel.learn(pairs, [each for pair in pairs for each in pair])
    assert all(np.isfinite(table).all() and (table > 0).all() for table in model.tables)
    short = EditModel.learn(pairs[1:], [each for pair in pairs for each in pair])
    assert np.abs(model.change - short.change).max() < 1e-3
