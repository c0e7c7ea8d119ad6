"""Candidate spaces, ceilings, and queries that a pivot's own names do not answer."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import MentionTable
from candgen.errors import ParameterError
from candgen.evaluation.ceilings import (
    Ceiling,
    candidate_space,
    ceiling,
    covered,
    paper_spaces,
    unlike_pivots,
)
from candgen.tables.queries import Query

ICELANDIC = MentionTable.from_pairs([("Vín", "Q1741", 3), ("Vín", "Q282"), ("Rín", "Q584")])
DANISH = MentionTable.from_pairs([("Wien", "Q1741"), ("Oslo", "Q585"), ("Rhinen", "Q584")])
FAROESE = MentionTable.from_pairs([("Wien", "Q1741"), ("Havnin", "Q10704")])
ENGLISH = MentionTable.from_pairs([("Vienna", "Q1741"), ("wine", "Q282"), ("Mars", "Q111")])
NOTHING = MentionTable.from_pairs([])

QUERIES = [
    Query("Wien", "Q1741", "easy"),
    Query("Vín", "Q1741", "medium"),
    Query("Tórshavn", "Q10704", "medium"),
    Query("Vín", "Q282", "hard"),
    Query("Rín", "Q584", "hard"),
    Query("Oslo", "Q585", "hard"),
    Query("Mars", "Q111", "hard"),
]


def test_spaces_by_hand():
    assert candidate_space(ICELANDIC) == {"Q1741", "Q282", "Q584"}
    assert candidate_space(ICELANDIC, DANISH) == {"Q1741", "Q282", "Q584", "Q585"}
    assert candidate_space(ICELANDIC, DANISH, named=["Q584", "Q7"]) == {"Q584"}
    assert candidate_space(ICELANDIC, named=[]) == frozenset()
    assert candidate_space() == candidate_space(NOTHING) == frozenset()


def test_spaces_of_the_paper_by_hand():
    spaces = paper_spaces([ICELANDIC], FAROESE, ENGLISH)
    english = {"Q1741", "Q282", "Q111"}
    assert spaces == {
        "PL": {"Q1741", "Q282", "Q584"},
        "PL+TL": {"Q1741", "Q282", "Q584", "Q10704"},
        # Every entity of the English table has an English name, and no other has.
        "EN": english,
        "EN+PL": english,
        "EN+PL+TL": english,
    }
    assert list(spaces) == ["PL", "PL+TL", "EN", "EN+PL", "EN+PL+TL"]


def test_english_names_from_elsewhere():
    """Labels: the Rhine and Mars have one, Tórshavn has none. What nobody saw is in no space."""
    spaces = paper_spaces([ICELANDIC], FAROESE, ENGLISH, named=["Q584", "Q111", "Q9"])
    english = {"Q1741", "Q282", "Q111"}
    assert spaces["EN"] == english
    assert spaces["EN+PL"] == english | {"Q584"}
    assert spaces["EN+PL+TL"] == english | {"Q584"}
    spaces = paper_spaces([ICELANDIC], FAROESE, ENGLISH, named=["Q10704"])
    assert spaces["EN+PL"] == english
    assert spaces["EN+PL+TL"] == english | {"Q10704"}


def test_spaces_that_the_tables_do_not_allow_are_left_out():
    assert list(paper_spaces([ICELANDIC])) == ["PL"]
    assert list(paper_spaces([ICELANDIC], FAROESE)) == ["PL", "PL+TL"]
    assert list(paper_spaces([ICELANDIC], english=ENGLISH)) == ["PL", "EN", "EN+PL"]
    assert paper_spaces([ICELANDIC, DANISH])["PL"] == candidate_space(ICELANDIC, DANISH)
    assert paper_spaces(iter([ICELANDIC]), FAROESE)["PL+TL"] == candidate_space(ICELANDIC, FAROESE)


def test_ceilings_by_hand():
    found = ceiling(QUERIES, candidate_space(ICELANDIC))
    assert list(found) == ["all", "easy", "medium", "hard"]
    assert found == {
        "all": Ceiling(7, pytest.approx(400 / 7)),
        "easy": Ceiling(1, 100),
        "medium": Ceiling(2, 50),
        "hard": Ceiling(4, 50),
    }
    joint = ceiling(QUERIES, candidate_space(ICELANDIC, FAROESE))
    assert joint["medium"] == Ceiling(2, 100)
    assert joint["hard"] == Ceiling(4, 50)
    assert ceiling(QUERIES, candidate_space(ICELANDIC, DANISH))["hard"] == Ceiling(4, 75)


def test_ceilings_of_few_queries():
    assert ceiling([Query("Vín", "Q282")], ["Q282"]) == {"all": Ceiling(1, 100)}
    nothing = ceiling([], {"Q282"})
    assert list(nothing) == ["all"]
    assert nothing["all"].queries == 0
    assert math.isnan(nothing["all"].recall)
    assert ceiling(QUERIES[:1], ()) == {"all": Ceiling(1, 0), "easy": Ceiling(1, 0)}


@given(st.lists(st.sampled_from(QUERIES)), st.sets(st.sampled_from(["Q1741", "Q282", "Q585"])))
def test_a_larger_space_never_lowers_a_ceiling(queries, entities):
    small, large = ceiling(queries, entities), ceiling(queries, entities | {"Q584"})
    assert covered(queries, list(entities)).sum() == sum(q.entity in entities for q in queries)
    for name in small:
        assert small[name].queries == large[name].queries
        assert not small[name].recall > large[name].recall


# Queries without an exact match in a pivot


def test_unlike_pivots_by_hand():
    assert unlike_pivots(QUERIES, [ICELANDIC]).tolist() == [
        True,  # Wien is not Icelandic
        False,
        True,  # no Icelandic name at all
        False,
        False,
        True,
        True,
    ]
    both = unlike_pivots(QUERIES, [ICELANDIC, DANISH])
    assert both.tolist() == [False, False, True, False, False, False, True]
    assert both.dtype == np.bool_


def test_the_name_of_another_entity_is_not_the_golds():
    queries = [Query("Vín", "Q584"), Query("Rín", "Q584")]
    assert unlike_pivots(queries, [ICELANDIC]).tolist() == [True, False]
    # Vín is a name of Q1741, Wien one of Q282: together they are no name of either's other.
    crossed = [
        MentionTable.from_pairs([("Vín", "Q1741")]),
        MentionTable.from_pairs([("Wien", "Q282")]),
    ]
    queries = [Query("Wien", "Q1741"), Query("Vín", "Q282")]
    assert unlike_pivots(queries, crossed).tolist() == [True, True]


def test_without_pivots_or_queries():
    assert unlike_pivots(QUERIES, []).tolist() == [True] * 7
    assert unlike_pivots(QUERIES, [NOTHING]).tolist() == [True] * 7
    assert unlike_pivots([], [ICELANDIC]).tolist() == []


def test_strings_are_compared_after_the_normalizer():
    queries = [Query("VÍN", "Q282"), Query("vin", "Q282"), Query("Vínið", "Q282")]
    assert unlike_pivots(queries, [ICELANDIC]).tolist() == [True, True, True]
    for normalizer in ("default", "paper"):
        found = unlike_pivots(queries, [ICELANDIC], normalizer=normalizer)
        assert found.tolist() == [False, False, True]


def test_each_language_has_its_own_i():
    turkish = MentionTable.from_pairs([("IĞDIR", "Q1")])
    queries = [Query("ığdır", "Q1")]

    def unlike(language, languages):
        return unlike_pivots(
            queries,
            [ICELANDIC, turkish],
            normalizer="default",
            language=language,
            languages=languages,
        ).tolist()

    assert unlike("az", [None, "tr"]) == [False]
    assert unlike("az", ["tr", "is"]) == [True]
    assert unlike("az", None) == [True]


def test_the_language_of_the_queries_counts():
    latin = MentionTable.from_pairs([("ığdır", "Q1")])
    found = {
        language: unlike_pivots(
            [Query("IĞDIR", "Q1")], [latin], normalizer="default", language=language
        ).tolist()
        for language in ("tr", "is")
    }
    assert found == {"tr": [False], "is": [True]}


names = st.sampled_from(["Vín", "vín", "Rín", "Wien", "Oslo"])
entities = st.sampled_from(["Q1741", "Q282", "Q584", "Q585"])
rows = st.lists(st.tuples(names, entities))


@given(rows, st.lists(rows, max_size=3))
def test_unlike_pivots_is_a_plain_lookup(queries, pivots):
    tables = [MentionTable.from_pairs(pivot) for pivot in pivots]
    found = unlike_pivots([Query(*row) for row in queries], tables)
    assert found.tolist() == [all(row not in pivot for pivot in pivots) for row in queries]


# What is refused


@pytest.mark.parametrize("tables", [{"is": ICELANDIC}, [None], [[("Vín", "Q282")]]])
def test_tables_are_refused(tables):
    for use in (paper_spaces, lambda given: unlike_pivots(QUERIES, given)):
        with pytest.raises(ParameterError, match="is not a mention table: expected mention tables"):
            use(tables)


def test_a_string_is_no_space():
    with pytest.raises(ParameterError, match="the candidate space is 'Q282': expected several"):
        ceiling(QUERIES, "Q282")


def test_languages_are_one_for_each_pivot():
    with pytest.raises(ParameterError, match="languages has 1 and pivots 2"):
        unlike_pivots(QUERIES, [ICELANDIC, DANISH], languages=["is"])


def test_an_unknown_normalizer_is_refused():
    with pytest.raises(ParameterError, match="unknown normalizer 'nfc'"):
        unlike_pivots(QUERIES, [ICELANDIC], normalizer="nfc")


# Real names


def lower_case(path):
    return MentionTable.from_pairs(
        (mention.lower(), e, n) for mention, e, n in MentionTable.read(path)
    )


def figures(text):
    """The rows of the README's table: pair, share of entities found, and number of mentions."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[4].replace(",", "").isdigit():
            yield cells[0], float(cells[3]), int(cells[4].replace(",", ""))


def test_figures_of_the_readme_of_the_names(shared_data):
    """Its last column has distinct pairs in lower case, whose entity the pivot does have."""
    table = list(figures((shared_data / "README.md").read_text(encoding="utf-8")))
    assert len(table) == 9
    for pair, share, number in table:
        target, pivot = (
            lower_case(shared_data / "names" / f"{code}.tsv.gz") for code in pair.split("-")
        )
        queries = [Query(mention, entity) for mention, entity, _ in target]
        known = covered(queries, candidate_space(pivot))
        assert int((unlike_pivots(queries, [pivot]) & known).sum()) == number, pair
        entities = [Query(entity, entity) for entity in target.entities]
        assert ceiling(entities, candidate_space(pivot))["all"].recall == pytest.approx(
            100 * share, abs=0.051
        ), pair


def test_coverage_of_faroese(shared_data):
    """One pivot is a wall, several are not."""
    tables = {
        code: MentionTable.read(shared_data / "names" / f"{code}.tsv.gz")
        for code in ("fo", "is", "da", "no", "sv")
    }
    queries = [Query(mention, entity) for mention, entity, _ in tables.pop("fo")]
    assert ceiling(queries, candidate_space(tables["is"]))["all"].recall == pytest.approx(
        68.4, abs=0.05
    )
    assert ceiling(queries, candidate_space(*tables.values()))["all"].recall == pytest.approx(
        99.6, abs=0.05
    )


def test_spaces_among_some_entities_are_those_parts_of_the_spaces(shared_data):
    read = {
        name: MentionTable.read(shared_data / "names" / f"{name}.tsv.gz") for name in ("fo", "is")
    }
    golds = read["fo"].entities[::7]
    whole = paper_spaces([read["is"]], read["fo"], read["fo"])
    assert paper_spaces([read["is"]], read["fo"], read["fo"], among=golds) == {
        label: entities.intersection(golds) for label, entities in whole.items()
    }
