"""The measured results of mentions.py: one JSON file for each case, setting and seed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from folders import RESULTS
from recall_results import read_json, write_json

from candgen.evaluation.metrics import Comparison, compare, recall

FOLDER = RESULTS / "mentions"
FIRST, BOTH = "first stage", "both stages"
BASELINES = {"TF-IDF, latin": "latin", "TF-IDF, default": "default"}
"""The baseline with each of its normalizers."""
KS = (1, 10, 30)


class Place(NamedTuple):
    """What a result is of: the case and how its queries were drawn."""

    kind: str
    language: str
    setting: str
    seed: int

    @property
    def name(self) -> str:
        """The case in the tables."""
        return f"{self.kind} {self.language}"

    def path(self, what: str) -> Path:
        """Return the file of something about the case."""
        return FOLDER / f"{self.kind}.{self.language}.{self.setting}.{self.seed}.{what}.json"


@dataclass(frozen=True)
class Outcome:
    """What the answer to one query of a mix was worth: see ``mentions_methods.match``."""

    known: bool
    matched: bool
    right: bool


@dataclass(frozen=True)
class Result:
    """The answers of all methods to the queries of a case.

    ``ranks`` has the rank of each gold by method, 0 where it was not found; ranks beyond 30 count
    as not found. ``unlike`` says which queries have no exact match. ``subsets`` are further flags.
    ``first`` and ``probability`` are the first candidate of both stages; None without candidates.
    ``pivots`` are the tables that all methods were given.
    """

    place: Place
    digest: str
    source: str
    queries: list[tuple[str, str, str | None]]
    subsets: dict[str, list[bool]]
    unlike: list[bool]
    ranks: dict[str, list[int]]
    first: list[str | None]
    probability: list[float | None]
    mix: list[Outcome]
    pivots: list[str]
    seconds: dict[str, float]
    reasons: list[str] = field(default_factory=list)

    def write(self) -> None:
        """Write the file of this result."""
        write_json(self.place.path("result"), asdict(self) | {"place": list(self.place)})

    @classmethod
    def read(cls, path: Path) -> "Result | None":
        """Return a stored result, or None if there is none."""
        if (found := read_json(path)) is None:
            return None
        found["place"] = Place(*found["place"])
        found["queries"] = [(mention, entity, kind) for mention, entity, kind in found["queries"]]
        found["mix"] = [Outcome(**each) for each in found["mix"]]
        return cls(**found)


@dataclass(frozen=True)
class Ablation:
    """The ranks of both stages with all features, and with each feature left out."""

    place: Place
    digest: str
    source: str
    ranks: dict[str, list[int]]
    learned: int

    def write(self) -> None:
        """Write the file of this ablation, with what is stored about the same queries."""
        known = Ablation.read(self.place.path("without"))
        ranks = dict(self.ranks)
        if known is not None and (known.digest, known.source) == (self.digest, self.source):
            ranks = {**known.ranks, **ranks}
        write_json(
            self.place.path("without"), asdict(self) | {"place": list(self.place), "ranks": ranks}
        )

    @classmethod
    def read(cls, path: Path) -> "Ablation | None":
        """Return a stored ablation, or None if there is none."""
        if (found := read_json(path)) is None:
            return None
        return cls(**found | {"place": Place(*found["place"])})


@dataclass(frozen=True)
class Pooled:
    """The results of one case and setting with several seeds, and a selection of their queries.

    A query that several seeds drew counts once, with the answers of the first of these seeds: so
    the queries are independent, as the intervals assume.
    """

    name: str
    setting: str
    results: tuple[Result, ...]
    subset: str = "all"
    only_unlike: bool = False

    @property
    def subsets(self) -> list[str]:
        """The names of the subsets of queries, all of them first."""
        return ["all", *self.results[0].subsets]

    @property
    def methods(self) -> list[str]:
        """The methods that all seeds were measured with."""
        return [
            name
            for name in self.results[0].ranks
            if all(name in result.ranks for result in self.results)
        ]

    def chosen(self) -> Iterator[tuple[Result, int]]:
        """Yield the result and the number of each selected query."""
        seen = set[tuple[str, str]]()
        for result in self.results:
            flags = result.subsets.get(self.subset)
            for number, (mention, entity, _) in enumerate(result.queries):
                wanted = flags is None or flags[number]
                if wanted and (mention, entity) not in seen:
                    seen.add((mention, entity))
                    if result.unlike[number] or not self.only_unlike:
                        yield result, number

    def ranks(self, method: str) -> npt.NDArray[np.int64]:
        """Return the ranks of the selected queries by a method."""
        return np.array([result.ranks[method][at] for result, at in self.chosen()], np.int64)

    @property
    def baseline(self) -> str | None:
        """The normalizer with which the baseline is better on all queries of the case."""
        names = [name for name in self.methods if name in BASELINES]
        every = Pooled(self.name, self.setting, self.results)
        return max(
            names, key=lambda name: sum(recall(every.ranks(name), k) for k in KS), default=None
        )

    def gain(self, method: str, over: str, k: int) -> Comparison:
        """Compare two methods on the selected queries."""
        return compare(self.ranks(method), self.ranks(over), k)

    def gain_over(self, other: "Pooled", method: str, k: int) -> Comparison:
        """Compare a method with itself in another setting, on the same queries."""
        return compare(self.ranks(method), other.ranks(method), k)


def pool(places: Iterable[Place]) -> list[Pooled]:
    """Return what is stored about the places, with all seeds of a case in one."""
    ordered = sorted(places, key=lambda place: place[:3])
    made = []
    for _, group in groupby(ordered, key=lambda place: place[:3]):
        results = read_results(sorted(group, key=lambda place: place.seed))
        if results:
            made.append(Pooled(results[0].place.name, results[0].place.setting, tuple(results)))
    return made


def read_results(places: Sequence[Place]) -> list[Result]:
    """Return the stored results of places."""
    found = (Result.read(place.path("result")) for place in places)
    return [result for result in found if result is not None]


def stored_places() -> list[Place]:
    """Return the places of all stored results."""
    results = (Result.read(path) for path in sorted(FOLDER.glob("*.result.json")))
    return [result.place for result in results if result is not None]
