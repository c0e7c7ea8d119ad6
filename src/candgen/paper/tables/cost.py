"""Tables of what an index costs."""

from collections.abc import Callable
from typing import Any

from candgen.paper.findings import (
    NOT_IN_THE_PAPER,
    PTI,
    Findings,
    difference,
    exhibit,
    join_notes,
    paper_cells,
    printed,
)
from candgen.paper.measurements import COMPLEXITY_THRESHOLD, K
from candgen.paper.published import RATIOS, Pair, published
from candgen.reporting.html import Exhibit
from candgen.reporting.table import Cell, Table

CHARAGRAM = "charagram"
_COMPARED = {"parameters": "parameters", "build_seconds": "build", "query_seconds": "all queries"}
"""What is compared with PTI, and its name in tables."""

Row = tuple[Pair, str]
"""A pair and a method."""


def thresholding(findings: Findings) -> Exhibit:
    """Recall@30 with less of the index."""
    rows: list[tuple[Cell, ...]] = []
    for pair in findings.pairs:
        queries = len(findings.queries(pair)["types"])
        for method in findings.methods:
            found = findings.of("thresholds", pair.key, method)
            for one in found["thresholds"] if found else ():
                threshold = f"{one['threshold']:g}"
                cells: list[Cell] = []
                for what in ("recall", "removed"):
                    paper = published("thresholding", pair.key, threshold, what)
                    cells += (one[what], *paper_cells(one[what], paper if method == PTI else None))
                rows.append((pair.key, method, queries, threshold, *cells))
    columns = ("pair", "method", "queries", "threshold", f"recall@{K}", "paper", "difference")
    removed = ("removed %", "removed %, paper", "removed %, difference")
    note = (
        "Removed is the share of priors and posteriors, together. Parameters are those that dev "
        "chose for no threshold."
    )
    table = Table("Thresholding", (*columns, *removed), tuple(rows), note=note)
    return exhibit("thresholding", "Thresholding", [table])


def complexity(findings: Findings) -> Exhibit:
    """Parameters, seconds and memory, and their ratios to those of PTI."""

    def ours(row: Row) -> dict[str, Any]:
        return findings.of("complexity", row[0].key, row[1]) or {}

    def paper(row: Row, what: str) -> float | str | None:
        return published("complexity", row[0].key, what, row[1])

    def ratio(number: int) -> Callable[[Row], Cell]:
        return lambda row: _format_ratio(_ratios(findings, *row)[number])

    compared = PTI in findings.methods and len(findings.methods) > 1
    columns: dict[str, Callable[[Row], Cell]] = {
        "pair": lambda row: row[0].key,
        "method": lambda row: row[1],
        "parameters": lambda row: ours(row)["parameters"],
        "parameters, paper": lambda row: printed(paper(row, "parameters-printed")),
        "difference, M": lambda row: difference(
            ours(row)["parameters"], paper(row, "parameters"), unit=1e6
        ),
        "build, s": lambda row: f"{ours(row)['build_seconds']:.2f}",
        "build, paper, min": lambda row: printed(paper(row, "training-minutes")),
        "difference, min": lambda row: difference(
            ours(row)["build_seconds"] / 60, paper(row, "training-minutes")
        ),
        "queries": lambda row: ours(row)["queries"],
        "all queries, s": lambda row: f"{ours(row)['query_seconds']:.2f}",
        "all queries, paper, s": lambda row: printed(paper(row, "inference-seconds")),
        "difference, s": lambda row: difference(
            ours(row)["query_seconds"], paper(row, "inference-seconds")
        ),
        "peak memory, MB": lambda row: _megabytes(ours(row)["peak_bytes"]),
    }
    if compared:
        names = enumerate(_COMPARED.values())
        columns |= {f"{what}, times {PTI}": ratio(number) for number, what in names}
    note = join_notes(
        f"Each in a process of its own on {_cores(findings)}, with threshold "
        f"{COMPLEXITY_THRESHOLD} where a method has one. Seconds are CPU time, which on an idle "
        "machine is the elapsed time. Peak memory is that of the whole process. "
        "The paper had larger tables and another machine.",
        findings.budgets("complexity"),
    )
    rows = [(pair, method) for pair in findings.pairs for method in findings.methods]
    table = Table.of("Complexity", columns, rows, note=note)
    tables = [table, _mean_ratios(findings)] if compared else [table]
    return exhibit("complexity", "Complexity", tables)


def _ratios(findings: Findings, pair: Pair, method: str) -> list[float | None]:
    """Return how many times as much as PTI a method needs; None for PTI itself."""
    if method == PTI:
        return [None] * len(_COMPARED)
    base, found = (findings.of("complexity", pair.key, name) or {} for name in (PTI, method))
    return [found[what] / base[what] if base[what] else None for what in _COMPARED]


def _mean_ratios(findings: Findings) -> Table:
    """Return the means of the ratios, beside those that the paper states for Charagram."""
    rows: list[tuple[Cell, ...]] = []
    for method in findings.methods:
        if method == PTI:
            continue
        ratios = [_ratios(findings, pair, method) for pair in findings.pairs]
        row: list[Cell] = [method, len(ratios)]
        for what, column in zip(_COMPARED, zip(*ratios, strict=True), strict=True):
            known = [ratio for ratio in column if ratio is not None]
            stated = f"{RATIOS[what]}" if method == CHARAGRAM else NOT_IN_THE_PAPER
            row += [_format_ratio(sum(known) / len(known) if known else None), stated]
        rows.append(tuple(row))
    pairs = [(what, f"{what}, paper") for what in _COMPARED.values()]
    columns = ("method", "pairs", *(name for both in pairs for name in both))
    note = join_notes(
        f"How many times as much as {PTI} a method needs, the mean over the pairs. Above 1, "
        f"{PTI} needs less.",
        findings.budgets("complexity"),
    )
    return Table(f"Ratios to {PTI}", columns, tuple(rows), note=note)


def _format_ratio(ratio: float | None) -> str | None:
    """Return a ratio with three significant digits: 0.0123 or 321."""
    if ratio is None:
        return None
    return f"{ratio:.3g}" if ratio < 999.5 else f"{ratio:.0f}"


def _megabytes(size: int | None) -> int | None:
    return None if size is None else round(size / 1e6)


def _cores(findings: Findings) -> str:
    """Return how many cores were used: only some systems can limit a process to one."""
    kept = (found for step, found in findings.results.items() if step.kind == "complexity")
    cores = max((found.get("cores", 1) for found in kept), default=1)
    return "one core" if cores == 1 else f"up to {cores} cores"
