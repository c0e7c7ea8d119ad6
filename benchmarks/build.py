"""How fast is building an index, and how much memory does it take?

    python benchmarks/build.py --size 50000 500000 2500000

With one thread and with two, whose files are the same. The peers, with one thread, are the
straightforward implementation, dictionaries of Counters turned into a SciPy matrix, and the best of
that kind: coordinates in arrays, which SciPy adds up. The script stops with an error unless all of
them have the same number of postings.
"""

import argparse
import shutil
import statistics
import time
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from folders import DATA
from measure import (
    Report,
    add_repeats,
    add_size,
    cpu_time,
    in_child,
    in_turn,
    peak_memory,
    system_time,
)
from synthetic_index import LANGUAGE, index_path, table_path, warm_up

import candgen

SMALL, LARGE = 50_000, 500_000
"""The peers build worlds up to these sizes three times, or once; larger ones not at all."""

TWO_THREADS = "candgen, two threads"

Run = dict[str, Any]
Pairs = Iterable[tuple[str, str, int]]


def text_of(mention: str) -> str:
    """A mention between two boundary marks."""
    return "\x02" + unicodedata.normalize("NFKC", mention).casefold() + "\x02"


def dictionaries(pairs: Pairs) -> sp.csr_array:
    """n(t, e), tokens by entities, as it is first written: a Counter of entities for each token."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for mention, entity, count in pairs:
        text = text_of(mention)
        for n in range(2, 6):
            for p in range(len(text) - n + 1):
                counts[text[p : p + n]][entity] += count
    entities: dict[str, int] = {}
    rows, columns, values = array("i"), array("i"), array("q")
    for token, by_entity in enumerate(counts.values()):
        for entity, count in by_entity.items():
            rows.append(token)
            columns.append(entities.setdefault(entity, len(entities)))
            values.append(count)
    return matrix(rows, columns, values, (len(counts), len(entities)))


def coordinates(pairs: Pairs) -> sp.csr_array:
    """The same with more thought: numbers from the start, a Counter a mention, SciPy adds up."""
    tokens: dict[str, int] = {}
    entities: dict[str, int] = {}
    rows, columns, values = array("i"), array("i"), array("q")
    for mention, entity, count in pairs:
        text = text_of(mention)
        ngrams = Counter(text[p : p + n] for n in range(2, 6) for p in range(len(text) - n + 1))
        number = entities.setdefault(entity, len(entities))
        for token, times in ngrams.items():
            rows.append(tokens.setdefault(token, len(tokens)))
            columns.append(number)
            values.append(times * count)
    return matrix(rows, columns, values, (len(tokens), len(entities)))


def matrix(
    rows: "array[int]", columns: "array[int]", values: "array[int]", shape: tuple[int, int]
) -> sp.csr_array:
    """Coordinates as a matrix, equal ones added up."""
    counts = sp.coo_array((np.asarray(values), (np.asarray(rows), np.asarray(columns))), shape)
    return counts.tocsr().astype(np.float64)


def default_repeats(size: int) -> tuple[int, int]:
    """Return how often candgen builds a world of this size, and how often each peer does.

    The dictionaries take minutes at 500,000 entities, and more memory than most machines have at
    2,500,000.
    """
    if size <= SMALL:
        return 5, 3
    return (5, 1) if size <= LARGE else (3, 0)


def normalized(counts: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Prior and posterior."""
    prior = sp.diags_array(1 / counts.sum(axis=1)) @ counts
    posterior = counts @ sp.diags_array(1 / counts.sum(axis=0))
    return prior.tocsr(), posterior.tocsr()


PEERS: dict[str, Callable[[Pairs], sp.csr_array]] = {
    "dictionaries": dictionaries,
    "coordinates": coordinates,
}


def run_peer(name: str, size: int) -> Run:
    """Build once with a peer, in a process of its own."""
    table = candgen.MentionTable.read(table_path(size))
    before, system = peak_memory(), system_time()
    seconds, (prior, _) = cpu_time(lambda: normalized(PEERS[name](table)))
    return {
        "build": seconds,
        "system": system_time() - system,
        "postings": prior.nnz,
        "before": before,
        "peak": peak_memory(),
    }


def run_ours(size: int, threads: int) -> Run:
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

    build = partial(
        candgen.PivotTokenIndex.build, {LANGUAGE: table}, threads=threads, progress=progress
    )
    wall, system = time.perf_counter(), system_time()
    seconds, index = cpu_time(build)
    wall, system = time.perf_counter() - wall, system_time() - system
    peak = peak_memory()
    folder = DATA / f"building-{size}.candgen"
    writing, _ = cpu_time(lambda: index.save(folder))
    shutil.rmtree(folder)
    return {
        "build": seconds,
        "system": system,
        "wall": wall,
        "steps": steps,
        "reading": reading,
        "writing": writing,
        "postings": index.token_index.postings,
        "before": before,
        "peak": peak,
    }


def middle(runs: list[Run], key: str) -> float:
    """The median of a figure over the runs."""
    return statistics.median(run[key] for run in runs)


def measure(size: int, asked: int | None, report: Report) -> None:
    """Build worlds of one size in turn, and add to the tables."""
    table_path(size)
    index_path(size)  # compiles what is not in Numba's cache yet
    repeats, peer_repeats = default_repeats(size)
    if asked is not None:
        repeats, peer_repeats = asked, min(asked, peer_repeats)
    candgens = {
        "candgen": partial(in_child, run_ours, size, 1),
        TWO_THREADS: partial(in_child, run_ours, size, 2),
    }
    peers = {name: partial(in_child, run_peer, name, size) for name in PEERS}
    runs = in_turn({**candgens, **peers}, peer_repeats)
    for name, more in in_turn(candgens, repeats - peer_repeats).items():
        runs[name] += more
    ours = runs["candgen"]
    millions = ours[0]["postings"] / 1e6
    rows = [summary(f"{name}, {repeats} runs", size, runs.pop(name)) for name in candgens]
    for name, peer in runs.items():
        if not peer:
            continue
        if peer[0]["postings"] != ours[0]["postings"]:
            raise AssertionError(
                f"{name}: {peer[0]['postings']} postings, candgen has {ours[0]['postings']}"
            )
        rows.append(summary(f"{name}, {len(peer)} runs", size, peer))
        ratio = middle(peer, "build") / middle(ours, "build")
        rows.append(
            {
                "what": f"{name} / candgen",
                "entities": size,
                "CPU s": ratio,
                "peak GB": middle(peer, "peak") / middle(ours, "peak"),
            }
        )
    report.add("Building", rows)
    report.add(
        "Reading and writing, apart (CPU seconds)",
        [
            {
                "entities": size,
                "read Parquet": middle(ours, "reading"),
                "build": middle(ours, "build"),
                "save": middle(ours, "writing"),
            }
        ],
    )
    report.add(
        "Steps of building (CPU seconds)",
        [
            {
                "entities": size,
                **{step: middle([run["steps"] for run in ours], step) for step in ours[0]["steps"]},
            }
        ],
    )
    report.add(
        "Is it linear?",
        [
            {
                "entities": size,
                "postings": ours[0]["postings"],
                "CPU s a million postings": middle(ours, "build") / millions,
                "peak bytes a posting": middle(ours, "peak") / (1e6 * millions),
            }
        ],
    )


def summary(what: str, size: int, runs: list[Run]) -> dict[str, Any]:
    """One row of the main table."""
    row = {
        "what": what,
        "entities": size,
        "CPU s": middle(runs, "build"),
        "fastest": min(run["build"] for run in runs),
        "slowest": max(run["build"] for run in runs),
        "system s": middle(runs, "system"),
        "peak GB": middle(runs, "peak") / 1e9,
        "of that before": middle(runs, "before") / 1e9,
    }
    return row | ({"wall s": middle(runs, "wall")} if "wall" in runs[0] else {})


def main() -> None:
    """Measure every size asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_size(parser)
    add_repeats(parser, None)
    options = parser.parse_args()
    report = Report("build", question, options.size)
    for size in options.size:
        measure(size, options.repeats, report)
    report.write()


if __name__ == "__main__":
    main()
