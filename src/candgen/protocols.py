"""Generators, their optional abilities, training data, and methods, which build generators.

Everything that compares, tunes or measures generators knows them by these protocols alone, so that
a method that is added later appears in every table.

An ability is a method that the class of the generator defines. Do not define one as a property that
may return None, and do not answer it in ``__getattr__``: from Python 3.12 on, ``isinstance`` looks
protocols up without calling either, so the result would depend on the version of Python.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError
from candgen.storage.index_folder import Contents
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.tables.source_mentions import SourceMention

Ranks = npt.NDArray[np.int64]
"""For each query, the rank of its gold among its candidates, from 1; 0 if it is not there."""

Parameters = Mapping[str, Any]

Progress = Callable[[str, float], None]
"""Called with the name of the current step and the fraction of it that is done, from 0 to 1."""


def no_progress(_doing: str, _fraction: float) -> None:
    """Show no progress."""


@runtime_checkable
class Generator(Protocol):
    """Turns mentions into candidates, best first.

    A generator may have further abilities, each a protocol of its own: ``Explains``, ``Names``,
    ``Covers``, ``Probabilities``, ``Summarizes``, ``Storable``, ``Nests`` and ``Staged``.
    ``isinstance(generator, Explains)`` tells whether it has one. `check_generator` checks them.
    """

    def candidates(
        self, mentions: Sequence[str], k: int = 30
    ) -> Sequence[Sequence[tuple[str, float]]]:
        """Return the k best entities for each mention, with their scores."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the generator to a folder that ``candgen.load`` opens."""


@runtime_checkable
class Explains(Protocol):
    """Can explain the score of a candidate."""

    def explain(self, mention: str, entity: str) -> Any:  # noqa: ANN401 (each has its own form)
        """Return what the score of an entity for a mention is made of.

        Explanations differ; all have the candidate's ``score`` and a method ``as_json``.
        """


@runtime_checkable
class ScoreBreakdown(Protocol):
    """Can break down the scores of several candidates, faster than ``explain``."""

    def shares(
        self, mention: str, entities: Sequence[str], *, lam: float | None = None
    ) -> Sequence[Any]:
        """Return prior, posterior and languages of each entity's score."""


@runtime_checkable
class Names(Protocol):
    """Knows the names of its entities."""

    def names(self, entity: str) -> Sequence[SourceMention]:
        """Return the mentions of an entity, the most frequent first."""


@runtime_checkable
class Covers(Protocol):
    """Knows its candidate space."""

    def knows(self, entities: Sequence[str]) -> Sequence[bool]:
        """Return, for each entity, whether it can be a candidate at all."""


@runtime_checkable
class Probabilities(Protocol):
    """Turns its scores into probabilities."""

    def probabilities(
        self, mention: str, candidates: Sequence[tuple[str, float]]
    ) -> Sequence[float]:
        """Return how likely each candidate of a mention is the right one, in their order."""


class Summary(NamedTuple):
    """What an index is and how large it is; None where it has no such number."""

    method: str
    language: str | None
    pivots: tuple[str, ...]
    entities: int | None
    tokens: int | None = None
    postings: int | None = None

    def __str__(self) -> str:
        numbers = {"entities": self.entities, "postings": self.postings}
        facts = [
            f"language={self.language}",
            f"pivots={'+'.join(self.pivots) or None}",
            *(f"{number:,} {what}" for what, number in numbers.items() if number is not None),
        ]
        return f"<{self.method}: {', '.join(facts)}>"


@runtime_checkable
class Summarizes(Protocol):
    """Can summarize itself in one line."""

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes."""


@runtime_checkable
class Storable(Protocol):
    """Can be stored inside another generator."""

    def contents(self) -> Contents:
        """Return what `save` writes."""


@runtime_checkable
class Nests(Protocol):
    """Is made of other generators."""

    @property
    def nested(self) -> Sequence[Any]:
        """The generators that it asks, in order."""


@runtime_checkable
class Staged(Protocol):
    """Reorders the candidates of another generator."""

    @property
    def first_stage(self) -> Any:  # noqa: ANN401 (any generator)
        """The generator whose candidates it reorders."""


@runtime_checkable
class TokenIndexed(Protocol):
    """Searches one token index."""

    @property
    def token_index(self) -> Any:  # noqa: ANN401 (a TokenIndex, of a package above this module)
        """The token index, which also lists all entities."""


class Index(Generator, Names, Covers, Probabilities, Summarizes, Storable, Protocol):
    """What ``candgen.load`` returns; some are ``Explains``, ``Staged`` or ``Nests`` as well."""

    def validate(self) -> None:
        """Raise ValueError unless everything that was stored is valid."""


def is_generator(value: object) -> TypeGuard[Generator]:
    """Return whether a value can be asked for candidates; a class cannot, only its instances.

    A generator that is never saved need not have ``save``.
    """
    return not isinstance(value, type) and callable(getattr(value, "candidates", None))


def covers(generator: object) -> TypeGuard[Covers]:
    """Return whether a generator, and every one nested in it, knows its candidate space."""
    nested = generator.nested if isinstance(generator, Nests) else ()
    return isinstance(generator, Covers) and all(map(covers, nested))


def entity_ids_of(generator: object) -> Any:  # noqa: ANN401 (a StringTable)
    """Return all entities of a generator, or of its first stage; None if it cannot list them."""
    first = first_stage_of(generator)
    return first.token_index.entities if isinstance(first, TokenIndexed) else None


def first_stage_of(generator: Any) -> Any:  # noqa: ANN401 (any generator)
    """Return the generator that finds the candidates, behind all stages that reorder them."""
    while isinstance(generator, Staged):
        generator = generator.first_stage
    return generator


def budget_of(generator: object) -> Mapping[str, int]:
    """Return the training budget of a neural generator; an empty mapping for any other."""
    return getattr(generator, "budget", None) or {}


@dataclass(frozen=True)
class Training:
    """All that a method may learn from; test queries are not part of it.

    Without a target this is the zero-shot setting, without pivots the high-resource setting.
    ``english`` has the names for methods that compare mentions with them, ``dev`` the held-out
    queries for methods that learn weights or when to stop. ``progress`` is called by slow methods.
    ``names`` are names of the target without entities: they teach how its words look.
    ``sitelinks`` tells how many sitelinks entities have: how well known they are.
    """

    pivots: Mapping[str, MentionTable] = field(default_factory=dict)
    target: MentionTable | None = None
    language: str | None = None
    english: MentionTable | None = None
    dev: Sequence[Query] = ()
    progress: Progress = field(default=no_progress, compare=False, repr=False)
    names: Sequence[str] = ()
    sitelinks: Mapping[str, int] = field(default_factory=dict)


class Size(NamedTuple):
    """How many numbers a generator keeps, and the fraction that a threshold removed."""

    parameters: int
    removed: float = 0.0


class Step(NamedTuple):
    """The choice of a search at one step, and the ranks of the golds under it."""

    parameters: dict[str, Any]
    ranks: Ranks


class Contribution(NamedTuple):
    """What one pivot adds to the others that are kept, and what it costs.

    ``loss`` and ``mrr_loss`` are what recall@k, in points, and MRR lose without it. ``entries`` are
    the postings that only it has, a ``share`` of all, from 0 to 1. For a pivot that was removed,
    the numbers are those of the moment before.
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
class SearchResult:
    """The result of a search: all steps, the last one the choice, and what each pivot adds.

    ``queries`` are those it used, which may be fewer than it was given, ``tried`` is the number of
    choices it evaluated, and ``k`` that of the recalls in ``pivots``.
    """

    steps: tuple[Step, ...]
    pivots: tuple[Contribution, ...]
    queries: tuple[Query, ...]
    tried: int
    k: int


class Search(Protocol):
    """Chooses the weights of several pivots on dev, faster than by trying every combination."""

    def __call__(
        self,
        training: Training,
        fixed: Parameters,
        queries: Sequence[Query],
        k: int,
        /,
        *,
        lams: Sequence[float] | None = None,
        worth: float = 0.0,
        exhaustive: bool = False,
        progress: Progress | None = None,
    ) -> SearchResult | None:
        """Return the result; None if the search does not support these fixed parameters."""


@dataclass(frozen=True)
class Method:
    """A way to build generators: ``method(training, parameters)``.

    ``grid`` has the values of the hyperparameters that are chosen on dev; those in ``joint`` weight
    the pivots against the target, and are tried only if there are both. ``options`` are further
    parameters. ``ranks`` may compute the ranks of all choices at once, faster than by building each
    generator; its arguments are training, parameters of each choice, queries and k. ``search`` may
    choose one alpha for each pivot, and lam, where no alphas are given and there are at least
    ``least_pivots``. ``neural`` methods are slow; their generators may have a ``budget``: see
    ``paper.training_budget``. They learn from the training's dev queries, and so do methods whose
    ``dev`` is set. They need English names; methods whose ``english`` is set use them if there are
    any.
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
    least_pivots: int = 2
    neural: bool = False
    dev: bool = False
    english: bool = False

    def __call__(self, training: Training, parameters: Parameters) -> Generator:
        """Build a generator."""
        self.check(parameters)
        return self.build(training, parameters)

    def check(self, parameters: Iterable[str]) -> None:
        """Raise ParameterError if a name is not a parameter of this method."""
        if unknown := sorted(set(parameters) - set(self.grid) - self.options):
            known = ", ".join([*self.grid, *sorted(self.options)])
            raise ParameterError(f"{unknown[0]!r} is not a parameter of this method: use {known}")

    def choices(
        self, training: Training, grid: Mapping[str, Sequence[float]] | None = None
    ) -> list[dict[str, float]]:
        """Return all combinations of values of the grid, the first parameter changing slowest."""
        self.check(grid or {})
        both = training.target is not None and bool(training.pivots)
        values = {name: some for name, some in self.grid.items() if both or name not in self.joint}
        values.update(grid or {})
        return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def rank_golds(generator: Generator, queries: Sequence[Query], k: int) -> Ranks:
    """Return the rank of each query's gold among its first k candidates, or 0."""
    return gold_ranks(queries, generator.candidates([query.mention for query in queries], k))


def gold_ranks(queries: Sequence[Query], answers: Sequence[Sequence[tuple[str, float]]]) -> Ranks:
    """Return the rank of each query's gold in its answer; 0 if it is not there."""
    pairs = zip(queries, answers, strict=True)
    return np.array([gold_rank(query.entity, answer) for query, answer in pairs], np.int64)


def gold_rank(gold: str, candidates: Sequence[tuple[str, float]]) -> int:
    """Return the rank of an entity among candidates, from 1; 0 if it is not there.

    >>> gold_rank("Q282", [("Q1741", 2.7), ("Q282", 2.5)]), gold_rank("Q584", [("Q1741", 2.7)])
    (2, 0)
    """
    return next((at for at, (entity, _) in enumerate(candidates, start=1) if entity == gold), 0)
