"""Pairs of names of the same entity, mostly in two languages: the second stage learns from them."""

from collections import Counter
from itertools import product

import pyarrow as pa
import pyarrow.compute as pc

MAX_EDIT_NAMES, MAX_WORD_NAMES = 30, 4
"""Limits for the names of an entity in one table: some have thousands, and pairs are products. The
first few names are translations of each other more often than the rest."""
MAX_VARIANTS = 8
"""The most names of an entity in a table that has no other table beside it."""
MAX_EDIT_PAIRS, MAX_WORD_PAIRS = 30_000, 100_000
"""Limits for the pairs; of more, evenly spaced ones are taken."""

Pairs = list[tuple[str, str]]
Names = dict[str, list[tuple[int, str]]]
"""The names of entities, each with the number of its table."""


def edit_pairs(rows: pa.Table, *, joint: bool) -> Pairs:
    """Return names of one entity in two tables; if joint, table 0 is the target, and comes first.

    Without a target and with one table only, the names are its own variants: Chaikovsky and
    Tschaikowski also tell which letters stand for each other. Where there are too many, those of
    entities that are spread evenly over the sorted ids.
    """
    if not joint and len(rows["table"].unique()) == 1:
        return _variants(rows)
    few = _spread(_shared(rows, joint=joint), MAX_EDIT_PAIRS)
    names = _named(rows, few, MAX_EDIT_NAMES)
    return _paired(few, names, names, MAX_EDIT_PAIRS, joint=joint)


def _variants(rows: pa.Table) -> Pairs:
    """Return all pairs of names of an entity that has several, also each name with itself."""
    sizes = rows.group_by("entity").aggregate([("text", "count_distinct")])
    several = sizes.filter(pc.greater(sizes["text_count_distinct"], 1))["entity"].to_pylist()
    few = _spread(sorted(several), MAX_EDIT_PAIRS)
    named = _named(rows, few, MAX_VARIANTS)
    spelled = (sorted({text for _, text in named[entity]}) for entity in few)
    return _thin([pair for texts in spelled for pair in product(texts, texts)], MAX_EDIT_PAIRS)


def word_entities(rows: pa.Table, *, joint: bool) -> pa.Array:
    """Return the entities whose names ``word_pairs`` compares."""
    return pa.array(_spread(_shared(rows, joint=joint), MAX_WORD_PAIRS), pa.large_string())


def word_pairs(rows: pa.Table, written: pa.Table, into: int, *, joint: bool) -> Pairs:
    """Return the same with names of table ``into``, as they are ``written``, on the other side."""
    few = _spread(_shared(rows, joint=joint), MAX_WORD_PAIRS)
    others = {
        entity: [(into, text) for _, text in mine]
        for entity, mine in _named(written, few, MAX_WORD_NAMES).items()
    }
    return _paired(few, _named(rows, few, MAX_WORD_NAMES), others, MAX_WORD_PAIRS, joint=joint)


def choose_partner(rows: pa.Table, *, joint: bool) -> int | None:
    """Return the table that shares most entities with the target, or, if not joint, with any."""
    shared = pa.array(_shared(rows, joint=joint), pa.large_string())
    found = rows.filter(pc.is_in(rows["entity"], value_set=shared))
    sizes = found.group_by("table").aggregate([("entity", "count_distinct")]).to_pydict()
    entities = dict(zip(sizes["table"], sizes["entity_count_distinct"], strict=True))
    if joint:
        entities.pop(0, None)
    return min(entities, key=lambda table: (-entities[table], table), default=None)


def _shared(rows: pa.Table, *, joint: bool) -> list[str]:
    """Return the entities that the target has, or, if not joint, several tables; sorted."""
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
    """Return the names of these entities, at most ``most`` of each table."""
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
    """Return all pairs of names of two tables; at most ``most``, evenly spaced."""
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
    return _thin(pairs, most)


def _thin(pairs: Pairs, most: int) -> Pairs:
    """Return at most so many pairs, evenly spaced."""
    return pairs[:: -(-len(pairs) // most) or 1]
