"""Evaluating generators on queries."""

import numpy as np
import pytest

import candgen
from candgen import MentionTable, PivotTokenIndex, Query, evaluate
from candgen.errors import ParameterError
from tests.support import toy
from tests.support.scripted import FIRST, QUERIES, Scripted


def test_every_query_counts_and_is_asked_once(report):
    generator = Scripted(FIRST)
    many = QUERIES * 700
    found = evaluate({"one": generator}, many, ks=(3,))
    assert len(found.ranks("one")) == 3500
    assert [mention for mentions, _ in generator.asked for mention in mentions] == [
        query.mention for query in many
    ]
    assert {k for _, k in generator.asked} == {3}
    assert found.recall("one", k=3) == report.recall("first", k=3)


def test_a_real_index():
    index = PivotTokenIndex.build(
        {"is": MentionTable.from_pairs(toy.ICELANDIC)}, MentionTable.from_pairs(toy.FAROESE)
    )
    queries = [Query("Vín", "Q282"), Query("Oslo", "Q585"), Query("Rín", "Q584")]
    report = evaluate({"pti": index}, queries)
    assert report.ranks("pti").tolist() == [1, 0, 1]
    assert [answer.outcome for answer in report.answers["pti"]] == [
        "found",
        "not in the candidate space",
        "found",
    ]
    assert report.ceiling("pti") == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({}, QUERIES), "at least one"),
        (({"one": Scripted(FIRST)}, []), "no queries"),
        (({"one": Scripted(FIRST)}, ["Vín"]), r"queries\[0\] is 'Vín'"),
        (({"one": Scripted(FIRST)}, ["Vín", "ab"]), r"queries\[0\] is 'Vín'"),
        (({"one": Scripted(FIRST)}, ["ab"]), r"queries\[0\] is 'ab'"),
        (({"one": Scripted(FIRST)}, [("a", "b", "c", "d")]), r"queries\[0\]"),
        (({"one": Scripted(FIRST)}, [("a", 7)]), r"queries\[0\]"),
        (({"one": Scripted(FIRST)}, [7]), r"queries\[0\] is 7"),
        (({"one": Scripted(FIRST)}, [("a", "Q1", "simple")]), "easy, medium, hard or None"),
    ],
)
def test_nonsense_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        evaluate(*arguments)


@pytest.mark.parametrize("ks", [(), (0,), (True,), (1.5,)])
def test_a_k_is_a_whole_number(ks):
    with pytest.raises(ParameterError, match="k"):
        evaluate({"one": Scripted(FIRST)}, QUERIES, ks=ks)


def test_what_is_no_generator_or_no_table_is_refused(report):
    with pytest.raises(ParameterError, match="a is 3, which has no method candidates"):
        evaluate({"a": 3}, QUERIES)
    with pytest.raises(ParameterError, match="pivots: expected a dict"):
        evaluate({"one": Scripted(FIRST)}, QUERIES, pivots=[])
    with pytest.raises(ParameterError, match="k is '3'"):
        report.recall("first", k="3")
    assert evaluate({"one": Scripted(FIRST)}, QUERIES, ks=np.array([1, 3]).tolist()).ks == (1, 3)
    assert evaluate({"one": Scripted(FIRST)}, QUERIES, ks=[np.int64(3)]).ks == (3,)


def test_a_generator_must_answer_every_mention():
    class Lazy(Scripted):
        def candidates(self, mentions, k=30):
            return super().candidates(mentions, k)[1:]

    with pytest.raises(ParameterError, match="4 answers to 5 mentions"):
        evaluate({"lazy": Lazy(FIRST)}, QUERIES)


def test_a_generator_that_gives_too_much_gains_nothing():
    class Chatty(Scripted):
        def candidates(self, mentions, k=30):
            return super().candidates(mentions, 1000)

    assert evaluate({"chatty": Chatty(FIRST)}, QUERIES, ks=(1,)).ranks("chatty").tolist() == [
        1,
        0,
        0,
        0,
        0,
    ]


def test_knows_tells_the_candidate_space():
    index = PivotTokenIndex.build({"is": MentionTable.from_pairs(toy.ICELANDIC)})
    assert index.knows(["Q282", "Q1", "Q584"]) == [True, False, True]
    assert index.knows([]) == []


def test_knows_what_a_threshold_has_left():
    # Bigrams ^a ab b$ of four entities, with priors of 1/4 and posteriors of 1/3; cd is Q5's alone.
    rows = [("ab", f"Q{n}") for n in range(1, 5)] + [("cd", "Q5")]
    table = MentionTable.from_pairs(rows)

    def known(**options):
        index = PivotTokenIndex.build({"is": table}, tokenizer=candgen.CharNgrams(2, 2), **options)
        found = {c.entity for mention in ("ab", "cd") for c in index.candidates([mention])[0]}
        told = index.knows([f"Q{n}" for n in range(7)])
        assert {f"Q{n}" for n in range(7) if told[n]} == found
        return found

    assert known() == {"Q1", "Q2", "Q3", "Q4", "Q5"}
    assert known(threshold=0.3) == {"Q1", "Q2", "Q3", "Q4", "Q5"}
    assert known(threshold=0.3, lam=0.0) == {"Q5"}
    assert known(threshold=0.5) == {"Q5"}


def test_the_language_of_the_queries_decides_what_a_pivot_name_is():
    turkish = MentionTable.from_pairs([("IĞDIR", "Q1")])
    queries = [Query("ığdır", "Q1")]
    options = {"pivots": {"tr": turkish}, "normalizer": "default"}
    asked = {"one": Scripted({})}
    assert evaluate(asked, queries, **options, language="tr").unlike.tolist() == [False]
    other = evaluate(asked, [Query("IĞDIR", "Q1")], **options, language="en")
    assert other.unlike.tolist() == [True]


def test_an_empty_mention_is_a_query_that_nothing_answers():
    index = PivotTokenIndex.build({"is": MentionTable.from_pairs(toy.ICELANDIC)})
    assert evaluate({"pti": index}, [Query("", "Q282")]).recall("pti") == 0.0
