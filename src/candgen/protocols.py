"""What a generator is, what it may learn from, and a method: the way one is built.

Whatever compares, tunes or measures generators knows them by this alone, so that a method that is
added later appears in every table.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query

Ranks = npt.NDArray[np.int64]
"""Of each query, the place of its gold among its candidates, from 1; 0 where it is not there."""

Parameters = Mapping[str, Any]

Progress = Callable[[str, float], None]
"""Called with what is being done and the fraction of it that is done, from 0 to 1."""


def no_progress(_doing: str, _fraction: float) -> None:
    """Show no progress."""


class Generator(Protocol):
    """Whatever turns mentions into candidates, best first.

    It may have more: ``knows(entities)`` says which can be candidates at all, ``names(entity)``
    gives its mentions, ``explain(mention, entity)`` says why, and ``contents()`` gives what is
    stored, so that it can be stored inside another.
    """

    def candidates(
        self, mentions: Sequence[str], k: int = 30
    ) -> Sequence[Sequence[tuple[str, float]]]:
        """The k best entities for each mention, with their scores."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the generator to a folder that ``candgen.load`` opens."""


@dataclass(frozen=True)
class Training:
    """All that a method may learn from. Test queries are no part of it.

    Without a target this is the zero-shot setting, without pivots the high-resource setting.
    ``english`` gives names to methods that compare with them; ``dev`` is for those that must know
    when to stop; ``progress`` is told what those do that take long.
    """

    pivots: Mapping[str, MentionTable] = field(default_factory=dict)
    target: MentionTable | None = None
    language: str | None = None
    english: MentionTable | None = None
    dev: Sequence[Query] = ()
    progress: Progress = field(default=no_progress, compare=False, repr=False)


class Size(NamedTuple):
    """How many numbers a generator keeps, and the share of them that a threshold removed."""

    parameters: int
    removed: float = 0.0


MIN_POINTS_PER_TENTH = 0.03
"""Points of recall that a pivot must bring for each tenth of the index's postings it takes."""


class Step(NamedTuple):
    """What a search had chosen at some point, and the ranks of the golds under it."""

    parameters: dict[str, Any]
    ranks: Ranks


class Contribution(NamedTuple):
    """What one pivot brings, beside all others that are kept, and what it takes.

    ``loss`` and ``mrr_loss`` are what recall@k, in points, and MRR lose without it, ``entries`` are
    the postings that go with it, a ``share`` of all, from 0 to 1. A pivot that was not kept
    is told as it was when it went.
    """

    pivot: str
    alpha: float
    recall_without: float
    loss: float
    mrr_loss: float
    entries: int
    share: float
    kept: bool


@dataclass(frozen=True, eq=False)
class Searched:
    """How a search went: every step it took, the last one its choice, and what pivots bring.

    ``queries`` are those that it looked at, which may be fewer than it was given, ``tried`` is the
    number of choices, and ``k`` that of the recalls in ``pivots``.
    """

    steps: tuple[Step, ...]
    pivots: tuple[Contribution, ...]
    queries: tuple[Query, ...]
    tried: int
    k: int


class Search(Protocol):
    """Chooses the weights of several pivots on dev, quicker than by trying every combination."""

    def __call__(
        self,
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
        """What was found; None if these fixed parameters are beyond it."""


@dataclass(frozen=True)
class Method:
    """A way to build generators: ``method(training, parameters)``.

    ``grid`` has the values of what is chosen on dev; those in ``joint`` weigh the pivots against
    the target, and are tried only if there are both. ``options`` are further parameters.
    ``ranks`` may find the ranks of all choices at once, quicker than by building each generator;
    it is given (training, parameters of each choice, queries, k). ``search`` may choose alpha, one
    for each of several pivots, and lam, where no alphas are given. ``neural`` methods take long;
    their generators may have a ``budget``: see ``paper.training_budget``. They learn from the
    training's dev queries, and so do those whose ``dev`` is set.
    """

    build: Callable[[Training, Parameters], Generator]
    size: Callable[[Any], Size]
    grid: Mapping[str, Sequence[float]] = field(default_factory=dict)
    joint: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    ranks: (
        Callable[[Training, Sequence[Parameters], Sequence[Query], int], Sequence[Ranks]] | None
    ) = None
    search: Search | None = None
    neural: bool = False
    dev: bool = False

    def __call__(self, training: Training, parameters: Parameters) -> Generator:
        """Build a generator."""
        self.check(parameters)
        return self.build(training, parameters)

    def check(self, parameters: Iterable[str]) -> None:
        """Refuse names that are no parameters of this method."""
        if unknown := sorted(set(parameters) - set(self.grid) - self.options):
            known = ", ".join([*self.grid, *sorted(self.options)])
            raise ParameterError(f"{unknown[0]!r} is no parameter of this method: use {known}")

    def choices(
        self, training: Training, grid: Mapping[str, Sequence[float]] | None = None
    ) -> list[dict[str, float]]:
        """Every combination of the values in the grid, the first parameter changing slowest."""
        self.check(grid or {})
        both = training.target is not None and bool(training.pivots)
        values = {name: some for name, some in self.grid.items() if both or name not in self.joint}
        values.update(grid or {})
        return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def rank_golds(generator: Generator, queries: Sequence[Query], k: int) -> Ranks:
    """The place of each query's gold among its first k candidates, or 0."""
    found = generator.candidates([query.mention for query in queries], k)
    return np.array(
        [gold_rank(query.entity, some) for query, some in zip(queries, found, strict=True)],
        np.int64,
    )


def gold_rank(gold: str, candidates: Sequence[tuple[str, float]]) -> int:
    """Where an entity stands among candidates, from 1; 0 if it does not.

    >>> gold_rank("Q282", [("Q1741", 2.7), ("Q282", 2.5)]), gold_rank("Q584", [("Q1741", 2.7)])
    (2, 0)
    """
    return next((at for at, (entity, _) in enumerate(candidates, start=1) if entity == gold), 0)
