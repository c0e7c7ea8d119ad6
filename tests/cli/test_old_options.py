"""Former names of options: they work as the new ones do, and are shown nowhere."""

import re

import pytest
from typer.main import get_command

from candgen.cli import OLD_OPTIONS, app
from tests.evaluation.test_pivot_ranking import DANISH, ENGLISH, FAROESE

COMMANDS = get_command(app).commands
NEEDED = {
    "build": ["-o", "x"],
    "pivots": ["--target", "fo.tsv", "--pivot-tables", "names"],
    "tune": ["fo.dataset"],
    "evaluate": ["fo.dataset", "fo.candgen"],
    "reproduce": ["all", "--data", "names", "-o", "x"],
    "serve": ["fo.candgen"],
}
VALUES = {
    "pivot-tables": "other",
    "ngram-unit": "grapheme",
    "objective": "closeness",
    "max-pivots": "3",
    "min-gain": "0.5",
    "min-pivot-gain": "0.5",
    "fold": "dev",
    "training-pairs": "7",
    "match-threshold": "0.5",
    "request-timeout": "3.5",
    "work-timeout": "4.5",
}
CASES = [
    (function.__name__, old, new)
    for function, names in OLD_OPTIONS.items()
    for old, new in names.items()
]


def parsed(name, *arguments):
    """What the command would be called with."""
    return COMMANDS[name].make_context(name, [*NEEDED[name], *arguments]).params


def test_all_are_there():
    assert {(old, new) for _, old, new in CASES} == {
        ("candidates", "pivot-tables"),
        ("worth", "min-pivot-gain"),
        ("by", "objective"),
        ("most", "max-pivots"),
        ("least", "min-gain"),
        ("unit", "ngram-unit"),
        ("match", "match-threshold"),
        ("max-wait", "request-timeout"),
        ("max-seconds", "work-timeout"),
        ("pairs", "training-pairs"),
        ("part", "fold"),
    }
    assert [name for name, old, _ in CASES if old == "candidates"] == ["build", "pivots", "tune"]


@pytest.mark.parametrize(("name", "old", "new"), CASES)
def test_the_old_name_does_the_same(name, old, new):
    value = VALUES[new]
    expected = parsed(name, f"--{new}", value)
    assert str(expected[new.replace("-", "_")]) == value
    assert parsed(name)[new.replace("-", "_")] != expected[new.replace("-", "_")]
    assert parsed(name, f"--{old}", value) == expected
    assert parsed(name, f"--{old}={value}") == expected


@pytest.mark.parametrize(("name", "old", "new"), CASES)
def test_help_shows_only_the_new_name(cli, name, old, new):
    shown = cli(name, "--help").out
    assert re.search(rf"--{new}\b(?!-)", shown)
    assert not re.search(rf"--{old}\b(?!-)", shown)


@pytest.mark.parametrize(("name", "old", "new"), CASES)
def test_errors_name_the_new_option(cli, name, old, new):
    done = cli(name, *NEEDED[name], f"--{old}")
    assert done.status == 2
    assert done.err.startswith(f"candgen: option '--{new}' requires an argument")


def test_values_and_arguments_are_left_alone():
    assert parsed("pivots", "--target", "--by")["target"] == "--by"
    assert parsed("evaluate", "--", "--part")["indexes"] == ["fo.candgen", "--part"]
    assert parsed("serve", "--url", "--match")["url"] == "--match"


@pytest.mark.parametrize("old", ["candidates", "by", "pairs", "part"])
def test_other_commands_do_not_know_them(cli, old):
    done = cli("query", "fo.candgen", f"--{old}", "x")
    assert done.status == 2
    assert f"no such option: --{old}" in done.err.lower()


def test_a_command_run_with_old_names(cli, tmp_path):
    names = tmp_path / "names"
    names.mkdir()
    DANISH.write(names / "da.tsv")
    ENGLISH.write(names / "en.tsv")
    FAROESE.write(tmp_path / "fo.tsv")
    given = ("pivots", "--target", tmp_path / "fo.tsv", "--format", "csv")
    old = ("--candidates", names, "--by=closeness", "--most", 1, "--least=0")
    new = ("--pivot-tables", names, "--objective", "closeness", "--max-pivots", 1, "--min-gain", 0)
    done = cli(*given, *old)
    assert done.status == 0, done.err
    assert done.out == cli(*given, *new).out != cli(*given, "--pivot-tables", names).out
