"""Choose one alpha for each pivot on dev, and remove pivots that are not worth their postings.

All combinations of five values for eight pivots would be too many, so one alpha is changed at a
time, until no change improves the result. No index is built: golds are ranked among their rivals,
which are found once.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError
from candgen.generators.candidate import check_weight
from candgen.generators.inputs import TARGET
from candgen.generators.pivot.parameters import Choice, prepare_ranks, tables_of
from candgen.index.entity_names import EntityNames
from candgen.index.gold_ranks import GoldRanks, Weights
from candgen.index.rivals import Rivals
from candgen.protocols import (
    Contribution,
    Parameters,
    Progress,
    Ranks,
    SearchResult,
    Step,
    Training,
)
from candgen.tables.queries import Query

LAMS = (0.2, 0.4, 1.0)
ALPHAS = (0.03, 0.1, 0.4, 1.0, 3.0)
"""Values for a pivot beside a target."""

RATIOS = (0.03, 0.1, 0.3, 1.0)
"""Values for a pivot without a target: only ratios matter, and 1 is the largest."""

ROUNDS = 3
STANDARD_ERRORS = 2.0
"""Of a difference, by which it must be above 0 if a margin is asked for."""
MAX_QUERIES = 2000
MANY_ENTITIES = 1_000_000
"""With more entities than these, half as many queries are used: they take as long."""
MAX_SEARCHES = 10
"""How often a search is repeated with more rivals."""
MIN_RIVALS = 100
ANCHORS = (0.1, 1.0)
"""Alphas under which the rivals of golds are found, the same for all pivots."""


class Merit(NamedTuple):
    """How good weights are: recall@k in percent, and the mean reciprocal rank."""

    recall: float
    mrr: float

    @classmethod
    def of(cls, ranks: Ranks) -> "Merit":
        """Return the merit of the ranks of golds, none of which is beyond k."""
        inverse = np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0)
        return cls(100 * int(np.count_nonzero(ranks)) / len(ranks), float(inverse.mean()))


def search_weights(
    training: Training,
    fixed: Parameters,
    queries: Sequence[Query],
    k: int,
    *,
    lams: Sequence[float] | None = None,
    worth: float = 0.0,
    mrr: float = 1.0,
    margin: float = 0.0,
    exhaustive: bool = False,
    progress: Progress | None = None,
) -> SearchResult:
    """Choose alpha of each pivot, and lam, by recall@k on queries plus ``mrr`` times 100 MRR.

    It starts with the best alpha that is the same for all pivots. Then one pivot after the other
    gets its best value, in up to three rounds. With a ``margin``, it starts with alpha 1 for all
    and the first of ``lams``, and a change must improve the objective by at least so many points,
    and by two standard errors: smaller improvements may be chance. With ``worth``, pivots are then
    removed (alpha 0), the least useful first, while there is one that adds less than ``worth`` of
    these points for each tenth of the index's postings that only it has. ``fixed`` are the other
    parameters. Of more than 2,000 queries, 2,000 are used, each type in proportion; 1,000 if there
    are more than a million entities.

    Golds are ranked among their rivals, see ``candgen.index.rivals``, or with ``exhaustive`` among
    all entities. The ranks of the last step are exact.

    >>> from candgen import MentionTable
    >>> icelandic = MentionTable.from_pairs([("Vín", "Q282"), ("Rín", "Q584")])
    >>> noise = MentionTable.from_pairs([(f"Vín {n}", f"Q{n}") for n in range(9)])
    >>> found = search_weights(
    ...     Training({"is": icelandic, "xx": noise}), {}, [Query("Vínið", "Q282")], k=1, worth=0.03)
    >>> found.steps[-1].parameters["alpha"], [each.kept for each in found.pivots]
    ({'is': 1.0, 'xx': 0.0}, [True, False])
    """
    if not training.pivots:
        raise ParameterError("there are no pivots, and so no alphas to search: give pivots")
    if not queries:
        raise ParameterError("there are no queries to choose weights by: give dev queries")
    lams = LAMS if lams is None else lams
    if not lams:
        raise ParameterError("lam has no values to choose from: give at least one")
    worth = check_weight("worth", worth)
    choice = Choice.of(training, {**fixed, "alpha": 1.0})
    if not choice.is_plain:
        raise ParameterError(
            "alphas cannot be searched with a threshold or with fusion='probabilities': "
            "leave these out, or try a grid of alphas"
        )
    shown = training.progress if progress is None else progress
    dev = _Dev.of(training, choice, queries, k, [check_weight("lam", lam) for lam in lams], shown)
    goals = _Goals(worth, check_weight("mrr", mrr), check_weight("margin", margin))
    if exhaustive or len(dev.golds.names.entities) <= dev.rivals_depth:
        found = _Search(dev, goals).run()
        dev.progress("chosen on dev", 1.0)
        return found
    return _search_among_rivals(replace(dev, rivals=dev.find_rivals()), goals)


def _search_among_rivals(dev: "_Dev", goals: "_Goals") -> SearchResult:
    """Search until the ranks of the choice are exact, each time with the rivals that it has.

    Ranks among rivals are never worse than the true ones: if those of the choice are exact, none
    that it was compared with is truly better.
    """
    for number in range(MAX_SEARCHES):
        search = _Search(dev, goals)
        found = search.run()
        dev.progress(f"checking choice {number + 1} on all entities", 0.0)
        dev = dev.with_rivals_of(search.now)
        ranks = dev.ranks(search.now)
        if np.array_equal(ranks, found.steps[-1].ranks):
            break
    dev.progress("chosen on dev", 1.0)
    return replace(found, steps=(*found.steps[:-1], found.steps[-1]._replace(ranks=ranks)))


def take_stratified(queries: Sequence[Query], most: int) -> list[Query]:
    """Return at most ``most`` queries, in their order, each type in proportion, evenly spaced.

    >>> kinds = "easy", "easy", "hard", "easy", "easy", "hard"
    >>> [query.mention for query in take_stratified([Query(f"{n}", "Q1", kind)
    ...     for n, kind in enumerate(kinds)], 3)]
    ['0', '2', '3']
    """
    if len(queries) <= most:
        return list(queries)
    by_type = sorted(range(len(queries)), key=lambda number: queries[number].type or "")
    chosen = [by_type[at * len(queries) // most] for at in range(most)]
    return [queries[number] for number in sorted(chosen)]


@dataclass(frozen=True)
class _Dev:
    """The queries, what ranks their golds, and the ranks that are already known."""

    golds: GoldRanks
    rivals: Rivals | None
    queries: tuple[Query, ...]
    k: int
    pivots: tuple[str, ...]
    target: str | None
    lams: Sequence[float]
    progress: Progress
    known: dict[tuple[tuple[float, ...], float], Ranks] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        training: Training,
        choice: Choice,
        queries: Sequence[Query],
        k: int,
        lams: Sequence[float],
        progress: Progress,
    ) -> "_Dev":
        names = EntityNames.of(tables_of(training, choice))
        most = MAX_QUERIES if len(names.entities) <= MANY_ENTITIES else MAX_QUERIES // 2
        some = tuple(take_stratified(queries, most))
        golds = prepare_ranks(training, choice, some, names=names, progress=progress)
        target = None if training.target is None else training.language or TARGET
        pivots = tuple(sorted(training.pivots))
        return cls(golds, None, some, k, pivots, target, lams, progress)

    def find_rivals(self) -> Rivals:
        """Find the rivals of the golds under weights that differ widely.

        Alphas that are the same for all favour the largest pivot; those that give all languages
        the same number of tokens favour the smallest.
        """
        self.progress("finding the rivals of golds", 0.0)
        sizes = self.golds.entity_total.sum(axis=1)
        size_of = dict(zip(self.golds.names.tables, sizes.tolist(), strict=True))
        least = min(filter(None, size_of.values()))
        balanced = {pivot: least / max(size_of[pivot], 1) for pivot in self.pivots}
        alphas = [*(dict.fromkeys(self.pivots, alpha) for alpha in ANCHORS), balanced]
        lams = dict.fromkeys((min(self.lams), max(self.lams)))
        anchors = [self._with_target(Weights(alpha, lam)) for alpha in alphas for lam in lams]
        return Rivals.of(self.golds, anchors, self.rivals_depth)

    @property
    def rivals_depth(self) -> int:
        """How many rivals a gold has under one choice of weights."""
        return max(MIN_RIVALS, 2 * self.k)

    def _with_target(self, weights: Weights) -> Weights:
        own = {} if self.target is None else {self.target: 1.0}
        return Weights({**weights.alpha, **own}, weights.lam)

    def look(self, alphas: Iterable[Mapping[str, float]]) -> list[Weights]:
        """Rank the golds with these alphas and every lam, all that are not known in one pass."""
        every = [Weights(alpha, lam) for alpha in alphas for lam in self.lams]
        new = [weights for weights in every if self._key(weights) not in self.known]
        if new:
            complete = [self._with_target(weights) for weights in new]
            ranks = (self.rivals or self.golds).ranks(complete, self.k)
            self.known.update(zip(map(self._key, new), ranks, strict=True))
        return every

    def ranks(self, weights: Weights) -> Ranks:
        """Return the ranks of the golds with weights that were looked at."""
        return self.known[self._key(weights)]

    def merit(self, weights: Weights) -> Merit:
        """Return how good weights are that were looked at."""
        return Merit.of(self.ranks(weights))

    def with_rivals_of(self, weights: Weights) -> "_Dev":
        """Return the same with all rivals under some weights, whose ranks are exact then."""
        assert self.rivals is not None  # noqa: S101
        rivals = self.rivals.extend([self._with_target(weights)])
        dev = replace(self, rivals=rivals, known={})
        dev.look([weights.alpha])
        return dev

    def _key(self, weights: Weights) -> tuple[tuple[float, ...], float]:
        return tuple(weights.alpha[pivot] for pivot in self.pivots), weights.lam


class _Goals(NamedTuple):
    """What a search looks for: see ``search_weights``."""

    worth: float
    mrr: float
    margin: float


@dataclass
class _Search:
    """The state of a search, from equal alphas to the choice."""

    dev: _Dev
    goals: _Goals
    steps: list[Weights] = field(default_factory=list)
    gone: dict[str, Contribution] = field(default_factory=dict)

    def run(self) -> SearchResult:
        """Climb, remove pivots, and climb again without them."""
        self.dev.progress("trying the same alpha for all on dev", 0.0)
        equal = [dict.fromkeys(self.dev.pivots, value) for value in self._equal]
        looked = self.dev.look(equal)
        if self.goals.margin:
            self.steps.append(Weights(dict.fromkeys(self.dev.pivots, 1.0), self.dev.lams[0]))
            self._improve(looked)
        else:
            self.steps.append(max(looked, key=self._merit))
        self._climb(ROUNDS)
        while self._prune():
            self._climb(1, near=True)
        pivots = self.gone | {each.pivot: each for each in self._contributions()}
        steps = tuple(
            Step({"alpha": dict(each.alpha), "lam": each.lam}, self.dev.ranks(each))
            for each in self.steps
        )
        return SearchResult(
            steps,
            tuple(pivots[pivot] for pivot in self.dev.pivots),
            self.dev.queries,
            len(self.dev.known),
            self.dev.k,
        )

    @property
    def _values(self) -> tuple[float, ...]:
        return RATIOS if self.dev.target is None else ALPHAS

    @property
    def _equal(self) -> tuple[float, ...]:
        """Values that all pivots share; where only ratios matter, one value is enough."""
        return RATIOS[-1:] if self.dev.target is None else ALPHAS

    @property
    def now(self) -> Weights:
        """The choice of the last step."""
        return self.steps[-1]

    @property
    def _kept(self) -> list[str]:
        return [pivot for pivot in self.dev.pivots if self.now.alpha[pivot] > 0]

    def _improve(self, some: Sequence[Weights]) -> None:
        """Choose the best of some, the first of equals, if it is better than the last step."""
        best = max(some, key=self._merit)
        gain = self._merit(best) - self._merit(self.now)
        if gain > 0 and gain >= self._least_gain(best):
            self.steps.append(best)

    def _least_gain(self, weights: Weights) -> float:
        """Return by how much weights must be better than the last step."""
        if not self.goals.margin:
            return 0.0
        one, other = (self._points_of_queries(each) for each in (weights, self.now))
        error = float((one - other).std()) / math.sqrt(len(one))
        return max(self.goals.margin, STANDARD_ERRORS * error)

    def _points_of_queries(self, weights: Weights) -> npt.NDArray[np.float64]:
        """Return what each query adds to the objective, times the number of queries."""
        ranks = self.dev.ranks(weights)
        inverse = np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0)
        return 100.0 * (ranks > 0) + self.goals.mrr * 100.0 * inverse

    def _merit(self, weights: Weights) -> float:
        return self._points(*self.dev.merit(weights))

    def _points(self, recall: float, mrr: float) -> float:
        """Combine recall and MRR: recall alone would sacrifice the order for one more query."""
        return recall + self.goals.mrr * 100 * mrr

    def _climb(self, rounds: int, *, near: bool = False) -> None:
        """Give one pivot after the other its best alpha, until that changes nothing.

        After the first round, or with ``near``, only the values next to what it has are tried.
        """
        for number in range(rounds):
            before = len(self.steps)
            for at, pivot in enumerate(self._kept):
                self.dev.progress(f"trying alphas of {pivot} on dev", at / len(self._kept))
                alpha = self.now.alpha
                place = self._values.index(alpha[pivot])
                close = self._values[max(place - 1, 0) : place + 2]
                values = close if near or number else self._values
                self._improve(self.dev.look({**alpha, pivot: value} for value in values))
            if len(self.steps) == before:
                return

    def _contributions(self) -> list[Contribution]:
        """Return what each pivot brings that is there now."""
        self.dev.progress("trying to do without each pivot on dev", 0.0)
        total, alone = self.dev.golds.count_postings(self.now.alpha)
        rest = {pivot: {**self.now.alpha, pivot: 0.0} for pivot in self._kept}
        self.dev.look(alpha for pivot, alpha in rest.items() if alone[pivot] < total)
        return [
            self._contribution(pivot, alpha, alone[pivot], total) for pivot, alpha in rest.items()
        ]

    def _contribution(
        self, pivot: str, rest: Mapping[str, float], entries: int, total: int
    ) -> Contribution:
        alpha, lam = self.now
        merit, left = self.dev.merit(self.now), Merit(0.0, 0.0)
        if entries < total:
            left = self.dev.merit(Weights(rest, lam))
        return Contribution(
            pivot,
            alpha[pivot],
            left.recall,
            merit.recall - left.recall,
            merit.mrr - left.mrr,
            entries,
            entries / total,
            kept=True,
        )

    def _prune(self) -> bool:
        """Remove, one by one, pivots that are not worth their postings; return whether any was."""
        before = len(self.gone)
        while self.goals.worth:
            poor = [each for each in self._contributions() if self._poor(each)]
            if not poor:
                break
            least = min(poor, key=lambda each: (self._brought(each), -each.entries))
            self.gone[least.pivot] = least._replace(alpha=0.0, kept=False)
            rest = {**self.now.alpha, least.pivot: 0.0}
            self.steps.append(Weights(rest, self.now.lam))
        return len(self.gone) > before

    def _poor(self, pivot: Contribution) -> bool:
        """Return whether a pivot adds too little; never for the only one with postings."""
        return pivot.share < 1 and self._brought(pivot) < self.goals.worth * 10 * pivot.share

    def _brought(self, pivot: Contribution) -> float:
        return self._points(pivot.loss, pivot.mrr_loss)
