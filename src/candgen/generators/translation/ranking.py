"""Ranking: the k best entities of each mention, among scores of entities in any order."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.generators.candidate import Candidate, make_candidates
from candgen.tables.string_table import StringTable


class Scored(NamedTuple):
    """Scores of entities for mentions, both given by numbers; a pair may have several."""

    mention: npt.NDArray[np.int64]
    entity: npt.NDArray[np.uint32]
    score: npt.NDArray[np.float64]


def rank(
    scored: Scored, entities: StringTable, mentions: int, k: int, *, total: bool
) -> list[list[Candidate]]:
    """Return the k best entities of each mention, by the total or by the largest of their scores.

    ``entities`` are in the order that breaks ties.
    """
    pair = scored.mention * len(entities) + scored.entity
    pairs, inverse = np.unique(pair, return_inverse=True)
    exact = np.zeros(len(pairs))
    (np.add if total else np.maximum).at(exact, inverse, scored.score)
    score = exact.astype(np.float32)
    mention, entity = np.divmod(pairs, max(len(entities), 1))
    order = np.lexsort((entity, -score, mention))
    start = np.searchsorted(mention[order], np.arange(mentions + 1))
    kept = order[np.arange(len(order)) - start[mention[order]] < k]
    every = make_candidates(entities.take(entity[kept]), score[kept].tolist())
    ends = np.searchsorted(mention[kept], np.arange(mentions + 1)).tolist()
    return [every[first:last] for first, last in pairwise(ends)]
