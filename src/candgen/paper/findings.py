"""Findings as exhibits ask for them, and the cells that all their tables have."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candgen.evaluation import metrics
from candgen.paper.measurements import K
from candgen.paper.plan import Findings, Step
from candgen.paper.published import METHODS as PAPERS
from candgen.paper.published import Pair, where
from candgen.paper.training_budget import budgets_in, describe_budgets
from candgen.protocols import Ranks
from candgen.reporting.figure import Figure
from candgen.reporting.html import Exhibit
from candgen.reporting.plot_style import MAX_PANELS, SERIES_STYLES
from candgen.reporting.table import Cell, Difference, Table
from candgen.tables.queries import TYPES

PTI = "pti"
NOT_IN_THE_PAPER = "not in the paper"
ZERO_SHOT, JOINT = SETTINGS = ("zero-shot", "joint")


@dataclass(frozen=True)
class Results:
    """Findings, with the questions that exhibits ask of them."""

    findings: Findings
    pairs: tuple[Pair, ...]
    methods: tuple[str, ...]
    high_resource: tuple[str, ...]

    def of(self, kind: str, subject: str, method: str = "") -> dict[str, Any] | None:
        """A result, or None where that was not measured."""
        return self.findings.get(Step(kind, subject, method))

    def ranks(self, pair: Pair, method: str, setting: str) -> Ranks:
        """The test ranks in a setting; where there is no training data joint is zero-shot."""
        settings = self.findings[Step("ranks", pair.key, method)]["settings"]
        return np.array(settings.get(setting, settings[ZERO_SHOT])["ranks"], np.int64)

    def chosen(self, pair: Pair, method: str, setting: str) -> dict[str, Any]:
        """What dev chose, and how good it was there."""
        settings = self.findings[Step("ranks", pair.key, method)]["settings"]
        return settings.get(setting, settings[ZERO_SHOT])  # type: ignore[no-any-return]

    @property
    def drawn(self) -> list[str]:
        """The methods in the order of figures, which cannot have all: the paper's come first."""
        return sorted(self.methods, key=lambda method: method not in PAPERS)

    @property
    def baseline(self) -> str:
        """The method that others are compared with."""
        return PTI if PTI in self.methods else self.methods[0]

    def budgets(self, *kinds: str) -> str:
        """How long neural methods were trained for measurements of these kinds, in words."""
        found: dict[str, list[dict[str, Any]]] = {method: [] for method in self.methods}
        for step, result in self.findings.items():
            if step.kind in kinds and step.method in found:
                found[step.method] += budgets_in(result)
        return describe_budgets(found)

    def queries(self, pair: Pair) -> dict[str, Any]:
        """The types of the test queries, and which are unlike any pivot name."""
        return self.findings[Step("queries", pair.key)]

    def types(self, pair: Pair) -> list[str]:
        """The types that are present, easiest first."""
        present = set(self.queries(pair)["types"])
        return [name for name in TYPES if name in present]

    def settings(self, pair: Pair) -> list[str]:
        """The settings that were measured apart."""
        return list(self.findings[Step("ranks", pair.key, self.methods[0])]["settings"])


def exhibit(
    name: str,
    title: str,
    tables: Sequence[Table],
    figure: Figure | None = None,
    *,
    preferred: Sequence[str] = (),
) -> Exhibit:
    """An exhibit that says where in the paper it is from.

    ``preferred`` are the labels of the figure in the order in which it should have them, if it
    cannot have all; by default the order of its panels.
    """
    title = f"{title} ({where(name)} of the paper)"
    if figure is not None:
        figure = replace(_drawable(figure, preferred), name=name, title=title)
    return Exhibit(name, title, tuple(tables), figure)


def _drawable(figure: Figure, preferred: Sequence[str]) -> Figure:
    """The figure, or as much of it as can be told apart: the tables have everything."""
    labels = [label for label in preferred if label in figure.labels()] or figure.labels()
    shown, panels = labels[: len(SERIES_STYLES)], figure.panels[:MAX_PANELS]
    rest = _left_out(shown, labels[len(SERIES_STYLES) :])
    rest += [panel.title for panel in figure.panels[MAX_PANELS:]]
    if not rest:
        return figure
    kept = tuple(
        replace(panel, series=tuple(each for each in panel.series if each.label in shown))
        for panel in panels
    )
    note = f"No more can be told apart. Left out, and in the tables: {', '.join(rest)}."
    return replace(figure, panels=kept, note=note)


def _left_out(shown: Sequence[str], labels: Sequence[str]) -> list[str]:
    """What is not shown; a method of which no series is shown is named once."""
    methods = {label.partition(", ")[0] for label in shown}
    names = (label.partition(", ")[0] for label in labels)
    found = (label if name in methods else name for name, label in zip(names, labels, strict=True))
    return list(dict.fromkeys(found))


def paper_cells(ours: float, paper: float | str | None) -> tuple[Cell, Cell]:
    """The paper's figure and the difference, as far as there is one."""
    return NOT_IN_THE_PAPER if paper is None else paper, difference(ours, paper)


def difference(ours: float, paper: float | str | None, *, unit: float = 1) -> Difference | None:
    """Ours less the paper's, counted in units; None where the paper has no number."""
    published = number(paper)
    return None if published is None else Difference((ours - published) / unit)


def printed(paper: float | str | None) -> Cell:
    """A figure as the paper prints it."""
    return NOT_IN_THE_PAPER if paper is None else str(paper)


def number(paper: float | str | None) -> float | None:
    """A figure of the paper, where it is a number."""
    return float(paper) if isinstance(paper, int | float) else None


def recall_or_none(ranks: Ranks) -> float | None:
    """Recall@30, or None of no queries."""
    return metrics.recall(ranks, K) if len(ranks) else None


def interval(ranks: Ranks) -> str | None:
    """The 95% interval of recall@30."""
    return metrics.bootstrap(100 * metrics.hits(ranks, K)).shown


def without_training(results: Results) -> str:
    """Which pairs have no training data in the target."""
    keys = [pair.key for pair in results.pairs if results.settings(pair) == [ZERO_SHOT]]
    if not keys:
        return ""
    return f"{', '.join(keys)}: no training data in the target, so joint is zero-shot."


def joined(*notes: str) -> str:
    """One note of several, of which some may be empty."""
    return " ".join(filter(None, notes))
