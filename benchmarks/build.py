"""How fast is building an index, and how much memory does it take?

    python benchmarks/build.py --size 50000 500000 2500000

One thread. Against the version that anybody would write first: dictionaries, Counters and SciPy.
"""

import shutil
import statistics
import time
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from measure import (
    Report,
    chosen_sizes,
    cpu_time,
    in_child,
    in_turn,
    median_ratio,
    peak_memory,
    system_time,
)
from stored import LANGUAGE, index_path, table_path, warm_up
from world.table import DATA

import candgen

REPEATS = {50_000: 5, 500_000: 5, 2_500_000: 3}
# The dictionaries take minutes at 500,000 entities, and more memory than there is at 2,500,000.
PEER_REPEATS = {50_000: 5, 500_000: 2, 2_500_000: 0}

Run = dict[str, Any]


def dictionaries(pairs: Iterable[tuple[str, str, int]]) -> tuple[sp.csr_array, sp.csr_array]:
    """Prior and posterior, tokens by entities, the obvious way."""
    tokens: dict[str, int] = {}
    entities: dict[str, int] = {}
    rows, columns, values = array("i"), array("i"), array("q")
    for mention, entity, count in pairs:
        text = "\x02" + unicodedata.normalize("NFKC", mention).casefold() + "\x02"
        ngrams = Counter(text[p : p + n] for n in range(2, 6) for p in range(len(text) - n + 1))
        number = entities.setdefault(entity, len(entities))
        for token, times in ngrams.items():
            rows.append(tokens.setdefault(token, len(tokens)))
            columns.append(number)
            values.append(times * count)
    shape = (len(tokens), len(entities))
    counts = sp.coo_array((np.asarray(values), (np.asarray(rows), np.asarray(columns))), shape)
    counts = counts.tocsr().astype(np.float64)
    prior = sp.diags_array(1 / counts.sum(axis=1)) @ counts
    posterior = counts @ sp.diags_array(1 / counts.sum(axis=0))
    return prior.tocsr(), posterior.tocsr()


def run_dictionaries(size: int) -> Run:
    """Build once with dictionaries, in a process of its own."""
    table = candgen.MentionTable.read(table_path(size))
    before, system = peak_memory(), system_time()
    seconds, (prior, _) = cpu_time(lambda: dictionaries(table))
    return {
        "build": seconds, "system": system_time() - system, "postings": prior.nnz,
        "before": before, "peak": peak_memory(),
    }  # fmt: skip


def run_ours(size: int) -> Run:
    """Build once with candgen, in a process of its own; reading and writing apart."""
    warm_up()
    reading, table = cpu_time(lambda: candgen.MentionTable.read(table_path(size)))
    before = peak_memory()
    steps: dict[str, float] = {}
    last = [time.process_time(), "checking"]

    def progress(doing: str, _share: float) -> None:
        now = time.process_time()
        steps[last[1]] = steps.get(last[1], 0.0) + now - last[0]
        last[:] = now, doing.removesuffix(f" {LANGUAGE}")

    build = partial(candgen.PivotTokenIndex.build, {LANGUAGE: table}, progress=progress)
    wall, system = time.perf_counter(), system_time()
    seconds, index = cpu_time(build)
    wall, system = time.perf_counter() - wall, system_time() - system
    peak = peak_memory()
    folder = DATA / f"building-{size}.candgen"
    writing, _ = cpu_time(lambda: index.save(folder))
    shutil.rmtree(folder)
    return {
        "build": seconds, "system": system, "wall": wall, "steps": steps, "reading": reading,
        "writing": writing, "postings": index.tokens.postings, "before": before, "peak": peak,
    }  # fmt: skip


def middle(runs: list[Run], key: str) -> float:
    """The median of a figure over the runs."""
    return statistics.median(run[key] for run in runs)


def measure(size: int, report: Report) -> None:
    """Build worlds of one size in turn, and add to the tables."""
    table_path(size)
    index_path(size)  # compiles what is not in Numba's cache yet
    repeats, peer_repeats = REPEATS.get(size, 3), PEER_REPEATS.get(size, 0)
    both = {
        "ours": partial(in_child, run_ours, size),
        "peer": partial(in_child, run_dictionaries, size),
    }
    runs = in_turn(both, peer_repeats) if peer_repeats else {"ours": [], "peer": []}
    runs["ours"] += in_turn({"ours": both["ours"]}, repeats - peer_repeats)["ours"]
    ours, peer = runs["ours"], runs["peer"]
    millions = ours[0]["postings"] / 1e6
    rows = [summary(f"candgen, {repeats} runs", size, ours)]
    if peer:
        if peer[0]["postings"] != ours[0]["postings"]:
            raise AssertionError(f"{peer[0]['postings']} postings, ours {ours[0]['postings']}")
        rows.append(summary(f"dictionaries, {len(peer)} runs", size, peer))
        ratio = median_ratio([run["build"] for run in peer], [run["build"] for run in ours])
        rows.append({"what": "dictionaries / candgen", "entities": size, "CPU s": ratio,
                     "peak GB": middle(peer, "peak") / middle(ours, "peak")})  # fmt: skip
    report.add("Building", rows)
    report.add("Reading and writing, apart (CPU seconds)", [{
        "entities": size, "read Parquet": middle(ours, "reading"),
        "build": middle(ours, "build"), "save": middle(ours, "writing"),
    }])  # fmt: skip
    report.add("Steps of building (CPU seconds)", [{
        "entities": size,
        **{step: middle([run["steps"] for run in ours], step) for step in ours[0]["steps"]},
    }])  # fmt: skip
    report.add("Is it linear?", [{
        "entities": size, "postings": ours[0]["postings"],
        "CPU s a million postings": middle(ours, "build") / millions,
        "peak bytes a posting": middle(ours, "peak") / (1e6 * millions),
    }])  # fmt: skip


def summary(what: str, size: int, runs: list[Run]) -> dict[str, Any]:
    """One row of the main table."""
    row = {"what": what, "entities": size, "CPU s": middle(runs, "build"),
           "fastest": min(run["build"] for run in runs),
           "slowest": max(run["build"] for run in runs),
           "system s": middle(runs, "system"), "peak GB": middle(runs, "peak") / 1e9,
           "of that before": middle(runs, "before") / 1e9}  # fmt: skip
    return row | ({"wall s": middle(runs, "wall")} if "wall" in runs[0] else {})


def main() -> None:
    """Measure every size asked for."""
    question = "How fast is building an index, and how much memory does it take?"
    sizes = chosen_sizes(question)
    report = Report("build", question, sizes)
    for size in sizes:
        measure(size, report)
    report.write()


if __name__ == "__main__":
    main()
