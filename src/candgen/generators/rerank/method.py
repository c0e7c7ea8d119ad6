"""Rerank as a method: PivotTokenIndex with several pivots, and a second stage over it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from candgen.errors import check_whole_number
from candgen.generators.pivot import method as pivot_method
from candgen.generators.pivot.weight_search import Merit
from candgen.generators.rerank.rerank import DEPTH, Rerank
from candgen.protocols import Parameters, Ranks, SearchResult, Size, Step, Training
from candgen.tables.queries import EASY, Query

SECOND_STAGE_OPTIONS = frozenset({"depth"})
"""Parameters of the second stage; all others are those of the first."""

LAMS = (0.1, 0.05, 0.2, 0.4, 1.0)
"""Values of lam, the default first. The posterior favours entities with short names: that helps the
first places, and hurts among the 300 candidates that the second stage orders."""

MRR_WEIGHT = 0.03
"""Weight of MRR beside recall in choosing the weights of the first stage: small, because the
second stage changes the order, but cannot add candidates that are missing."""
MIN_WEIGHT_GAIN = 0.3
"""Points by which other weights must be better: smaller differences may be chance, and a better
order alone is worth little before a second stage."""


def build(training: Training, parameters: Parameters) -> Rerank:
    """Build both stages; the weights of the second are learned on the training's dev queries."""
    first = pivot_method.arguments(training, _first_stage(parameters))
    return Rerank.build(
        **first,
        names=training.names,
        sitelinks=training.sitelinks,
        dev=training.dev,
        depth=_depth(parameters),
    )


def size(generator: Rerank) -> Size:
    """Return the entries of the index, plus one parameter for each symbol and count of names."""
    first = pivot_method.size(generator.first_stage)
    second = sum(array.size for array in generator.stage.arrays().values())
    return Size(first.parameters + second, first.removed)


def ranks(
    training: Training, choices: Sequence[Parameters], queries: Sequence[Query], k: int
) -> list[Ranks]:
    """Return the ranks that the first stage would give, for each choice."""
    for choice in choices:
        _depth(choice)
    return pivot_method.ranks(training, [_first_stage(choice) for choice in choices], queries, k)


def search(
    training: Training,
    fixed: Parameters,
    queries: Sequence[Query],
    k: int,
    *,
    lams: Sequence[float] | None = None,
    **options: Any,  # noqa: ANN401 (those of search_weights)
) -> SearchResult | None:
    """Search weights of the first stage by recall among the ``depth`` candidates it passes on.

    The best alphas do not depend on the consonant skeletons of the normalizer "sound", which make
    a search several times slower. So it is done without them; the last step has its choice with
    them. The plain weights, alpha 1 for all and the first of ``lams``, are the last step instead
    if the choice finds fewer of the queries that are not easy than they do, or has a lower MRR.
    """
    first, depth = _first_stage(fixed), max(k, _depth(fixed))
    quick = {**first, "normalizer": "latin"} if first["normalizer"] == "sound" else first
    given = {"mrr": MRR_WEIGHT, "margin": MIN_WEIGHT_GAIN, **options}
    lams = LAMS if lams is None else lams
    found = pivot_method.search(training, quick, queries, depth, lams=lams, **given)
    if found is None:
        return None
    chosen = found.steps[-1].parameters
    kept = {pivot: 1.0 if alpha else 0.0 for pivot, alpha in chosen["alpha"].items()}
    plain = {"alpha": kept, "lam": lams[0]}
    if quick is first and chosen == plain:
        return found
    choices = [{**first, **each} for each in (chosen, plain)]
    ranked, ranked_plain = pivot_method.ranks(training, choices, found.queries, depth)
    steps = found.steps if quick is first else (*found.steps, Step(chosen, ranked))
    if _is_behind(ranked, ranked_plain, found.queries):
        steps = (*steps, Step(plain, ranked_plain))
        pivots = tuple(each._replace(alpha=kept[each.pivot]) for each in found.pivots)
        found = replace(found, pivots=pivots)
    return replace(found, steps=steps)


def _is_behind(some: Ranks, others: Ranks, queries: Sequence[Query]) -> bool:
    """Return whether the first ranks are worse than the others on queries that are not easy."""
    held_back = np.array([query.type != EASY for query in queries])
    if not held_back.any():
        held_back[:] = True
    one, other = Merit.of(some[held_back]), Merit.of(others[held_back])
    return one.recall < other.recall or one.mrr < other.mrr


def _first_stage(parameters: Parameters) -> dict[str, object]:
    rest = {name: value for name, value in parameters.items() if name not in SECOND_STAGE_OPTIONS}
    return {"normalizer": "latin", **rest}


def _depth(parameters: Parameters) -> int:
    return check_whole_number("depth", parameters.get("depth", DEPTH))


RERANK = replace(
    pivot_method.PTI,
    build=build,
    size=size,
    grid={**pivot_method.PTI.grid, "lam": LAMS},
    options=pivot_method.PTI.options | SECOND_STAGE_OPTIONS,
    ranks=ranks,
    search=search,
    least_pivots=1,
    dev=True,
)
