"""The order of entities with equal scores: the shorter id first, then by code point (Q9, Q10)."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.tables.string_table import StringTable


def tie_key(entity: str) -> tuple[int, str]:
    """Return what entities with equal scores are sorted by.

    >>> sorted(["Q10", "Q9", "P31"], key=tie_key)
    ['Q9', 'P31', 'Q10']
    """
    return len(entity), entity


def tie_order(entities: pa.LargeStringArray) -> tuple[StringTable, npt.NDArray[np.uint32]]:
    """Return the entities sorted by `tie_key`, and the place of each in that order."""
    keys = pa.table({"length": pc.utf8_length(entities), "id": entities})
    order = pc.sort_indices(keys, [("length", "ascending"), ("id", "ascending")])
    places = np.empty(len(entities), np.uint32)
    places[order.to_numpy()] = np.arange(len(entities), dtype=np.uint32)
    return StringTable.from_arrow(entities.take(order)), places


def tie_order_of(entity: str, entities: Sequence[str]) -> int | None:
    """Return the place of an entity among entities in tie order; None if it is not there."""
    at = bisect_left(entities, tie_key(entity), key=tie_key)
    return at if at < len(entities) and entities[at] == entity else None
