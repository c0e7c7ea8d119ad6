"""Asks the process of `read_files` about files, and starts it again if one ends it."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Answer(NamedTuple):
    """What a reader did with a file; ``said`` is its sentence, and None if the file was read."""

    said: str | None
    problem: str | None
    memory: int


class Readers:
    """Readers of tables in a process of their own."""

    def __init__(self, timeout: float = 120) -> None:
        self._timeout = timeout
        self._process: subprocess.Popen | None = None

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self._stop()

    def _stop(self) -> int:
        if self._process is None:
            return 0
        self._process.kill()
        self._process.stdin.close()
        self._process.stdout.close()
        status = self._process.wait()
        self._process = None
        return status

    def read(self, reader: str, path) -> Answer:
        if self._process is None:
            environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.adversarial.read_files"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                cwd=ROOT,
            )
        self._process.stdin.write(f"{reader}\t{path}\n".encode())
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], self._timeout)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            if ready:  # the process has ended, or is about to
                self._process.wait()
            status = self._process.poll()
            self._stop()
            why = f"no answer in {self._timeout} s" if status is None else f"status {status}"
            return Answer(None, f"{reader} {path}: {why}", 0)
        answer = json.loads(line)
        said, problem = answer["said"], answer["traceback"]
        if said is not None and (len(said.splitlines()) != 1 or len(said) > 1000):
            problem = f"not a sentence: {said!r}"
        elif said is not None and str(path) not in said:
            problem = f"does not name the file: {said!r}"
        return Answer(said, problem and f"{reader} {path}: {problem}", answer["memory"])
