"""What the README shows is what happens."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import candgen
import toy

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def shown_after(language):
    """The blocks of this language, each with the block after it."""
    return [(text, BLOCKS[i + 1]) for i, (name, text) in enumerate(BLOCKS) if name == language]


def test_the_first_screen_installs_and_shows_ten_lines():
    first = README[: README.index("\n## ")]
    assert first.count("```python") == 1
    ((code, _),) = shown_after("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    assert "pip install" in first


def test_the_python_works_and_prints_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code, (language, expected) in shown_after("python"):
        assert language == "text"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {})
        assert printed.getvalue() == expected
    index = candgen.load(tmp_path / "fo.candgen")
    assert index.candidates(["Vínið"], k=1)[0][0].entity == "Q282"


def test_the_tables_are_those_of_the_toy_world():
    ((code, _),) = shown_after("python")
    for mention, entity, count in [*toy.ICELANDIC, *toy.FAROESE]:
        assert f'("{mention}", "{entity}"{f", {count}" if count > 1 else ""})' in code


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_commands_work_and_print_what_is_shown(tmp_path):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "candgen"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m candgen "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    source = os.pathsep.join(sys.path)
    (console,) = (text for language, text in BLOCKS if language == "console")
    for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, capture_output=True, encoding="utf-8",
            env={**os.environ, "PATH": path, "PYTHONPATH": source, "COLUMNS": "80"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert [line.rstrip() for line in done.stdout.strip().splitlines()] == [
            line.rstrip() for line in expected.strip().splitlines()
        ]


def test_every_command_named_exists():
    from typer.main import get_command

    from candgen.cli import app

    named = set(re.findall(r"(?:[`$|] ?|^)candgen ([a-z]+(?:-[a-z]+)?)", README, re.MULTILINE))
    assert named == set(get_command(app).commands)


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_every_make_target_named_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for named in re.findall(r"^\|? *`?make ([a-z-]+)", README + contributing, re.MULTILINE):
        assert named in targets


def test_the_citation_has_the_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {project['version']}\n" in citation
    assert f"\nlicense: {project['license']}\n" in citation
