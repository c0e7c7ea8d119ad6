"""Rerank as a method: PivotTokenIndex with several pivots, and a second stage over it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from candgen.errors import check_whole_number
from candgen.generators.pivot import method as pivot_method
from candgen.generators.rerank.rerank import DEPTH, Rerank
from candgen.protocols import Parameters, Ranks, SearchResult, Size, Step, Training
from candgen.tables.queries import Query

SECOND_STAGE_OPTIONS = frozenset({"depth"})
"""Parameters of the second stage; all others are those of the first."""

MRR_WEIGHT = 0.1
"""Weight of MRR beside recall in choosing the weights of the first stage: small, because the
second stage changes the order, but cannot add candidates that are missing."""


def build(training: Training, parameters: Parameters) -> Rerank:
    """Build both stages; the weights of the second are learned on the training's dev queries."""
    first = pivot_method.arguments(training, _first_stage(parameters))
    return Rerank.build(**first, dev=training.dev, depth=_depth(parameters))


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
    **options: Any,  # noqa: ANN401 (those of search_weights)
) -> SearchResult | None:
    """Search weights of the first stage by recall among the ``depth`` candidates it passes on.

    The best alphas do not depend on the consonant skeletons of the normalizer "sound", which make
    a search several times slower. So it is done without them; the last step has its choice with
    them.
    """
    first, depth = _first_stage(fixed), max(k, _depth(fixed))
    quick = {**first, "normalizer": "latin"} if first["normalizer"] == "sound" else first
    found = pivot_method.search(training, quick, queries, depth, mrr=MRR_WEIGHT, **options)
    if quick is first or found is None:
        return found
    chosen = found.steps[-1].parameters
    (ranked,) = pivot_method.ranks(training, [{**first, **chosen}], found.queries, depth)
    return replace(found, steps=(*found.steps, Step(chosen, ranked)))


def _first_stage(parameters: Parameters) -> dict[str, object]:
    rest = {name: value for name, value in parameters.items() if name not in SECOND_STAGE_OPTIONS}
    return {"normalizer": "latin", **rest}


def _depth(parameters: Parameters) -> int:
    return check_whole_number("depth", parameters.get("depth", DEPTH))


RERANK = replace(
    pivot_method.PTI,
    build=build,
    size=size,
    options=pivot_method.PTI.options | SECOND_STAGE_OPTIONS,
    ranks=ranks,
    search=search,
    dev=True,
)
