"""Tables of what an index costs."""

from candgen.evaluation.measurements import COMPLEXITY_THRESHOLD, K
from candgen.evaluation.page import Exhibit
from candgen.evaluation.paper import published
from candgen.evaluation.results import (
    Results,
    difference,
    exhibit,
    paper_cells,
    printed,
)
from candgen.evaluation.tables import Cell, Table


def thresholding(results: Results) -> Exhibit:
    """Recall@30 with less of the index."""
    rows: list[tuple[Cell, ...]] = []
    for pair in results.pairs:
        for method in results.methods:
            found = results.of("thresholds", pair.key, method)
            for one in found["thresholds"] if found else ():
                keys = (pair.key, f"{one['threshold']:g}")
                ours = method == "pti"
                paper = [published("thresholding", *keys, what) for what in ("recall", "removed")]
                recall, removed = paper if ours else (None, None)
                rows.append(
                    (
                        pair.key, method, len(results.queries(pair)["types"]), keys[1],
                        one["recall"], *paper_cells(one["recall"], recall),
                        one["removed"], *paper_cells(one["removed"], removed),
                    )
                )  # fmt: skip
    columns = (
        "pair", "method", "queries", "threshold", f"recall@{K}", "paper", "difference",
        "removed %", "removed %, paper", "removed %, difference",
    )  # fmt: skip
    note = (
        "Removed is the share of priors and posteriors, together. Parameters are those that dev "
        "chose for no threshold."
    )
    table = Table("Thresholding", columns, tuple(rows), note=note)
    return exhibit("thresholding", "Thresholding", [table])


def complexity(results: Results) -> Exhibit:
    """Parameters, seconds and memory."""
    rows: list[tuple[Cell, ...]] = []
    for pair in results.pairs:
        for method in results.methods:
            found = results.of("complexity", pair.key, method) or {}
            parameters, minutes, seconds = (
                published("complexity", pair.key, what, method)
                for what in ("parameters", "training-minutes", "inference-seconds")
            )
            rows.append(
                (
                    pair.key, method, found["parameters"],
                    printed(published("complexity", pair.key, "parameters-printed", method)),
                    difference(found["parameters"], parameters, unit=1e6),
                    f"{found['build_seconds']:.2f}", printed(minutes),
                    difference(found["build_seconds"] / 60, minutes), found["queries"],
                    f"{found['query_seconds']:.2f}", printed(seconds),
                    difference(found["query_seconds"], seconds), _megabytes(found["peak_bytes"]),
                )
            )  # fmt: skip
    columns = (
        "pair", "method", "parameters", "parameters, paper", "difference, M", "build, s",
        "build, paper, min", "difference, min", "queries", "all queries, s",
        "all queries, paper, s", "difference, s", "peak memory, MB",
    )  # fmt: skip
    note = (
        f"Each in a process of its own on {_cores(results)}, with threshold "
        f"{COMPLEXITY_THRESHOLD} where a method has one. "
        "Peak memory is that of the whole process. The paper had larger tables and another machine."
    )
    table = Table("Complexity", columns, tuple(rows), note=note)
    return exhibit("complexity", "Complexity", [table])


def _megabytes(size: int | None) -> int | None:
    return None if size is None else round(size / 1e6)


def _cores(results: Results) -> str:
    """How many cores were used: only some systems can be told to use one."""
    kept = (found for step, found in results.findings.items() if step.kind == "complexity")
    cores = max((found.get("cores", 1) for found in kept), default=1)
    return "one core" if cores == 1 else f"up to {cores} cores"
