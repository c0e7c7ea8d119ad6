"""ExactNames: the entities of every name, each with its share of the name's count."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from candgen.generators.translation.lexicon import ranges
from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_offsets, check_range
from candgen.tables.string_table import StringTable

Integers = npt.NDArray[np.int64]


class Found(NamedTuple):
    """Entities of names: ``which`` of the names an entity has, and the ``share`` P(e | name)."""

    which: Integers
    entity: npt.NDArray[np.uint32]
    share: npt.NDArray[np.float32]


@dataclass(frozen=True)
class ExactNames:
    """Rows ``start[n]`` to ``start[n + 1] - 1`` belong to name n; ``names`` are sorted by bytes.

    An entity is its place among all entities, which are in the order that breaks ties.
    """

    names: StringTable
    start: Integers
    entity: npt.NDArray[np.uint32]
    share: npt.NDArray[np.float32]

    @classmethod
    def build(cls, rows: pa.Table) -> "ExactNames":
        """Group rows of ``text``, ``place`` and ``count`` by text; counts of equal rows are added.

        ``place`` is that of the entity.
        """
        pairs = (
            rows.group_by(["text", "place"], use_threads=False)
            .aggregate([("count", "sum")])
            .sort_by([("text", "ascending"), ("place", "ascending")])
            .combine_chunks()
        )
        texts = _column(pairs, "text", pa.large_string()).dictionary_encode()
        name = texts.indices.to_numpy().astype(np.int64)
        count = _column(pairs, "count_sum", pa.int64()).to_numpy().astype(np.float64)
        total = np.bincount(name, count, len(texts.dictionary))
        return cls(
            StringTable.from_arrow(texts.dictionary),
            np.searchsorted(name, np.arange(len(texts.dictionary) + 1)).astype(np.int64),
            _column(pairs, "place", pa.uint32()).to_numpy(),
            (count / total[name]).astype(np.float32),
        )

    def find(self, texts: Iterable[str]) -> Found:
        """Return the entities of those texts that are names; ``which`` numbers the texts."""
        places = self.names.places(texts)
        known = np.flatnonzero(places >= 0)
        which, entity, share = self.entities_of(places[known])
        return Found(known[which], entity, share)

    def entities_of(self, names: Integers) -> Found:
        """Return the entities of names, given by their numbers."""
        first, last = self.start[names], self.start[names + 1]
        rows = ranges(first, last)
        which = np.repeat(np.arange(len(names)), last - first)
        return Found(which, self.entity[rows], self.share[rows])

    def validate(self, name: str, entities: int) -> None:
        """Raise ValueError unless every name has entities, and each a share of its count."""
        number = len(self.entity)
        self.names.validate(f"{name}.names", is_sorted=True)
        check_offsets(f"{name}.start", self.start, len(self.names), number)
        check_array(f"{name}.entity", self.entity, np.uint32, number)
        check_range(f"{name}.entity", self.entity, 0, entities - 1)
        check_array(f"{name}.share", self.share, np.float32, number)
        check_range(f"{name}.share", self.share, 0.0, 1.0)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything, to be stored."""
        return {
            **add_prefix("names", self.names.arrays()),
            "start": self.start,
            "entity": self.entity,
            "share": self.share,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "ExactNames":
        """Return the names that ``arrays`` describe."""
        names = StringTable(**strip_prefix("names", arrays))
        return cls(names, arrays["start"], arrays["entity"], arrays["share"])


def _column(rows: pa.Table, name: str, kind: pa.DataType) -> pa.Array:
    """Return a column as one array, also if it has no row."""
    return pa.concat_arrays([*rows[name].cast(kind).chunks, pa.array([], kind)])
