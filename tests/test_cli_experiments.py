"""split, tune, evaluate and reproduce on the command line."""

import csv
import io
import json
import subprocess
import sys

import pytest

import candgen
from candgen.cli.evaluate import parse_indexes
from candgen.cli.reproduce import NAMES
from candgen.cli.tune import parse_grid
from candgen.errors import ParameterError
from candgen.evaluation.dataset import read_dataset
from candgen.evaluation.paper import EXHIBITS
from candgen.queries import read_queries
from test_reproduce import TABLES


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for language, table in TABLES.items():
        table.write(folder / f"{language}.tsv.gz")
    return folder


@pytest.fixture
def dataset(cli, tables, tmp_path):
    assert (
        cli("split", tables / "fo.tsv.gz", "-o", tmp_path / "fo.dataset", "--per-type", 5).status
        == 0
    )
    return tmp_path / "fo.dataset"


@pytest.fixture
def indexes(cli, tables, dataset, tmp_path):
    for name, more in (("joint", ()), ("alone", ("--zero-shot",))):
        done = cli("tune", dataset, "--pivot", tables / "is.tsv.gz", *more, "-o", tmp_path / name)
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
    assert train == ["train", *(f"{n}" for n in described["counts"]["train"].values())]
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
        "mentions_dev_type.txt", "mentions_tr.txt", "mentions_tt_type.txt",
    ]  # fmt: skip
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


# tune


def test_tune_shows_every_choice_and_builds_the_best(cli, tables, dataset, tmp_path):
    done = cli("tune", dataset, "--pivot", tables / "is.tsv.gz", "-o", tmp_path / "fo.candgen")
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
        "tune", dataset, "--pivot", tables / "is.tsv.gz", "--grid", "alpha=0,1", "--grid", "lam=2",
        "-k", 3, "--format", "json",
    )  # fmt: skip
    found = json.loads(done.out)
    assert [trial["parameters"] for trial in found["trials"]] == [
        {"alpha": 0.0, "lam": 2.0}, {"alpha": 1.0, "lam": 2.0},
    ]  # fmt: skip
    assert found["k"] == 3
    assert found["queries"] == 15
    assert found["best"] in found["trials"]


def test_tune_among_normalizers(cli, tables, dataset):
    done = cli(
        "tune", dataset, "--pivot", tables / "is.tsv.gz", "--grid", "normalizer=default,none",
        "--grid", "lam=1", "--grid", "alpha=1", "--format", "json",
    )  # fmt: skip
    assert [trial["parameters"]["normalizer"] for trial in json.loads(done.out)["trials"]] == [
        "default", "none",
    ]  # fmt: skip


def test_tune_never_opens_test(cli, tables, dataset):
    expected = cli("tune", dataset, "--pivot", tables / "is.tsv.gz")
    (dataset / "test.tsv").unlink()
    assert cli("tune", dataset, "--pivot", tables / "is.tsv.gz").out == expected.out
    (dataset / "dev.tsv").unlink()
    assert cli("tune", dataset, "--pivot", tables / "is.tsv.gz").status == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--grid", "lam"], "expected NAME=X,X"),
        (["--grid", "lam=1,"], "expected NAME=X,X"),
        (["--grid", "lam=a"], "lam is 'a'"),
        (["--grid", "normalizer=magic"], "'magic'"),
        (["--grid", "lam=1", "--grid", "lam=2"], "once for each name"),
        (["--grid", "mu=1"], "'mu', which is no parameter"),
        (["--grid", "lam=-1"], "lam is -1.0"),
        (["--method", "magic"], "there is no method 'magic': choose pti"),
        (["--zero-shot"], "nothing to learn from"),
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


def test_tune_of_a_folder_that_is_no_dataset(cli, tmp_path):
    done = cli("tune", tmp_path)
    assert done.status == 2
    assert done.err.count("\n") == 1


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
        kind = None if row["queries"] in ("all", "macro") else row["queries"]
        if row["queries"] != "macro":
            assert float(row["recall@5"]) == report.recall(row["generator"], k=5, type=kind)
    assert {row["queries"] for row in rows} == {"all", "easy", "medium", "hard", "macro"}
    assert {int(row["number"]) for row in rows} == {5, 15}


def test_evaluate_compares_in_pairs(cli, dataset, indexes):
    joint, alone = indexes
    done = cli("evaluate", dataset, f"one={joint}", f"two={alone}")
    assert done.status == 0
    assert "p (McNemar)" in done.out
    assert "one" in done.out
    recall, comparisons = json.loads(cli("evaluate", dataset, joint, alone, "--format", "json").out)
    assert comparisons["rows"][0]["first"] == "joint"
    assert recall["rows"][0]["number"] == 15
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
        "found", "not in the candidate space", "ranked too low", "no candidates",
    }  # fmt: skip
    assert len(read_queries(dataset / "test.tsv")) == 15


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{dataset}", "{joint}", "{joint}"], "names two indexes"),
        (["{dataset}", "{nowhere}"], "nowhere"),
        (["{nowhere}", "{joint}"], "nowhere"),
        (["{dataset}", "{joint}", "--results", "{nowhere}/a.tsv"], "is not a folder"),
        (["{dataset}"], "missing argument"),
    ],
)
def test_evaluate_refuses_in_one_sentence(cli, dataset, indexes, tmp_path, arguments, sentence):
    paths = {"dataset": dataset, "joint": indexes[0], "nowhere": tmp_path / "nowhere"}
    done = cli("evaluate", *(text.format(**paths) for text in arguments))
    assert done.status == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_names_of_indexes():
    assert [each.language for each in parse_indexes(["a/fo.candgen", "is=b"])] == ["fo", "is"]
    with pytest.raises(ParameterError, match="'fo' names two indexes"):
        parse_indexes(["a/fo.candgen", "b/fo.candgen"])


def test_parse_grid():
    assert parse_grid(["lam=0.2,1", "alpha=0"]) == {"lam": [0.2, 1.0], "alpha": [0.0]}


# reproduce


def test_reproduce_prints_and_writes(cli, tables, tmp_path):
    done = cli(
        "reproduce", "main-results", "--data", tables, "--pair", "fo-is", "--pair", "olo-fi",
        "--per-type", 5, "-o", tmp_path / "out", "--no-figures",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert "pti, paper" in done.out
    assert "not in the paper" not in done.out
    assert (tmp_path / "out" / "report.html").is_file()
    assert done.err.strip().endswith("report.html")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "reproduce" in page
    again = cli(
        "reproduce", "query-types", "--data", tables, "--pair", "olo-fi", "--per-type", 5,
        "--zero-shot-only", "none", "-o", tmp_path / "out", "--no-figures",
    )  # fmt: skip
    assert again.status == 0, again.err
    assert "easy" in again.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tables"], "nothing is called 'tables'"),
        (["all", "--pair", "mk"], "'mk' is not a pair"),
        (["all", "--pair", "mk-bg"], "no data of 'mk'"),
        (["all"], "no data of 'co'"),
        (["all", "--methods", "magic"], "no method 'magic'"),
        (["all", "--epochs", "3"], "none of pti is trained in epochs"),
    ],
)
def test_reproduce_refuses_before_it_works(cli, tables, tmp_path, arguments, sentence):
    done = cli("reproduce", *arguments, "--data", tables, "-o", tmp_path / "out")
    assert done.status == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_reproduce_without_matplotlib_says_the_way_out(cli, tables, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["candgen.cli.reproduce"], "find_spec", lambda _name: None)
    done = cli("reproduce", "ceilings", "--data", tables, "--pair", "fo-is", "-o", tmp_path / "out")
    assert done.status == 2
    assert "pip install 'candgen[plots]', or say --no-figures" in done.err


def test_the_help_names_every_exhibit():
    assert set(NAMES) == {*EXHIBITS, "all"}


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
