"""Mentions from standard input, line by line."""

import json
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.commands import environment, popen


@pytest.mark.parametrize(
    ("stdin", "mentions"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"V", ["V"]),
        (b"V\n\nR\n", ["V", "", "R"]),
        (b"V\r\nR\r\n", ["V", "R"]),
        (b"V \r\n R", ["V ", " R"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfV\n\xef\xbb\xbfR\n", ["V", "\ufeffR"]),
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb\xbf\n", [""]),
        ("a\u2028b\x85c\x0cd\n".encode(), ["a\u2028b\x85c\x0cd"]),
    ],
)
def test_lines_of_stdin(cli, index, stdin, mentions):
    result = cli("query", index, stdin=stdin)
    assert result.status == 0
    assert [answer["mention"] for answer in result.answers] == mentions


def test_lines_longer_than_what_is_read_at_once(cli, index):
    mentions = ["x" * 200_000, "Vín", "é" * 100_001, ""] * 3
    result = cli("query", index, stdin="\n".join(mentions).encode() + b"\n")
    assert [answer["mention"] for answer in result.answers] == mentions


def test_a_mark_and_a_letter_that_come_byte_by_byte(index):
    with popen("query", index) as run:
        for byte in "\ufeffVín\n".encode():
            run.stdin.write(bytes([byte]))
            run.stdin.flush()
            time.sleep(0.01)
        out, err = run.communicate(timeout=120)
    assert json.loads(out)["mention"] == "Vín"
    assert err == b""


def test_bytes_that_are_not_utf8(cli, index):
    result = cli("query", index, stdin=b"V\xc3\xadn\n\nR\xedn\nWien\n")
    assert result.status == 2
    assert [answer["mention"] for answer in result.answers] == ["Vín", ""]
    assert result.err.startswith("candgen: line 3 of standard input is not UTF-8")
    later = b"Wien\n" * 50_000 + b"\xff"
    result = cli("query", index, "-k", "1", stdin=later)
    assert len(result.answers) == 50_000
    assert "line 50001 " in result.err


def test_whoever_sends_a_line_gets_its_answer(index):
    with popen("query", index, "-k", "1") as run:
        for mention in ["Vín", "Rín", "", "Wien"]:
            run.stdin.write(f"{mention}\n".encode())
            run.stdin.flush()
            ready, _, _ = select.select([run.stdout], [], [], 120)
            assert ready, "no answer while the input stays open"
            assert json.loads(run.stdout.readline())["mention"] == mention
        out, err = run.communicate(timeout=120)
    assert (run.returncode, out, err) == (0, b"", b"")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system has no /proc")
def test_memory_does_not_grow_with_the_input(index):
    """Of 64 million bytes in and as many out, few are kept at a time.

    Lines of white space are soon answered. The system's own count of the peak would not do: a new
    process inherits it from the one that started it.
    """
    script = f"""
import re, sys
from candgen.cli import main
status = main(["query", {str(index)!r}])
sys.stderr.write(re.search("VmHWM: *\t* *([0-9]+) kB", open("/proc/self/status").read())[1])
sys.exit(status)
"""

    def peak(lines):
        run = subprocess.run(
            [sys.executable, "-c", script],
            input=b"%3999s\n" % b"" * lines,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=300,
        )
        assert run.returncode == 0, run.stderr.decode()
        return int(run.stderr) / 1000

    assert peak(16_000) - peak(100) < 24
