"""``candgen evaluate``."""

import csv
import io
import json
import os

import pytest

import candgen
from candgen.cli.evaluate import parse_indexes
from candgen.errors import ParameterError
from candgen.evaluation.dataset import read_dataset
from candgen.tables.queries import read_queries


def test_evaluate_agrees_with_the_library(cli, dataset, indexes):
    done = cli("evaluate", dataset, *indexes, "--format", "csv", "-k", 1, "-k", 5)
    assert done.status == 0
    rows = list(csv.DictReader(io.StringIO(done.out)))
    queries = read_dataset(dataset).test
    report = candgen.evaluate(
        {path.name: candgen.load(path) for path in indexes}, queries, ks=(1, 5)
    )
    for row in rows:
        kind = None if row["subset"] in ("all", "macro") else row["subset"]
        if row["subset"] != "macro":
            assert float(row["recall@5"]) == report.recall(row["generator"], k=5, type=kind)
    assert {row["subset"] for row in rows} == {"all", "easy", "medium", "hard", "macro"}
    assert {int(row["queries"]) for row in rows} == {5, 15}


def test_evaluate_compares_in_pairs(cli, dataset, indexes):
    joint, alone = indexes
    done = cli("evaluate", dataset, f"one={joint}", f"two={alone}")
    assert done.status == 0
    assert "p (McNemar)" in done.out
    assert "one" in done.out
    recall, comparisons = json.loads(cli("evaluate", dataset, joint, alone, "--format", "json").out)
    assert comparisons["rows"][0]["first"] == "joint"
    assert recall["rows"][0]["queries"] == 15
    assert "\\toprule" in cli("evaluate", dataset, joint, "--format", "latex").out
    assert cli("evaluate", dataset, joint, "--format", "markdown").out.count("|:---|") == 1


def test_evaluate_dev_or_a_file(cli, tables, dataset, indexes):
    arguments = ("--format", "csv", "--pivot", tables / "is.tsv.gz")
    dev = cli("evaluate", dataset, indexes[0], "--fold", "dev", *arguments)
    assert "no pivot name" in dev.out
    assert cli("evaluate", dataset / "dev.tsv", indexes[0], *arguments).out == dev.out


def test_evaluate_writes_every_answer(cli, dataset, indexes, tmp_path):
    done = cli("evaluate", dataset, *indexes, "--results", tmp_path / "answers.tsv")
    assert done.status == 0
    lines = (tmp_path / "answers.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2 * 15
    assert {line.split("\t")[-1] for line in lines[1:]} <= {
        "found",
        "not in the candidate space",
        "ranked too low",
        "no candidates",
    }
    assert len(read_queries(dataset / "test.tsv")) == 15


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{dataset}", "{joint}", "{joint}"], "names two indexes"),
        (["{dataset}", "{nowhere}"], "nowhere"),
        (["{nowhere}", "{joint}"], "nowhere"),
        (["{dataset}", "{joint}", "--results", "{nowhere}/a.tsv"], "is not a folder"),
        (["{dataset}"], "missing argument"),
        (["{dataset}", "{joint}", "--pivot", "x=a", "--pivot", "x=b"], "more than one table"),
        (["{dataset}", "=b"], "INDEX '=b' has no name: expected [NAME=]INDEX"),
    ],
)
def test_evaluate_refuses_in_one_sentence(cli, dataset, indexes, tmp_path, arguments, sentence):
    paths = {"dataset": dataset, "joint": indexes[0], "nowhere": tmp_path / "nowhere"}
    done = cli("evaluate", *(text.format(**paths) for text in arguments))
    assert done.status == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_evaluate_normalizes_names_of_pivots_by_their_languages(cli, tmp_path):
    candgen.MentionTable.from_pairs([("IĞDIR", "Q1"), ("Van", "Q2")]).write(tmp_path / "tr.tsv")
    index = candgen.PivotTokenIndex.build({"tr": candgen.MentionTable.read(tmp_path / "tr.tsv")})
    index.save(tmp_path / "tr.candgen")
    queries = tmp_path / "queries.tsv"
    queries.write_text("mention\tentity\nığdır\tQ1\nVan\tQ2\n", encoding="utf-8")
    arguments = ("--pivot", tmp_path / "tr.tsv", "--format", "csv")

    def unlike(*more):
        done = cli("evaluate", queries, tmp_path / "tr.candgen", *arguments, *more)
        rows = {row["subset"]: row for row in csv.DictReader(io.StringIO(done.out))}
        return int(rows["no pivot name"]["queries"])

    assert unlike() == 1
    assert unlike("--normalizer", "default", "--language", "tr") == 0


def test_evaluate_takes_the_normalizer_of_the_dataset(cli, tables, dataset, indexes):
    pivot = ("--pivot", f"x={tables / 'fo.tsv.gz'}", "--format", "csv")
    folded = cli("evaluate", dataset, indexes[0], *pivot)
    assert folded.out == cli("evaluate", dataset, indexes[0], *pivot, "--normalizer", "default").out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_results_do_not_replace_what_is_no_file(cli, dataset, indexes, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = cli("evaluate", dataset, indexes[0], "--results", tmp_path / "pipe")
    assert done.status == 2
    assert "is not a regular file" in done.err
    assert (tmp_path / "pipe").is_fifo()


def test_names_of_indexes():
    assert [each.language for each in parse_indexes(["a/fo.candgen", "is=b"])] == ["fo", "is"]
    with pytest.raises(ParameterError, match="'fo' names two indexes"):
        parse_indexes(["a/fo.candgen", "b/fo.candgen"])
