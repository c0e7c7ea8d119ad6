"""``candgen tune``: choices on dev, and the index that is built."""

import json
from dataclasses import replace

import pytest

import candgen
from candgen.evaluation.dataset import read_dataset
from candgen.generators import METHODS
from candgen.storage import index_folder
from tests.support.paper_world import TABLES


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
        "--min-pivot-gain",
        50,
        "-o",
        tmp_path / "fo.candgen",
    )
    assert done.status == 0
    assert "What each pivot brings on dev" in done.out
    found = json.loads(
        cli(
            "tune",
            dataset,
            "--method",
            "pti",
            *pivots,
            "-k",
            3,
            "--min-pivot-gain",
            50,
            "--format",
            "json",
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
    all_of_them = cli(
        "tune", dataset, "--method", "pti", *pivots, "--min-pivot-gain", 0, "--format", "json"
    )
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
        (["--set", "lam=1", "--grid", "lam=1,2"], "--set lam and --grid lam: give one of them"),
        (["--zero-shot"], "nothing to learn from"),
        (["--grid", "tokenizer=x"], "tokenizer is 'x'"),
        (["--pivot", "x=a.tsv", "--pivot", "x=b.tsv"], "'x' names more than one table"),
        (["--pivot", "x=a.tsv", "--min-pivot-gain", "1"], "--min-pivot-gain is for several pivots"),
        (
            ["--pivot", "a.tsv", "--pivot", "b.tsv", "--min-pivot-gain", "1", "--grid", "alpha=1"],
            "no --grid alpha",
        ),
        (
            [
                "--pivot",
                "a.tsv",
                "--pivot",
                "b.tsv",
                "--min-pivot-gain",
                "1",
                "--method",
                "wikipriors",
            ],
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


def test_tune_warns_if_its_normalizer_is_not_that_of_split(cli, tables, dataset, tmp_path):
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
    assert "was split with the normalizer default, but the index uses none" in done.err
    index = candgen.load(tmp_path / "nn")
    assert index.language == "nn"
    assert index.parameters["normalizer"] == "none"


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


def test_a_released_folder_tells_the_language(cli, tables, tmp_path):
    arguments = ("--layout", "released", "-o", tmp_path / "data", "--per-type", 5)
    cli("split", tables / "fo.tsv.gz", *arguments)
    cli("tune", tmp_path / "data" / "fo", "--pivot", tables / "is.tsv.gz", "-o", tmp_path / "fo")
    assert candgen.load(tmp_path / "fo").language == "fo"


def test_what_tune_builds_without_ranks_is_what_it_builds_with(
    cli, tables, dataset, indexes, tmp_path, monkeypatch
):
    monkeypatch.setitem(METHODS, "slow", replace(METHODS["pti"], ranks=None))
    arguments = ("tune", dataset, "--pivot", tables / "is.tsv.gz", "--method", "slow")
    assert cli(*arguments, "-o", tmp_path / "slow").status == 0
    assert index_folder.load(tmp_path / "slow").parameters == (
        index_folder.load(indexes[0]).parameters
    )
    slow, quick = (
        {path.name: path.read_bytes() for path in folder.glob("*.npy")}
        for folder in (tmp_path / "slow", indexes[0])
    )
    assert slow == quick
    assert slow


def test_help_says_that_pivots_are_kept(cli):
    shown = " ".join(cli("tune", "--help").out.split())
    assert "such as 0.03; 0 keeps all." in shown and "[default: (0);" in shown
