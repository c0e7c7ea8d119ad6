"""Pages of documentation as tests see them: their examples, and a shell to run these in."""

import contextlib
import io
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
SHELL = ("console", "sh")
LOGICAL_LINE = r"(?:[^\n]*\\\n)*[^\n]+"
NUMBER = r"(\d+(?:\.\d+)?(?:e-?\d+)?)"

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


class Block(NamedTuple):
    """A fenced block: ``console`` has prompts and output, ``sh`` has commands alone."""

    page: str
    line: int
    language: str
    text: str


class Command(NamedTuple):
    """A command, which may go on over several lines, and what is shown under it."""

    text: str
    shown: str


def blocks(path):
    """The blocks of a page, in order."""
    text = path.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        Block(path.name, 1 + text.count("\n", 0, each.start()), *each.groups()) for each in found
    ]


def commands(block):
    """The commands of a block of the shell."""
    if block.language == "sh":
        return [Command(line, "") for line in re.findall(LOGICAL_LINE, block.text)]
    steps = re.findall(rf"^\$ ({LOGICAL_LINE})\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE)
    return [Command(*step) for step in steps]


def programs(command):
    """The words of every program that a command calls; file names behind < and > stand alone."""
    lexer = shlex.shlex(command.text.replace("\\\n", ""), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found = [[]]
    for word in lexer:
        if set(word) <= set(lexer.punctuation_chars):
            found.append([])
        else:
            found[-1].append(word)
    return found


def lines(text):
    """What is to be compared of what was printed: spaces at the end of lines cannot be seen."""
    return [line.rstrip() for line in text.strip().splitlines()]


def alike(printed, shown, *, within):
    """Whether two texts have the same words, and numbers that are no further apart than this."""
    found, expected = (re.split(NUMBER, " ".join(text.split())) for text in (printed, shown))
    return found[::2] == expected[::2] and all(
        math.isclose(float(one), float(other), rel_tol=0, abs_tol=within + 1e-9)
        for one, other in zip(found[1::2], expected[1::2], strict=True)
    )


def run_python(block, names):
    """Run a block with these names, to which it adds its own; what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, f"{block.page}, line {block.line}", "exec"), names)
    return printed.getvalue()


class Shell:
    """Runs commands in a folder; ``candgen`` there is the one that is tested."""

    def __init__(self, folder):
        program = folder / ".bin" / "candgen"
        program.parent.mkdir(parents=True)
        program.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m candgen "$@"\n', encoding="utf-8"
        )
        program.chmod(0o755)
        self.folder = folder
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(program.parent), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        self.environment.pop("COLUMNS", None)  # what runs the tests may set it

    def run(self, command):
        """Run a command that must succeed."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command.text],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
        )
        assert done.returncode == 0, f"{command.text}\n{done.stderr}"
        return done
