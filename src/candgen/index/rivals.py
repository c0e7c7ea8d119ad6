"""The rivals of golds: the few entities that can stand before them, to rank golds at once.

A search for weights looks at the ranks of golds a hundred times. The entities that stand before a
gold, or close behind it, under some weights are its rivals. Their counts are kept, and a gold is
ranked among them in a hundredth of the time that all entities take. Other entities are left out:
a rank among rivals is never worse than the true one, and it is exact under all weights that the
rivals were found with.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.index.gold_ranks import EntityPass, GoldRanks, Part, Weights, WeightTable, narrowest
from candgen.kernels import rivals as kernels
from candgen.kernels.heap import LAST

Integers = npt.NDArray[np.int64]
Pairs = tuple[Integers, npt.NDArray[np.uint32], npt.NDArray[Any], npt.NDArray[Any]]
"""Where the counts of each pair begin; the query's token, the language and the count of each."""

LEAST_FRACTION = 0.9
"""A rival has at least this fraction of the gold's score, under one of the weights."""


@dataclass(frozen=True)
class Rivals:
    """The rivals of each query's gold, with the counts of the tokens that they share.

    The pairs of query q and its rivals are ``first[q]`` to ``first[q + 1] - 1``; ``gold[q]`` is the
    one with its gold, -1 if there is none. ``entity[i]`` is a column of ``entity_total`` and a
    place in ``tie``. ``keys`` number all pairs.
    """

    golds: GoldRanks
    keys: Integers
    first: Integers
    gold: Integers
    pairs: Pairs
    entity: npt.NDArray[np.uint32]
    entity_total: Integers
    tie: npt.NDArray[np.uint32]
    depth: int
    fraction: float

    @classmethod
    def of(
        cls,
        golds: GoldRanks,
        choices: Sequence[Weights],
        depth: int,
        *,
        fraction: float = LEAST_FRACTION,
    ) -> "Rivals":
        """Take the ``depth`` best entities of each query with each of these weights.

        Those with less than that fraction of the gold's score are left out.
        """
        known = np.flatnonzero(golds.gold >= 0)
        keys = known * len(golds.names.entities) + golds.gold[known]
        found = _find(golds, choices, depth, fraction)
        return cls._of(golds, np.union1d(keys, found), depth, fraction)

    @classmethod
    def _of(cls, golds: GoldRanks, keys: Integers, depth: int, fraction: float) -> "Rivals":
        query, entity = np.divmod(keys, len(golds.names.entities))
        here, column = np.unique(entity, return_inverse=True)
        wanted = golds.gold[query] == entity
        gold = np.full(len(golds.gold), -1, np.int64)
        gold[query[wanted]] = np.flatnonzero(wanted)
        return cls(
            golds,
            keys,
            np.searchsorted(query, np.arange(len(golds.gold) + 1)),
            gold,
            _gather(golds, entity, query),
            column.astype(np.uint32),
            golds.entity_total[:, here],
            golds.tie[here],
            depth,
            fraction,
        )

    def extend(self, choices: Sequence[Weights]) -> "Rivals":
        """Return these rivals and those with further weights."""
        found = _find(self.golds, choices, self.depth, self.fraction)
        keys = np.union1d(self.keys, found)
        return (
            self
            if len(keys) == len(self.keys)
            else self._of(self.golds, keys, self.depth, self.fraction)
        )

    def ranks(self, choices: Sequence[Weights], k: int) -> list[Integers]:
        """Return, for each choice, the rank of each gold among its rivals; 0 beyond k."""
        golds = self.golds
        table = WeightTable.of(choices, list(golds.names.tables))
        weights, totals = table.arrays(golds.postings), table.alphas @ self.entity_total
        ranks = np.zeros((len(self.gold), *table.lams.shape), np.int64)
        cuts = np.linspace(0, len(self.gold), 4 * golds.threads + 1).astype(np.int64).tolist()

        def rank(part: int) -> None:
            kernels.rank_among_rivals(
                golds.queries,
                self.first,
                cuts[part],
                cuts[part + 1],
                self.pairs,
                self.entity,
                self.tie,
                self.gold,
                totals,
                weights,
                k,
                ranks,
            )

        with ThreadPoolExecutor(golds.threads) as pool:
            list(pool.map(rank, range(len(cuts) - 1)))
        return table.unpack(ranks)


def _find(golds: GoldRanks, choices: Sequence[Weights], depth: int, fraction: float) -> Integers:
    """Return the pairs of a query and one of its best entities, as sorted numbers."""
    table = WeightTable.of(choices, list(golds.names.tables))
    entities = EntityPass.of(golds, table, fraction)
    shape = entities.scores.shape
    depth = min(depth, len(golds.names.entities))
    better = np.zeros((len(golds.postings.parts), *shape), np.int64)
    heaps = [
        (np.zeros((*shape, depth), np.uint64), np.zeros(shape, np.int64))
        for _ in range(golds.threads)
    ]

    def find(number: int, part: Part) -> None:
        kernels.find_rivals(
            *entities.arguments(part),
            part.begin,
            entities.scores,
            better[number],
            *heaps[number % golds.threads],
        )

    entities.run(find, lambda: (better.sum(axis=0) < depth) & (entities.scores > 0))
    for other in heaps[1:]:
        kernels.merge_heaps(*heaps[0], *other)
    best, number = heaps[0]
    there = np.arange(depth) < number[..., np.newaxis]
    query = np.nonzero(there)[0]
    return np.unique(query * len(golds.names.entities) + _numbers(best[there]))


def _numbers(entries: npt.NDArray[np.uint64]) -> Integers:
    """Return the numbers of the entities of a heap's entries, where they stand for tie orders."""
    return np.int64(LAST) - (entries & np.uint64(LAST)).astype(np.int64)


def _gather(golds: GoldRanks, entity: Integers, query: Integers) -> Pairs:
    """Return the counts of all pairs."""
    width = narrowest(golds.entity_total)
    sizes = np.zeros(len(entity), np.int64)
    rows = [
        np.flatnonzero((entity >= part.begin) & (entity < part.stop))
        for part in golds.postings.parts
    ]
    place = np.zeros(len(golds.vocabulary), np.int64)

    def gather(part: Part, mine: Integers, *columns: npt.NDArray[Any]) -> Integers:
        start = np.zeros(len(mine) + 1, np.int64)
        kernels.gather_pairs(
            part.arrays,
            part.begin,
            golds.queries,
            place,
            entity[mine],
            query[mine],
            start,
            *columns,
        )
        return start

    none = (
        np.empty(0, np.uint32),
        np.empty(0, golds.postings.parts[0].language.dtype),
        np.empty(0, width),
    )
    for part, mine in zip(golds.postings.parts, rows, strict=True):
        sizes[mine] = np.diff(gather(part, mine, *none))
    start = np.concatenate(([0], np.cumsum(sizes)))
    made = tuple(np.empty(start[-1], column.dtype) for column in none)
    for part, mine in zip(golds.postings.parts, rows, strict=True):
        many = int(sizes[mine].sum())
        columns = tuple(np.empty(many, column.dtype) for column in none)
        gather(part, mine, *columns)
        to = np.repeat(start[mine] - np.cumsum(sizes[mine]) + sizes[mine], sizes[mine])
        to += np.arange(many)
        for target, source in zip(made, columns, strict=True):
            target[to] = source
    return start, made[0], made[1], made[2]
