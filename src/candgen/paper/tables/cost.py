"""Tables of what an index costs."""

from candgen.paper.findings import (
    NOT_IN_THE_PAPER,
    PTI,
    Results,
    difference,
    exhibit,
    joined,
    paper_cells,
    printed,
)
from candgen.paper.measurements import COMPLEXITY_THRESHOLD, K
from candgen.paper.published import RATIOS, Pair, published
from candgen.reporting.html import Exhibit
from candgen.reporting.table import Cell, Table

CHARAGRAM = "charagram"
_COMPARED = {"parameters": "parameters", "build_seconds": "build", "query_seconds": "all queries"}
"""What is compared with PTI, and what tables call it."""


def thresholding(results: Results) -> Exhibit:
    """Recall@30 with less of the index."""
    rows: list[tuple[Cell, ...]] = []
    for pair in results.pairs:
        for method in results.methods:
            found = results.of("thresholds", pair.key, method)
            for one in found["thresholds"] if found else ():
                keys = (pair.key, f"{one['threshold']:g}")
                ours = method == PTI
                paper = [published("thresholding", *keys, what) for what in ("recall", "removed")]
                recall, removed = paper if ours else (None, None)
                rows.append(
                    (
                        pair.key,
                        method,
                        len(results.queries(pair)["types"]),
                        keys[1],
                        one["recall"],
                        *paper_cells(one["recall"], recall),
                        one["removed"],
                        *paper_cells(one["removed"], removed),
                    )
                )
    columns = (
        "pair",
        "method",
        "queries",
        "threshold",
        f"recall@{K}",
        "paper",
        "difference",
        "removed %",
        "removed %, paper",
        "removed %, difference",
    )
    note = (
        "Removed is the share of priors and posteriors, together. Parameters are those that dev "
        "chose for no threshold."
    )
    table = Table("Thresholding", columns, tuple(rows), note=note)
    return exhibit("thresholding", "Thresholding", [table])


def complexity(results: Results) -> Exhibit:
    """Parameters, seconds and memory, and how they compare with those of PTI."""
    compared = PTI in results.methods and len(results.methods) > 1
    rows: list[tuple[Cell, ...]] = []
    for pair in results.pairs:
        for method in results.methods:
            ratios = _ratios(results, pair, method) if compared else []
            rows.append((*_costs(results, pair, method), *map(_times, ratios)))
    columns = (
        "pair",
        "method",
        "parameters",
        "parameters, paper",
        "difference, M",
        "build, s",
        "build, paper, min",
        "difference, min",
        "queries",
        "all queries, s",
        "all queries, paper, s",
        "difference, s",
        "peak memory, MB",
        *(f"{what}, times {PTI}" for what in _COMPARED.values() if compared),
    )
    note = joined(
        f"Each in a process of its own on {_cores(results)}, with threshold "
        f"{COMPLEXITY_THRESHOLD} where a method has one. Seconds are CPU time, which on a quiet "
        "machine is what passes. Peak memory is that of the whole process. "
        "The paper had larger tables and another machine.",
        results.budgets("complexity"),
    )
    table = Table("Complexity", columns, tuple(rows), note=note)
    tables = [table, _mean_ratios(results)] if compared else [table]
    return exhibit("complexity", "Complexity", tables)


def _costs(results: Results, pair: Pair, method: str) -> tuple[Cell, ...]:
    found = results.of("complexity", pair.key, method) or {}
    parameters, minutes, seconds = (
        published("complexity", pair.key, what, method)
        for what in ("parameters", "training-minutes", "inference-seconds")
    )
    return (
        pair.key,
        method,
        found["parameters"],
        printed(published("complexity", pair.key, "parameters-printed", method)),
        difference(found["parameters"], parameters, unit=1e6),
        f"{found['build_seconds']:.2f}",
        printed(minutes),
        difference(found["build_seconds"] / 60, minutes),
        found["queries"],
        f"{found['query_seconds']:.2f}",
        printed(seconds),
        difference(found["query_seconds"], seconds),
        _megabytes(found["peak_bytes"]),
    )


def _ratios(results: Results, pair: Pair, method: str) -> list[float | None]:
    """How many times as much as PTI a method needs; None for PTI itself."""
    if method == PTI:
        return [None] * len(_COMPARED)
    base, found = (results.of("complexity", pair.key, name) or {} for name in (PTI, method))
    return [found[what] / base[what] if base[what] else None for what in _COMPARED]


def _mean_ratios(results: Results) -> Table:
    """The means of the ratios, beside what the paper claims of Charagram."""
    rows: list[tuple[Cell, ...]] = []
    for method in results.methods:
        if method == PTI:
            continue
        ratios = [_ratios(results, pair, method) for pair in results.pairs]
        row: list[Cell] = [method, len(ratios)]
        for what, column in zip(_COMPARED, zip(*ratios, strict=True), strict=True):
            known = [ratio for ratio in column if ratio is not None]
            claimed = f"{RATIOS[what]}" if method == CHARAGRAM else NOT_IN_THE_PAPER
            row += [_times(sum(known) / len(known) if known else None), claimed]
        rows.append(tuple(row))
    pairs = [(what, f"{what}, paper") for what in _COMPARED.values()]
    columns = ("method", "pairs", *(name for both in pairs for name in both))
    note = joined(
        f"How many times as much as {PTI} a method needs, the mean over the pairs. Above 1, "
        f"{PTI} needs less.",
        results.budgets("complexity"),
    )
    return Table(f"Ratios to {PTI}", columns, tuple(rows), note=note)


def _times(ratio: float | None) -> str | None:
    """A ratio in three digits: both 0.0123 and 321 tell something."""
    if ratio is None:
        return None
    return f"{ratio:.3g}" if ratio < 999.5 else f"{ratio:.0f}"


def _megabytes(size: int | None) -> int | None:
    return None if size is None else round(size / 1e6)


def _cores(results: Results) -> str:
    """How many cores were used: only some systems can be told to use one."""
    kept = (found for step, found in results.findings.items() if step.kind == "complexity")
    cores = max((found.get("cores", 1) for found in kept), default=1)
    return "one core" if cores == 1 else f"up to {cores} cores"
