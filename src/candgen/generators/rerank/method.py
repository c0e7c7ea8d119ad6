"""Rerank as a method: PivotTokenIndex with several pivots, and a second stage over it."""

from collections.abc import Sequence
from dataclasses import replace

from candgen.generators.pivot import method as pivot_method
from candgen.generators.pivot.parameters import Choice
from candgen.generators.pivot.weight_search import LAMS, search_weights
from candgen.generators.rerank.rerank import DEPTH, Rerank, check_depth
from candgen.protocols import (
    MIN_POINTS_PER_TENTH,
    Parameters,
    Progress,
    Ranks,
    Searched,
    Size,
    Step,
    Training,
)
from candgen.tables.queries import Query

OWN = frozenset({"depth"})
"""Parameters of the second stage; all others are those of the first."""

RECALL_FIRST = 0.1
"""How much the order of the first stage counts in choosing its weights: little, since it will be
changed, while what is not among the candidates at all is lost."""


def build(training: Training, parameters: Parameters) -> Rerank:
    """Both stages; the weights of the second one are learned on the training's dev queries.

    A pivot with alpha 0 has no postings in the index, which take much, but the second stage keeps
    its names, which take little.
    """
    index = pivot_method.build(training, _first(parameters))
    return Rerank(
        index,
        pivots=training.pivots,
        target=training.target,
        language=training.language,
        dev=training.dev,
        depth=_depth(parameters),
        progress=training.progress,
    )


def size(generator: Rerank) -> Size:
    """The entries of the index, and a parameter for each symbol and count that names take."""
    first = pivot_method.size(generator.first_stage)
    second = sum(array.size for array in generator.stage.arrays().values())
    return Size(first.parameters + second, first.removed)


def ranks(
    training: Training, choices: Sequence[Parameters], queries: Sequence[Query], k: int
) -> list[Ranks]:
    """The ranks that the first stage would give, for each choice."""
    for choice in choices:
        _depth(choice)
    return pivot_method.ranks(training, [_first(choice) for choice in choices], queries, k)


def search(
    training: Training,
    fixed: Parameters,
    queries: Sequence[Query],
    k: int,
    /,
    *,
    lams: Sequence[float] | None = None,
    worth: float = MIN_POINTS_PER_TENTH,
    progress: Progress | None = None,
) -> Searched | None:
    """Weights of the first stage by what is among the ``depth`` candidates that the second sees.

    How much a language is worth does not depend on the skeletons of ``sound``, which make a search
    several times as long, so that it is done without them; the last step is what it chose, with
    them.
    """
    first, depth = _first(fixed), max(k, _depth(fixed))
    if not Choice.of(training, {**first, "alpha": 1.0}).is_plain:
        return None
    quick = {**first, "normalizer": "latin"} if first["normalizer"] == "sound" else first
    found = search_weights(
        training,
        quick,
        queries,
        depth,
        lams=LAMS if lams is None else lams,
        worth=worth,
        mrr=RECALL_FIRST,
        progress=progress,
    )
    if quick is first:
        return found
    chosen = found.steps[-1].parameters
    (ranked,) = pivot_method.ranks(training, [{**first, **chosen}], found.queries, depth)
    return replace(found, steps=(*found.steps, Step(chosen, ranked)))


def _first(parameters: Parameters) -> dict[str, object]:
    rest = {name: value for name, value in parameters.items() if name not in OWN}
    return {"normalizer": "latin", **rest}


def _depth(parameters: Parameters) -> int:
    return check_depth(parameters.get("depth", DEPTH))


RERANK = replace(
    pivot_method.PTI,
    build=build,
    size=size,
    options=pivot_method.PTI.options | OWN,
    ranks=ranks,
    search=search,
    dev=True,
)
