"""The first stage as the second one sees it: candidates are numbers, not objects.

An index has numbers for its entities, their places in tie order. Another generator answers with
ids, which are numbered for each batch of mentions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError
from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
from candgen.generators.rerank.spellings import Spellings
from candgen.index.tie_order import tie_key, tie_order_of
from candgen.tables.mention_table import MentionTable
from candgen.tables.string_table import StringTable

Answer = list[tuple[str, float]]


class Hits(NamedTuple):
    """The candidates of some mentions: row i has ``found[i]``, best first, with scores above 0."""

    place: npt.NDArray[np.uint32]
    score: npt.NDArray[np.float64]
    found: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Numbering:
    """Entities in tie order, by which a candidate is a place, and which spellings they have."""

    entities: Sequence[str]
    spelling_of: npt.NDArray[np.int32]

    def ids(self, places: npt.NDArray[np.uint32]) -> list[str]:
        """Return the entities at these places."""
        if isinstance(self.entities, StringTable):
            return self.entities.take(places)
        return [self.entities[place] for place in places.tolist()]

    def place_of(self, entity: str) -> int | None:
        """Return the place of an entity; None if it is not there."""
        return tie_order_of(entity, self.entities)


def number_entities(generator: Any, spellings: Spellings) -> npt.NDArray[np.int32]:  # noqa: ANN401
    """Return which entity of the spellings each entity of an index is, or -1; empty for others."""
    numbers = np.empty(0, np.int32)
    if isinstance(generator, PivotTokenIndex):
        numbers = spellings.places(generator.token_index.entities).astype(np.int32)
    numbers.setflags(write=False)  # like that of a stored index: kernels compile once
    return numbers


def read_tables(
    generator: Any,  # noqa: ANN401
) -> tuple[dict[str, MentionTable], MentionTable | None, str | None]:
    """Return the tables that a PivotTokenIndex was built from, by the mentions that it keeps."""
    if not isinstance(generator, PivotTokenIndex):
        raise ParameterError(
            f"{type(generator).__name__} does not keep the names of its entities: "
            "give pivots, a target or both"
        )
    tables = generator.sources.tables(generator.token_index.all_ids())
    target = tables.pop(generator.parameters["target"] or "", None)
    return tables, target, generator.language


def ask(
    generator: Any,  # noqa: ANN401
    spelling_of: npt.NDArray[np.int32],
    spellings: Spellings,
    requests: Sequence[tuple[list[str], int]],
) -> tuple[list[Hits], Numbering]:
    """Ask for the k best candidates of mentions, several times; all answers have one numbering.

    ``spelling_of`` is what ``number_entities`` returned.
    """
    if isinstance(generator, PivotTokenIndex):
        entities = generator.token_index.entities
        found = [_search(generator, mentions, k) for mentions, k in requests]
        return found, Numbering(entities, spelling_of)
    answers = [_ask(generator, mentions, k) for mentions, k in requests]
    return _number(answers, spellings)


def _search(index: PivotTokenIndex, mentions: list[str], k: int) -> Hits:
    if not mentions:
        return _as_hits([], {})
    hits = index.search(mentions, k)
    return Hits(hits.tie_order, hits.score.astype(np.float64), hits.found)


def _ask(generator: Any, mentions: list[str], k: int) -> list[Answer]:  # noqa: ANN401
    """Ask a generator, and drop candidates without a positive score."""
    if not mentions:
        return []
    found = generator.candidates(mentions, k)
    if not isinstance(found, Sequence) or len(found) != len(mentions):
        raise ParameterError(
            f"the generator answered {len(mentions)} mentions with {found!r:.60}: "
            "expected a list, an answer to each mention"
        )
    return [[each for each in answer if 0 < each[1] < math.inf] for answer in found]


def _number(answers: Sequence[list[Answer]], spellings: Spellings) -> tuple[list[Hits], Numbering]:
    """Number the entities of answers in tie order."""
    every = {entity for answer in answers for one in answer for entity, _ in one}
    entities = sorted(every, key=tie_key)
    places = {entity: place for place, entity in enumerate(entities)}
    numbers = spellings.places(entities).astype(np.int32)
    numbers.setflags(write=False)
    return [_as_hits(answer, places) for answer in answers], Numbering(entities, numbers)


def _as_hits(answers: list[Answer], places: dict[str, int]) -> Hits:
    found = np.array([len(answer) for answer in answers], np.int64)
    width = int(found.max(initial=0))
    hits = Hits(np.zeros((len(answers), width), np.uint32), np.zeros((len(answers), width)), found)
    for row, answer in enumerate(answers):
        hits.place[row, : len(answer)] = [places[entity] for entity, _ in answer]
        hits.score[row, : len(answer)] = [score for _, score in answer]
    return hits
