"""Run ``candgen serve`` in its own processes, as users start it."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import psutil


class Served(NamedTuple):
    """A server on this machine: its port, and the processes that answer."""

    port: int
    processes: list[psutil.Process]


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[Served]:
    """Run ``candgen serve`` with these arguments on a free port until the block ends."""
    command = [sys.executable, "-m", "candgen", "serve", "--port", "0", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
            children = psutil.Process(process.pid).children()
            workers = [each for each in children if "spawn_main" in " ".join(each.cmdline())]
            yield Served(port, workers)
        finally:
            process.terminate()
