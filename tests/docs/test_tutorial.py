"""The tutorial, from an empty folder to its end: what it shows is what happens."""

import re
from importlib.metadata import version
from itertools import zip_longest

from tests.support.documents import (
    DOCS,
    Shell,
    alike,
    blocks,
    commands,
    lines,
    needs_bash,
    run_python,
)

PAGE = DOCS / "tutorial.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = blocks(PAGE)
LEARNED = ("candgen tune", "candgen evaluate")
"""Their figures come of sums over all names: on another processor a query may change sides."""
ONE_QUERY = 0.3  # in percent


def is_installation(block):
    return block.language == "sh" and "pip install" in block.text


def babel_is_that_of_the_page():
    return version("babel").startswith(re.search(r"with Babel (\d+\.\d+)", TEXT)[1])


def check(command, printed):
    """What a command printed is what is shown under it."""
    if command.text.startswith(LEARNED):
        assert alike(printed, command.shown, within=ONE_QUERY), printed
    else:
        assert lines(printed) == lines(command.shown)


@needs_bash
def test_every_step_works_and_prints_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell, names, compared = Shell(tmp_path), {}, True
    for block, after in zip_longest(BLOCKS, BLOCKS[1:]):
        if "cldr.names" in block.text:  # from here on, what is shown are these names
            compared = babel_is_that_of_the_page()
        if block.language == "python":
            printed = run_python(block, names)
            assert not compared or lines(printed) == lines(after.text)
        elif block.language == "console":
            said = ""
            for command in commands(block):
                done = shell.run(command)
                said += done.stderr
                if compared:
                    check(command, done.stdout)
            if compared and after and after.language == "text":
                assert " ".join(after.text.split()) in " ".join(said.split())
        else:
            assert block.language == "text" or is_installation(block), block


def test_every_part_of_the_way_is_there():
    named = re.findall(r"^\$ .*?candgen ([a-z]+)", TEXT, re.MULTILINE)
    assert {"build", "query", "explain", "split", "tune", "evaluate"} <= set(named)
