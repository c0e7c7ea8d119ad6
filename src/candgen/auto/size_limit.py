"""Make an index small enough: leave out pivots, and say what that costs.

Only where a limit was asked for: a pivot may know entities that no other pivot knows.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from candgen.evaluation import metrics
from candgen.generators.pivot.parameters import Choice, prepare_ranks
from candgen.generators.rerank.method import MRR_WEIGHT, RERANK
from candgen.generators.rerank.rerank import DEPTH, Rerank
from candgen.protocols import Ranks, Training
from candgen.tables.limits import show_size
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query

log = logging.getLogger("candgen")

Build = Callable[[Training, Mapping[str, Any]], Rerank]


class Fitted(NamedTuple):
    """An index within a limit, if that was possible, and what was left out for it."""

    generator: Rerank
    reasons: list[str]


@dataclass(frozen=True)
class Judge:
    """Tells what recall is lost without a pivot: on queries, with the tables they are held out of.

    ``needed`` pivots stay as long as there is another one.
    """

    training: Training
    queries: Sequence[Query]
    needed: frozenset[str] = frozenset()

    def measure(
        self, alphas: Sequence[Mapping[str, float]], parameters: Mapping[str, Any]
    ) -> list[tuple[float, float]]:
        """Return recall@DEPTH and the objective of a search for each choice of alphas."""
        known = [{pivot: alpha[pivot] for pivot in self.training.pivots} for alpha in alphas]
        some = [alpha for alpha in known if any(alpha.values()) or self.training.target is not None]
        if not self.queries or not some:
            return [(0.0, 0.0)] * len(alphas)
        assert RERANK.ranks is not None  # noqa: S101
        choices = [{**parameters, "alpha": alpha} for alpha in some]
        ranks = iter(RERANK.ranks(self.training, choices, self.queries, DEPTH))
        return [_merit(next(ranks)) if alpha in some else (0.0, 0.0) for alpha in known]


def _merit(ranks: Ranks) -> tuple[float, float]:
    recall = metrics.recall(ranks, DEPTH)
    return recall, recall + MRR_WEIGHT * 100 * metrics.mrr(ranks)


def fit_index(
    build: Build, training: Training, parameters: Mapping[str, Any], judge: Judge, max_size: int
) -> Fitted:
    """Build an index of at most ``max_size`` bytes, without some pivots if need be.

    The index is built and measured. If it is too large, the pivots that bring least for each
    posting are left out, one by one, until its estimated size fits, and it is built again.
    """
    whole = training
    alpha = {**dict.fromkeys(training.pivots, 1.0), **_alphas(training, parameters)}
    while True:
        index = build(training, {**parameters, "alpha": alpha})
        size = index_size(index)
        if size <= max_size or len(alpha) < 2:
            break
        del index
        alpha = _reduce(training, alpha, parameters, judge, max_size / size)
        training = replace(training, pivots={name: training.pivots[name] for name in alpha})
    if training is whole:
        return Fitted(index, [])
    reasons = [_explain(whole, training, parameters, judge, size, max_size)]
    if size > max_size:
        log.warning("the index has %s: %s cannot be met", show_size(size), show_size(max_size))
        reasons.append(f"It is larger than asked for: {next(iter(alpha))} is the last pivot.")
    return Fitted(index, reasons)


def index_size(index: Rerank) -> int:
    """Return how many bytes the arrays of an index take."""
    return sum(array.nbytes for array in index.contents().arrays.values())


def _alphas(training: Training, parameters: Mapping[str, Any]) -> dict[str, float]:
    alpha = parameters.get("alpha", 1.0)
    if isinstance(alpha, Mapping):
        return {pivot: float(alpha[pivot]) for pivot in training.pivots}
    return dict.fromkeys(training.pivots, float(alpha))


def _reduce(
    training: Training,
    alpha: dict[str, float],
    parameters: Mapping[str, Any],
    judge: Judge,
    share: float,
) -> dict[str, float]:
    """Leave out one pivot or more, until not more than a share of the postings is left."""
    quick = {**parameters, "normalizer": "latin"}
    choice = Choice.of(training, {**quick, "alpha": 1.0})
    counted = prepare_ranks(training, choice, judge.queries[:1] or [Query("a", "")])
    now = {**dict.fromkeys(judge.training.pivots, 0.0), **alpha}
    total, alone = counted.count_postings(now)
    most = share * total
    while len(kept := [pivot for pivot in alpha if now[pivot]]) > 1:
        able = [pivot for pivot in kept if pivot not in judge.needed]
        without = {pivot: {**now, pivot: 0.0} for pivot in able}
        (_, points), *left = judge.measure([now, *without.values()], quick)
        brings = {
            pivot: (points - fewer) / max(alone[pivot], 1)
            for pivot, (_, fewer) in zip(able, left, strict=True)
        }
        now = without[min(able, key=lambda pivot: (brings[pivot], -alone[pivot]))]
        total, alone = counted.count_postings(now)
        if total <= most:
            break
    return {pivot: now[pivot] for pivot in alpha if now[pivot]}


def _explain(
    whole: Training,
    training: Training,
    parameters: Mapping[str, Any],
    judge: Judge,
    size: int,
    max_size: int,
) -> str:
    dropped = sorted(set(whole.pivots) - set(training.pivots))
    every = _alphas(whole, parameters)
    less = {pivot: value if pivot in training.pivots else 0.0 for pivot, value in every.items()}
    (before, _), (after, _) = judge.measure([every, less], {**parameters, "normalizer": "latin"})
    kept = _entities([*training.pivots.values(), *([whole.target] if whole.target else [])])
    lost = len(_entities([whole.pivots[name] for name in dropped]) - kept)
    cost = (
        f"recall@{DEPTH} of the first stage on held-back names is {after:.1f} in place of "
        f"{before:.1f}"
        if judge.queries
        else "what that costs in recall could not be measured"
    )
    return (
        f"For an index of at most {show_size(max_size)}, {', '.join(dropped)} "
        f"{'is' if len(dropped) == 1 else 'are'} left out: {cost}, and {lost:,} entities that only "
        f"{'it knows' if len(dropped) == 1 else 'they know'} cannot be found. The index has "
        f"{show_size(size)}."
    )


def _entities(tables: Sequence[MentionTable]) -> set[str]:
    return set().union(*(table.entities for table in tables))
