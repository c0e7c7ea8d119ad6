"""Tables and figures of recall: ours, the published figure, and the difference."""

from collections.abc import Iterator

import numpy as np

from candgen.evaluation import metrics
from candgen.evaluation.tune import describe
from candgen.paper.cache import Result
from candgen.paper.findings import (
    JOINT,
    RUN_COLUMNS,
    SETTINGS,
    Findings,
    Run,
    exhibit,
    interval,
    join_notes,
)
from candgen.paper.measurements import K
from candgen.paper.plan import Step
from candgen.paper.published import HIGH_RESOURCE, Pair, published
from candgen.paper.published import METHODS as PAPER_METHODS
from candgen.paper.tables.groups import Group, tabulate
from candgen.protocols import Ranks
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.html import Exhibit
from candgen.reporting.table import Difference, Table
from candgen.tables.queries import EASY, MEDIUM, TYPES


def main_results(findings: Findings) -> Exhibit:
    """Micro recall@30 in both settings."""
    methods = findings.methods
    groups = [
        Group(
            (setting, pair.key),
            {method: findings.ranks(pair, method, setting) for method in methods},
            {each: published("main-results", setting, each, pair.key) for each in methods},
        )
        for setting in SETTINGS
        for pair in findings.pairs
    ]
    title = f"Micro recall@{K}"
    note = join_notes(findings.without_training(), findings.budgets("ranks"))
    tables = [
        *tabulate(title, ("setting", "pair"), groups, note, block="setting"),
        _details(findings),
        *_comparisons(findings),
    ]
    preferred = sorted(
        (f"{method}, {whose}" for whose in ("here", "paper") for method in methods),
        key=lambda label: label.partition(", ")[0] not in PAPER_METHODS,
    )
    return exhibit("main-results", title, tables, _main_figure(findings), preferred=preferred)


def _details(findings: Findings) -> Table:
    def ranks_of(run: Run) -> Ranks:
        return findings.ranks(*run)

    def unlike(run: Run) -> Ranks:
        return ranks_of(run)[np.array(findings.queries(run.pair)["unlike"], np.bool_)]

    def types(run: Run) -> list[str]:
        return findings.queries(run.pair)["types"]  # type: ignore[no-any-return]

    def mrr(run: Run) -> str:
        return f"{metrics.mrr(np.where(ranks_of(run) <= K, ranks_of(run), 0)):.3f}"

    columns = {
        **RUN_COLUMNS,
        "chosen on dev": lambda run: describe(findings.chosen(*run)["parameters"]),
        f"dev, @{K}": lambda run: findings.chosen(*run)["dev"]["recall"],
        "queries": lambda run: len(ranks_of(run)),
        "@1": lambda run: metrics.recall(ranks_of(run), 1),
        f"@{K}": lambda run: metrics.recall(ranks_of(run), K),
        f"macro @{K}": lambda run: metrics.macro_recall(ranks_of(run), types(run), K),
        "MRR": mrr,
        "no pivot name": lambda run: len(unlike(run)),
        "of these @1": lambda run: metrics.recall(unlike(run), 1),
        f"of these @{K}": lambda run: metrics.recall(unlike(run), K),
    }
    note = join_notes(
        "Macro is the mean over query types. 'No pivot name' are the queries without an exact "
        f"match among the gold's names in the pivot. MRR is that of the first {K} candidates.",
        findings.budgets("ranks"),
    )
    return Table.of("The same in more detail", columns, findings.runs(), note=note)


def _comparisons(findings: Findings) -> list[Table]:
    """Compare every method with PTI, or with the first method if there is no PTI."""
    first = findings.baseline
    rows = []
    for run in findings.runs():
        if run.method != first:
            ours, theirs = (
                findings.ranks(*run._replace(method=each)) for each in (first, run.method)
            )
            rows.append((run, len(ours), metrics.compare(ours, theirs, K)))
    columns = {
        "pair": lambda row: row[0].pair.key,
        "setting": lambda row: row[0].setting,
        "first": lambda _: first,
        "second": lambda row: row[0].method,
        "queries": lambda row: row[1],
        "difference": lambda row: Difference(row[2].difference),
        "only first": lambda row: row[2].only_first,
        "only second": lambda row: row[2].only_second,
        "p (McNemar)": lambda row: f"{row[2].p_value:.2g}",
    }
    title, note = f"Paired differences of recall@{K}", findings.budgets("ranks")
    return [Table.of(title, columns, rows, note=note)] if rows else []


def _main_figure(findings: Findings) -> Figure:
    panels = []
    keys = tuple(pair.key for pair in findings.pairs)
    for setting in SETTINGS:
        series = []
        for method in findings.methods:
            ranks = [findings.ranks(pair, method, setting) for pair in findings.pairs]
            recalls = tuple(metrics.recall(some, K) for some in ranks)
            low, high = zip(*map(interval, ranks), strict=True)
            series.append(Series(f"{method}, here", keys, recalls, low, high))
        for method in findings.methods:
            paper = [published("main-results", setting, method, key) for key in keys]
            numbers = tuple(each if isinstance(each, int | float) else None for each in paper)
            if any(number is not None for number in numbers):
                series.append(Series(f"{method}, paper", keys, numbers))
        panels.append(Panel(setting, tuple(series)))
    return Figure("", "", "dots", "target–pivot", f"recall@{K} (%)", tuple(panels))


def query_types(findings: Findings) -> Exhibit:
    """Recall@30 by query type, in the best setting of each pair."""
    groups = [group for pair in findings.pairs for group in _groups_of_types(findings, pair)]
    title = f"Recall@{K} by query type"
    note = join_notes(findings.without_training(), findings.budgets("ranks"))
    tables = tabulate(title, ("pair", "type"), groups, note)
    panels = []
    for pair in findings.pairs:
        by_type = {group.keys[1]: group for group in groups if group.keys[0] == pair.key}
        series = (
            Series(
                method,
                TYPES,
                tuple(by_type[kind].recall(method) if kind in by_type else None for kind in TYPES),
            )
            for method in findings.methods
        )
        panels.append(Panel(pair.key, tuple(series)))
    figure = Figure("", "", "bars", "type", f"recall@{K} (%)", tuple(panels))
    return exhibit("query-types", title, tables, figure, preferred=findings.drawn)


def _groups_of_types(findings: Findings, pair: Pair) -> Iterator[Group]:
    types = np.array(findings.queries(pair)["types"], np.str_)
    ranks = {method: findings.ranks(pair, method, JOINT) for method in findings.methods}
    for kind in findings.types(pair):
        yield Group(
            (pair.key, kind),
            {method: some[types == kind] for method, some in ranks.items()},
            {method: published("query-types", method, pair.key, kind) for method in ranks},
        )


def high_resource(findings: Findings) -> Exhibit:
    """Recall@30 of a language that learns from its own data alone."""
    groups = []
    for language in findings.high_resource:
        found = {
            method: findings.results[Step("high-resource", language, method)]
            for method in findings.methods
        }
        groups += [
            Group(
                (language, kind),
                {method: _ranks_of_type(one, kind) for method, one in found.items()},
                {method: published("high-resource", method, language, kind) for method in found},
            )
            for kind in (EASY, MEDIUM)
        ]
    title = f"Recall@{K} in the high-resource setting"
    note = findings.budgets("high-resource")
    if not groups:
        note = f"There is no data of {', '.join(HIGH_RESOURCE)}."
    tables = tabulate(title, ("language", "type"), groups, note)
    return exhibit("high-resource", "The high-resource setting", tables)


def _ranks_of_type(found: Result, kind: str) -> Ranks:
    ranks: Ranks = np.array(found["ranks"], np.int64)
    return ranks[np.array([each == kind for each in found["types"]], np.bool_)]
