"""Evaluate generators on queries."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from candgen.errors import ParameterError, check_whole_number
from candgen.evaluation.ceilings import unlike_pivots
from candgen.evaluation.report import Answer, Report
from candgen.protocols import Generator, Progress, covers, gold_rank, is_generator, no_progress
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import TYPES, Query

BATCH_SIZE = 1000
"""The number of queries that a generator is asked at once."""


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
    """Ask every generator for the candidates of every query, and compare them with the golds.

    Args:
        generators: What to evaluate, by the names that the report gives them.
        queries: The test queries: ``Query(mention, entity, type)``; the type may be missing.
        ks: The numbers of candidates for recall@k; the largest is how many are asked for.
        pivots: The pivots' tables. With them the report also has the queries without an exact
            match: those whose mention is not one of the gold's names in any pivot.
        normalizer: The normalizer after which mentions and names are compared for that.
        language: The language of the queries, for the normalizer.
        progress: Called with what is being done and the fraction of it that is done.

    Returns:
        The rank of the gold for every query and generator, with measures and tables of them.

    >>> class Guess:
    ...     def candidates(self, mentions, k=30):
    ...         return [[("Q282", 1.0), ("Q1741", 0.5)][:k] for _ in mentions]
    >>> queries = [Query("Vín", "Q282", "easy"), Query("Wien", "Q1741", "hard")]
    >>> report = evaluate({"guess": Guess()}, queries, ks=(1, 2))
    >>> report.recall("guess", k=1), report.recall("guess", k=2), report.mrr("guess")
    (50.0, 100.0, 0.75)
    """
    checked = check_queries(queries)
    depths = _check_ks(ks)
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
        name: list(_ask(name, generator, checked, depths[-1], progress))
        for name, generator in generators.items()
    }
    return Report(checked, answers, depths, unlike)


def _ask(
    name: str,
    generator: Any,  # noqa: ANN401
    queries: list[Query],
    k: int,
    progress: Progress,
) -> Iterator[Answer]:
    knows = generator.knows if covers(generator) else None
    for first in range(0, len(queries), BATCH_SIZE):
        progress(f"asking {name}", first / len(queries))
        batch = queries[first : first + BATCH_SIZE]
        found = generator.candidates([query.mention for query in batch], k=k)
        if len(found) != len(batch):
            raise ParameterError(
                f"{name} gave {len(found)} answers to {len(batch)} mentions: expected one for each"
            )
        known = [None] * len(batch) if knows is None else knows([q.entity for q in batch])
        for query, candidates, is_known in zip(batch, found, known, strict=True):
            rank = gold_rank(query.entity, candidates[:k])
            top: Sequence[Any] = candidates[0] if candidates else (None, None)
            score = candidates[rank - 1][1] if rank else None
            yield Answer(rank, score, top[0], top[1], is_known)


def check_queries(queries: Iterable[Query]) -> list[Query]:
    """Return queries, or tuples that could be, as a list; raise ParameterError for others."""
    checked = []
    for number, query in enumerate(queries):
        try:
            mention, entity, kind = made = Query(*query)
        except TypeError:
            mention, entity, kind = made = Query("", "", "invalid")
        strings = isinstance(mention, str) and isinstance(entity, str)
        if not strings or isinstance(query, str) or kind not in (None, *TYPES):
            raise ParameterError(
                f"queries[{number}] is {query!r}: expected Query(mention, entity, type), "
                f"the type one of {', '.join(TYPES)} or None"
            )
        checked.append(made)
    if not checked:
        raise ParameterError("there are no queries: give at least one")
    return checked


def _check_ks(ks: Sequence[int]) -> tuple[int, ...]:
    listed = list(ks) if isinstance(ks, Sequence) else [ks]
    if not listed:
        raise ParameterError("ks is empty: give at least one k, such as 30")
    return tuple(sorted({check_whole_number("k", k) for k in listed}))
