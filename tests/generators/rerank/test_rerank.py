"""Rerank: against the oracle, with one's own generators, what it learns, and its files."""

import logging
import math
from itertools import pairwise, product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import candgen
from candgen import Cascade, MentionTable, PivotTokenIndex, Query, WikiPriors
from candgen.generators import METHODS
from candgen.generators.conformance import check_generator
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.rerank.weights import DEFAULT_WEIGHTS, Weights
from candgen.kernels import rerank as kernels
from candgen.protocols import Training, covers
from candgen.text.normalize import normalize
from tests.generators.test_conformance import SPLIT, TABLES
from tests.support.rerank_oracle import NaiveModel, NaiveRarity, NaiveStage
from tests.support.worlds import ENTITIES, mentions, tables

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)

ICELANDIC = MentionTable.from_pairs(
    [("Vín", "Q1741", 3), ("Vín", "Q282", 1), ("Rín", "Q584", 2), ("Rúmenía", "Q218", 4)]
)
FAROESE = MentionTable.from_pairs([("Wien", "Q1741", 1), ("Vín", "Q282", 1)])


class Listed:
    """A user's own generator: the same candidates for everybody."""

    def __init__(self, *candidates):
        self.answer = list(candidates)

    def candidates(self, mentions, k=30):
        return [self.answer[:k] for _ in mentions]


def pti(**options):
    given = {"pivots": {"is": ICELANDIC}, "target": FAROESE, "language": "fo"}
    return PivotTokenIndex.build(**{**given, **options})


SHARE = getattr(kernels, "MIN_COSINE_SHARE", 0.0)


def oracle(rerank, pivots, target, sitelinks=None):
    """A stage of dictionaries, with the model and the weights of another."""
    names, owners = {}, {}
    for language, rows in [*pivots.items(), *([("target", target)] if target else [])]:
        for mention, entity, count in rows:
            mine = names.setdefault(entity, {})
            mine[mention] = mine.get(mention, 0) + count
            owners.setdefault(entity, set()).add(language)
    model = rerank.stage.edits
    own = [mention for mention, _, _ in target or ()]
    naive = NaiveModel.of(model.alphabet, *model.tables, model.common, own)
    every = [name for mine in names.values() for name in mine]
    rarity = NaiveRarity(naive, every, len(rerank.stage.rarity.table), SHARE)
    languages = {entity: len(each) for entity, each in owners.items()}
    return NaiveStage(naive, names, languages, rerank.weights, rarity, sitelinks or {})


# ---------------------------------------------------------------- the order


WEIGHTS = st.builds(
    Weights, *[st.sampled_from([0.0, 1.0, 2.5, -0.5, 5.0]) for _ in Weights._fields]
)
ANSWERS = st.dictionaries(ENTITIES, st.floats(1e-30, 1e30), max_size=9).map(
    lambda some: sorted(some.items(), key=lambda pair: (-pair[1], len(pair[0]), pair[0]))
)
QUERIES = st.lists(mentions() | st.sampled_from(["", "zz", "Ω"]), min_size=1, max_size=3)


class Twofold(Listed):
    """One answer for mentions, another for the texts that they are translated into."""

    def __init__(self, mentions, own, other):
        self.mentions, self.own, self.other = set(mentions), own, other

    def candidates(self, mentions, k=30):
        return [(self.own if each in self.mentions else self.other)[:k] for each in mentions]


@given(
    tables(),
    tables() | st.none(),
    st.dictionaries(ENTITIES, st.sampled_from([0, 1, 40, 351, 2**40])),
    ANSWERS,
    ANSWERS,
    QUERIES,
    WEIGHTS,
    st.integers(1, 12),
    st.integers(1, 12),
)
@SLOW
def test_the_order_is_what_the_oracle_says(
    pivot, target, sitelinks, answer, other, queries, weights, k, depth
):
    mine = None if target is None else MentionTable.from_pairs(target)
    rerank = Rerank(
        Twofold(queries, answer, other),
        pivots={"is": MentionTable.from_pairs(pivot)},
        target=mine,
        sitelinks=sitelinks,
        normalizer="none",
        weights=weights,
        depth=depth,
    )
    slow = oracle(rerank, {"is": pivot}, target, sitelinks)
    texts = rerank.stage.translate(queries)
    assume(not any(slow.is_doubtful(each) for each in (*queries, *texts) if each))
    for query, text, found in zip(queries, texts, rerank.candidates(queries, k), strict=True):
        asked_as = answer if text in queries else other
        more = None if text is None or depth == 1 else (text, asked_as)
        listed = slow.candidates(query, answer, len(answer) + len(other), depth, more)
        every, expected = dict(listed), [score for _, score in listed[:k]]
        # Where the oracle has two level to the last digit, either may come first.
        assert [score for _, score in found] == pytest.approx(expected, rel=1e-9)
        assert [score for _, score in found] == pytest.approx(
            [every[entity] for entity, _ in found], rel=1e-9
        )
        half = 0 if more is None else depth // 2
        seen = {*dict(answer[: depth - half]), *dict(asked_as[:half])}
        rest = [entity for entity, _ in answer if entity not in seen]
        assert [entity for entity, _ in found[len(seen) :]] == rest[: max(k - len(seen), 0)]


@given(tables(), ANSWERS, QUERIES, st.integers(1, 12), st.integers(1, 12))
@SLOW
def test_the_rules_hold_with_any_generator(pivot, answer, queries, k, depth):
    class Checked(Listed):
        def candidates(self, mentions, k=30):
            return super().candidates(candgen.generators.candidate.check_query(mentions, k), k)

    table = MentionTable.from_pairs(pivot)
    rerank = Rerank(Checked(*answer), pivots={"is": table}, normalizer="none", depth=depth)
    check_generator(rerank, queries, k=k)


def test_rules_hold_with_save_and_load(tmp_path):
    asked = ["Vín", "Wien", "Rumenien", "rúm", "", " ", "x", "😀", "vín rín"]
    for number, generator in enumerate(
        [
            pti(),
            pti(target=None),
            pti(pivots=None),
            pti(normalizer="latin", threshold=0.1),
            pti(fusion="probabilities"),
            pti(language=None),
        ]
    ):
        rerank = Rerank(generator, depth=2)
        check_generator(rerank, asked, folder=tmp_path / str(number))
        check_generator(Rerank(generator), asked, k=2)


def test_a_likelier_copy_comes_first():
    """Rumenien shares more with rúm than with anything, n-gram by n-gram; but it is no copy."""
    names = MentionTable.from_pairs(
        [("Rúmenía", "Q218", 1), ("Rumen", "Q2", 9), ("Rumsk", "Q3", 9)]
    )
    first = Listed(("Q3", 3.0), ("Q2", 2.9), ("Q218", 2.8))
    rerank = Rerank(first, pivots={"is": names}, language="fo")
    assert [c.entity for c in rerank.candidates(["Rumenia"])[0]] == ["Q218", "Q2", "Q3"]


def test_the_score_by_hand():
    """One name, equal to the mention: likeness is what the model says, all else is known."""
    names = MentionTable.from_pairs([("abc", "Q1", 3), ("xyz", "Q2", 1)])
    weights = Weights(1.5, 5.0, frequency=0.1, popularity=0.1, languages=0.2, same=0.3)
    first = Listed(("Q2", 4.0), ("Q1", 2.0))
    rerank = Rerank(first, pivots={"is": names}, normalizer="none", weights=weights)
    (answer,) = rerank.candidates(["abc"])
    alike = rerank.stage.edits.similarity("abc", "abc")
    v = 1.5 * math.log(0.5) + 5.0 * alike + 0.2 * math.log(2) + 0.1 * 2 * math.log(4) + 0.3
    assert answer[0] == ("Q1", pytest.approx(1 + (1 + v / (1 + v)) / 2))
    v = 5.0 * rerank.stage.edits.similarity("abc", "xyz") + (0.2 + 0.1 * 2) * math.log(2)
    assert answer[1] == ("Q2", pytest.approx(1 + (1 + v / (1 + v)) / 2))


def test_ties_go_by_id_and_entities_may_have_no_names():
    names = MentionTable.from_pairs([("abc", "Q1", 3)])
    first = Listed(("Q100", 1.0), ("Q21", 1.0), ("Q3", 1.0), ("Q20", 1.0), ("Q1", 0.5))
    weights = Weights(1.5, 5.0, frequency=0.1, popularity=0.0, languages=0.2, same=0.3)
    rerank = Rerank(first, pivots={"is": names}, normalizer="none", weights=weights)
    assert [c.entity for c in rerank.candidates(["abc"])[0]] == ["Q1", "Q3", "Q20", "Q21", "Q100"]
    assert [c.entity for c in rerank.candidates([""])[0]] == ["Q3", "Q20", "Q21", "Q100", "Q1"]


@pytest.mark.parametrize("depth", [1, 2, 3, 200])
def test_beyond_the_depth_the_first_stage_decides(depth):
    first = pti(normalizer="none", tokenizer=candgen.CharNgrams(1, 2))
    (before,) = first.candidates(["Vín"], 9)
    (after,) = Rerank(first, depth=depth).candidates(["Vín"], 9)
    assert len(before) == 4
    assert {c.entity for c in before[:depth]} == {c.entity for c in after[:depth]}
    assert after[depth:] == [(e, s / (1 + s)) for e, s in before[depth:]]
    assert all(score > 1 for _, score in after[:depth])
    for k in (1, 2, 3):
        assert Rerank(first, depth=depth).candidates(["Vín"], k)[0] == after[:k]


def test_scores_that_cannot_be_told_apart_keep_their_order():
    names = MentionTable.from_pairs([("abc", "Q9", 3)])
    large = Listed(("Q9", 4e17), ("Q7", 3e17), ("Q50", 2e17), ("Q4", 1e17), ("Q5", 1e17))
    (answer,) = Rerank(large, pivots={"is": names}, depth=1).candidates(["abc"])
    assert [c.entity for c in answer] == ["Q9", "Q7", "Q50", "Q4", "Q5"]
    scores = [c.score for c in answer]
    assert scores[1] > scores[2] > scores[3] == scores[4]


def test_many_mentions_at_once(monkeypatch):
    rerank = Rerank(pti())
    asked = ["Vín", "Rín", "", "Wien"] * 5
    expected = rerank.candidates(asked)
    monkeypatch.setattr("candgen.generators.rerank.rerank.MENTIONS_AT_ONCE", 3)
    assert rerank.candidates(asked) == expected
    assert rerank.candidates([]) == []


def test_an_entity_has_the_same_score_alone_and_beside_thousands_of_words():
    pairs = list(map("".join, product("aeioukstrn", repeat=4)))[::3]  # more words than are kept
    rows = [(f"{a} {b}", f"Q{n}") for n, (a, b) in enumerate(pairwise(pairs), 1)]
    first = [(entity, 1.0) for _, entity in rows]
    names = {"is": MentionTable.from_pairs(rows)}
    made = Rerank(Listed(*first), pivots=names, normalizer="none", depth=len(rows))
    together = dict(made.candidates(["sata nano"], len(rows))[0])
    for entity, _ in first[::100]:
        alone = made.with_first_stage(Listed((entity, 1.0)))
        assert alone.candidates(["sata nano"])[0] == [(entity, together[entity])]


def test_symbols_beyond_the_alphabet_are_not_the_same():
    """To the edit model, which has room for 255, all rare symbols are one."""
    names = [(chr(0x4E00 + n), f"Q{n}", 9) for n in range(254)]
    names.append((chr(0x5000), "Q5000", 1))
    rerank = Rerank(
        Listed(("Q5000", 1.0), ("Q7", 1.0)),
        normalizer="none",
        pivots={"zh": MentionTable.from_pairs(names)},
    )
    assert chr(0x5000) not in rerank.stage.edits.alphabet
    for mention, entity, same in [
        (chr(0x5000), "Q5000", 0.0),
        (chr(0x5001), "Q5000", 0.0),
        (chr(0x4E07), "Q7", 1.0),
    ]:
        told = {each.name: each.value for each in rerank.explain(mention, entity).properties}
        assert told["same"] == same
        # Their n-grams are not counted: two that are unknown share the boundaries of words only.
        assert told["cosine"] == pytest.approx(same)


def test_what_is_no_candidate_is_not_passed_on():
    names = MentionTable.from_pairs([("abc", "Q1", 3)])
    odd = Listed(("Q2", math.inf), ("Q1", 2), ("Q3", 0.0), ("Q4", -1.0), ("Q5", math.nan))
    (answer,) = Rerank(odd, pivots={"is": names}).candidates(["abc"])
    assert [(c.entity, type(c.score)) for c in answer] == [("Q1", float)]


def test_cascades_inside_and_outside(tmp_path):
    first = Cascade(WikiPriors.build(target=FAROESE), pti())
    rerank = Rerank(first, pivots={"is": ICELANDIC}, target=FAROESE, language="fo")
    check_generator(rerank, ["Vín", "Wien", "Rúm", ""], folder=tmp_path / "inside")
    check_generator(Cascade(rerank, pti()), ["Vín", "Wien", "Rúm"], folder=tmp_path / "outside")
    assert [
        type(part) for part in candgen.load(tmp_path / "inside/first.candgen").first_stage.nested
    ]


def test_it_may_romanise_what_the_first_stage_does_not():
    """The index sees Cyrillic; the second stage compares in Latin letters."""
    bulgarian = MentionTable.from_pairs([("Скопие", "Q384", 1), ("Скопска", "Q9", 1)])
    index = PivotTokenIndex.build({"bg": bulgarian}, language="mk", normalizer="default")
    rerank = Rerank(index)
    assert rerank.stage.spelling(int(rerank.stage.spellings.first[0])) == "skopie"
    assert rerank.stage.texts(["Скопје"]) == [normalize("Скопје", "latin", language="mk")]
    assert rerank.candidates(["Скопје"])[0][0].entity == "Q384"
    assert rerank.language == "mk"


def test_names_and_knowledge_are_those_of_the_generator():
    rerank = Rerank(pti())
    assert rerank.names("Q1741") == pti().names("Q1741") != []
    assert rerank.knows(["Q584", "Q1"]) == [True, False]
    own = Rerank(Listed(("Q1", 1.0)), pivots={"is": ICELANDIC})
    assert own.names("Q1741") == []
    assert not covers(own)


# ---------------------------------------------------------------- what it learns from


def spellings(rerank):
    stage = rerank.stage
    return {stage.spelling(number) for number in range(len(stage.spellings.count))}


def test_the_names_of_an_index_are_those_of_its_tables():
    index = pti()
    given = Rerank(index, pivots={"is": ICELANDIC}, target=FAROESE, language="fo")
    taken = Rerank(index)
    assert spellings(taken) == spellings(given) == {"vin", "rin", "rumenia", "wien"}
    for name, array in given.stage.arrays().items():
        assert array.tolist() == taken.stage.arrays()[name].tolist()
    assert taken.learned == given.learned == {"pairs": 2, "queries": 0, "words": 1}


def test_pairs_are_those_of_target_and_pivot_or_of_two_pivots():
    danish = MentionTable.from_pairs([("Wien", "Q1741"), ("Rhinen", "Q584"), ("Oslo", "Q585")])
    both = {"is": ICELANDIC, "da": danish}
    assert Rerank(pti(pivots=both)).learned["pairs"] == 2 + 1  # Wien: Vín and Wien; Vín: Vín
    assert Rerank(pti(pivots=both, target=None)).learned["pairs"] == 4  # two names, both ways
    assert Rerank(pti(target=None)).learned["pairs"] == 0


def test_dev_is_never_among_the_names():
    """Neither the names nor the edits know a mention that only dev has."""
    training = Training({"is": TABLES["is"]}, SPLIT.train, "fo", dev=SPLIT.dev)
    with_dev = METHODS["rerank"](training, {})
    without = METHODS["rerank"](Training({"is": TABLES["is"]}, SPLIT.train, "fo"), {})
    assert with_dev.learned["queries"] > 0 == without.learned["queries"]
    assert with_dev.weights != without.weights == DEFAULT_WEIGHTS
    for name, array in with_dev.stage.arrays().items():
        assert array.tolist() == without.stage.arrays()[name].tolist()
    only = {with_dev.stage.texts([query.mention])[0] for query in SPLIT.dev if query.type != "easy"}
    train = [mention for table in (TABLES["is"], SPLIT.train) for mention, _, _ in table]
    unseen = only - set(with_dev.stage.texts(train))
    assert unseen
    assert not unseen & spellings(with_dev)


def test_dev_chooses_weights_that_make_golds_likelier():
    index = METHODS["pti"](
        Training({"is": TABLES["is"]}, SPLIT.train, "fo"), {"normalizer": "latin"}
    )
    learned = Rerank(index, dev=SPLIT.dev)
    found = candgen.evaluate(
        {"first": index, "fixed": Rerank(index), "learned": learned}, SPLIT.dev, ks=(1,)
    )
    assert found.recall("learned", k=1) >= found.recall("first", k=1)
    assert Rerank(index, dev=SPLIT.dev, weights=DEFAULT_WEIGHTS).weights == DEFAULT_WEIGHTS
    assert Rerank(index, dev=[Query("nobody", "Q0", "hard")]).weights == DEFAULT_WEIGHTS


def test_queries_that_leak_are_told_of(caplog):
    leaked = [Query("Wien", "Q1741", "hard"), Query("Vín", "Q282", "medium")]
    with caplog.at_level(logging.WARNING, logger="candgen"):
        Rerank(pti(), dev=leaked)
    assert "2 of the dev queries are in the target's table though they are not easy" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="candgen"):
        Rerank(pti(), dev=[Query("Wien", "Q1741", "easy"), Query("Vín", "Q1741", "hard")])
        Rerank(pti(target=None), dev=leaked)
    assert caplog.text == ""


# ---------------------------------------------------------------- building and changing


def test_build_makes_both_stages():
    """``Rerank.build`` is the two stages, built one after the other from the same tables."""
    options = {"alpha": 0.1, "lam": 1.0, "normalizer": "sound"}
    made = Rerank.build({"is": TABLES["is"]}, SPLIT.train, language="fo", dev=SPLIT.dev, **options)
    first = candgen.PivotTokenIndex.build(
        {"is": TABLES["is"]}, SPLIT.train, language="fo", **options
    )
    same = Rerank(
        first, pivots={"is": TABLES["is"]}, target=SPLIT.train, language="fo", dev=SPLIT.dev
    )
    mentions = [query.mention for query in SPLIT.test]
    assert made.candidates(mentions) == same.candidates(mentions)
    assert made.contents().parameters == same.contents().parameters
    assert made.first_stage.parameters["normalizer"] == "sound"
    assert made.stage.normalizer == "latin"
    assert Rerank.build({"is": TABLES["is"]}, depth=7).depth == 7


def test_other_weights_make_another_generator():
    """The generator itself is not changed; what it learned from is kept."""
    both = Rerank(pti(), dev=SPLIT.dev)
    before = both.candidates(["Vík"]), both.weights, dict(both.learned)
    other = both.with_weights(DEFAULT_WEIGHTS._replace(score=0.0, likeness=9.0), queries=3)
    assert (both.candidates(["Vík"]), both.weights, dict(both.learned)) == before
    assert other.weights == DEFAULT_WEIGHTS._replace(score=0.0, likeness=9.0)
    assert other.learned == {**both.learned, "queries": 3}
    assert both.with_weights(DEFAULT_WEIGHTS).learned["queries"] == 0
    assert other.first_stage is both.first_stage
    given = Rerank(pti(), weights=DEFAULT_WEIGHTS._replace(score=0.0, likeness=9.0))
    assert other.candidates(["Vík", "nes"]) == given.candidates(["Vík", "nes"])
    with pytest.raises(candgen.CandgenError, match="expected a finite number for each of score"):
        both.with_weights({"score": 1.0})


def test_the_first_stage_can_be_replaced():
    both = Rerank(pti())
    other = both.with_first_stage(Listed(("Q282", 1.0), ("Q1741", 1.0)))
    assert {each.entity for each in other.candidates(["Rín"])[0]} == {"Q282", "Q1741"}
    assert both.candidates(["Rín"])[0][0].entity == "Q584"
    assert other.stage is both.stage
    with pytest.raises(candgen.CandgenError, match="cannot be asked for candidates"):
        both.with_first_stage(PivotTokenIndex)


@pytest.mark.parametrize("name", ["stage", "weights", "first_stage", "depth", "calibration"])
def test_fields_cannot_be_assigned(name):
    with pytest.raises(AttributeError):  # which dataclasses.FrozenInstanceError is
        setattr(Rerank(pti()), name, None)
