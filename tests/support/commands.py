"""The command line in processes of its own, and what its tests share."""

import contextlib
import gzip
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).resolve().parents[2] / "src"


def command(*arguments):
    return [sys.executable, "-m", "candgen", *map(str, arguments)]


def environment(**more):
    return {**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "120", **more}


def process(*arguments, **options):
    """Runs a command in a process of its own."""
    return subprocess.run(
        command(*arguments), capture_output=True, env=environment(), timeout=300, **options
    )


def popen(*arguments):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command(*arguments), env=environment(), **pipes)


def write_table(path, rows):
    text = "".join(
        "\t".join(map(str, row)) + "\n" for row in [("mention", "entity", "count"), *rows]
    )
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def snapshot(folder):
    """Every file under a folder, with its bytes."""
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def is_refusal(result):
    """One sentence on stderr, nothing on stdout, status 2."""
    lines = result.err.splitlines()
    return (
        result.status == 2
        and not result.out
        and len(lines) == 1
        and lines[0].startswith("candgen: ")
        and "Traceback" not in result.err
    )


TOY_OPTIONS = ("--alpha", "0.5", "--lam", "1", "--ngrams", "2")


def toy_build(cli, world, output, *more):
    tables = ("--pivot", f"is={world / 'is.tsv'}", "--target", world / "fo.tsv.gz")
    return cli("build", *tables, *TOY_OPTIONS, "-o", output, *more)


def on_terminal(*arguments, out=False, stdin=b""):
    """Runs a command whose stderr is a terminal, or with ``out`` its stdout.

    Files stand at the other ends: nobody waits for a full pipe while the terminal is read.
    """
    master, slave = pty.openpty()
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as other,
        os.fdopen(master, "rb", buffering=0) as terminal,
    ):
        given.write(stdin)
        given.seek(0)
        ends = {"stdout": slave, "stderr": other} if out else {"stdout": other, "stderr": slave}
        environ = environment(TERM="xterm")
        run = subprocess.Popen(command(*arguments), env=environ, stdin=given, **ends)
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # on Linux, the end
            while piece := terminal.read(65536):
                shown += piece
        status = run.wait(timeout=120)
        other.seek(0)
        return shown.decode(), other.read(), status


def told(shown, exact):
    """The number that the digits stand for, if 32 bits are all that the exact one has."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(shown)) if float(np.float32(exact)) == exact else shown
