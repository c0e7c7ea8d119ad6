"""Choose the hyperparameters of a method by its recall on dev queries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

from candgen.errors import ParameterError, check_whole_number
from candgen.evaluation import metrics
from candgen.evaluation.evaluate import check_queries
from candgen.protocols import (
    Contribution,
    Generator,
    Method,
    Progress,
    Ranks,
    SearchResult,
    Training,
    rank_golds,
)
from candgen.reporting.table import Cell, Difference, Table
from candgen.tables.queries import Query


class Trial(NamedTuple):
    """One choice of parameters, with its recall@k in percent and its MRR on dev."""

    parameters: dict[str, Any]
    recall: float
    mrr: float

    @classmethod
    def of(cls, parameters: dict[str, Any], ranks: Ranks, k: int) -> "Trial":
        """Return the trial of these parameters, from the ranks of the dev queries' golds."""
        return cls(parameters, metrics.recall(ranks, k), metrics.mrr(ranks))

    @property
    def described(self) -> str:
        """The parameters in words: alpha 0.4, lam 1."""
        return describe(self.parameters)

    @property
    def points(self) -> float:
        """The objective of a search: recall plus 100 times the mean reciprocal rank."""
        return self.recall + 100 * self.mrr

    @property
    def merit(self) -> tuple[float, float]:
        """The objective of a grid: recall, among equals the mean reciprocal rank."""
        return self.recall, self.mrr


def describe(parameters: Mapping[str, Any]) -> str:
    """Return parameters in words.

    >>> describe({"alpha": 1.0, "normalizer": "none"})
    'alpha 1, normalizer none'
    >>> describe({"alpha": {"bg": 0.4, "sr": 1.0}, "lam": 0.4})
    'alpha bg 0.4, sr 1, lam 0.4'
    """
    return ", ".join(f"{name} {_describe_value(value)}" for name, value in parameters.items())


def _describe_value(value: object) -> str:
    if isinstance(value, Mapping):
        return describe(value)
    return f"{value:g}" if isinstance(value, int | float) else f"{value}"


@dataclass(frozen=True)
class Tuning:
    """What was tried on dev.

    Attributes:
        trials: All choices of a grid in its order, or the steps of a search.
        queries: The number of dev queries that were asked.
        k: The k of the recalls of the trials.
        generator: The best generator where generators were built to find it, else None.
        pivots: What each pivot contributes; only a search measures it.
        chosen: The trial that a search has chosen; None for a grid.
        note: How many choices a search tried.
        pivots_k: The k of the recalls in ``pivots``: the depth of a second stage if there is one.
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
        """The choice of a search, or the trial with the highest recall@k, then the highest MRR."""
        return self.chosen or max(self.trials, key=lambda trial: trial.merit)

    def table(self) -> Table:
        """Return a row for each trial; the best one is marked."""
        names = tuple(self.trials[0].parameters)
        rows: list[tuple[Cell, ...]] = [
            (
                *(_format_value(trial.parameters[name]) for name in names),
                self.queries,
                trial.recall,
                f"{trial.mrr:.3f}",
                "best" if trial is self.best else "",
            )
            for trial in self.trials
        ]
        columns = (*names, "queries", f"recall@{self.k}", "MRR", "")
        return Table("Recall on dev", columns, tuple(rows), note=self.note)

    def pivot_table(self) -> Table:
        """Return a row for each pivot of a search: what dev loses without it, and its size."""
        return Table.of(
            "What each pivot brings on dev",
            {
                "pivot": lambda each: each.pivot,
                "alpha": lambda each: f"{each.alpha:g}",
                f"recall@{self.pivots_k} without": lambda each: each.recall_without,
                "change": lambda each: Difference(-each.loss),
                "of 100 MRR": lambda each: Difference(-100 * each.mrr_loss),
                "postings": lambda each: each.entries,
                "% of all": lambda each: 100 * each.share,
                "": lambda each: "" if each.kept else "left out",
            },
            self.pivots,
            decimals=2,
            note="Recall without one pivot and with all others; for a pivot that was left out, at "
            "the time when it was left out. Postings are those that only this language has.",
        )


def tune(
    method: Method,
    training: Training,
    dev: Iterable[Query],
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    fixed: Mapping[str, Any] | None = None,
    k: int = 30,
    worth: float = 0.0,
    exhaustive: bool = False,
    progress: Progress | None = None,
) -> Tuning:
    """Try every choice of a method's grid on dev queries; test queries are never used.

    With several pivots, and an alpha neither in ``grid`` nor in ``fixed``, a method that can
    search chooses an alpha for each pivot, and, if it is given a ``worth``, leaves out pivots that
    contribute less: see ``candgen tune`` in docs/evaluation.md.

    Args:
        method: What builds the generators.
        training: The tables to learn from.
        dev: The queries on which the choices are compared.
        grid: Values that replace those of the method's grid, or add a parameter to it.
        fixed: Parameters that all choices share.
        k: The k of the recall that decides.
        worth: The points of recall that a pivot must bring for each tenth of the postings; 0 keeps
            all pivots.
        exhaustive: Rank golds among all entities in every step of a search, which is much slower.
        progress: Called with what is done and its fraction; by default that of the training.

    Returns:
        All trials, the best of them, and the best generator if one was built.
    """
    queries = check_queries(dev)
    k = check_whole_number("k", k)
    given, fixed = dict(grid or {}), dict(fixed or {})
    method.check(fixed)
    choices = method.choices(training, given)
    if not choices:
        raise ParameterError("the grid has a parameter without values: give each at least one")
    show = training.progress if progress is None else progress
    options = {"worth": worth, "exhaustive": exhaustive, "progress": show}
    searched = _search(method, training, given, fixed, queries, k, options)
    if searched is not None:
        return searched
    if method.ranks is None:
        return _build_each(method, training, choices, fixed, queries, k, show)
    show(f"trying {len(choices)} choices on dev", 0.0)
    ranks = method.ranks(training, [{**fixed, **choice} for choice in choices], queries, k)
    trials = (Trial.of(choice, some, k) for choice, some in zip(choices, ranks, strict=True))
    return Tuning(tuple(trials), len(queries), k)


def _search(
    method: Method,
    training: Training,
    grid: dict[str, Sequence[Any]],
    fixed: dict[str, Any],
    queries: list[Query],
    k: int,
    options: dict[str, Any],
) -> Tuning | None:
    """Search with each choice of what the grid has beside lam; None if nothing can be searched."""
    weighted = method.joint & {*grid, *fixed}
    if method.search is None or weighted or len(training.pivots) < method.least_pivots:
        return None
    lams = grid.pop("lam", [fixed["lam"]] if "lam" in fixed else None)
    ends: list[tuple[Trial, SearchResult]] = []
    trials: list[Trial] = []
    for values in product(*grid.values()):
        choice = dict(zip(grid, values, strict=True))
        found = method.search(training, {**fixed, **choice}, queries, k, lams=lams, **options)
        if found is None:
            return None
        trials += (Trial.of({**step.parameters, **choice}, step.ranks, k) for step in found.steps)
        ends.append((trials[-1], found))
    best, found = max(ends, key=lambda end: end[0].points)
    note = f"The steps of the search, which tried {sum(each.tried for _, each in ends)} choices."
    if len(found.queries) < len(queries):
        note += f" It used {len(found.queries)} of {len(queries)} dev queries."
    return Tuning(
        tuple(trials),
        len(found.queries),
        k,
        pivots=found.pivots,
        chosen=best,
        note=note,
        pivots_k=found.k,
    )


def _build_each(
    method: Method,
    training: Training,
    choices: list[dict[str, Any]],
    fixed: dict[str, Any],
    queries: list[Query],
    k: int,
    progress: Progress,
) -> Tuning:
    """Build a generator for each choice, and keep the best."""
    trials: list[Trial] = []
    best = None
    for number, choice in enumerate(choices):
        report = _progress_of_choice(progress, number, len(choices))
        report("", 0.0)
        generator = method(replace(training, progress=report), {**fixed, **choice})
        trial = Trial.of(choice, rank_golds(generator, queries, k), k)
        if not trials or trial.merit > max(each.merit for each in trials):
            best = generator
        del generator  # frees the memory of what is not the best
        trials.append(trial)
    return Tuning(tuple(trials), len(queries), k, best)


def _progress_of_choice(progress: Progress, number: int, of: int) -> Progress:
    """Return a function that reports the progress of one choice as a fraction of all of them."""

    def report(doing: str, fraction: float) -> None:
        words = f"trying choice {number + 1} of {of} on dev" + (f": {doing}" if doing else "")
        progress(words, (number + min(max(fraction, 0.0), 1.0)) / of)

    return report


def _format_value(value: object) -> str:
    return describe(value) if isinstance(value, Mapping) else f"{value}"
