"""All results of a plan, as the tables need them, and the cells that these have in common."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from candgen.evaluation import metrics
from candgen.paper.cache import Result
from candgen.paper.measurements import K
from candgen.paper.plan import Step
from candgen.paper.published import METHODS as PAPER_METHODS
from candgen.paper.published import Pair, place_in_paper
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


class Run(NamedTuple):
    """One method on one pair in one setting."""

    pair: Pair
    method: str
    setting: str


RUN_COLUMNS: Mapping[str, Callable[[Run], Cell]] = {
    "pair": lambda run: run.pair.key,
    "setting": lambda run: run.setting,
    "method": lambda run: run.method,
}


@dataclass(frozen=True)
class Findings:
    """The results of a plan by step, and what they were measured on."""

    results: Mapping[Step, Result]
    pairs: tuple[Pair, ...]
    methods: tuple[str, ...]
    high_resource: tuple[str, ...]

    def of(self, kind: str, subject: str, method: str = "") -> dict[str, Any] | None:
        """Return a result, or None if it was not measured."""
        return self.results.get(Step(kind, subject, method))

    def chosen(self, pair: Pair, method: str, setting: str) -> dict[str, Any]:
        """Return what dev chose, and its recall on dev and ranks on test.

        Without training data in the target, joint is zero-shot.
        """
        settings = self.results[Step("ranks", pair.key, method)]["settings"]
        return settings.get(setting, settings[ZERO_SHOT])  # type: ignore[no-any-return]

    def ranks(self, pair: Pair, method: str, setting: str) -> Ranks:
        """Return the ranks of the test queries' golds."""
        return np.array(self.chosen(pair, method, setting)["ranks"], np.int64)

    def runs(self) -> Iterator[Run]:
        """Yield all methods in all settings of all pairs."""
        for pair in self.pairs:
            for setting in self.settings(pair):
                for method in self.methods:
                    yield Run(pair, method, setting)

    @property
    def drawn(self) -> list[str]:
        """The methods in the order of figures, which have room for a few: the paper's first."""
        return sorted(self.methods, key=lambda method: method not in PAPER_METHODS)

    @property
    def baseline(self) -> str:
        """The method that others are compared with."""
        return PTI if PTI in self.methods else self.methods[0]

    def budgets(self, *kinds: str) -> str:
        """Return in words how long neural methods were trained for these measurements."""
        found: dict[str, list[dict[str, Any]]] = {method: [] for method in self.methods}
        for step, result in self.results.items():
            if step.kind in kinds and step.method in found:
                found[step.method] += budgets_in(result)
        return describe_budgets(found)

    def queries(self, pair: Pair) -> dict[str, Any]:
        """Return the types of the test queries, and which have no exact match in the pivots."""
        return self.results[Step("queries", pair.key)]

    def types(self, pair: Pair) -> list[str]:
        """Return the types that are present, the easiest first."""
        present = set(self.queries(pair)["types"])
        return [name for name in TYPES if name in present]

    def settings(self, pair: Pair) -> list[str]:
        """Return the settings that were measured."""
        return list(self.results[Step("ranks", pair.key, self.methods[0])]["settings"])

    def without_training(self) -> str:
        """Return which pairs have no training data in the target, in a sentence."""
        keys = [pair.key for pair in self.pairs if self.settings(pair) == [ZERO_SHOT]]
        said = "no training data in the target, so joint is zero-shot."
        return f"{', '.join(keys)}: {said}" if keys else ""


def exhibit(
    name: str,
    title: str,
    tables: Sequence[Table],
    figure: Figure | None = None,
    *,
    preferred: Sequence[str] = (),
) -> Exhibit:
    """Return an exhibit whose title says where it is in the paper.

    ``preferred`` are the labels of the figure in the order in which it should have them, if it
    has no room for all; by default the order of its panels.
    """
    title = f"{title} ({place_in_paper(name)} of the paper)"
    if figure is not None:
        figure = replace(_limit(figure, preferred), name=name, title=title)
    return Exhibit(name, title, tuple(tables), figure)


def _limit(figure: Figure, preferred: Sequence[str]) -> Figure:
    """Return as much of the figure as can be told apart; the tables have everything."""
    labels = [label for label in preferred if label in figure.labels()] or figure.labels()
    shown, others = labels[: len(SERIES_STYLES)], labels[len(SERIES_STYLES) :]
    # A method of which no series is shown is named once.
    methods = {label.partition(", ")[0] for label in shown}
    names = ((label.partition(", ")[0], label) for label in others)
    rest = dict.fromkeys(label if name in methods else name for name, label in names)
    left_out = [*rest, *(panel.title for panel in figure.panels[MAX_PANELS:])]
    if not left_out:
        return figure
    kept = tuple(
        replace(panel, series=tuple(each for each in panel.series if each.label in shown))
        for panel in figure.panels[:MAX_PANELS]
    )
    note = f"No more can be told apart. Left out, and in the tables: {', '.join(left_out)}."
    return replace(figure, panels=kept, note=note)


def paper_cells(ours: float, paper: float | str | None) -> tuple[Cell, Cell]:
    """Return the paper's figure and the difference, as far as there is one."""
    return NOT_IN_THE_PAPER if paper is None else paper, difference(ours, paper)


def difference(ours: float, paper: float | str | None, *, unit: float = 1) -> Difference | None:
    """Return ours minus the paper's figure in units; None if the paper has no number."""
    return Difference((ours - paper) / unit) if isinstance(paper, int | float) else None


def printed(paper: float | str | None) -> Cell:
    """Return a figure as the paper prints it."""
    return NOT_IN_THE_PAPER if paper is None else str(paper)


def interval(ranks: Ranks) -> metrics.Interval:
    """Return the 95% interval of recall@30."""
    return metrics.bootstrap(100 * metrics.hits(ranks, K))


def join_notes(*notes: str) -> str:
    """Return one note made of several, some of which may be empty."""
    return " ".join(filter(None, notes))
