"""What tuning tells: the choices that were tried on dev, the best, and what each pivot brings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from candgen.protocols import Contribution, Generator
from candgen.reporting.table import Cell, Difference, Table


class Trial(NamedTuple):
    """One choice of parameters, and how good it is on dev."""

    parameters: dict[str, Any]
    recall: float
    mrr: float

    @property
    def described(self) -> str:
        """What was chosen, in words: alpha 0.4, lam 1."""
        return describe(self.parameters)

    @property
    def points(self) -> float:
        """What a search raises: recall plus 100 times the mean reciprocal rank."""
        return self.recall + 100 * self.mrr


def describe(parameters: Mapping[str, Any]) -> str:
    """Parameters in words.

    >>> describe({"alpha": 1.0, "normalizer": "none"})
    'alpha 1, normalizer none'
    >>> describe({"alpha": {"bg": 0.4, "sr": 1.0}, "lam": 0.4})
    'alpha bg 0.4, sr 1, lam 0.4'
    """
    return ", ".join(f"{name} {_described(value)}" for name, value in parameters.items())


def _described(value: object) -> str:
    if isinstance(value, Mapping):
        return describe(value)
    return f"{value:g}" if isinstance(value, int | float) else f"{value}"


@dataclass(frozen=True)
class Tuning:
    """What was tried on dev: all choices of a grid in its order, or the steps of a search.

    ``generator`` is the best one where generators were built to find it out, and None where a
    method found the ranks without building any. A search also tells what each pivot brings, what
    it has ``chosen``, and in a ``note`` how many choices it tried; ``pivots_k`` is the k of the
    recalls that it tells of pivots: of what a second stage gets to see, where there is one.
    """

    trials: tuple[Trial, ...]
    queries: int
    k: int
    generator: Generator | None = field(default=None, compare=False, repr=False)
    pivots: tuple[Contribution, ...] = ()
    chosen: Trial | None = None
    note: str = ""
    pivots_k: int = 0

    @property
    def best(self) -> Trial:
        """What a search has chosen, or the highest recall@k; among equals the highest MRR."""
        if self.chosen is not None:
            return self.chosen
        return max(self.trials, key=merit)

    def table(self) -> Table:
        """A row for each choice; the best one is marked."""
        best = self.best
        names = tuple(self.trials[0].parameters)
        rows: list[tuple[Cell, ...]] = [
            (
                *(_cell(trial.parameters[name]) for name in names),
                self.queries,
                trial.recall,
                f"{trial.mrr:.3f}",
                "best" if trial is best else "",
            )
            for trial in self.trials
        ]
        columns = (*names, "queries", f"recall@{self.k}", "MRR", "")
        return Table("Recall on dev", columns, tuple(rows), note=self.note)

    def pivot_table(self) -> Table:
        """A row for each pivot of a search: what dev loses without it, and what it takes."""
        rows: list[tuple[Cell, ...]] = [
            (
                each.pivot,
                f"{each.alpha:g}",
                each.recall_without,
                Difference(-each.loss),
                Difference(-100 * each.mrr_loss),
                each.entries,
                100 * each.share,
                "" if each.kept else "left out",
            )
            for each in self.pivots
        ]
        columns = (
            "pivot",
            "alpha",
            f"recall@{self.pivots_k} without",
            "change",
            "of 100 MRR",
            "postings",
            "% of all",
            "",
        )
        note = (
            "Without one pivot, the others as they are; of one that was left out, as it was when "
            "it went. Postings are those that no other language of the index has."
        )
        return Table("What each pivot brings on dev", columns, tuple(rows), decimals=2, note=note)


def merit(trial: Trial) -> tuple[float, float]:
    """What makes a choice better than another: recall, then the mean reciprocal rank."""
    return trial.recall, trial.mrr


def _cell(value: object) -> str:
    return describe(value) if isinstance(value, Mapping) else f"{value}"
