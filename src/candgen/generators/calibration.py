"""From scores to probabilities: how likely each candidate of a list is the right one.

Scores order the candidates of one mention; they do not tell how good the first of them is. A
probability does, and can be compared between mentions. It is a softmax over the candidates and one
more outcome, that none of them is right:

    u(e)    = slope * strength of e's score
    u(none) = none + length * log(1 + number of characters of the mention)
    P(e)    = exp u(e) / (exp u(none) + sum over the first 30 candidates of exp u)

The strength is the logarithm of a score; for an index with two stages it is the value from which
the second stage computed the score. The three weights are those under which dev queries are
likeliest. Without dev queries they are fixed: P(e) still grows with the score and with the distance
to the others.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.errors import StorageError
from candgen.generators import conditional_logit
from candgen.storage import index_folder
from candgen.storage.index_folder import StoredIndex, strip_prefix
from candgen.tables.queries import Query

DEPTH = 30
"""How many candidates the softmax sums over; the probabilities of later ones are not summed."""
PREFIX = "calibration"
MAX_WEIGHT = 1e6
"""Far beyond any weight that is learned, and small enough that no probability overflows."""

Link = Literal["log", "value"]
LINKS: Mapping[str, Link] = {"rerank": "value"}
"""What the strength of a score is, by the kind of generator; the logarithm for all others."""


class Weights(NamedTuple):
    """The weight of strengths, and the weights of the outcome that no candidate is right."""

    slope: float
    none: float
    length: float


FIXED: Mapping[Link, Weights] = {
    "log": Weights(slope=3.9, none=-3.0, length=1.9),
    "value": Weights(slope=0.85, none=12.0, length=-2.3),
}
"""Used without dev queries. Rounded from what was learned for several languages."""


@dataclass(frozen=True)
class Calibration:
    """Turns scores into probabilities; ``queries`` is how many dev queries it was learned from."""

    link: Link
    weights: Weights
    queries: int = 0

    @classmethod
    def default(cls, kind: str) -> "Calibration":
        """Return the fixed calibration of a kind of generator, for where nothing was learned."""
        link = LINKS.get(kind, "log")
        return cls(link, FIXED[link])

    @classmethod
    def learn(cls, generator: Any, dev: Sequence[Query]) -> "Calibration":  # noqa: ANN401
        """Learn from the candidates of dev queries that the generator has not learned from."""
        link = LINKS.get(generator.contents().kind, "log")
        answers = generator.candidates([query.mention for query in dev], DEPTH)
        rows: list[tuple[float, float, float]] = []
        starts, gold = [0], []
        for query, candidates in zip(dev, answers, strict=True):
            entities = [entity for entity, _ in candidates]
            strengths = _strengths(link, [score for _, score in candidates])
            # A candidate without a strength has probability 0, as if it had not been found.
            known = strengths > -math.inf
            rows += [(strength, 0.0, 0.0) for strength in strengths[known].tolist()]
            found = query.entity in entities[: int(known.sum())]
            gold.append(starts[-1] + entities.index(query.entity) if found else len(rows))
            rows.append((0.0, 1.0, _length(query.mention)))
            starts.append(len(rows))
        learned = conditional_logit.learn(
            np.array(rows, np.float64).reshape(-1, 3),
            np.array(starts, np.int64),
            np.array(gold, np.int64),
            np.array(FIXED[link]),
        )
        weights = Weights(*learned.tolist())
        if not weights.slope > 0.0:  # the order of a list must stay
            weights = FIXED[link]
        return cls(link, weights, len(dev))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Calibration":
        """Return what is stored in the folder of an index; the fixed one if nothing is."""
        return cls.from_stored(index_folder.load(path))

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "Calibration":
        """Return what is stored with a generator; the fixed one for its kind if nothing is."""
        arrays = strip_prefix(PREFIX, stored.arrays)
        if not arrays:
            return cls.default(stored.kind)
        try:
            weights = Weights(*arrays["weights"].tolist())
            queries = int(arrays["queries"][0])
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise StorageError(
                f"{stored.path} has a calibration that this version of candgen cannot read: "
                "tune the index again"
            ) from error
        if not (all(abs(each) < MAX_WEIGHT for each in weights) and weights.slope > 0 <= queries):
            raise StorageError(f"{stored.path} has an invalid calibration: tune the index again")
        return cls(LINKS.get(stored.kind, "log"), weights, queries)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored."""
        return {"weights": np.array(self.weights), "queries": np.array([self.queries])}

    def store(self, path: str | os.PathLike[str]) -> None:
        """Add the calibration to the folder of an index."""
        index_folder.amend(path, PREFIX, self.arrays())

    def probabilities(self, mention: str, candidates: Sequence[tuple[str, float]]) -> list[float]:
        """Return how likely each candidate of a mention is the right one, in their order.

        Ask for at least 30 candidates: with a shorter list the probabilities are too high.
        """
        strengths = _strengths(self.link, [score for _, score in candidates])
        utilities = self.weights.slope * strengths
        none = self.weights.none + self.weights.length * _length(mention)
        most = max([none, *utilities[:1].tolist()])
        raised = np.exp(utilities - most)
        total = math.exp(none - most) + float(raised[:DEPTH].sum())
        shares: list[float] = (raised / total).tolist()
        return shares


DEFAULT = Calibration("log", FIXED["log"])
"""The fixed calibration of all kinds of generators but Rerank."""


def _length(mention: str) -> float:
    return math.log1p(len(mention))


def _strengths(link: Link, scores: Sequence[float]) -> npt.NDArray[np.float64]:
    given = np.array(scores, np.float64)
    with np.errstate(divide="ignore"):
        if link == "log":
            return np.log(given)
        # The inverse of score = 1 + (1 + v / (1 + |v|)) / 2; scores up to 1 were not compared.
        inside = np.clip(2.0 * given - 3.0, -1.0, np.nextafter(1.0, 0.0))
        return np.where(inside > -1.0, inside / (1.0 - np.abs(inside)), -math.inf)
