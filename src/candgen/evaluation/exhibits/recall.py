"""Tables and figures of recall: ours beside the published, and the difference."""

from itertools import combinations

import numpy as np

from candgen.evaluation import metrics
from candgen.evaluation.experiment import describe
from candgen.evaluation.figures import Figure, Panel, Series
from candgen.evaluation.measurements import DEPTH, K
from candgen.evaluation.page import Exhibit
from candgen.evaluation.paper import HIGH_RESOURCE, NO_NUMBER, published
from candgen.evaluation.results import (
    JOINT,
    SETTINGS,
    Results,
    beside,
    columns_beside,
    exhibit,
    number,
    recall_or_none,
    without_training,
)
from candgen.evaluation.study import Step
from candgen.evaluation.tables import Cell, Difference, Table
from candgen.queries import TYPES

KS = (1, 2, 3, 5, 10, 20, 30, 50, DEPTH)


def main_results(results: Results) -> Exhibit:
    """Micro recall@30 in both settings."""
    rows: list[tuple[Cell, ...]] = []
    for setting in SETTINGS:
        for pair in results.pairs:
            row: list[Cell] = [setting, pair.key, len(results.queries(pair)["types"])]
            for method in results.methods:
                figure = published("main-results", setting, method, pair.key)
                row += beside(results.ranks(pair, method, setting), figure)
            rows.append(tuple(row))
    columns = ["setting", "pair", "queries", *columns_beside(results.methods)]
    table = Table(f"Micro recall@{K}", tuple(columns), tuple(rows), note=without_training(results))
    tables = [table, _details(results), *_comparisons(results)]
    return exhibit("main-results", f"Micro recall@{K}", tables, _main_figure(results))


def _details(results: Results) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for pair in results.pairs:
        about = results.queries(pair)
        unlike = np.array(about["unlike"], np.bool_)
        for setting in results.settings(pair):
            for method in results.methods:
                ranks = results.ranks(pair, method, setting)
                chosen = results.chosen(pair, method, setting)
                rows.append(
                    (
                        pair.key, setting, method, describe(chosen["parameters"]),
                        chosen["dev"]["recall"], len(ranks), metrics.recall(ranks, 1),
                        metrics.recall(ranks, K), metrics.macro_recall(ranks, about["types"], K),
                        f"{metrics.mrr(np.where(ranks <= K, ranks, 0)):.3f}",
                        int(unlike.sum()), metrics.recall(ranks[unlike], 1),
                        metrics.recall(ranks[unlike], K),
                    )
                )  # fmt: skip
    columns = (
        "pair", "setting", "method", "chosen on dev", f"dev, @{K}", "queries", "@1", f"@{K}",
        f"macro @{K}", "MRR", "no pivot name", "of these @1", f"of these @{K}",
    )  # fmt: skip
    note = (
        "Macro is the mean over query types. 'No pivot name' are the queries whose mention is not "
        f"one of the gold's names in the pivot. MRR looks at the first {K}."
    )
    return Table("The same in more detail", columns, tuple(rows), note=note)


def _comparisons(results: Results) -> list[Table]:
    """Every two methods on the same queries."""
    rows: list[tuple[Cell, ...]] = []
    for pair in results.pairs:
        for setting in results.settings(pair):
            for first, second in combinations(results.methods, 2):
                ours = results.ranks(pair, first, setting)
                found = metrics.compare(ours, results.ranks(pair, second, setting), K)
                rows.append(
                    (
                        pair.key, setting, first, second, len(ours), Difference(found.difference),
                        found.only_first, found.only_second, f"{found.p_value:.2g}",
                    )
                )  # fmt: skip
    columns = (
        "pair", "setting", "first", "second", "queries", "difference", "only first",
        "only second", "p (McNemar)",
    )  # fmt: skip
    return [Table(f"Paired differences of recall@{K}", columns, tuple(rows))] if rows else []


def _main_figure(results: Results) -> Figure:
    panels = []
    keys = tuple(pair.key for pair in results.pairs)
    for setting in SETTINGS:
        series = []
        for method in results.methods:
            ranks = [results.ranks(pair, method, setting) for pair in results.pairs]
            ends = [metrics.bootstrap(100 * metrics.hits(some, K)) for some in ranks]
            lows, highs = tuple(end.low for end in ends), tuple(end.high for end in ends)
            recalls = tuple(metrics.recall(some, K) for some in ranks)
            series.append(Series(f"{method}, here", keys, recalls, lows, highs))
        for method in results.methods:
            figures = [number(published("main-results", setting, method, key)) for key in keys]
            if any(figure is not None for figure in figures):
                series.append(Series(f"{method}, paper", keys, tuple(figures)))
        panels.append(Panel(setting, tuple(series)))
    return Figure("", "", "dots", "target–pivot", f"recall@{K} (%)", tuple(panels))


def query_types(results: Results) -> Exhibit:
    """Recall@30 by query type, in the best setting of each pair."""
    rows: list[tuple[Cell, ...]] = []
    for pair in results.pairs:
        types = np.array(results.queries(pair)["types"], np.str_)
        for kind in results.types(pair):
            row: list[Cell] = [pair.key, kind, int((types == kind).sum())]
            for method in results.methods:
                ranks = results.ranks(pair, method, JOINT)[types == kind]
                row += beside(ranks, published("query-types", method, pair.key, kind))
            rows.append(tuple(row))
    columns = ["pair", "type", "queries", *columns_beside(results.methods)]
    table = Table(
        f"Recall@{K} by query type", tuple(columns), tuple(rows), note=without_training(results)
    )
    return exhibit("query-types", f"Recall@{K} by query type", [table], _types_figure(results))


def _types_figure(results: Results) -> Figure:
    panels = []
    for pair in results.pairs:
        types = np.array(results.queries(pair)["types"], np.str_)
        series = []
        for method in results.methods:
            ranks = results.ranks(pair, method, JOINT)
            recalls = tuple(recall_or_none(ranks[types == kind]) for kind in TYPES)
            series.append(Series(method, TYPES, recalls))
        panels.append(Panel(pair.key, tuple(series)))
    return Figure("", "", "bars", "type", f"recall@{K} (%)", tuple(panels))


def high_resource(results: Results) -> Exhibit:
    """Recall@30 where a language learns from its own data alone."""
    rows: list[tuple[Cell, ...]] = []
    for language in results.high_resource:
        for kind in ("easy", "medium"):
            row: list[Cell] = [language, kind]
            for method in results.methods:
                found = results.findings[Step("high-resource", language, method)]
                ranks = np.array(found["ranks"], np.int64)
                mine = ranks[np.array(found["types"], np.str_) == kind]
                row += [] if len(row) > 2 else [len(mine)]
                row += beside(mine, published("high-resource", method, language, kind))
            rows.append(tuple(row))
    columns = ["language", "type", "queries", *columns_beside(results.methods)]
    note = "" if rows else f"There is no data of {', '.join(HIGH_RESOURCE)}."
    table = Table(
        f"Recall@{K} in the high-resource setting", tuple(columns), tuple(rows), note=note
    )
    return exhibit("high-resource", "The high-resource setting", [table])


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
                        pair.key, setting, method, len(results.queries(pair)["types"]),
                        f"{100 * one['share']:g}%", one["pairs"], one["recall"], NO_NUMBER,
                    )
                    for one in mine
                ]  # fmt: skip
                x, y = ([one[name] for one in mine] for name in ("pairs", "recall"))
                series.append(Series(f"{method}, {setting}", tuple(x), tuple(y)))
        panels.append(Panel(pair.key, tuple(series)))
    columns = (
        "pair", "setting", "method", "queries", "share of the pivot", "pivot pairs",
        f"recall@{K}", "paper",
    )  # fmt: skip
    note = "Pairs are drawn uniformly, each sample within the next; the target's data stay whole."
    table = Table("Recall and the amount of training data", columns, tuple(rows), note=note)
    figure = Figure("", "", "lines", "pivot pairs", f"recall@{K} (%)", tuple(panels), log_x=True)
    return exhibit("training-size", "Amount of training data", [table], figure)


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
    table = Table("Recall@k", columns, tuple(rows))
    figure = Figure("", "", "lines", "k", "recall@k (%)", tuple(panels), log_x=True)
    return exhibit("recall-at-k", "Recall@k", [table], figure)
