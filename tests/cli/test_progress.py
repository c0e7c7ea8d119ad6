"""Progress on a terminal."""

import io
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from candgen.cli import progress as module
from candgen.cli.time_left import TimeLeftColumn
from candgen.integrations import cldr
from tests.support.commands import on_terminal, process

FULL = 40
"""The width of a full bar; without colours, only what is done is drawn."""


def test_progress_is_for_terminals(world, tmp_path):
    pivot = ("--pivot", world / "is.tsv")
    shown, out, status = on_terminal("build", *pivot, "-o", tmp_path / "x")
    assert status == 0
    assert "━" in shown  # a bar; the steps of so small an index are too short to be drawn
    assert "postings" in shown
    assert out == b""
    shown, out, status = on_terminal("query", tmp_path / "x", stdin=b"Rome\n" * 3000)
    assert status == 0
    assert "3,000 mentions" in shown
    assert len(out.splitlines()) == 3000
    assert b"mentions" not in out
    assert process("query", tmp_path / "x", input=b"Rome\n").stderr == b""


class Terminal:
    """What the bars of this process show, drawn whenever it is looked at."""

    def __init__(self, monkeypatch):
        self.file = io.StringIO()
        self.bars = None
        self.width = 120
        original = module._on_stderr

        def on_stderr(*columns):
            self.bars = original(*columns)
            return self.bars

        def console(**_options):
            return Console(file=self.file, force_terminal=True, no_color=True, width=self.width)

        monkeypatch.setattr(module, "_on_stderr", on_stderr)
        monkeypatch.setattr("rich.console.Console", console)
        monkeypatch.setattr(module, "is_terminal", lambda _stream: True)

    def look(self):
        self.bars.refresh()
        return self.file.getvalue()


@pytest.fixture
def terminal(monkeypatch):
    return Terminal(monkeypatch)


def bars(text):
    """The length of every bar that was drawn."""
    return [len(bar) for bar in re.findall("━+", text)]


@pytest.mark.parametrize("whole", [True, False])
def test_the_bar_is_not_full_while_work_goes_on(terminal, whole):
    with module.progress_bar(whole=whole) as show:
        for doing, fraction in (("one", 0.5), ("done", 1.0), ("two", 0.0), ("three", 0.3)):
            show(doing, fraction)
            assert doing in terminal.look()
    assert 0 < max(bars(terminal.file.getvalue())) < FULL


def test_the_time_left_is_shown_when_something_is_known_of_it(terminal):
    with module.progress_bar(whole=True) as show:
        show("step 1 of 2, choosing", 0.01)
        assert "left" not in terminal.look()
        show("step 2 of 2, building", 0.5)
        assert re.search(r"step 2 of 2, building .* about \d+ s left", terminal.look())


@pytest.mark.parametrize("width", [60, 80])
def test_a_long_step_is_cut_and_the_times_stay_on_its_line(terminal, width):
    terminal.width = width
    with module.progress_bar(whole=True) as show:
        show("step 3 of 6, choosing weights (trying to do without each pivot on dev)", 0.4)
        last = terminal.look().rpartition("step 3")[2]
    assert re.fullmatch(r" of 6.*… +━*.* \d:\d\d:\d\d about \d+ s left *", last)


def test_the_time_left_is_counted_down_until_more_is_done():
    column, task = TimeLeftColumn(), SimpleNamespace(completed=0.5, elapsed=100.0)
    shown = []
    for task.completed, task.elapsed in ((0.5, 100), (0.5, 140), (0.5, 500), (0.8, 600)):
        shown.append(column.render(task).plain)
    assert shown == ["about 2 min left", "about 70 s left", "about 10 s left", "about 3 min left"]


def test_build_auto_numbers_its_steps_and_its_bar_is_never_full(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    for code in ("fo", "is", "da"):
        cldr.names(code).write(tmp_path / f"{code}.tsv.gz")
    target = ("--target", tmp_path / "fo.tsv.gz", "--pivot-tables", tmp_path)
    shown, out, status = on_terminal("build", "--auto", *target, "-o", tmp_path / "fo.candgen")
    assert status == 0 and out == b""
    steps = [found.rstrip() for found in re.findall(r"step \d of 6, [a-z ]+", shown)]
    assert len(set(steps)) > 1 and steps == sorted(steps)
    assert 0 < max(bars(shown), default=1) < FULL
    reasons = shown.partition("\n- ")[2].partition(f"\n{tmp_path}")[0]
    assert "normalizer" in reasons.lower()
    assert max(map(len, reasons.splitlines())) <= 80
