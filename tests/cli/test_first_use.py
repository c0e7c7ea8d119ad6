"""Compiling kernels is announced once, with how long it takes, and only if it happens."""

import subprocess
import sys

import pytest

from candgen import kernels
from candgen.cli import COMMANDS, first_use
from candgen.cli.first_use import SECONDS, compilation_announced
from candgen.kernels import kernel_cache
from tests.support.commands import environment, process


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(first_use, "is_terminal", lambda _: True)


def compile_two():
    kernels.tell_compiling("score")
    kernels.tell_compiling("search")


def test_a_line_says_what_happens_and_how_long_it_takes(capsys, terminal):
    with compilation_announced(["query", "fo.candgen", "Vín"]):
        compile_two()
    length = f"up to about {SECONDS['query']} s"
    expected = f"candgen: compiling kernels, once on this machine: {length}\n"
    assert capsys.readouterr() == ("", expected)


def test_nothing_is_said_if_nothing_is_compiled(capsys, terminal):
    with compilation_announced(["query"]):
        pass
    compile_two()
    assert capsys.readouterr() == ("", "")


def test_a_log_is_not_a_terminal(capsys):
    with compilation_announced(["query"]):
        compile_two()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("shown", [True, False])
def test_the_way_out_is_named_where_nothing_can_be_kept(capsys, monkeypatch, shown):
    monkeypatch.setattr(first_use, "is_terminal", lambda _: shown)
    monkeypatch.setattr(kernel_cache, "writable_folder", lambda: None)
    with compilation_announced(["query"]):
        compile_two()
    first, second = capsys.readouterr().err.splitlines()
    length = f"up to about {SECONDS['query']} s"
    assert first == f"candgen: compiling kernels, in every process: {length}"
    assert "CANDGEN_CACHE_DIR" in second
    assert max(len(first), len(second)) <= 80


def test_a_command_of_unknown_length_has_no_figure(capsys, terminal):
    with compilation_announced(["new-command"]):
        compile_two()
    assert capsys.readouterr().err == "candgen: compiling kernels, once on this machine\n"


def test_listeners_of_others_stay():
    before = kernels.compile_listeners.copy()
    with pytest.raises(ZeroDivisionError), compilation_announced([]):
        1 / 0  # noqa: B018
    assert kernels.compile_listeners == before


def test_the_figures_are_those_of_commands():
    names = {each.__name__.replace("_", "-") for group in COMMANDS.values() for each in group}
    assert {each.removesuffix(" --auto") for each in SECONDS} <= names


def test_an_option_that_needs_more_has_its_own_figure(capsys, terminal):
    with compilation_announced(["build", "--auto", "--target", "fo.tsv"]):
        compile_two()
    assert f"up to about {SECONDS['build --auto']} s" in capsys.readouterr().err


def test_help_does_not_import_numba():
    script = """
import sys
from candgen.cli import main
main(["warm", "--help"])
print([name for name in ("numba", "numpy", "rich.console") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, check=True
    )
    assert done.stdout.endswith(b"[]\n")


def test_it_is_silent_when_everything_is_compiled(world):
    process("query", world / "fo.candgen", "Vín")
    assert process("query", world / "fo.candgen", "Vín").stderr == b""
