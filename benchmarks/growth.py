"""How do time and memory grow with the number of entities?

    python benchmarks/growth.py --size 50000 100000 250000 500000 1000000 2500000

Synthetic worlds of one language. Building is measured in a process of its own, searching for the
best 30 one name at a time, in CPU time. With --figures, two drawings are written there.
"""

import argparse
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import (
    Report,
    Timed,
    add_queries,
    add_repeats,
    add_size,
    cpu_time,
    in_child,
    in_turn,
    peak_memory,
)
from synthetic_index import build_index, index_path, table_path, warm_up
from world import load_world, make_queries

import candgen
from candgen.reporting.figure import Figure, Panel, Series

K = 30
QUERIES = 1000
REPEATS = 3
SIZES = (50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000)

Rows = list[dict[str, Any]]


def build(size: int) -> tuple[float, int]:
    """CPU seconds and peak memory of building, in a process that does nothing else."""
    warm_up()
    table = candgen.MentionTable.read(table_path(size))
    seconds, _ = cpu_time(partial(build_index, table))
    return seconds, peak_memory()


def single_calls(index: candgen.PivotTokenIndex, queries: Sequence[str]) -> list[float]:
    """CPU seconds of a call for each name."""
    call = Timed(index.candidates)
    for query in queries:
        call([query], K, threads=1)
    return call.seconds


def measure(size: int, options: argparse.Namespace) -> dict[str, Any]:
    """One row: everything for one size."""
    table_path(size)
    index = candgen.load(index_path(size))
    queries = make_queries(load_world(size), options.queries, seed=1)
    runs: dict[str, Callable[[], Any]] = {
        "build": partial(in_child, build, size),
        "search": partial(single_calls, index, queries),
    }
    runs["search"]()
    rounds = in_turn(runs, options.repeats)
    seconds = np.median(rounds["search"], axis=0)  # of each name: the machine's noise is not its
    stored = sum(each.stat().st_size for each in index_path(size).iterdir())
    return {
        "entities": size,
        "postings": index.token_index.postings,
        "build, CPU s": statistics.median(each[0] for each in rounds["build"]),
        "build, peak GB": statistics.median(each[1] for each in rounds["build"]) / 1e9,
        "index GB": stored / 1e9,
        "search, mean ms": 1e3 * float(seconds.mean()),
        "p50 ms": 1e3 * float(np.median(seconds)),
        "p99 ms": 1e3 * float(np.quantile(seconds, 0.99)),
    }


def line(rows: Rows, label: str, column: str, *, per_million: bool = False) -> Series:
    """A column as a line over the number of entities."""
    sizes = tuple(float(row["entities"]) for row in rows)
    by = [size / 1e6 if per_million else 1.0 for size in sizes]
    return Series(
        label, sizes, tuple(row[column] / each for row, each in zip(rows, by, strict=True))
    )


def figures(rows: Rows) -> list[Figure]:
    """The drawings: time of a search, and what building takes for each million entities."""
    searching = (
        line(rows, "mean", "search, mean ms"),
        line(rows, "median", "p50 ms"),
        line(rows, "99th percentile", "p99 ms"),
    )
    building = (
        line(rows, "CPU seconds", "build, CPU s", per_million=True),
        line(rows, "GB of memory at the peak", "build, peak GB", per_million=True),
        line(rows, "GB on disk", "index GB", per_million=True),
    )
    return [
        Figure(
            "growth-search",
            f"Searching for the best {K}, one name at a time",
            "lines",
            "entities",
            "milliseconds of CPU",
            (Panel("", searching),),
            log_x=True,
            y_range=None,
        ),
        Figure(
            "growth-build",
            "Building, for each million entities",
            "lines",
            "entities",
            "for each million entities",
            (Panel("", building),),
            log_x=True,
            y_range=None,
        ),
    ]


def main() -> None:
    """Measure every size asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_size(parser, SIZES)
    add_queries(parser, QUERIES, "queries")
    add_repeats(parser, REPEATS)
    parser.add_argument(
        "--figures", type=Path, metavar="FOLDER", help="folder for the drawings (default: none)"
    )
    options = parser.parse_args()
    report = Report("growth", question, options.size)
    rows = []
    for size in options.size:
        rows.append(measure(size, options))
        report.add("Growth (CPU time)", rows[-1:])
    report.write()
    if options.figures is not None:
        from candgen.reporting.plot import draw  # noqa: PLC0415 (needs the extra plots)

        options.figures.mkdir(parents=True, exist_ok=True)
        for figure in figures(rows):
            draw(figure).write(options.figures / f"{figure.name}.svg")


if __name__ == "__main__":
    main()
