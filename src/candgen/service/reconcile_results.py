"""What clients of the Reconciliation API get for their queries: candidates with probabilities."""

from collections.abc import Sequence
from typing import Any

from candgen.generators.pivot.explanation import Shares
from candgen.service.api import DEPTH
from candgen.service.loaded_index import Opened
from candgen.service.reconcile_queries import Asked

DEEPEST = 1000
"""Candidates among which those of a type are looked for."""
OTHER_TYPE = 0.02
"""What is left of a probability if the candidate is not of the type that is preferred."""


def candidates_of(opened: Opened, asked: Sequence[Asked], deadline: float) -> list[list[Any]]:
    """The candidates of queries, of their types only; at least 30, if there are so many.

    Those that want a type, and find too few among the first candidates, are asked again for more.
    """
    answers = opened.ask(
        [query.mention for query in asked],
        max([DEPTH, *(query.limit for query in asked)]),
        deadline=deadline,
    )
    kept = []
    for query, answer in zip(asked, answers, strict=True):
        wanted = set(query.types) - {opened.any_type}
        if not wanted or query.strict == "should":
            kept.append(list(answer))
            continue
        depth = len(answer)
        fitting = _of_type(opened, answer, wanted, query.strict)
        if len(fitting) < query.limit and depth >= DEPTH:
            (more,) = opened.ask([query.mention], DEEPEST, deadline=deadline)
            fitting = _of_type(opened, more, wanted, query.strict)
        kept.append(fitting)
    return kept


def _of_type(opened: Opened, answer: Sequence[Any], wanted: set[str], strict: str) -> list[Any]:
    """Those candidates that have one of these types, or all of them."""
    fits = wanted.issubset if strict == "all" else lambda types: not wanted.isdisjoint(types)
    return [each for each in answer if fits(opened.show(each[0]).types)]


def _weighed(opened: Opened, query: Asked, answer: Sequence[Any]) -> list[tuple[Any, float]]:
    """Candidates with their probabilities; those of another type than the one preferred lose."""
    chances = opened.calibration.probabilities(query.mention, answer)
    wanted = set(query.types) - {opened.any_type}
    if not wanted or query.strict != "should":
        return list(zip(answer, chances, strict=True))
    fitting = wanted | {opened.any_type}  # what has no type may have this one
    none = max(0.0, 1.0 - sum(chances[:DEPTH]))
    weights = [
        chance * (1.0 if fitting & set(opened.show(each[0]).types) else OTHER_TYPE)
        for each, chance in zip(answer, chances, strict=True)
    ]
    total = none + sum(weights[:DEPTH])
    shares = [weight / total if total else 0.0 for weight in weights]
    return sorted(zip(answer, shares, strict=True), key=lambda pair: -pair[1])


def results_of(
    opened: Opened, query: Asked, answer: Sequence[Any], languages: Sequence[str], match: float
) -> list[dict[str, Any]]:
    """The candidates of one query; the first is a match if it is likely enough, and alone so."""
    weighed = _weighed(opened, query, answer)
    chances = [chance for _, chance in weighed]
    first = [each for each, _ in weighed[: query.limit]]
    shares = opened.shares(query.mention, [entity for entity, _ in first])
    results = []
    for place, ((entity, score), chance, parts) in enumerate(
        zip(first, chances, shares, strict=False)
    ):
        shown = opened.show(entity, languages)
        results.append(
            {
                "id": entity,
                "name": shown.name,
                "description": shown.description,
                "type": [opened.type(each, languages)._asdict() for each in shown.types],
                "score": round(100 * chance, 4),
                "match": place == 0 and chance >= match and chances[1:2] != [chance],
                "features": _features(float(score), parts),
            }
        )
    return results


def _features(score: float, parts: Shares | None) -> list[dict[str, Any]]:
    values = {"score": score}
    if parts is not None:
        values.update(prior=parts.prior, posterior=parts.posterior)
        values.update(
            {f"language:{language}": share for language, share in parts.languages.items()}
        )
    return [{"id": name, "value": value} for name, value in values.items()]
