"""What an index promises: how often it was right on names that it had not learned from.

The figures are measured before the final index is built, on held-back names alone: names that the
training data has are easy, and say nothing about new ones. They are stored with the index, so that
they reach everybody who receives it.
"""

import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.errors import StorageError
from candgen.generators.calibration import DEPTH, LINKS, Calibration
from candgen.protocols import Generator, Storable, covers, gold_ranks
from candgen.storage import index_folder
from candgen.storage.index_folder import StoredIndex, strip_prefix
from candgen.tables.queries import Query

PREFIX = "promise"
HELD_BACK = "held-back names"
"""The kind of a promise that was measured on names of the target."""
KS = (1, 10, 30)
MAX_LENGTH = 10_000
"""Bytes of a promise that is read; those that are written have a few hundred."""


class Promise(NamedTuple):
    """What was measured on names that nothing was learned from.

    Attributes:
        kind: "held-back names" of the target, or "stand-in da": names of a pivot that played the
            target, which gives an estimate and not a measurement.
        queries: The number of names.
        recall_at_1: The percentage of names whose entity is the first candidate.
        recall_at_10: The percentage of names whose entity is among the first ten.
        recall_at_30: The percentage of names whose entity is among the first thirty.
        mean_probability: The mean probability of the first candidate, in percent, from a
            calibration that these names were not part of. If it is near ``recall_at_1``, which is
            the share of first candidates that are right, probabilities can be trusted.

    >>> Promise("held-back names", 200, 91.5, 97.0, 98.0, 91.0).right
    91.5
    """

    kind: str
    queries: int
    recall_at_1: float
    recall_at_10: float
    recall_at_30: float
    mean_probability: float

    @property
    def right(self) -> float:
        """The percentage of first candidates that are right."""
        return self.recall_at_1

    @property
    def is_estimate(self) -> bool:
        """Whether another language played the target."""
        return self.kind != HELD_BACK

    def as_json(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return {**self._asdict(), "right": self.right}

    def __str__(self) -> str:
        recalls = ", ".join(f"{each:.1f}" for each in self[2:5])
        return (
            f"recall@1, @10, @30 {recalls} on {self.queries:,} names ({self.kind}); mean "
            f"probability of the first candidate {self.mean_probability:.1f}%, right "
            f"{self.right:.1f}%"
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Promise | None":
        """Return the promise that is stored in the folder of an index; None if there is none."""
        return cls.from_stored(index_folder.load(path))

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "Promise | None":
        """Return the promise that is stored with a generator; None if there is none."""
        arrays = strip_prefix(PREFIX, stored.arrays)
        if not arrays:
            return None
        try:
            text = arrays["json"]
            if text.dtype != np.uint8 or text.ndim != 1 or len(text) > MAX_LENGTH:
                raise ValueError(f"an array of {text.dtype}")
            values = json.loads(text.tobytes().decode("utf-8"))
            promise = cls(**{name: values[name] for name in cls._fields})
            promise._check()
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise StorageError(
                f"{stored.path} has an invalid promise of its recall: build it again"
            ) from error
        return promise

    def store(self, path: str | os.PathLike[str]) -> None:
        """Add the promise to the folder of an index."""
        index_folder.amend(path, PREFIX, self.arrays())

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored."""
        text = json.dumps(self._asdict(), sort_keys=True, allow_nan=False)
        return {"json": np.frombuffer(text.encode("utf-8"), np.uint8)}

    def _check(self) -> None:
        """Raise ValueError unless the values are possible."""
        if not isinstance(self.kind, str) or not 0 < len(self.kind) <= 100:
            raise ValueError("kind")
        if type(self.queries) is not int or not 0 < self.queries < 1 << 53:
            raise ValueError("queries")
        for value in self[2:]:
            if type(value) not in (int, float) or not 0.0 <= value <= 100.0:
                raise ValueError("a percentage")
        if not self.recall_at_1 <= self.recall_at_10 <= self.recall_at_30:
            raise ValueError("recalls")


def _hide(
    generator: Generator,
    queries: Sequence[Query],
    answers: Sequence[Sequence[tuple[str, float]]],
    absent: float,
) -> tuple[list[Query], list[list[tuple[str, float]]]]:
    """Take entities out of lists, evenly spaced, until a share of the queries has none."""
    known = generator.knows([query.entity for query in queries]) if covers(generator) else []
    present = [number for number, here in enumerate(known) if here]
    size = min(round(absent * len(queries)) - (len(queries) - len(present)), len(present))
    hidden = {present[at * len(present) // size] for at in range(max(size, 0))}
    asked, found = list(queries), [list(answer) for answer in answers]
    for number in hidden:
        gold = asked[number].entity
        asked[number] = asked[number]._replace(entity="")
        found[number] = [each for each in found[number] if each[0] != gold]
    return asked, found


class Measured(NamedTuple):
    """A promise, and the calibration that was learned from all the names that it is about."""

    promise: Promise
    calibration: Calibration


def measure_promise(
    kind: str,
    generator: Generator,
    queries: Sequence[Query],
    others: Sequence[Query] = (),
    *,
    absent: float = 0.0,
) -> Measured:
    """Measure a generator on queries that it has not learned from, and learn its probabilities.

    The mean probability is one of queries that the calibration has not seen: each half of them is
    judged by what was learned from the other half.

    Args:
        kind: The kind of the promise.
        generator: The generator.
        queries: The held-back queries that were not used for any choice; at least one.
        others: Held-back queries that were used for choices: they teach probabilities too.
        absent: The least share, from 0 to 1, of queries whose entity the generator lacks. If fewer
            are, others have their entity taken out of their lists, as if it lacked that.

    Returns:
        The promise about ``queries``, and a calibration learned from all of both.
    """
    kind_of_index = generator.contents().kind if isinstance(generator, Storable) else ""
    link = LINKS.get(kind_of_index, "log")
    every = [*queries, *others]
    answers = generator.candidates([query.mention for query in every], DEPTH + 1)
    every, shown = _hide(generator, every, answers, absent)
    queries = every[: len(queries)]
    calibration = Calibration.of_answers(link, every, shown)
    size = len(queries)
    total = 0.0
    for odd in (0, 1):
        judged = range(odd, size, 2)
        taught = [number for number in range(len(every)) if number >= size or number % 2 != odd]
        half = Calibration.of_answers(
            link, [every[number] for number in taught], [shown[number] for number in taught]
        )
        for number in judged:
            chances = half.probabilities(every[number].mention, shown[number])
            total += chances[0] if chances else 0.0
    ranks = gold_ranks(queries, shown[:size])
    first, ten, thirty = (
        100 * int(np.count_nonzero((ranks > 0) & (ranks <= k))) / size for k in KS
    )
    promise = Promise(kind, size, first, ten, thirty, min(100 * total / size, 100.0))
    return Measured(promise, calibration)
