"""Tables and figures of recall against k, and against the amount of training data."""

from candgen.evaluation import metrics
from candgen.paper.findings import JOINT, SETTINGS, Results, exhibit, joined
from candgen.paper.measurements import DEPTH, K
from candgen.paper.published import NO_NUMBER
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.html import Exhibit
from candgen.reporting.table import Cell, Table

KS = (1, 2, 3, 5, 10, 20, 30, 50, DEPTH)


def training_size(results: Results) -> Exhibit:
    """Recall@30 against the amount of the pivot's data."""
    rows: list[tuple[Cell, ...]] = []
    panels = []
    for pair in results.pairs:
        series = []
        for method in results.methods:
            found = (results.of("training-sizes", pair.key, method) or {})["sizes"]
            for setting in results.settings(pair):
                mine = [one for one in found if one["setting"] == setting]
                rows += [
                    (
                        pair.key,
                        setting,
                        method,
                        len(results.queries(pair)["types"]),
                        f"{100 * one['share']:g}%",
                        one["pairs"],
                        one["recall"],
                        NO_NUMBER,
                    )
                    for one in mine
                ]
                x, y = ([one[name] for one in mine] for name in ("pairs", "recall"))
                series.append(Series(f"{method}, {setting}", tuple(x), tuple(y)))
        panels.append(Panel(pair.key, tuple(series)))
    columns = (
        "pair",
        "setting",
        "method",
        "queries",
        "share of the pivot",
        "pivot pairs",
        f"recall@{K}",
        "paper",
    )
    note = joined(
        "Pairs are drawn uniformly, each sample within the next; the target's data stay whole.",
        results.budgets("training-sizes"),
    )
    table = Table("Recall and the amount of training data", columns, tuple(rows), note=note)
    figure = Figure("", "", "lines", "pivot pairs", f"recall@{K} (%)", tuple(panels), log_x=True)
    preferred = [f"{method}, {setting}" for method in results.drawn for setting in SETTINGS]
    return exhibit("training-size", "Amount of training data", [table], figure, preferred=preferred)


def recall_at_k(results: Results) -> Exhibit:
    """Recall@k for several k, in the best setting of each pair."""
    rows: list[tuple[Cell, ...]] = []
    panels = []
    for pair in results.pairs:
        series = []
        for method in results.methods:
            ranks = results.ranks(pair, method, JOINT)
            recalls = tuple(metrics.recall(ranks, k) for k in KS)
            setting = results.settings(pair)[-1]
            rows.append((pair.key, setting, method, len(ranks), *recalls, NO_NUMBER))
            series.append(Series(method, KS, recalls))
        panels.append(Panel(pair.key, tuple(series)))
    columns = ("pair", "setting", "method", "queries", *(f"@{k}" for k in KS), "paper")
    table = Table("Recall@k", columns, tuple(rows), note=results.budgets("ranks"))
    figure = Figure("", "", "lines", "k", "recall@k (%)", tuple(panels), log_x=True)
    return exhibit("recall-at-k", "Recall@k", [table], figure, preferred=results.drawn)
