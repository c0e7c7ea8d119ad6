"""Cascades as methods: WikiPriors, then PivotTokenIndex, of the same tables.

Alpha, lam and the threshold are those of the PivotTokenIndex.
"""

from collections.abc import Sequence
from functools import partial

from candgen.generators import wikipriors_method
from candgen.generators.candidate import Candidate, check_weight
from candgen.generators.cascade import Cascade
from candgen.generators.pivot import method as pivot_method
from candgen.generators.pivot.pivot_token_index import LAM, PivotTokenIndex
from candgen.generators.tiers import ask_in_turn
from candgen.protocols import Method, Parameters, Ranks, Size, Training, gold_ranks
from candgen.tables.queries import Query

OPTIONS = frozenset({"normalizer", "threads", "threshold"})


def build(training: Training, parameters: Parameters, *, fill: bool) -> Cascade:
    """Build WikiPriors and PivotTokenIndex of these tables; parameters are those of both."""
    return Cascade.build(**pivot_method.arguments(training, parameters), fill=fill)


def size(cascade: Cascade) -> Size:
    """Return how many numbers both generators keep, and the fraction that was removed."""
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
    """Return the ranks that ``build(training, choice)`` would give, for each choice.

    WikiPriors has no weights, so it is asked once; an index is built once for all choices that
    differ in lam only.
    """
    mentions = [query.mention for query in queries]
    firsts: dict[str, dict[str, list[Candidate]]] = {}
    indexes: dict[str, PivotTokenIndex] = {}
    found = []
    for choice in choices:
        first = repr(choice.get("normalizer"))
        if first not in firsts:
            shared = {name: choice[name] for name in choice if name in wikipriors_method.OPTIONS}
            priors = wikipriors_method.build(training, shared)
            answers = priors.candidates(mentions, k)
            firsts[first] = dict(zip(mentions, answers, strict=True))
        rest = repr(sorted((name, choice[name]) for name in choice if name != "lam"))
        if rest not in indexes:
            indexes[rest] = pivot_method.build(training, choice)
        lam = check_weight("lam", choice.get("lam", LAM))
        tiers = [partial(_look_up, firsts[first]), partial(indexes[rest].candidates, lam=lam)]
        answers = ask_in_turn(tiers, mentions, k, fill=fill)
        found.append(gold_ranks(queries, answers))
    return found


def _look_up(
    answers: dict[str, list[Candidate]], mentions: list[str], _k: int
) -> list[list[Candidate]]:
    return [answers[mention] for mention in mentions]


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
