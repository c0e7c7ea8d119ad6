"""What docs/methods.md says of the methods is so: tables, commands and Python."""

import re
import shlex
from pathlib import Path

import pytest

import candgen
from candgen.generators import METHODS
from candgen.generators.summaries import METHODS as CATALOGUE
from candgen.tables.queries import write_queries
from tests.generators.test_conformance import SPLIT, TABLES, skip_without_torch

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "methods.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^candgen build .*", TEXT, re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
NAMES = {"is": TABLES["is"], "da": TABLES["de"], "fo": SPLIT.train, "en": TABLES["en"]}


def table(header):
    """The rows of the table with this header."""
    lines = TEXT.split(f"| {header} |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    return dict(line.strip("| ").split(" | ") for line in lines)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for language, each in NAMES.items():
        each.write(tmp_path / f"{language}.tsv")
    write_queries(tmp_path / "dev.tsv", SPLIT.dev)
    return tmp_path


def test_the_table_is_the_catalogue():
    assert list(table("method | what it is").items()) == list(CATALOGUE.items())


@pytest.mark.parametrize("name", METHODS)
def test_the_parameters_are_those_of_the_method(name):
    method = METHODS[name]
    chosen = [f"*{each}*" for each in method.grid]
    others = sorted(method.options - set(method.grid))
    assert table("method | parameters")[name] == ", ".join([*chosen, *others])


def test_every_method_has_a_section_and_a_command():
    # "## pti: what it does"; several methods may share a section
    sections = ", ".join(re.findall(r"^## ([^:\n]*)", TEXT, re.MULTILINE))
    built = {method_of(command) for command in COMMANDS}
    for name in CATALOGUE:
        assert name in re.split(r", | and ", sections)
        assert name in built


def method_of(command):
    words = shlex.split(command)
    return words[words.index("--method") + 1] if "--method" in words else "pti"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_work(cli, folder, command):
    name = method_of(command)
    skip_without_torch(name)
    small = ("--set", "dimensions=8") if METHODS[name].neural else ()
    done = cli(*shlex.split(command)[1:], *small)
    assert done.status == 0, done.err
    assert candgen.load(shlex.split(command)[-1]).candidates(["víkhavnur"])[0]


def test_the_python_works(folder):
    pytest.importorskip("torch", reason="Charagram needs PyTorch, which is optional")
    names = {
        "candgen": candgen,
        "icelandic": NAMES["is"],
        "danish": NAMES["da"],
        "faroese": NAMES["fo"],
        "english": NAMES["en"],
        "dev": SPLIT.dev,
    }
    for code in PYTHON:
        exec(compile(code, "methods.md", "exec"), names)
    assert candgen.load("cascade.candgen").candidates(["víkhavnur"])[0]
    assert (folder / "saved").is_dir()


def test_links_lead_somewhere():
    found = re.findall(r"\]\(([a-z-]+\.md)\)", TEXT)
    assert found
    for target in found:
        assert (DOCS / target).is_file(), target
