"""Tables and figures of recall: ours beside the published, and the difference."""

import numpy as np

from candgen.evaluation import metrics
from candgen.evaluation.evaluate import describe
from candgen.paper.cache import Result
from candgen.paper.findings import (
    JOINT,
    SETTINGS,
    Results,
    exhibit,
    joined,
    number,
    recall_or_none,
    without_training,
)
from candgen.paper.measurements import K
from candgen.paper.plan import Step
from candgen.paper.published import HIGH_RESOURCE, published
from candgen.paper.published import METHODS as PAPERS
from candgen.paper.tables.groups import Group, by_method, in_rows
from candgen.protocols import Ranks
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.html import Exhibit
from candgen.reporting.table import Cell, Difference, Table
from candgen.tables.queries import TYPES


def main_results(results: Results) -> Exhibit:
    """Micro recall@30 in both settings."""
    groups = [
        Group(
            (setting, pair.key),
            {method: results.ranks(pair, method, setting) for method in results.methods},
            {
                method: published("main-results", setting, method, pair.key)
                for method in results.methods
            },
        )
        for setting in SETTINGS
        for pair in results.pairs
    ]
    title = f"Micro recall@{K}"
    note = joined(without_training(results), results.budgets("ranks"))
    tables = [
        by_method(title, groups, note=note, block="setting"),
        in_rows(f"{title}, beside the published", ("setting", "pair"), groups, note=note),
        _details(results),
        *_comparisons(results),
    ]
    preferred = sorted(
        (f"{method}, {whose}" for whose in ("here", "paper") for method in results.methods),
        key=lambda label: label.partition(", ")[0] not in PAPERS,
    )
    return exhibit("main-results", title, tables, _main_figure(results), preferred=preferred)


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
                        pair.key,
                        setting,
                        method,
                        describe(chosen["parameters"]),
                        chosen["dev"]["recall"],
                        len(ranks),
                        metrics.recall(ranks, 1),
                        metrics.recall(ranks, K),
                        metrics.macro_recall(ranks, about["types"], K),
                        f"{metrics.mrr(np.where(ranks <= K, ranks, 0)):.3f}",
                        int(unlike.sum()),
                        metrics.recall(ranks[unlike], 1),
                        metrics.recall(ranks[unlike], K),
                    )
                )
    columns = (
        "pair",
        "setting",
        "method",
        "chosen on dev",
        f"dev, @{K}",
        "queries",
        "@1",
        f"@{K}",
        f"macro @{K}",
        "MRR",
        "no pivot name",
        "of these @1",
        f"of these @{K}",
    )
    note = joined(
        "Macro is the mean over query types. 'No pivot name' are the queries whose mention is not "
        f"one of the gold's names in the pivot. MRR looks at the first {K}.",
        results.budgets("ranks"),
    )
    return Table("The same in more detail", columns, tuple(rows), note=note)


def _comparisons(results: Results) -> list[Table]:
    """Every other method and PTI on the same queries, or the first method where there is no PTI."""
    rows: list[tuple[Cell, ...]] = []
    first = results.baseline
    for pair in results.pairs:
        for setting in results.settings(pair):
            ours = results.ranks(pair, first, setting)
            for second in results.methods:
                if second == first:
                    continue
                found = metrics.compare(ours, results.ranks(pair, second, setting), K)
                rows.append(
                    (
                        pair.key,
                        setting,
                        first,
                        second,
                        len(ours),
                        Difference(found.difference),
                        found.only_first,
                        found.only_second,
                        f"{found.p_value:.2g}",
                    )
                )
    columns = (
        "pair",
        "setting",
        "first",
        "second",
        "queries",
        "difference",
        "only first",
        "only second",
        "p (McNemar)",
    )
    title, note = f"Paired differences of recall@{K}", results.budgets("ranks")
    return [Table(title, columns, tuple(rows), note=note)] if rows else []


def _main_figure(results: Results) -> Figure:
    panels = []
    keys = tuple(pair.key for pair in results.pairs)
    for setting in SETTINGS:
        series = [_here(results, method, setting, keys) for method in results.methods]
        for method in results.methods:
            figures = [number(published("main-results", setting, method, key)) for key in keys]
            if any(figure is not None for figure in figures):
                series.append(Series(f"{method}, paper", keys, tuple(figures)))
        panels.append(Panel(setting, tuple(series)))
    return Figure("", "", "dots", "target–pivot", f"recall@{K} (%)", tuple(panels))


def _here(results: Results, method: str, setting: str, keys: tuple[str, ...]) -> Series:
    ranks = [results.ranks(pair, method, setting) for pair in results.pairs]
    ends = [metrics.bootstrap(100 * metrics.hits(some, K)) for some in ranks]
    lows, highs = tuple(end.low for end in ends), tuple(end.high for end in ends)
    recalls = tuple(metrics.recall(some, K) for some in ranks)
    return Series(f"{method}, here", keys, recalls, lows, highs)


def query_types(results: Results) -> Exhibit:
    """Recall@30 by query type, in the best setting of each pair."""
    groups = []
    for pair in results.pairs:
        types = np.array(results.queries(pair)["types"], np.str_)
        ranks = {method: results.ranks(pair, method, JOINT) for method in results.methods}
        groups += [
            Group(
                (pair.key, kind),
                {method: some[types == kind] for method, some in ranks.items()},
                {method: published("query-types", method, pair.key, kind) for method in ranks},
            )
            for kind in results.types(pair)
        ]
    title = f"Recall@{K} by query type"
    note = joined(without_training(results), results.budgets("ranks"))
    tables = [
        by_method(title, groups, note=note),
        in_rows(f"{title}, beside the published", ("pair", "type"), groups, note=note),
    ]
    return exhibit("query-types", title, tables, _types_figure(results), preferred=results.drawn)


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
    groups = []
    for language in results.high_resource:
        found = {
            method: results.findings[Step("high-resource", language, method)]
            for method in results.methods
        }
        groups += [
            Group(
                (language, kind),
                {method: _of_type(one, kind) for method, one in found.items()},
                {method: published("high-resource", method, language, kind) for method in found},
            )
            for kind in ("easy", "medium")
        ]
    title = f"Recall@{K} in the high-resource setting"
    note = results.budgets("high-resource")
    if not groups:
        note = f"There is no data of {', '.join(HIGH_RESOURCE)}."
    tables = [
        by_method(title, groups, note=note),
        in_rows(f"{title}, beside the published", ("language", "type"), groups, note=note),
    ]
    return exhibit("high-resource", "The high-resource setting", tables)


def _of_type(found: Result, kind: str) -> Ranks:
    ranks: Ranks = np.array(found["ranks"], np.int64)
    return ranks[np.array([each == kind for each in found["types"]], np.bool_)]
