"""The command line in processes of its own, and what its tests share."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

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
