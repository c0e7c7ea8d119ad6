"""How benchmarks measure: CPU time, runs in turn, fresh processes, options and reports.

Other work on the machine disturbs wall time most, so CPU time is compared, and peers run in turn
with candgen, so that a noisy minute affects all of them.
"""

import argparse
import contextlib
import gc
import importlib.metadata
import importlib.util
import json
import multiprocessing
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from folders import RESULTS
from synthetic_index import source_hash

PACKAGES = ("numpy", "numba", "pyarrow", "scipy", "bm25s")
NOT_INSTALLED = "not installed"

P = ParamSpec("P")
T = TypeVar("T")


def cpu_time(work: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU seconds of all threads that the work took, and its result."""
    before = time.process_time()
    made = work()
    return time.process_time() - before, made


@contextlib.contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Switch it off in a block: it counts the objects that a benchmark keeps, not a call's own."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Timed:
    """A function that remembers the CPU seconds of its calls in this thread."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.seconds: list[float] = []

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call the function."""
        before = time.thread_time()
        made = self.function(*args, **kwargs)
        self.seconds.append(time.thread_time() - before)
        return made

    def __get__(self, owner: object, kind: type | None = None) -> Callable[..., Any]:
        """Return it as a method, like every function that is an attribute of a class."""
        return self if owner is None else partial(self, owner)


def system_time() -> float:
    """Return this process's CPU seconds inside the kernel, most of them for new memory."""
    return os.times().system


def wall_time(work: Callable[[], T]) -> tuple[float, T]:
    """Return the elapsed seconds, and the result of the work."""
    before = time.perf_counter()
    made = work()
    return time.perf_counter() - before, made


def in_turn(runs: Mapping[str, Callable[[], T]], repeats: int) -> dict[str, list[T]]:
    """Run each once, then each once more, and so on, so that noise affects all of them."""
    made: dict[str, list[T]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            with no_garbage_collection():
                made[name].append(run())
    return made


def in_child(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the result of a function that runs in a new process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


def peak_memory() -> int:
    """Return the peak resident memory of this process, in bytes.

    Not ru_maxrss, which a process inherits from the one that started it.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def median_ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """Return the median of the ratios of runs that took place side by side."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=False))


def add_size(parser: argparse.ArgumentParser, default: Sequence[int] = (50_000, 500_000)) -> None:
    """Add the option --size: the synthetic worlds to measure."""
    parser.add_argument(
        "--size",
        type=int,
        nargs="*",
        default=list(default),
        metavar="ENTITIES",
        help="entities of a synthetic world, such as 50000, 500000 or 2500000; several sizes are "
        "measured one after the other (default: %(default)s)",
    )


def add_data(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the option --data: a folder of real mention tables."""
    parser.add_argument(
        "--data",
        type=Path,
        required=required,
        metavar="FOLDER",
        help="folder of mention tables, <language>.tsv.gz or another format",
    )


def add_queries(
    parser: argparse.ArgumentParser, default: int, what: str = "dev and test queries of each type"
) -> None:
    """Add the option --queries."""
    parser.add_argument(
        "--queries",
        type=int,
        default=default,
        metavar="N",
        help=f"number of {what} (default: %(default)s)",
    )


def add_repeats(parser: argparse.ArgumentParser, default: int | None) -> None:
    """Add the option --repeats; None stands for a default that depends on the size."""
    shown = "depends on the size" if default is None else "%(default)s"
    parser.add_argument(
        "--repeats",
        type=int,
        default=default,
        metavar="N",
        help=f"runs of each measurement, of which the median counts (default: {shown})",
    )


def missing_packages(*names: str) -> list[str]:
    """Return those of the optional packages that are not installed."""
    return [name for name in names if importlib.util.find_spec(name) is None]


def machine() -> dict[str, str]:
    """Return the machine and the versions that the figures were measured on."""
    models = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores",
        "memory": f"{memory:.0f} GiB",
        "load": f"{os.getloadavg()[1]:.1f} processes, on average over five minutes",
        "system": platform.platform(),
        "candgen": f"source {source_hash()}",
        "python": platform.python_version(),
        **{name: installed_version(name) for name in PACKAGES},
    }


def installed_version(package: str) -> str:
    """Return the version of a package, or NOT_INSTALLED."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return NOT_INSTALLED


@dataclass
class Report:
    """Tables that answer one question, printed as they are made, then written to files.

    A row maps the heading of a column to a text or a number.
    """

    name: str
    question: str
    sizes: Sequence[int]
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=machine)

    def add(self, title: str, rows: list[dict[str, Any]]) -> None:
        """Print a table and keep it; rows under the same title are one table."""
        self.tables.setdefault(title, []).extend(rows)
        print(f"\n{title}\n\n{as_markdown(rows)}", flush=True)

    def write(self) -> None:
        """Write everything to results/NAME-SIZES.json and the same with .md."""
        RESULTS.mkdir(parents=True, exist_ok=True)
        stem = "-".join([self.name, *map(str, self.sizes)])
        content = {"question": self.question, "machine": self.about, "tables": self.tables}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (RESULTS / f"{stem}.json").write_text(text + "\n", encoding="utf-8")
        parts = [
            f"# {self.question}",
            ", ".join(f"{key} {value}" for key, value in self.about.items()),
        ]
        parts += [f"## {title}\n\n{as_markdown(rows)}" for title, rows in self.tables.items()]
        (RESULTS / f"{stem}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def as_markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as an aligned Markdown table."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([shown(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [not isinstance(rows[0].get(name, ""), str) for name in names]
    lines = [
        "| "
        + " | ".join(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        )
        + " |"
        for line in cells
    ]
    rule = [
        "-" * (width - 1) + (":" if r else "-") for width, r in zip(widths, numeric, strict=True)
    ]
    return "\n".join([lines[0], "| " + " | ".join(rule) + " |", *lines[1:]])


def shown(value: object) -> str:
    """Format a number with three significant digits, or thousands."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
