"""Evaluating generators on queries, and choosing what dev says is best."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from numbers import Integral
from typing import Any

from candgen.errors import ParameterError
from candgen.evaluation import metrics
from candgen.evaluation.ceilings import unlike_pivots
from candgen.evaluation.report import Answer, Report
from candgen.evaluation.tuning import Trial, Tuning, describe, merit
from candgen.protocols import (
    MIN_POINTS_PER_TENTH,
    Generator,
    Method,
    Progress,
    Ranks,
    SearchResult,
    Training,
    covers,
    gold_rank,
    is_generator,
    no_progress,
    rank_golds,
)
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import TYPES, Query

__all__ = ["Trial", "Tuning", "describe", "evaluate", "tune"]

QUERIES_AT_ONCE = 1000


def evaluate(
    generators: Mapping[str, Generator],
    queries: Iterable[Query],
    *,
    ks: Sequence[int] = (10, 20, 30),
    pivots: Mapping[str, MentionTable] | None = None,
    normalizer: str = "none",
    language: str | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Ask every generator for the candidates of every query; nobody sees the golds but the report.

    With ``pivots`` the report also looks at the queries whose mention is not one of the gold's
    names there, compared after the normalizer, which is told the languages.

    >>> class Guess:
    ...     def candidates(self, mentions, k=30):
    ...         return [[("Q282", 1.0), ("Q1741", 0.5)][:k] for _ in mentions]
    >>> queries = [Query("Vín", "Q282", "easy"), Query("Wien", "Q1741", "hard")]
    >>> report = evaluate({"guess": Guess()}, queries, ks=(1, 2))
    >>> report.recall("guess", k=1), report.recall("guess", k=2), report.mrr("guess")
    (50.0, 100.0, 0.75)
    """
    checked = _checked_queries(queries)
    depths = _checked_ks(ks)
    if not isinstance(generators, Mapping) or not generators:
        raise ParameterError("generators: expected a dict of at least one, such as {'pti': index}")
    for name, generator in generators.items():
        if not is_generator(generator):
            raise ParameterError(f"{name} is {generator!r}, which has no method candidates")
    if pivots is not None and not isinstance(pivots, Mapping):
        raise ParameterError("pivots: expected a dict of tables, such as {'is': icelandic}")
    unlike = None
    if pivots is not None:
        unlike = unlike_pivots(
            checked,
            pivots.values(),
            normalizer=normalizer,
            language=language,
            languages=list(pivots),
        )
    answers = {
        name: list(_answers(name, generator, checked, depths[-1], progress))
        for name, generator in generators.items()
    }
    return Report(checked, answers, depths, unlike)


def _answers(
    name: str,
    generator: Any,  # noqa: ANN401
    queries: list[Query],
    k: int,
    progress: Progress,
) -> Iterator[Answer]:
    knows = generator.knows if covers(generator) else None
    for first in range(0, len(queries), QUERIES_AT_ONCE):
        progress(f"asking {name}", first / len(queries))
        batch = queries[first : first + QUERIES_AT_ONCE]
        found = generator.candidates([query.mention for query in batch], k=k)
        if len(found) != len(batch):
            raise ParameterError(
                f"{name} gave {len(found)} answers to {len(batch)} mentions: expected one for each"
            )
        known = [None] * len(batch) if knows is None else knows([q.entity for q in batch])
        for query, candidates, knowing in zip(batch, found, known, strict=True):
            rank = gold_rank(query.entity, candidates[:k])
            top: Sequence[Any] = candidates[0] if candidates else (None, None)
            score = candidates[rank - 1][1] if rank else None
            yield Answer(rank, score, top[0], top[1], knowing)


def tune(
    method: Method,
    training: Training,
    dev: Iterable[Query],
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    fixed: Mapping[str, Any] | None = None,
    k: int = 30,
    worth: float = MIN_POINTS_PER_TENTH,
    progress: Progress | None = None,
) -> Tuning:
    """Try every choice of a method's grid on dev; test queries have no way in here.

    ``grid`` replaces or adds values of a parameter, ``fixed`` are parameters of all choices.
    Where there are several pivots, and neither gives an alpha, a method that can search finds an
    alpha for each, and leaves out those that are not ``worth`` what they take: see ``candgen tune``
    in docs/evaluation.md. ``progress`` is that of the training, if not given.
    """
    queries = _checked_queries(dev)
    (k,) = _checked_ks([k])
    given, fixed = dict(grid or {}), dict(fixed or {})
    method.check(fixed)
    choices = method.choices(training, given)
    if not choices:
        raise ParameterError("the grid has a parameter without values: give each at least one")
    show = training.progress if progress is None else progress
    searched = _search(method, training, given, fixed, queries, k, worth=worth, progress=show)
    if searched is not None:
        return searched
    complete = [{**fixed, **choice} for choice in choices]
    best = None
    if method.ranks is not None:
        show(f"trying {len(choices)} choices on dev", 0.0)
        ranks = method.ranks(training, complete, queries, k)
        trials = [_trial(each, some, k) for each, some in zip(choices, ranks, strict=True)]
    else:
        trials, best = _try_each(method, training, choices, complete, queries, k, show)
    return Tuning(tuple(trials), len(queries), k, best)


def _search(
    method: Method,
    training: Training,
    grid: dict[str, Sequence[Any]],
    fixed: dict[str, Any],
    queries: list[Query],
    k: int,
    *,
    worth: float,
    progress: Progress,
) -> Tuning | None:
    """What a search finds with each choice of what the grid has beside lam; None without one."""
    weighed = method.joint & {*grid, *fixed}
    if method.search is None or weighed or len(training.pivots) < 2:
        return None
    lams = grid.pop("lam", [fixed["lam"]] if "lam" in fixed else None)
    ends: list[tuple[Trial, SearchResult]] = []
    trials: list[Trial] = []
    for values in product(*grid.values()):
        choice = dict(zip(grid, values, strict=True))
        found = method.search(
            training, {**fixed, **choice}, queries, k, lams=lams, worth=worth, progress=progress
        )
        if found is None:
            return None
        trials += (_trial({**step.parameters, **choice}, step.ranks, k) for step in found.steps)
        ends.append((trials[-1], found))
    best, found = max(ends, key=lambda end: end[0].points)
    tried = sum(searched.tried for _, searched in ends)
    note = f"The steps of the search, which tried {tried} choices."
    if len(found.queries) < len(queries):
        note += f" It looked at {len(found.queries)} of {len(queries)} dev queries."
    return Tuning(
        tuple(trials),
        len(found.queries),
        k,
        pivots=found.pivots,
        chosen=best,
        note=note,
        pivots_k=found.k,
    )


def _try_each(
    method: Method,
    training: Training,
    choices: list[dict[str, Any]],
    complete: list[dict[str, Any]],
    queries: list[Query],
    k: int,
    progress: Progress,
) -> tuple[list[Trial], Generator | None]:
    """Build a generator for each choice; beside the trials, the best of them."""
    trials: list[Trial] = []
    best = None
    for number, (choice, parameters) in enumerate(zip(choices, complete, strict=True)):
        told = _told(progress, number, len(choices))
        told("", 0.0)
        generator = method(replace(training, progress=told), parameters)
        trial = _trial(choice, rank_golds(generator, queries, k), k)
        if not trials or merit(trial) > max(map(merit, trials)):
            best = generator
        del generator  # what is not the best makes room for the next one
        trials.append(trial)
    return trials, best


def _trial(choice: dict[str, Any], ranks: Ranks, k: int) -> Trial:
    return Trial(choice, metrics.recall(ranks, k), metrics.mrr(ranks))


def _told(progress: Progress, number: int, of: int) -> Progress:
    """What is told while one choice of several is built: its share is that of the whole."""

    def tell(doing: str, share: float) -> None:
        words = f"trying choice {number + 1} of {of} on dev" + (f": {doing}" if doing else "")
        progress(words, (number + min(max(share, 0.0), 1.0)) / of)

    return tell


def _checked_queries(queries: Iterable[Query]) -> list[Query]:
    """Queries, or tuples that could be; an empty mention is one that nothing can answer."""
    checked = []
    for number, query in enumerate(queries):
        try:
            mention, entity, kind = made = Query(*query)
        except TypeError:
            mention, entity, kind = made = Query("", "", "no query")
        strings = isinstance(mention, str) and isinstance(entity, str)
        if not strings or isinstance(query, str) or kind not in (None, *TYPES):
            raise ParameterError(
                f"queries[{number}] is {query!r}: expected Query(mention, entity, type), "
                f"the type one of {', '.join(TYPES)} or None"
            )
        checked.append(made)
    if not checked:
        raise ParameterError("there are no queries: nothing can be measured")
    return checked


def _checked_ks(ks: Sequence[int]) -> tuple[int, ...]:
    listed: list[Any] = list(ks) if isinstance(ks, Sequence) else [ks]
    for k in listed:
        if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
            raise ParameterError(f"k is {k!r}: expected a whole number of at least 1")
    if not listed:
        raise ParameterError("ks is empty: give at least one k, such as 30")
    return tuple(sorted({int(k) for k in listed}))
