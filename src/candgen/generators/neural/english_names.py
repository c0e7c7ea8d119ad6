"""English names: what stands for an entity where mentions are compared with names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError
from candgen.index.tie_order import tie_order
from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import normalize_many

ENGLISH = "en"

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Names:
    """Entities in the order that breaks ties, each with its name.

    ``row`` is where an entity's name stands in the English table, ``text`` the name as it is
    compared. ``unnamed`` counts the entities whose name vanishes when it is normalized.
    """

    entities: pa.LargeStringArray
    row: Integers
    text: list[str]
    unnamed: int

    @classmethod
    def of(cls, english: MentionTable, *, normalizer: str) -> "Names":
        """Return the most frequent English mention of each entity, among equals by code point.

        >>> table = MentionTable.from_pairs([("Wien", "Q1741"), ("Vienna", "Q1741", 9)])
        >>> Names.of(table, normalizer="default").text
        ['vienna']
        """
        coded = english.arrow["entity"].combine_chunks().dictionary_encode()
        code = coded.indices.to_numpy().astype(np.int64)
        order = np.lexsort((-english.arrow["count"].to_numpy(), code))  # stable: then by mention
        row = order[np.flatnonzero(np.diff(code[order], prepend=-1))]
        _, rank = tie_order(coded.dictionary)
        row = row[np.argsort(rank)]
        mentions = english.arrow["mention"].take(pa.array(row)).to_pylist()
        text = normalize_many(mentions, normalizer, language=ENGLISH)
        kept = np.flatnonzero([bool(name) for name in text])
        entities = english.arrow["entity"].take(pa.array(row[kept])).combine_chunks()
        return cls(entities, row[kept], [text[at] for at in kept.tolist()], len(row) - len(kept))

    def __len__(self) -> int:
        return len(self.row)

    def places(self, entities: pa.LargeStringArray) -> Integers:
        """Return where each of these entities stands, or -1 if it has no name."""
        found = pc.fill_null(pc.index_in(entities, value_set=self.entities), -1)
        return found.to_numpy().astype(np.int64)  # type: ignore[no-any-return]


def count_unnamed(names: Names, tables: Mapping[str, MentionTable]) -> dict[str, int]:
    """Count the entities of each language without an English name, which cannot be candidates."""
    entities = {each: pc.unique(table.arrow["entity"]) for each, table in tables.items()}
    found = {each: int((names.places(some) < 0).sum()) for each, some in entities.items()}
    return {ENGLISH: names.unnamed, **found}


def check_space(
    space: Sequence[str] | None, tables: Mapping[str, MentionTable], *, target: str | None
) -> list[str]:
    """Return the languages whose entities can be candidates; ``target`` names the target's."""
    known = list(dict.fromkeys([*tables, ENGLISH]))
    if space is None:
        return known
    space = [space] if isinstance(space, str) else space
    chosen = [target if each == "target" and target is not None else each for each in space]
    if unknown := [each for each in chosen if each not in known]:
        raise ParameterError(
            f"space names {unknown[0]!r}, which is not here: choose among {', '.join(known)}"
        )
    if not chosen:
        raise ParameterError(f"space is empty: choose among {', '.join(known)}")
    return [each for each in known if each in chosen]


def places_in_space(
    names: Names, tables: Mapping[str, MentionTable], space: Sequence[str]
) -> Integers:
    """Return the places of the named entities of these languages, in order."""
    if ENGLISH in space:
        return np.arange(len(names))
    inside = np.zeros(len(names), np.bool_)
    for each in space:
        found = names.places(tables[each].arrow["entity"])
        inside[found[found >= 0]] = True
    return np.flatnonzero(inside)
