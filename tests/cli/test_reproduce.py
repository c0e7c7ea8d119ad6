"""``candgen reproduce``."""

import sys

import pytest

from candgen.cli.reproduce import _methods
from candgen.generators import METHODS


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
    done = cli(*arguments, "--methods", "mine,pti", "--epochs", 2, "--training-pairs", 9)
    assert done.status == 0, done.err
    assert done.out.index("Micro recall@30") < done.out.index("Recall@30 by query type")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<dd>pti, mine</dd>" in page
    assert "mine: at most 2 epochs (the paper&#x27;s: 200) and 9 training pairs" in page
    assert {(p["epochs"], p["pairs"]) for _, p in mine} == {(2, 9)}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tables"], "unknown exhibit 'tables'"),
        (["all", "--pair", "mk"], "'mk' is not a pair"),
        (["all", "--pair", "mk-bg"], "no data of 'mk'"),
        (["all", "--pair", "fo-fo"], "names a language twice"),
        (["all", "--pair", "fo-is", "--zero-shot-only", "zz"], "'zz' is not a target here"),
        (["all", "--pair", "fo-is", "--high-resource", "zz"], "no data of 'zz'"),
        (["all", "--pair", "fo-is", "--seed", str(10**30)], "seed"),
        (["high-resource", "--pair", "fo-is"], "give --high-resource LANG"),
        (["all"], "no data of 'co'"),
        (["all", "tables"], "unknown exhibit 'tables'"),
        (["all", "--methods", "magic"], "no method 'magic'"),
        (
            ["all", "--methods", "pti", "--epochs", "3"],
            "--epochs 3: none of pti has this parameter",
        ),
        (
            ["all", "--methods", "pti", "--training-pairs", "3"],
            "--training-pairs 3: none of pti has this parameter",
        ),
        (["all", "--training-pairs", "0"], "--training-pairs"),
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
    assert "pip install 'candgen[plots]', or add --no-figures" in done.err


def test_all_methods_are_all_and_by_default_those_that_are_not_neural(mine):
    assert list(_methods("all")) == list(METHODS)
    assert list(_methods(None)) == [name for name in METHODS if not METHODS[name].neural]
    assert "mine" in _methods("all")
    assert "mine" not in _methods(None)


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
