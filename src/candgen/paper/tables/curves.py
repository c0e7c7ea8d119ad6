"""Tables and figures of recall against k, and against the amount of training data."""

from candgen.evaluation import metrics
from candgen.paper.findings import JOINT, RUN_COLUMNS, SETTINGS, Findings, exhibit, join_notes
from candgen.paper.measurements import DEPTH, K
from candgen.paper.published import NO_NUMBER
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.html import Exhibit
from candgen.reporting.table import Cell, Table

KS = (1, 2, 3, 5, 10, 20, 30, 50, DEPTH)


def training_size(findings: Findings) -> Exhibit:
    """Recall@30 against the amount of the pivot's data."""
    rows: list[tuple[Cell, ...]] = []
    panels = []
    for pair in findings.pairs:
        series = []
        for method in findings.methods:
            found = (findings.of("training-sizes", pair.key, method) or {})["sizes"]
            for setting in findings.settings(pair):
                sizes = [one for one in found if one["setting"] == setting]
                about = (pair.key, setting, method, len(findings.queries(pair)["types"]))
                rows += [
                    (*about, f"{100 * one['share']:g}%", one["pairs"], one["recall"], NO_NUMBER)
                    for one in sizes
                ]
                x, y = (tuple(one[name] for one in sizes) for name in ("pairs", "recall"))
                series.append(Series(f"{method}, {setting}", x, y))
        panels.append(Panel(pair.key, tuple(series)))
    amounts = ("queries", "share of the pivot", "pivot pairs", f"recall@{K}", "paper")
    note = join_notes(
        "Pairs are drawn uniformly, each sample within the next; the target's data stay whole.",
        findings.budgets("training-sizes"),
    )
    title = "Recall and the amount of training data"
    table = Table(title, (*RUN_COLUMNS, *amounts), tuple(rows), note=note)
    figure = Figure("", "", "lines", "pivot pairs", f"recall@{K} (%)", tuple(panels), log_x=True)
    preferred = [f"{method}, {setting}" for method in findings.drawn for setting in SETTINGS]
    return exhibit("training-size", "Amount of training data", [table], figure, preferred=preferred)


def recall_at_k(findings: Findings) -> Exhibit:
    """Recall@k for several k, in the best setting of each pair."""
    rows: list[tuple[Cell, ...]] = []
    panels = []
    for pair in findings.pairs:
        series = []
        for method in findings.methods:
            ranks = findings.ranks(pair, method, JOINT)
            recalls = tuple(metrics.recall(ranks, k) for k in KS)
            setting = findings.settings(pair)[-1]
            rows.append((pair.key, setting, method, len(ranks), *recalls, NO_NUMBER))
            series.append(Series(method, KS, recalls))
        panels.append(Panel(pair.key, tuple(series)))
    columns = (*RUN_COLUMNS, "queries", *(f"@{k}" for k in KS), "paper")
    table = Table("Recall@k", columns, tuple(rows), note=findings.budgets("ranks"))
    figure = Figure("", "", "lines", "k", "recall@k (%)", tuple(panels), log_x=True)
    return exhibit("recall-at-k", "Recall@k", [table], figure, preferred=findings.drawn)
