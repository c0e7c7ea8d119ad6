"""The cost of a method: parameters, seconds and memory, measured in a separate process.

The measuring process reads a job in JSON on its standard input and writes JSON to its standard
output: ``run_job`` is its work, and ``measure_in_process`` starts it and waits for it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from candgen.errors import CandgenError
from candgen.paper.training_budget import with_budget
from candgen.protocols import Method, Parameters, Training
from candgen.tables.limits import use_limits
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query, read_queries, write_queries

K = 30
_TINY = MentionTable.from_pairs([("Vín", "Q1741", 3), ("Vín", "Q282"), ("Rín", "Q584", 2)])


def measure_in_process(
    command: Sequence[str],
    method: str,
    training: Training,
    parameters: Parameters,
    queries: Sequence[Query],
) -> dict[str, Any]:
    """Build a generator in a separate process, on one core, and ask it all queries.

    ``command`` starts a program that calls ``run_job``. Returns the number of ``parameters``, the
    ``build_seconds``, the ``query_seconds`` of all queries together and the ``peak_bytes`` of the
    whole process, tables and interpreter included.
    """
    with tempfile.TemporaryDirectory(prefix="candgen-") as name:
        folder = Path(name)
        job = {
            "method": method,
            "parameters": dict(parameters),
            "language": training.language,
            "pivots": {
                pivot: _write(table, folder / f"pivot-{number}.parquet")
                for number, (pivot, table) in enumerate(training.pivots.items())
            },
            "target": _write(training.target, folder / "target.parquet"),
            "english": _write(training.english, folder / "english.parquet"),
            "queries": str(folder / "queries.tsv"),
            "dev": str(folder / "dev.tsv"),
        }
        write_queries(folder / "queries.tsv", queries)
        write_queries(folder / "dev.tsv", training.dev)
        done = subprocess.run(  # noqa: S603
            list(command),
            input=json.dumps(job),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CandgenError(f"measuring {method} in a separate process failed: {last}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run_job(methods: Mapping[str, Method], job: Mapping[str, Any]) -> dict[str, Any]:
    """Run a job in this process, on one core as in the paper if the system can limit it.

    Seconds are CPU time, so that other work on the machine does not count. A tiny index is built
    and queried first, so that neither compiling nor importing is measured.
    """
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        cores = 1
    method, parameters = methods[job["method"]], job["parameters"]
    with use_limits(sys.maxsize, sys.maxsize):  # the files are our own
        training = Training(
            {name: MentionTable.read(path) for name, path in job["pivots"].items()},
            _read(job["target"]),
            job["language"],
            _read(job["english"]),
            read_queries(job["dev"]),
        )
        mentions = [query.mention for query in read_queries(job["queries"])]
    _warm_up(method, training, parameters)
    start = time.process_time()
    generator = method(training, parameters)
    built = time.process_time()
    generator.candidates(mentions, K)
    queried = time.process_time()
    found = {
        "parameters": method.size(generator).parameters,
        "build_seconds": built - start,
        "query_seconds": queried - built,
        "queries": len(mentions),
        "cores": cores,
        "peak_bytes": _peak_bytes(),
    }
    return with_budget(found, method, parameters, generator)


def _warm_up(method: Method, training: Training, parameters: Parameters) -> None:
    if "epochs" in method.options:  # one is enough to have everything imported and compiled
        parameters = {**parameters, "epochs": 1}
    elif method.neural:  # a first training might take as long as the second
        return
    tiny = Training(
        dict.fromkeys(training.pivots, _TINY),
        _TINY if training.target is not None else None,
        training.language,
        _TINY,
        [Query("Vín", "Q282")],
    )
    method(tiny, parameters).candidates(["Vín"] * 100, K)


def _peak_bytes() -> int | None:
    """Return the peak memory of this process; None if the system does not report it.

    On Linux it is read from a file, because getrusage may report that of the parent process.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        pass
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _write(table: MentionTable | None, path: Path) -> str | None:
    if table is None:
        return None
    table.write(path)
    return str(path)


def _read(path: str | None) -> MentionTable | None:
    return None if path is None else MentionTable.read(path)
