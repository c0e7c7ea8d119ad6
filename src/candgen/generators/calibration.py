"""From scores to probabilities: how likely each candidate of a list is the right one.

Scores order the candidates of one mention; they do not tell how good the first of them is. A
probability does, and can be compared between mentions. It is a softmax over the candidates and one
more outcome, that none of them is right:

    u(e)    = slope * strength of e's score
    u(none) = none + length * log(1 + number of characters of the mention)
              + best * strength of the first score + lead * (first strength - second strength)
    P(e)    = exp u(e) / (exp u(none) + sum over the first 30 candidates of exp u)

The strength is the logarithm of a score; for an index with two stages it is the value from which
the second stage computed the score. u(none) is one number for a list, so that probabilities never
increase along it. With ``best`` and ``lead``, how much better the first candidate is than the
second need not mean the same as how good it is: a name that the index lacks may have one candidate
that is far better than the others, and still bad.

The weights are those under which dev queries are likeliest. Each query whose gold was found is used
twice, the second time without its gold: what is left is a list in which none is right. Otherwise an
index that has nearly all entities of dev would learn nothing about names that it does not have.
Then ``none`` is set so that the mean probability of the first candidates is the share of them that
is right, on the queries as they are. Without dev queries the weights are fixed: P(e) still grows
with the score and with the distance to the others.
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
MAX_STRENGTH = 1e3
"""Strengths beyond it say no more: they would make the other weights imprecise."""
HALVINGS = 60
"""Steps of the bisection for the level of ``none``."""
MAX_SHIFT = 20.0
"""How far the level of ``none`` is moved at most."""

Link = Literal["log", "value"]
Floats = npt.NDArray[np.float64]
LINKS: Mapping[str, Link] = {"rerank": "value"}
"""What the strength of a score is, by the kind of generator; the logarithm for all others."""


class Weights(NamedTuple):
    """The weight of strengths, and the weights of the outcome that no candidate is right."""

    slope: float
    none: float
    length: float
    best: float = 0.0
    lead: float = 0.0


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
        answers = generator.candidates([query.mention for query in dev], DEPTH + 1)
        return cls.of_answers(link, dev, answers)

    @classmethod
    def of_answers(
        cls, link: Link, dev: Sequence[Query], answers: Sequence[Sequence[tuple[str, float]]]
    ) -> "Calibration":
        """Learn from dev queries and the candidates that were found for them."""
        lists = [_List.of(link, query, found) for query, found in zip(dev, answers, strict=True)]
        every = lists + [each.without_gold() for each in lists if each.gold is not None]
        learned = conditional_logit.learn(
            np.concatenate([each.rows() for each in every] or [np.zeros((0, len(FIXED[link])))]),
            np.cumsum([0, *(len(each.strengths[:DEPTH]) + 1 for each in every)]),
            _gold_rows(every),
            np.array(FIXED[link]),
        )
        weights = Weights(*learned.tolist())
        if not weights.slope > 0.0:  # the order of a list must stay
            weights = FIXED[link]
        return cls(link, _level(weights, lists), len(dev))

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
        none = float(_none(mention, strengths) @ np.array(self.weights[1:]))
        most = max([none, *utilities[:1].tolist()])
        raised = np.exp(utilities - most)
        total = math.exp(none - most) + float(raised[:DEPTH].sum())
        shares: list[float] = (raised / total).tolist()
        return shares


DEFAULT = Calibration("log", FIXED["log"])
"""The fixed calibration of all kinds of generators but Rerank."""


@dataclass(frozen=True)
class _List:
    """The candidates of a query: their strengths, and the place of the gold, if it is there."""

    mention: str
    strengths: Floats
    gold: int | None

    @classmethod
    def of(cls, link: Link, query: Query, candidates: Sequence[tuple[str, float]]) -> "_List":
        strengths = _strengths(link, [score for _, score in candidates])
        # A candidate without a strength has probability 0, as if it had not been found.
        strengths = strengths[strengths > -math.inf]
        entities = [entity for entity, _ in candidates][: min(len(strengths), DEPTH)]
        gold = entities.index(query.entity) if query.entity in entities else None
        return cls(query.mention, strengths, gold)

    def without_gold(self) -> "_List":
        """Return the list that an index without the gold would have given."""
        assert self.gold is not None  # noqa: S101
        return _List(self.mention, np.delete(self.strengths, self.gold), None)

    def rows(self) -> Floats:
        """Return a row for each candidate, and one for the outcome that none is right."""
        strengths = self.strengths[:DEPTH]
        rows = np.zeros((len(strengths) + 1, len(Weights._fields)))
        rows[:-1, 0] = strengths
        rows[-1, 1:] = _none(self.mention, strengths)
        return rows


def _gold_rows(lists: Sequence[_List]) -> npt.NDArray[np.int64]:
    """Return the row of the right outcome of each list."""
    sizes = [len(each.strengths[:DEPTH]) for each in lists]
    places = [
        size if each.gold is None else each.gold for size, each in zip(sizes, lists, strict=True)
    ]
    starts = np.cumsum([0, *(size + 1 for size in sizes)])[:-1]
    return np.array(starts + np.array(places, np.int64), np.int64)


def _level(weights: Weights, lists: Sequence[_List]) -> Weights:
    """Return the weights with ``none`` so that first candidates are as likely as they are right.

    A right and a wrong answer are added, so that a few queries of which all are right do not make
    everything certain.
    """
    answered = [each for each in lists if len(each.strengths)]
    if not answered:
        return weights
    rate = (sum(each.gold == 0 for each in answered) + 1.0) / (len(answered) + 2.0)
    rows = [each.rows() @ np.array(weights) for each in answered]
    firsts = np.array([row[0] for row in rows])
    rest = np.array([np.logaddexp.reduce(row[:-1]) for row in rows])
    none = np.array([row[-1] for row in rows])
    low, high = -MAX_SHIFT, MAX_SHIFT
    for _ in range(HALVINGS):
        shift = (low + high) / 2
        mean = float(np.exp(firsts - np.logaddexp(rest, none + shift)).mean())
        low, high = (shift, high) if mean > rate else (low, shift)
    return weights._replace(none=weights.none + low)


def _none(mention: str, strengths: Floats) -> Floats:
    """Return what the weights of the outcome "none" are for, after the first one."""
    known = strengths[:2][strengths[:2] > -math.inf]
    first = float(known[0]) if len(known) else 0.0
    lead = first - float(known[1]) if len(known) > 1 else 0.0
    return np.array([1.0, math.log1p(len(mention)), first, lead])


def _strengths(link: Link, scores: Sequence[float]) -> Floats:
    given = np.array(scores, np.float64)
    with np.errstate(divide="ignore"):
        if link == "log":
            return np.log(given)
        # The inverse of score = 1 + (1 + v / (1 + |v|)) / 2; scores up to 1 were not compared.
        inside = np.clip(2.0 * given - 3.0, -1.0, np.nextafter(1.0, 0.0))
        values = np.clip(inside / (1.0 - np.abs(inside)), -MAX_STRENGTH, MAX_STRENGTH)
        return np.where(inside > -1.0, values, -math.inf)
