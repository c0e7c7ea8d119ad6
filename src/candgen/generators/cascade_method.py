"""Cascades as methods: WikiPriors, then PivotTokenIndex, of the same tables.

Alpha, lam and the threshold are those of the PivotTokenIndex. WikiPriors has no weights: also a
pivot whose alpha is 0 is one there.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from candgen.generators import wikipriors_method
from candgen.generators.candidate import Candidate, check_weight
from candgen.generators.cascade import Cascade
from candgen.generators.pivot import method as pivot_method
from candgen.generators.pivot.pivot_token_index import LAM, PivotTokenIndex
from candgen.generators.tiers import ask_in_turn
from candgen.generators.wikipriors import WikiPriors
from candgen.protocols import Method, Parameters, Ranks, Size, Training, gold_rank
from candgen.tables.queries import Query

OPTIONS = frozenset({"normalizer", "threads", "threshold"})


def build(training: Training, parameters: Parameters, *, fill: bool) -> Cascade:
    """WikiPriors and PivotTokenIndex of these tables; parameters are those of both."""
    first = _first(training, parameters)
    return Cascade(first, pivot_method.build(training, parameters), fill=fill)


def _first(training: Training, parameters: Parameters) -> WikiPriors:
    known = {name: parameters[name] for name in parameters if name in wikipriors_method.OPTIONS}
    return wikipriors_method.build(training, known)


def size(cascade: Cascade) -> Size:
    """How many numbers both generators keep, and which share of all the threshold removed."""
    first, then = cascade.nested
    dropped = then.parameters["dropped"]
    removed = dropped["priors"] + dropped["posteriors"]
    kept = wikipriors_method.size(first).parameters + pivot_method.size(then).parameters
    return Size(kept, removed / (kept + removed))


def ranks(
    training: Training,
    choices: Sequence[Parameters],
    queries: Sequence[Query],
    k: int,
    *,
    fill: bool,
) -> list[Ranks]:
    """The ranks that ``build(training, choice)`` would give, for each choice.

    What WikiPriors finds is the same whatever the weights, so it is asked once, and an index is
    built once for all choices that differ in lam only.
    """
    mentions = [query.mention for query in queries]
    firsts: dict[str, dict[str, list[Candidate]]] = {}
    indexes: dict[str, PivotTokenIndex] = {}
    found = []
    for choice in choices:
        first = repr(choice.get("normalizer"))
        if first not in firsts:
            answers = _first(training, choice).candidates(mentions, k)
            firsts[first] = dict(zip(mentions, answers, strict=True))
        rest = repr(sorted((name, choice[name]) for name in choice if name != "lam"))
        if rest not in indexes:
            indexes[rest] = pivot_method.build(training, choice)
        lam = check_weight("lam", choice.get("lam", LAM))
        tiers = [partial(_look_up, firsts[first]), partial(indexes[rest].candidates, lam=lam)]
        answers = ask_in_turn(tiers, mentions, k, fill=fill)
        found.append(_places(queries, answers))
    return found


def _look_up(
    answers: dict[str, list[Candidate]], mentions: list[str], _k: int
) -> list[list[Candidate]]:
    return [answers[mention] for mention in mentions]


def _places(queries: Sequence[Query], answers: Sequence[Sequence[Candidate]]) -> Ranks:
    pairs = zip(queries, answers, strict=True)
    return np.array([gold_rank(query.entity, some) for query, some in pairs], np.int64)


def _method(*, fill: bool) -> Method:
    return Method(
        build=partial(build, fill=fill),
        size=size,
        grid=pivot_method.PTI.grid,
        joint=pivot_method.PTI.joint,
        options=OPTIONS,
        ranks=partial(ranks, fill=fill),
    )


CASCADE = _method(fill=False)
CASCADE_FILL = _method(fill=True)
