"""split, tune, evaluate and reproduce on the command line."""

import csv
import io
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

import candgen
import candgen.storage.index_folder
from candgen.cli.evaluate import parse_indexes
from candgen.cli.reproduce import _methods
from candgen.errors import ParameterError
from candgen.evaluation.dataset import read_dataset
from candgen.generators import METHODS, summaries
from candgen.protocols import Method, Size
from candgen.tables.queries import read_queries
from tests.paper.test_reproduce import TABLES


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for language, table in TABLES.items():
        table.write(folder / f"{language}.tsv.gz")
    return folder


@pytest.fixture
def dataset(cli, tables, tmp_path):
    folder = tmp_path / "fo.dataset"
    arguments = ("-o", folder, "--per-type", 5, "--normalizer", "default")
    assert cli("split", tables / "fo.tsv.gz", *arguments).status == 0
    return folder


@pytest.fixture
def indexes(cli, tables, dataset, tmp_path):
    for name, more in (("joint", ()), ("alone", ("--zero-shot",))):
        done = cli(
            "tune",
            dataset,
            "--method",
            "pti",
            "--pivot",
            tables / "is.tsv.gz",
            *more,
            "-o",
            tmp_path / name,
        )
        assert done.status == 0, done.err
    return tmp_path / "joint", tmp_path / "alone"


# split


def test_split_writes_a_dataset_and_prints_what_was_achieved(cli, tables, tmp_path):
    done = cli("split", f"fo={tables / 'fo.tsv.gz'}", "-o", tmp_path / "d", "--per-type", 5)
    assert done.status == 0
    lines = [line.split() for line in done.out.splitlines() if line]
    assert lines[-2:] == [["dev", "5", "5", "5", "15"], ["test", "5", "5", "5", "15"]]
    assert f"of {len(TABLES['fo'])} pairs stay for training" in done.out
    made = read_dataset(tmp_path / "d")
    assert made.language == "fo"
    assert len(made.dev) == len(made.test) == 15


def test_info_describes_a_dataset(cli, dataset):
    done = cli("info", dataset, "--verify")
    assert done.status == 0
    assert "checksums are right" in done.out
    train, dev, test = (line.split() for line in done.out.splitlines()[-3:])
    assert dev == ["dev", "5", "5", "5"]
    assert test == ["test", "5", "5", "5"]
    described = json.loads(cli("info", dataset, "--format", "json").out)
    assert described["input"]["sha256"] == TABLES["fo"].digest
    counts = described["counts"]["train"]
    assert train == ["train", str(counts["pairs"]), str(counts["entities"])]
    (dataset / "test.tsv").write_text("mention\tentity\ttype\n", encoding="utf-8")
    assert cli("info", dataset).status == 0
    assert "is not as it was written" in cli("info", dataset, "--verify").err


def test_split_is_that_of_the_library(cli, tables, tmp_path):
    arguments = ("--per-type", 4, "--seed", 3, "--normalizer", "default")
    assert cli("split", tables / "fo.tsv.gz", "-o", tmp_path / "d", *arguments).status == 0
    expected = candgen.split(TABLES["fo"], per_type=4, seed=3, normalizer="default", language="fo")
    made = read_dataset(tmp_path / "d")
    assert (made.train, made.dev, made.test) == (expected.train, expected.dev, expected.test)


def test_split_for_the_other_settings(cli, tables, tmp_path):
    done = cli("split", tables / "olo.tsv.gz", "--setting", "zero-shot", "-o", tmp_path / "olo")
    assert done.status == 0
    made = read_dataset(tmp_path / "olo")
    assert len(made.train) == 0
    assert len(made.dev) + len(made.test) == len(TABLES["olo"])
    done = cli("split", tables / "de.tsv.gz", "--setting", "high-resource", "-o", tmp_path / "de")
    assert done.status == 0
    assert done.out.splitlines()[-1].split()[3] == "–"


def test_split_in_the_released_layout(cli, tables, tmp_path):
    arguments = ("--layout", "released", "-o", tmp_path / "new" / "data", "--per-type", 5)
    assert cli("split", tables / "fo.tsv.gz", *arguments).status == 0
    folder = tmp_path / "new" / "data" / "fo"
    assert sorted(path.name for path in folder.iterdir()) == [
        "mentions_dev_type.txt",
        "mentions_tr.txt",
        "mentions_tt_type.txt",
    ]
    done = cli("tune", folder, "--pivot", tables / "is.tsv.gz")
    assert done.status == 0
    assert "best on dev" in done.out


def test_a_refused_split_leaves_nothing_behind(cli, tmp_path):
    table = candgen.MentionTable.from_pairs([(f"a_{n}", f"Q{n}") for n in range(40)])
    table.write(tmp_path / "fo.tsv")
    done = cli(
        "split", tmp_path / "fo.tsv", "--layout", "released", "-o", tmp_path / "new" / "data"
    )
    assert done.status == 2
    assert "underscore" in done.err
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")
    done = cli("split", tmp_path / "fo.tsv", "-o", tmp_path / "mine")
    assert done.status == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_a_table_without_pairs_is_named(cli, tmp_path):
    (tmp_path / "fo.tsv").write_text("mention\tentity\n", encoding="utf-8")
    done = cli("split", tmp_path / "fo.tsv", "-o", tmp_path / "d")
    assert done.status == 2
    assert "fo.tsv has no pairs" in done.err
    assert not (tmp_path / "d").exists()


# tune


def test_tune_shows_every_choice_and_builds_the_best(cli, tables, dataset, tmp_path):
    done = cli(
        "tune",
        dataset,
        "--method",
        "pti",
        "--pivot",
        tables / "is.tsv.gz",
        "-o",
        tmp_path / "fo.candgen",
    )
    assert done.status == 0
    assert done.out.count("best") == 2
    assert (
        sum(line.split()[:1] in (["0.1"], ["0.4"], ["1.0"]) for line in done.out.splitlines()) == 9
    )
    index = candgen.load(tmp_path / "fo.candgen")
    assert index.language == "fo"
    alpha, lam = index.parameters["alpha"]["is"], index.lam
    assert f"best on dev: alpha {alpha:g}, lam {lam:g}" in done.out
    train = read_dataset(dataset).train
    assert index.inputs["fo"]["sha256"] == train.digest


def test_tune_in_json(cli, tables, dataset):
    done = cli(
        "tune",
        dataset,
        "--method",
        "pti",
        "--pivot",
        tables / "is.tsv.gz",
        "--grid",
        "alpha=0,1",
        "--grid",
        "lam=2",
        "-k",
        3,
        "--format",
        "json",
    )
    found = json.loads(done.out)
    assert [trial["parameters"] for trial in found["trials"]] == [
        {"alpha": 0.0, "lam": 2.0},
        {"alpha": 1.0, "lam": 2.0},
    ]
    assert found["k"] == 3
    assert found["queries"] == 15
    assert found["best"] in found["trials"]


def test_tune_among_normalizers(cli, tables, dataset):
    done = cli(
        "tune",
        dataset,
        "--method",
        "pti",
        "--pivot",
        tables / "is.tsv.gz",
        "--grid",
        "normalizer=default,none",
        "--grid",
        "lam=1",
        "--grid",
        "alpha=1",
        "--format",
        "json",
    )
    assert [trial["parameters"]["normalizer"] for trial in json.loads(done.out)["trials"]] == [
        "default",
        "none",
    ]


def test_tune_of_several_pivots_tells_what_each_brings(cli, tables, dataset, tmp_path):
    pivots = ("--pivot", tables / "is.tsv.gz", "--pivot", tables / "fi.tsv.gz")
    done = cli(
        "tune",
        dataset,
        "--method",
        "pti",
        *pivots,
        "-k",
        3,
        "--worth",
        50,
        "-o",
        tmp_path / "fo.candgen",
    )
    assert done.status == 0
    assert "What each pivot brings on dev" in done.out
    found = json.loads(
        cli(
            "tune", dataset, "--method", "pti", *pivots, "-k", 3, "--worth", 50, "--format", "json"
        ).out
    )
    assert [pivot["pivot"] for pivot in found["pivots"]] == ["fi", "is"]
    left_out = [pivot["pivot"] for pivot in found["pivots"] if not pivot["kept"]]
    assert left_out  # nobody brings 50 points for each tenth
    alpha = found["best"]["parameters"]["alpha"]
    assert alpha == {pivot["pivot"]: pivot["alpha"] for pivot in found["pivots"]}
    assert found["best"] == found["trials"][-1]
    index = candgen.load(tmp_path / "fo.candgen")
    assert not set(left_out) & set(index.parameters["languages"])
    assert f"best on dev: alpha fi {alpha['fi']:g}, is {alpha['is']:g}, lam" in done.out
    all_of_them = cli("tune", dataset, "--method", "pti", *pivots, "--worth", 0, "--format", "json")
    assert all(pivot["kept"] for pivot in json.loads(all_of_them.out)["pivots"])


def test_tune_of_several_pivots_by_a_grid(cli, tables, dataset):
    pivots = ("--pivot", tables / "is.tsv.gz", "--pivot", tables / "fi.tsv.gz")
    done = cli(
        "tune", dataset, "--method", "pti", *pivots, "--grid", "alpha=0.4", "--format", "json"
    )
    found = json.loads(done.out)
    assert [trial["parameters"]["alpha"] for trial in found["trials"]] == [0.4, 0.4, 0.4]
    assert found["pivots"] == []


def test_tune_never_opens_test(cli, tables, dataset):
    expected = cli("tune", dataset, "--method", "pti", "--pivot", tables / "is.tsv.gz")
    (dataset / "test.tsv").unlink()
    assert (
        cli("tune", dataset, "--method", "pti", "--pivot", tables / "is.tsv.gz").out == expected.out
    )
    (dataset / "dev.tsv").unlink()
    assert cli("tune", dataset, "--method", "pti", "--pivot", tables / "is.tsv.gz").status == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--grid", "lam"], "expected NAME=X,X"),
        (["--grid", "lam=1,"], "expected NAME=X,X"),
        (["--grid", "lam=a"], "lam is 'a'"),
        (["--grid", "normalizer=magic"], "'magic'"),
        (["--grid", "lam=1", "--grid", "lam=2"], "once for each name"),
        (["--grid", "mu=1"], "'mu' is not a parameter"),
        (["--grid", "lam=-1"], "lam is -1:"),
        (["--method", "magic"], "there is no method 'magic': choose "),
        (["--set", "lam"], "--set lam: expected NAME=VALUE"),
        (["--set", "mu=1"], "'mu' is not a parameter"),
        (["--set", "lam=-1"], "lam is -1"),
        (["--set", "lam=1", "--grid", "lam=1,2"], "--set lam and --grid lam: say one of them"),
        (["--zero-shot"], "nothing to learn from"),
        (["--grid", "tokenizer=x"], "tokenizer is 'x'"),
        (["--pivot", "x=a.tsv", "--pivot", "x=b.tsv"], "'x' names more than one table"),
        (["--pivot", "x=a.tsv", "--worth", "1"], "--worth is for several pivots"),
        (
            ["--pivot", "a.tsv", "--pivot", "b.tsv", "--worth", "1", "--grid", "alpha=1"],
            "no --grid alpha",
        ),
        (
            ["--pivot", "a.tsv", "--pivot", "b.tsv", "--worth", "1", "--method", "wikipriors"],
            "the method pti",
        ),
    ],
)
def test_tune_refuses_in_one_sentence(cli, dataset, arguments, sentence):
    done = cli("tune", dataset, *arguments)
    assert done.status == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_tune_without_pivots_learns_from_the_target(cli, dataset):
    done = cli("tune", dataset)
    assert done.status == 0
    assert "best on dev: lam" in done.out


def test_tune_at_a_k_beyond_everything(cli, dataset):
    found = json.loads(cli("tune", dataset, "-k", 10**30, "--format", "json").out)
    assert (
        found["trials"]
        == json.loads(cli("tune", dataset, "-k", 10**6, "--format", "json").out)["trials"]
    )


def test_tune_of_a_folder_that_is_no_dataset(cli, tmp_path):
    done = cli("tune", tmp_path)
    assert done.status == 2
    assert done.err.count("\n") == 1


def test_tune_says_when_it_folds_text_otherwise_than_split(cli, tables, dataset, tmp_path):
    assert cli("tune", dataset, "--method", "pti", "--pivot", tables / "is.tsv.gz").err == ""
    done = cli(
        "tune",
        dataset,
        "--method",
        "pti",
        "--pivot",
        tables / "is.tsv.gz",
        "--normalizer",
        "none",
        "--language",
        "nn",
        "-o",
        tmp_path / "nn",
    )
    assert "was split with normalizer default, the index folds text with none" in done.err
    index = candgen.load(tmp_path / "nn")
    assert index.language == "nn"
    assert index.parameters["normalizer"] == "none"


def test_a_released_folder_tells_the_language(cli, tables, tmp_path):
    arguments = ("--layout", "released", "-o", tmp_path / "data", "--per-type", 5)
    cli("split", tables / "fo.tsv.gz", *arguments)
    cli("tune", tmp_path / "data" / "fo", "--pivot", tables / "is.tsv.gz", "-o", tmp_path / "fo")
    assert candgen.load(tmp_path / "fo").language == "fo"


@pytest.fixture
def mine(monkeypatch):
    """A neural method among those that there are, and what it was given."""
    given = []

    def build(training, parameters):
        given.append((training, dict(parameters)))
        return METHODS["pti"](replace(training, english=None), {"lam": parameters["mu"]})

    method = Method(
        build=build,
        size=lambda _: Size(1),
        grid={"mu": (0.1, 1.0)},
        neural=True,
        options=frozenset({"epochs", "pairs"}),
    )
    monkeypatch.setitem(METHODS, "mine", method)
    return given


def test_tune_any_method_with_english_names_and_what_is_set(cli, tables, dataset, tmp_path, mine):
    arguments = (
        "tune",
        dataset,
        "--pivot",
        tables / "is.tsv.gz",
        "--method",
        "mine",
        "--english",
        tables / "en.tsv.gz",
        "--set",
        "epochs=3",
    )
    done = cli(*arguments, "-o", tmp_path / "mine")
    assert done.status == 0, done.err
    assert [parameters for _, parameters in mine] == [
        {"epochs": 3, "mu": 0.1},
        {"epochs": 3, "mu": 1.0},
    ]
    for training, _ in mine:
        assert training.english == TABLES["en"]
        assert list(training.dev) == read_dataset(dataset).dev
    lam = candgen.load(tmp_path / "mine").lam
    assert f"best on dev: mu {lam:g}" in done.out
    assert cli(*arguments, "--set", "mu=0.5", "--format", "json").status == 0
    assert [parameters for _, parameters in mine[2:]] == [{"epochs": 3, "mu": 0.5}]


def test_what_tune_builds_without_ranks_is_what_it_builds_with(
    cli, tables, dataset, indexes, tmp_path, monkeypatch
):
    monkeypatch.setitem(METHODS, "slow", replace(METHODS["pti"], ranks=None))
    arguments = ("tune", dataset, "--pivot", tables / "is.tsv.gz", "--method", "slow")
    assert cli(*arguments, "-o", tmp_path / "slow").status == 0
    assert candgen.storage.index_folder.load(tmp_path / "slow").parameters == (
        candgen.storage.index_folder.load(indexes[0]).parameters
    )
    slow, quick = (
        {path.name: path.read_bytes() for path in folder.glob("*.npy")}
        for folder in (tmp_path / "slow", indexes[0])
    )
    assert slow == quick
    assert slow


# evaluate


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
    dev = cli("evaluate", dataset, indexes[0], "--part", "dev", *arguments)
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


def test_evaluate_folds_names_of_pivots_by_their_languages(cli, tmp_path):
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


@pytest.mark.parametrize("command", ["split", "tune", "evaluate", "reproduce"])
def test_bad_rows_may_be_skipped(cli, tables, dataset, indexes, tmp_path, command):
    bad = tmp_path / "bad"
    bad.mkdir()
    for language in ("fo", "is"):
        candgen.MentionTable.read(tables / f"{language}.tsv.gz").write(bad / f"{language}.tsv")
    with (bad / "is.tsv").open("a", encoding="utf-8") as file:
        file.write("only a mention\n")
    arguments = {
        "split": ["split", bad / "is.tsv", "-o", tmp_path / "d"],
        "tune": ["tune", dataset, "--pivot", bad / "is.tsv"],
        "evaluate": ["evaluate", dataset, indexes[0], "--pivot", bad / "is.tsv"],
        "reproduce": [
            "reproduce",
            "ceilings",
            "--data",
            bad,
            "--pair",
            "fo-is",
            "-o",
            tmp_path / "out",
            "--no-figures",
        ],
    }[command]
    refused = cli(*arguments)
    assert refused.status == 2
    assert "is.tsv line" in refused.err
    done = cli(*arguments, "--skip-bad-rows")
    assert done.status == 0, done.err
    assert "bad rows left out: 1" in done.err


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


# reproduce


def test_reproduce_prints_and_writes(cli, tables, tmp_path):
    done = cli(
        "reproduce",
        "main-results",
        "--data",
        tables,
        "--pair",
        "fo-is",
        "--pair",
        "olo-fi",
        "--methods",
        "pti",
        "--per-type",
        5,
        "-o",
        tmp_path / "out",
        "--no-figures",
    )
    assert done.status == 0, done.err
    assert "pti, paper" in done.out
    assert "not in the paper" not in done.out
    assert (tmp_path / "out" / "report.html").is_file()
    assert done.err.strip().endswith("report.html")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "candgen reproduce main-results --data" in page
    again = cli(
        "reproduce",
        "query-types",
        "--data",
        tables,
        "--pair",
        "olo-fi",
        "--per-type",
        5,
        "--zero-shot-only",
        "none",
        "-o",
        tmp_path / "out",
        "--no-figures",
    )
    assert again.status == 0, again.err
    assert "easy" in again.out


def test_reproduce_several_with_methods_in_the_catalogues_order(cli, tables, tmp_path, mine):
    arguments = (
        "reproduce",
        "query-types",
        "main-results",
        "--data",
        tables,
        "--pair",
        "fo-is",
        "--per-type",
        5,
        "-o",
        tmp_path / "out",
        "--no-figures",
    )
    done = cli(*arguments, "--methods", "mine,pti", "--epochs", 2, "--pairs", 9)
    assert done.status == 0, done.err
    assert done.out.index("Micro recall@30") < done.out.index("Recall@30 by query type")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<dd>pti, mine</dd>" in page
    assert "mine: at most 2 epochs (the paper&#x27;s: 200) and 9 training pairs" in page
    assert {(p["epochs"], p["pairs"]) for _, p in mine} == {(2, 9)}


def test_all_methods_are_all_and_by_default_those_that_are_not_neural(mine):
    assert list(_methods("all")) == list(METHODS)
    assert list(_methods(None)) == [name for name in METHODS if not METHODS[name].neural]
    assert "mine" in _methods("all")
    assert "mine" not in _methods(None)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tables"], "nothing is called 'tables'"),
        (["all", "--pair", "mk"], "'mk' is not a pair"),
        (["all", "--pair", "mk-bg"], "no data of 'mk'"),
        (["all", "--pair", "fo-fo"], "names a language twice"),
        (["all", "--pair", "fo-is", "--zero-shot-only", "zz"], "'zz' is no target here"),
        (["all", "--pair", "fo-is", "--high-resource", "zz"], "no data of 'zz'"),
        (["all", "--pair", "fo-is", "--seed", str(10**30)], "seed"),
        (["high-resource", "--pair", "fo-is"], "say --high-resource LANG"),
        (["all"], "no data of 'co'"),
        (["all", "tables"], "nothing is called 'tables'"),
        (["all", "--methods", "magic"], "no method 'magic'"),
        (["all", "--methods", "pti", "--epochs", "3"], "--epochs 3: none of pti is trained so"),
        (["all", "--methods", "pti", "--pairs", "3"], "--pairs 3: none of pti is trained so"),
        (["all", "--pairs", "0"], "--pairs"),
    ],
)
def test_reproduce_refuses_before_it_works(cli, tables, tmp_path, arguments, sentence):
    done = cli("reproduce", *arguments, "--data", tables, "-o", tmp_path / "out")
    assert done.status == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_mistake_in_the_data_leaves_nothing_behind(cli, tables, tmp_path):
    (tmp_path / "data").mkdir()
    for language in ("fo", "is"):
        (tmp_path / "data" / f"{language}.tsv").write_text("mention\tentity\n", encoding="utf-8")
    output = tmp_path / "a" / "b"
    arguments = ("reproduce", "all", "--data", tmp_path / "data", "--pair", "fo-is", "-o", output)
    done = cli(*arguments)
    assert done.status == 2
    assert "fo.tsv has no pairs" in done.err
    assert not (tmp_path / "a").exists()
    output.mkdir(parents=True)
    assert (
        cli("reproduce", "all", "--data", tmp_path / "data", "--pair", "fo-is", "-o", output).status
        == 2
    )
    assert list(output.iterdir()) == []


def test_high_resource_languages_can_be_chosen(cli, tables, tmp_path):
    done = cli(
        "reproduce",
        "high-resource",
        "--data",
        tables,
        "--pair",
        "fo-is",
        "--high-resource",
        "de,fi",
        "--per-type",
        5,
        "--seed",
        3,
        "--no-figures",
        "-o",
        tmp_path / "out",
        "--methods",
        "pti",
    )
    assert done.status == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert [row[:4] for row in rows if row[:1] in (["de"], ["fi"])] == [
        [language, kind, "pti", "5"] for language in ("de", "fi") for kind in ("easy", "medium")
    ]
    assert "<dd>3</dd>" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_reproduce_without_matplotlib_says_the_way_out(cli, tables, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["candgen.cli.reproduce"], "find_spec", lambda _name: None)
    done = cli("reproduce", "ceilings", "--data", tables, "--pair", "fo-is", "-o", tmp_path / "out")
    assert done.status == 2
    assert "pip install 'candgen[plots]', or say --no-figures" in done.err


@pytest.mark.parametrize("name", ["split", "tune", "evaluate", "reproduce"])
def test_help_has_an_example_and_does_not_wait_for_numpy(name):
    program = (
        "import sys\nfrom candgen.cli import main\n"
        f"main([{name!r}, '--help'])\n"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'numba', 'pyarrow', 'matplotlib')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert f"candgen {name} " in done.stdout
    assert "Examples:" in done.stdout
    if name in ("tune", "reproduce"):
        told = "".join(done.stdout.split())
        assert all(method in told for method in summaries.METHODS)
