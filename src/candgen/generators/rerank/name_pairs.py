"""Names of the same entity in two languages: what the second stage learns from."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

EDIT_NAMES, WORD_NAMES = 30, 4
"""Of an entity in one table: some have thousands, and pairs are their products. Words are learned
from the first few names, which are more often translations of each other than the rest."""
EDIT_PAIRS, WORD_PAIRS = 30_000, 100_000
"""Where there are more, so many are taken, evenly spread."""

Pairs = list[tuple[str, str]]
Names = dict[str, list[tuple[int, str]]]
"""The names of entities, each with the number of its table."""


def edit_pairs(rows: pa.Table, *, joint: bool) -> Pairs:
    """Names of the same entity in two tables, the target's first; table 0 is the target if joint.

    Where there are too many, those of entities that are spread evenly over the sorted ids.
    """
    few = _spread(_shared(rows, joint=joint), EDIT_PAIRS)
    names = _named(rows, few, EDIT_NAMES)
    return _paired(few, names, names, EDIT_PAIRS, joint=joint)


def word_pairs(rows: pa.Table, written: pa.Table, into: int, *, joint: bool) -> Pairs:
    """The same with names of table ``into``, as they are ``written``, on the other side."""
    few = _spread(_shared(rows, joint=joint), WORD_PAIRS)
    others = {
        entity: [(into, text) for _, text in mine]
        for entity, mine in _named(written, few, WORD_NAMES).items()
    }
    return _paired(few, _named(rows, few, WORD_NAMES), others, WORD_PAIRS, joint=joint)


def partner(rows: pa.Table, *, joint: bool) -> int | None:
    """The table that shares most entities with the target, or, if not joint, with any other."""
    shared = pa.array(_shared(rows, joint=joint), pa.large_string())
    found = rows.filter(pc.is_in(rows["entity"], value_set=shared))
    sizes = found.group_by("table").aggregate([("entity", "count_distinct")]).to_pydict()
    entities = dict(zip(sizes["table"], sizes["entity_count_distinct"], strict=True))
    if joint:
        entities.pop(0, None)
    return min(entities, key=lambda table: (-entities[table], table), default=None)


def _shared(rows: pa.Table, *, joint: bool) -> list[str]:
    """The entities that the target has, or, if not joint, several tables; sorted."""
    if joint:
        entities = rows.filter(pc.equal(rows["table"], 0))["entity"].unique()
    else:
        tables = rows.group_by("entity").aggregate([("table", "count_distinct")])
        entities = tables.filter(pc.greater(tables["table_count_distinct"], 1))["entity"]
    found: list[str] = entities.to_pylist()
    return sorted(found)


def _spread(entities: list[str], most: int) -> list[str]:
    return entities[:: max(1, len(entities) // most)]


def _named(rows: pa.Table, entities: list[str], most: int) -> Names:
    """The names of these entities, of each table at most so many."""
    chosen = rows.filter(pc.is_in(rows["entity"], value_set=pa.array(entities, pa.large_string())))
    names: Names = {}
    columns = (chosen[name].to_pylist() for name in ("entity", "table", "text"))
    taken: Counter[tuple[str, int]] = Counter()
    for entity, table, text in zip(*columns, strict=True):
        taken[entity, table] += 1
        if taken[entity, table] <= most:
            names.setdefault(entity, []).append((table, text))
    return names


def _paired(entities: list[str], names: Names, others: Names, most: int, *, joint: bool) -> Pairs:
    """Every name with every other one of another table; at most so many, evenly spread."""
    pairs: Pairs = []
    for entity in entities:
        mine = [each for each in names.get(entity, ()) if each[0] == 0 or not joint]
        pairs += sorted(
            {
                (mention, name)
                for table, mention in mine
                for other, name in others.get(entity, ())
                if other != table
            }
        )
    return pairs[:: -(-len(pairs) // most) or 1]
