"""Reports: measures, tables and the answers to every query."""

import json
import math

import pytest

from candgen import Query, evaluate
from candgen.errors import ParameterError
from candgen.evaluation.metrics import bootstrap
from candgen.evaluation.report import Answer
from tests.support.scripted import FIRST, QUERIES, Scripted


def test_ranks_are_places_from_one(report):
    assert report.ranks("first").tolist() == [1, 2, 3, 0, 0]
    assert report.ranks("second").tolist() == [0, 1, 3, 1, 0]


def test_recall_by_hand(report):
    assert report.recall("first", k=1) == 20.0
    assert report.recall("first", k=2) == 40.0
    assert report.recall("first", k=3) == 60.0
    assert report.recall("first", k=3, type="easy") == 100.0
    assert report.recall("first", k=2, type="easy") == 100.0
    assert report.recall("first", k=1, type="easy") == 50.0
    assert report.recall("first", k=3, type="hard") == 0.0
    assert report.macro_recall("first", k=3) == pytest.approx((100 + 100 + 0) / 3)
    assert report.macro_recall("second", k=1) == pytest.approx((50 + 0 + 50) / 3)
    assert report.mrr("first") == pytest.approx((1 + 1 / 2 + 1 / 3) / 5)
    assert report.mrr("first", type="medium") == pytest.approx(1 / 3)


def test_queries_unlike_any_pivot_name(report):
    # Vín is wine in Icelandic and Rín the Rhine; Wien is there, but not as Vienna.
    assert report.unlike.tolist() == [False, True, True, False, True]
    assert report.recall("first", k=3, unlike=True) == pytest.approx(200 / 3)
    assert report.recall("first", k=3, type="hard", unlike=True) == 0.0


def test_the_ceiling_is_what_a_generator_can_tell(report):
    assert report.ceiling("first") == 60.0
    assert report.ceiling("first", type="hard") == 0.0
    assert report.ceiling("second") is None


def test_comparison_by_hand(report):
    found = report.compare("first", "second", k=3)
    assert (found.only_first, found.only_second) == (1, 1)
    assert found.difference == 0.0
    assert found.p_value == 1.0
    at_one = report.compare("first", "second", k=1)  # Vín against Wien and Rín
    assert (at_one.only_first, at_one.only_second) == (1, 2)
    assert at_one.difference == pytest.approx(-20.0)


def test_the_table_says_all(report):
    table = report.table()
    assert table.columns == (
        "generator",
        "subset",
        "queries",
        "recall@1",
        "recall@2",
        "recall@3",
        "95% of @3",
        "MRR",
        "ceiling",
    )
    rows = {row[:2]: row[2:] for row in table.rows}
    assert rows["first", "all"][:4] == (5, 20.0, 40.0, 60.0)
    assert rows["first", "hard"][0] == 2
    assert rows["first", "macro"][3] == pytest.approx(200 / 3)
    assert rows["second", "no pivot name"][0] == 3
    assert "'no pivot name': queries without an exact match" in table.note
    assert rows["second", "all"][-1] is None
    low, high = rows["first", "all"][4].split("–")
    interval = report.interval("first", k=3)
    assert (float(low), float(high)) == (interval.low, interval.high)


def test_exports(report):
    assert report.to_csv().splitlines()[0].startswith("generator,subset,queries,recall@1")
    recall, comparisons = json.loads(report.to_json())
    assert recall["rows"][0]["recall@3"] == 60.0
    assert comparisons["rows"][0]["only first"] == 1
    assert "| first | all | 5 | 20.0 | 40.0 | 60.0 |" in report.to_markdown()
    assert "first & all & 5 & 20.0 & 40.0 & 60.0 &" in report.to_latex()
    assert "McNemar" in str(report)
    alone = evaluate({"one": Scripted(FIRST)}, QUERIES)
    assert "McNemar" not in str(alone)
    assert len(json.loads(alone.to_json())) == 1


def test_results_say_what_failed_and_why(report, tmp_path):
    report.write_results(tmp_path / "answers.tsv")
    lines = (tmp_path / "answers.tsv").read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    rows = [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]
    assert len(rows) == 10
    outcomes = {(row["generator"], row["mention"]): row["outcome"] for row in rows}
    assert outcomes["first", "Wien"] == "found"
    assert outcomes["first", "Rín"] == "not in the candidate space"
    assert outcomes["second", "Vín"] == "ranked too low"
    assert outcomes["second", "Rínin"] == "no candidates"
    wien = next(row for row in rows if row["mention"] == "Wien")
    assert (wien["rank"], wien["first"], wien["score"], wien["type"]) == (
        "2",
        "Q584",
        "0.5",
        "easy",
    )
    assert [row["no_pivot_name"] for row in rows[:2]] == ["no", "yes"]


def test_queries_without_types_have_no_breakdown():
    report = evaluate({"one": Scripted(FIRST)}, [("Vín", "Q282"), ("Rín", "Q584")], ks=(1,))
    assert [row[1] for row in report.table().rows] == ["all"]
    assert report.types == []
    assert math.isnan(report.recall("one", 1, type="hard"))


def test_questions_a_report_cannot_answer(report):
    with pytest.raises(ParameterError, match="evaluate with more"):
        report.recall("first", k=30)
    with pytest.raises(ParameterError, match="choose first, second"):
        report.recall("third", k=1)
    with pytest.raises(ParameterError, match="choose easy, medium, hard"):
        report.recall("first", k=1, type="simple")
    with pytest.raises(ParameterError, match="give evaluate the pivots"):
        evaluate({"one": Scripted(FIRST)}, QUERIES).recall("one", unlike=True)


def test_outcomes_without_knowledge_of_the_space():
    assert Answer(0, None, None, None).outcome == "no candidates"
    assert Answer(0, None, "Q1", 1.0, True).outcome == "ranked too low"


def test_parts_of_the_report_are_of_what_was_asked(report):
    assert report.mrr("first", unlike=True) == pytest.approx((1 / 2 + 1 / 3) / 3)
    assert report.compare("first", "second", k=1, unlike=True).only_second == 1  # Wien, not Rín
    assert report.interval("first", k=3, type="hard") == (0.0, 0.0)
    assert report.interval("first", k=3, type="easy") == (100.0, 100.0)
    rows = {row[:2]: row for row in report.table().rows}
    assert rows["first", "all"][7] == f"{(1 + 1 / 2 + 1 / 3) / 5:.3f}"
    macro = rows["first", "macro"][6]
    types = [query.type for query in QUERIES]
    assert macro == bootstrap(100 * (report.ranks("first") > 0), types=types).shown


def test_results_hold_no_tabs():
    report = evaluate({"a\tb": Scripted({})}, [Query("x\ty", "Q1")])
    assert [line.count("\t") for line in report.results().splitlines()] == [9, 9]
