"""Which pivots: what is measured of languages, and the order in which they are added."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import candgen
from candgen import MentionTable, rank_pivots
from candgen.errors import ParameterError
from candgen.evaluation.pivot_ranking import Pivot
from candgen.evaluation.trigram_similarity import WHOLE
from candgen.reporting.figure import alt_text
from candgen.tables.table_folder import TableFolder
from tests.evaluation.test_trigram_similarity import alike, trigrams

FAROESE = MentionTable.from_pairs(
    [("Wien", "Q1741"), ("Vín", "Q282"), ("Oslo", "Q585"), ("Havnin", "Q10704")]
)


ICELANDIC = MentionTable.from_pairs([("Vín", "Q1741"), ("Vín", "Q282")])


DANISH = MentionTable.from_pairs([("Wien", "Q1741"), ("Oslo", "Q585"), ("Rhinen", "Q584")])


ENGLISH = MentionTable.from_pairs(
    [("Vienna", "Q1741"), ("wine", "Q282"), ("Oslo", "Q585"), ("Mars", "Q111")]
)


WORLD = {"is": ICELANDIC, "da": DANISH, "en": ENGLISH}


def rank(target=FAROESE, candidates=WORLD, **options):
    return rank_pivots(target, candidates, **{"normalizer": "default", **options})


def rows(ranking):
    return {row.language: row for row in ranking.rows}


# A world worked out by hand


def test_the_world_by_ceiling():
    ranking = rank()
    assert ranking.chosen() == ["en"]
    english = rows(ranking)["en"]
    assert (english.order, english.ceiling, english.gain) == (1, 75.0, 75.0)
    assert (english.pairs, english.entities, english.coverage) == (4, 4, 0.75)
    # The rest: those that cover most first, and of equals the closer one.
    assert [row.language for row in ranking.rows] == ["en", "da", "is"]
    assert rows(ranking)["da"][7:] == (None, None, None, None)
    assert not ranking.estimated
    assert ranking.size == 4


def test_the_world_by_closeness():
    """Danish has Wien and Oslo as they are; Icelandic has Vín; English then adds nothing."""
    ranking = rank(by="closeness")
    assert ranking.chosen() == ["da", "is"]
    assert [row.gain for row in ranking.rows[:2]] == [50.0, 25.0]
    assert [row.ceiling for row in ranking.rows[:2]] == [50.0, 75.0]
    assert [row.similarity for row in ranking.rows[:2]] == [50.0, 75.0]
    assert rows(ranking)["da"].closeness == 1.0
    expected = (alike("wien", "vin") + WHOLE) / (2 * WHOLE)
    assert rows(ranking)["is"].closeness == pytest.approx(expected)


def test_a_second_language_adds_what_the_first_lacks():
    ranking = rank(candidates={"is": ICELANDIC, "da": DANISH})
    assert [(row.language, row.ceiling, row.gain) for row in ranking.rows] == [
        ("da", 50.0, 50.0),
        ("is", 75.0, 25.0),
    ]


def test_most_and_least():
    two = {"is": ICELANDIC, "da": DANISH}
    assert rank(candidates=two, most=1).chosen() == ["da"]
    assert rank(candidates=two, least=25.0).chosen() == ["da", "is"]
    assert rank(candidates=two, least=25.1).chosen() == ["da"]
    assert rank(candidates=two).chosen(1) == ["da"]


@pytest.mark.parametrize("by", ["ceiling", "closeness"])
def test_ties(by):
    """The closer one, then more overlap, then the smaller table, then the code."""
    target = MentionTable.from_pairs([("abc", "Q1"), ("n", "Q9")])
    near = MentionTable.from_pairs([("abc", "Q1")])
    larger = MentionTable.from_pairs([("abc", "Q1"), ("abc", "Q2")])
    wider = MentionTable.from_pairs([("abc", "Q1"), ("xyz", "Q2")])
    far = MentionTable.from_pairs([("abd", "Q1")])
    worlds = [
        {"a": far, "b": larger},
        {"a": wider, "b": larger},
        {"a": larger, "b": near},
        {"b": larger, "a": larger},
    ]
    chosen = [rank(target, world, by=by, most=1).chosen() for world in worlds]
    assert chosen == [["b"], ["b"], ["b"], ["a"]]


def test_the_target_among_the_candidates_is_left_out():
    assert "fo" not in rows(rank(candidates={"fo": ENGLISH, **WORLD}, language="fo"))
    assert "copy" not in rows(rank(candidates={"copy": FAROESE, **WORLD}))
    with pytest.raises(ParameterError, match="no candidates but the target itself"):
        rank(candidates={"fo": FAROESE}, language="fo")


def test_nothing_in_common():
    ranking = rank(candidates={"xx": MentionTable.from_pairs([("Zürich", "Q72")])})
    assert ranking.chosen() == []
    assert ranking.rows[0][3:] == (0.0, 0.0, 0.0, None, None, None, None, None)
    with pytest.raises(ParameterError, match="nothing to draw"):
        ranking.figure()


def test_an_empty_table_and_empty_names_cover_nothing_or_resemble_nothing():
    empty = MentionTable.from_pairs([])
    blank = MentionTable.from_pairs([("\u200b", "Q1741")])
    found = rows(rank(candidates={"xx": empty, "yy": blank, **WORLD}))
    assert found["xx"].coverage == 0.0
    assert (found["yy"].coverage, found["yy"].closeness) == (0.25, 0.0)
    shown = rank(MentionTable.from_pairs([("\u200b", "Q1741"), ("Oslo", "Q585")]))
    assert rows(shown)["da"].coverage == 1.0
    assert rows(shown)["da"].closeness == 0.5


def test_the_most_frequent_of_many_mentions_count(monkeypatch):
    monkeypatch.setattr("candgen.evaluation.pivot_measures.NAMES_PER_ENTITY", 2)
    target = MentionTable.from_pairs([("Wien", "Q1741"), ("Oslo", "Q585")])
    names = [("Wien", "Q1741", 1), ("Vienne", "Q1741", 2), ("Vienna", "Q1741", 3), ("Oslo", "Q585")]
    found = rank(target, {"xx": MentionTable.from_pairs(names)}).rows[0]
    best = max(alike("wien", "vienne"), alike("wien", "vienna"))
    assert found.closeness == (best + WHOLE) / (2 * WHOLE)


# Greedy: plain sets judge
ENTITIES = st.sampled_from(["Q1", "Q2", "Q3", "Q4", "Q5"])


PAIRS = st.lists(st.tuples(st.text("ab", min_size=1, max_size=4), ENTITIES), min_size=1, max_size=7)


def naive(target, tables, by, most):
    """The order, and the value after each step, by sets of pairs and sums of similarity."""
    pairs = [(mention, entity) for mention, entity, _ in target]

    def similarity(pair, languages):
        mentions = (m for one in languages for m, entity, _ in tables[one] if entity == pair[1])
        return max((alike(pair[0], mention) for mention in mentions), default=0)

    def value(languages):
        known = {entity for one in languages for _, entity, _ in tables[one]}
        if by == "ceiling":
            return sum(entity in known for _, entity in pairs)
        return sum(similarity(pair, languages) for pair in pairs)

    def closeness(one):
        known = {entity for _, entity, _ in tables[one]}
        shared = [similarity(pair, [one]) for pair in pairs if pair[1] in known]
        return sum(shared) / len(shared) if shared else 0

    def trigrams_of(table):
        return sum((trigrams(mention) for mention in {m for m, _, _ in table}), Counter())

    def overlapping(one):
        ours, theirs = trigrams_of(target), trigrams_of(tables[one])
        both = (min(ours[t] * theirs.total(), theirs[t] * ours.total()) for t in ours)
        return sum(both) / (ours.total() * theirs.total())

    order, values = [], []
    while len(order) < min(most, len(tables)):
        left = [one for one in tables if one not in order]
        best = min(
            left,
            key=lambda one: (
                -value([*order, one]),
                -closeness(one),
                -overlapping(one),
                len(tables[one]),
                one,
            ),
        )
        if value([*order, best]) == value(order):
            break
        order.append(best)
        values.append(value(order))
    return order, values


@given(PAIRS, st.lists(PAIRS, min_size=1, max_size=4), st.sampled_from(["ceiling", "closeness"]))
def test_greedy_is_that_of_plain_sets(pairs, others, by):
    target = MentionTable.from_pairs(pairs)
    tables = {f"l{n}": MentionTable.from_pairs(some) for n, some in enumerate(others)}
    tables = {code: table for code, table in tables.items() if table != target}
    if not tables:
        return
    order, values = naive(target, tables, by, most=3)
    ranking = rank(target, tables, by=by, most=3, least=0, normalizer="none")
    assert ranking.chosen() == order
    whole = len(target) * (1 if by == "ceiling" else WHOLE)
    reached = [row.ceiling if by == "ceiling" else row.similarity for row in ranking.rows]
    assert reached[: len(order)] == [100 * value / whole for value in values]
    assert sorted(rows(ranking)) == sorted(tables)
    gains = [row.gain for row in ranking.rows if row.gain is not None]
    assert gains == sorted(gains, reverse=True)
    assert math.fsum(gains) == pytest.approx(100 * max([0, *values]) / whole)


# Names without entities


def test_zero_shot():
    names = ["Wien", "Oslo", "Oslo", "Havnin", ""]
    ranking = rank(names)
    assert ranking.estimated
    assert ranking.size == 4
    assert ranking.chosen() == ["da"]
    danish = rows(ranking)["da"]
    assert (danish.coverage, danish.closeness, danish.ceiling) == (0.5, 1.0, 50.0)
    assert rank(tuple(reversed(names))) == ranking
    assert rank(names, sample=2).size == 2


def test_a_sample_depends_on_the_seed_alone():
    names = [f"name {number}" for number in range(200)]
    table = MentionTable.from_pairs([(name, "Q1") for name in names[:100]])
    shares = [rank(names, {"xx": table}, sample=40, seed=seed).rows[0].coverage for seed in (0, 0)]
    assert shares[0] == shares[1]
    drawn = {
        rank(names, {"xx": table}, sample=20, seed=seed, normalizer="none").rows[0].overlap
        for seed in range(5)
    }
    assert len(drawn) > 1


# What it looks like


def test_table_json_and_figure():
    ranking = rank(candidates={"is": ICELANDIC, "da": DANISH}, language="fo")
    shown = ranking.table()
    assert shown.title == "Pivots for fo, by ceiling"
    assert "distance" not in shown.columns
    assert shown.rows[0][:5] == (1, "da", 50.0, 50.0, 50.0)
    far = rank(candidates=WORLD, distances={"is": 0.0}).table()
    assert [row[far.columns.index("distance")] for row in far.rows] == [None, None, 0.0]
    made = ranking.as_json()
    assert made["pivots"][0]["language"] == "da"
    assert set(made["pivots"][0]) == {*Pivot._fields, "likeness"} - {"similarity"}
    assert made["pivots"][0]["likeness"] == ranking.rows[0].similarity
    assert (made["size"], made["estimated"], made["by"]) == (4, False, "ceiling")
    figure = ranking.figure()
    assert "ceiling: da 50.0, is 75.0" in alt_text(figure)
    assert figure.y_range == (40, 100)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "size"}, "by is 'size': choose 'ceiling' or 'closeness'"),
        ({"most": 0}, "most is 0: expected a whole number of at least 1"),
        ({"sample": True}, "sample is True"),
        ({"least": math.nan}, "least is nan"),
        ({"least": "much"}, "least is 'much'"),
        ({"language": 7}, "language is 7: expected a code such as 'fo'"),
        ({"normalizer": "upper"}, "unknown normalizer 'upper'"),
        ({"candidates": [ICELANDIC]}, "candidates: expected a dict"),
        ({"candidates": {"is": [("Vín", "Q1")]}}, "the candidate 'is' is"),
        ({"candidates": {}}, "there are no candidates"),
        ({"target": MentionTable.from_pairs([])}, "the target has no pairs"),
        ({"target": 7}, "the target is 7: expected a mention table, or names"),
        ({"target": "Wien"}, "target: expected a mention table, or a list of names"),
        ({"target": ["Wien", 3]}, "target: expected a mention table, or a list of names"),
        ({"target": ["", "\u200b"]}, "the target has no names"),
        ({"target": []}, "the target has no names"),
    ],
)
def test_mistakes(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        rank(**options)


def test_progress_is_told():
    told = []
    rank(progress=lambda doing, share: told.append((doing, share)))
    assert [doing for doing, _ in told] == [
        "looking at is",
        "looking at da",
        "looking at en",
        "done",
    ]
    assert [share for _, share in told] == sorted(share for _, share in told)


# Real names


def test_faroese(shared_data):
    """The ceilings of DESIGN.md: Icelandic 68.5; with Danish, Norwegian and Swedish 99.6."""
    folder = TableFolder(shared_data / "names", without="fo")
    faroese = MentionTable.read(shared_data / "names" / "fo.tsv.gz")
    four = {code: folder[code] for code in ("is", "da", "no", "sv")}
    alone = candgen.rank_pivots(faroese, {"is": four["is"]}, language="fo", normalizer="default")
    assert alone.rows[0].ceiling == pytest.approx(68.5, abs=0.3)
    ranking = candgen.rank_pivots(faroese, four, language="fo", normalizer="default")
    last = ranking.rows[len(ranking.chosen()) - 1]
    assert last.ceiling == pytest.approx(99.6, abs=0.3)
    known = {entity for table in four.values() for entity in table.entities}
    assert last.ceiling == 100 * sum(entity in known for _, entity, _ in faroese) / len(faroese)


def test_estimates_are_like_the_truth(shared_data):
    folder = TableFolder(shared_data / "names", without="fo")
    faroese = MentionTable.read(shared_data / "names" / "fo.tsv.gz")
    some = {code: folder[code] for code in ("is", "no", "fi", "et", "li", "tk", "olo")}
    true = rows(candgen.rank_pivots(faroese, some, language="fo", normalizer="default"))
    guess = candgen.rank_pivots(faroese.mentions, some, language="fo", normalizer="default")
    for row in guess.rows:
        assert row.coverage == pytest.approx(true[row.language].coverage, abs=0.15)
    assert guess.chosen(1) == ["no"]
