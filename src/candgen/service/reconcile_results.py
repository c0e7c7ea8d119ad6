"""Results of the Reconciliation API: candidates of queries, with probabilities."""

from collections.abc import Sequence
from typing import Any

from candgen.generators.calibration import DEPTH
from candgen.generators.pivot.explanation import Shares
from candgen.service.executor import Job
from candgen.service.loaded_index import LoadedIndex
from candgen.service.reconcile_queries import ReconciliationQuery

MAX_TYPE_DEPTH = 1000
"""Candidates that are searched for those of a type."""
OTHER_TYPE_FACTOR = 0.02
"""Factor on the probability of a candidate that does not have the preferred type."""


def find_candidates(
    loaded: LoadedIndex, queries: Sequence[ReconciliationQuery]
) -> Job[list[list[Any]]]:
    """Return the candidates of each query that have its types, from at least the best 30.

    If a query finds too few of its type, the search is repeated for more candidates.
    """
    mentions = [query.mention for query in queries]
    k = max([DEPTH, *(query.limit for query in queries)])
    answers: list[list[Any]] = []
    for some in loaded.search(mentions, k):
        answers += some
        yield
    found = []
    for query, answer in zip(queries, answers, strict=True):
        wanted = set(query.types) - {loaded.any_type}
        if not wanted or query.type_strict == "should":
            found.append(list(answer))
            continue
        fitting = yield from _of_types(loaded, answer, wanted, query.type_strict)
        if len(fitting) < query.limit and len(answer) >= DEPTH:
            ((more,),) = loaded.search([query.mention], MAX_TYPE_DEPTH)
            yield
            fitting = yield from _of_types(loaded, more, wanted, query.type_strict)
        found.append(fitting)
    return found


def _of_types(
    loaded: LoadedIndex, answer: Sequence[Any], wanted: set[str], strict: str
) -> Job[list[Any]]:
    """Return the candidates that have one of these types or, if strict is "all", all of them."""
    fits = wanted.issubset if strict == "all" else lambda types: not wanted.isdisjoint(types)
    found = []
    for each in answer:
        if fits(loaded.view(each[0]).types):
            found.append(each)
        yield
    return found


def _with_probabilities(
    loaded: LoadedIndex, query: ReconciliationQuery, answer: Sequence[Any]
) -> list[tuple[Any, float]]:
    """Return candidates with probabilities, which are lower for those without a preferred type."""
    probabilities = loaded.generator.probabilities(query.mention, answer)
    wanted = set(query.types) - {loaded.any_type}
    if not wanted or query.type_strict != "should":
        return list(zip(answer, probabilities, strict=True))
    fitting = wanted | {loaded.any_type}  # an entity of unknown type may have the preferred one
    none = max(0.0, 1.0 - sum(probabilities[:DEPTH]))
    weights = [
        probability * (1.0 if fitting & set(loaded.view(each[0]).types) else OTHER_TYPE_FACTOR)
        for each, probability in zip(answer, probabilities, strict=True)
    ]
    total = none + sum(weights[:DEPTH])
    normalized = [weight / total if total else 0.0 for weight in weights]
    return sorted(zip(answer, normalized, strict=True), key=lambda pair: -pair[1])


def build_results(
    loaded: LoadedIndex,
    query: ReconciliationQuery,
    answer: Sequence[Any],
    languages: Sequence[str],
    match_threshold: float,
) -> Job[list[dict[str, Any]]]:
    """Return the results of one query.

    The first is a match if its probability reaches the threshold and exceeds that of the second.
    """
    ordered = _with_probabilities(loaded, query, answer)
    probabilities = [probability for _, probability in ordered]
    first = [candidate for candidate, _ in ordered[: query.limit]]
    parts = yield from loaded.break_down_scores(query.mention, [entity for entity, _ in first])
    results = []
    for place, ((entity, score), part) in enumerate(zip(first, parts, strict=True)):
        view, probability = loaded.view(entity, languages), probabilities[place]
        is_match = place == 0 and probability >= match_threshold
        results.append(
            {
                "id": entity,
                "name": view.name,
                "description": view.description,
                "type": loaded.view_types(view, languages),
                "score": round(100 * probability, 4),
                "match": is_match and probabilities[1:2] != [probability],
                "features": _features(float(score), part),
            }
        )
        yield
    return results


def _features(score: float, part: Shares | None) -> list[dict[str, Any]]:
    values = {"score": score}
    if part is not None:
        values.update(prior=part.prior, posterior=part.posterior)
        values.update({f"language:{code}": share for code, share in part.languages.items()})
    return [{"id": name, "value": value} for name, value in values.items()]
