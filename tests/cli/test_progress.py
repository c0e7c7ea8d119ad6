"""Progress on a terminal."""

import io
import re

import pytest
from rich.console import Console

from candgen.cli import progress as module
from candgen.integrations import cldr
from tests.support.commands import on_terminal, process

FULL = 40
"""The width of a full bar; without colours, only what is done is drawn."""


def test_progress_is_for_terminals(world, tmp_path):
    pivot = ("--pivot", world / "is.tsv")
    shown, out, status = on_terminal("build", *pivot, "-o", tmp_path / "x")
    assert status == 0
    assert "reading" in shown
    assert "postings" in shown
    assert out == b""
    shown, out, status = on_terminal("query", tmp_path / "x", stdin=b"Rome\n" * 3000)
    assert status == 0
    assert "3,000 mentions" in shown
    assert len(out.splitlines()) == 3000
    assert b"mentions" not in out
    assert process("query", tmp_path / "x", input=b"Rome\n").stderr == b""


@pytest.fixture
def terminal(monkeypatch):
    """What the bars of this process show."""
    shown = io.StringIO()

    def console(**_options):
        return Console(file=shown, force_terminal=True, no_color=True, width=120)

    monkeypatch.setattr(module, "Console", console)
    monkeypatch.setattr(module, "is_terminal", lambda _stream: True)
    return shown


def bars(text):
    """The length of every bar that was drawn."""
    return [len(bar) for bar in re.findall("━+", text)]


@pytest.mark.parametrize("whole", [True, False])
def test_the_bar_is_not_full_while_work_goes_on(terminal, monkeypatch, whole):
    frames = []
    with module.progress_bar(whole=whole) as show:
        for doing, fraction in (("one", 0.5), ("done", 1.0), ("two", 0.0), ("three", 0.3)):
            show(doing, fraction)
            _refresh()
            frames.append(terminal.getvalue())
    assert max(bars(frames[-1])) < FULL
    assert all(word in frames[-1] for word in ("one", "done", "two", "three"))


def _refresh():
    """Rich draws ten times a second; a test does not wait for it."""
    import gc

    from rich.progress import Progress

    for each in gc.get_objects():
        if isinstance(each, Progress) and each.live.is_started:
            each.refresh()


def test_the_time_left_is_shown_when_something_is_known_of_it(terminal):
    with module.progress_bar(whole=True) as show:
        show("step 1 of 2, choosing", 0.01)
        _refresh()
        assert "left" not in terminal.getvalue()
        show("step 2 of 2, building", 0.5)
        _refresh()
    assert re.search(r"step 2 of 2, building .* about \d+ s left", terminal.getvalue())


def test_build_auto_numbers_its_steps_and_its_bar_is_never_full(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    for code in ("fo", "is", "da"):
        cldr.names(code).write(tmp_path / f"{code}.tsv.gz")
    target = ("--target", tmp_path / "fo.tsv.gz", "--pivot-tables", tmp_path)
    shown, out, status = on_terminal("build", "--auto", *target, "-o", tmp_path / "fo.candgen")
    assert status == 0 and out == b""
    steps = re.findall(r"step (\d) of 6, ([a-z ]+)", shown)
    assert len(set(steps)) > 1 and steps == sorted(steps)
    assert 0 < max(bars(shown), default=1) < FULL
