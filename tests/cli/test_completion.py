"""Shell completion: commands, options, choices and indexes, without anything heavy."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest
from typer.main import get_command

from candgen.cli import OLD_OPTIONS, app
from candgen.cli.options import complete_index
from tests.support.commands import command, environment

COMMANDS = get_command(app).commands
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def completions(line, **options):
    """What is offered for the last word of a line."""
    asked = environment(
        _CANDGEN_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" "))
    )
    done = subprocess.run(command(), capture_output=True, env=asked, text=True, **options)
    assert done.stderr == ""
    return done.stdout.split()


def test_commands():
    assert completions("candgen bu") == ["build"]
    assert completions("candgen ") == list(COMMANDS)
    assert set(completions("candgen ex")) == {"explain", "extract", "extract-wikidata"}


def test_options_and_their_choices():
    offered = completions("candgen pivots --")
    assert {"--pivot-tables", "--objective", "--max-pivots", "--min-gain"} <= set(offered)
    assert completions("candgen query x --format js") == ["jsonl"]
    assert completions("candgen pivots --objective ") == ["ceiling", "closeness"]


@pytest.mark.parametrize("function", OLD_OPTIONS)
def test_former_names_of_options_are_not_offered(function):
    offered = completions(f"candgen {function.__name__} --")
    assert not {f"--{old}" for old in OLD_OPTIONS[function]} & set(offered)
    assert {f"--{new}" for new in OLD_OPTIONS[function].values()} <= set(offered)


def test_indexes(tmp_path):
    for name in ("fo.candgen", "fi.candgen", "mk.candgen", "f.dataset", "folder"):
        (tmp_path / name).mkdir()
        if name != "folder":
            (tmp_path / name / "manifest.json").touch()
    (tmp_path / "f.dataset" / "dev.tsv").touch()
    assert completions("candgen query f", cwd=tmp_path) == ["fi.candgen", "fo.candgen"]
    assert completions("candgen serve mk", cwd=tmp_path) == ["mk.candgen"]
    assert completions("candgen query g", cwd=tmp_path) == []  # then the shell offers files
    assert complete_index(f"{tmp_path}{os.sep}m") == [str(tmp_path / "mk.candgen")]
    assert complete_index("no such folder/x") == []


def test_nothing_heavy_is_imported():
    script = """
import sys
from candgen.cli import main
try:
    main([])
except SystemExit as end:
    assert not end.code
heavy = {"numba", "numpy", "pyarrow", "regex", "babel", "torch"} & set(sys.modules)
assert not heavy, heavy
"""
    asked = environment(_CANDGEN_COMPLETE="complete_bash", COMP_WORDS="candgen bu", COMP_CWORD="1")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=asked, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "build\n", "")


@pytest.fixture
def in_bash(tmp_path):
    """Runs a script of bash that finds candgen on its path."""
    program = tmp_path / "bin" / "candgen"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(command())} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"

    def run(script):
        done = subprocess.run(
            ["bash", "--norc", "-c", script],
            capture_output=True,
            env=environment(PATH=path, HOME=str(tmp_path)),
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@needs_bash
def test_the_script_that_is_shown_works(in_bash):
    script = in_bash("candgen --show-completion; true")
    assert "complete -o default -F _candgen_completion candgen" in script
    asked = (
        "COMP_WORDS=(candgen bu) COMP_CWORD=1; _candgen_completion candgen; echo ${COMPREPLY[@]}"
    )
    assert in_bash(f"{script}\n{asked}\n") == "build\n"


@needs_bash
def test_the_script_is_installed(in_bash, tmp_path):
    assert "bash completion installed in" in in_bash("candgen --install-completion; true")
    (installed,) = tmp_path.glob(".bash_completions/candgen.sh")
    assert "_candgen_completion" in installed.read_text(encoding="utf-8")
    assert str(installed) in (tmp_path / ".bashrc").read_text(encoding="utf-8")
