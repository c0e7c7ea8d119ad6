"""Split a table into queries of three types and training data: sections 5.1 and 5.3 of the paper.

A *group* is a normalized mention with its entity: all spellings that are equal to the index.
Without a normalizer every row of the table is a group. A group is held out or kept as a whole, so
that the type of a query is correct for the index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError, check_whole_number, shown
from candgen.evaluation.shuffle import Integers, shuffle_keys
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import EASY, HARD, MEDIUM, TYPES, Query
from candgen.tables.rows import SCHEMA, Rows
from candgen.text.normalize import check_normalizer, normalize_many

Setting = Literal["joint", "zero-shot", "high-resource"]

TYPES_OF: Mapping[str, tuple[str, ...]] = {
    "joint": TYPES,
    "zero-shot": (HARD,),
    "high-resource": (EASY, MEDIUM),
}
"""The query types of each setting."""

# The stream of random numbers of each type; a change here changes every split.
_STREAMS = {EASY: 0, MEDIUM: 1, HARD: 2}
_ROWS_AT_ONCE = 1 << 18

Booleans = npt.NDArray[np.bool_]


class Input(NamedTuple):
    """The table that was split."""

    pairs: int
    entities: int
    sha256: str


@dataclass(frozen=True)
class Split:
    """Train, dev and test of a table, and how they were made: what ``candgen.split`` returns.

    Attributes:
        train: The training data: the pairs that are left.
        dev: The queries to tune on, sorted by type, mention and entity.
        test: The held-out queries for the final evaluation, in the same order.
        per_type: The most queries of each type in dev, and in test.
        seed: The random seed.
        setting: "joint", "zero-shot" or "high-resource".
        normalizer: The normalizer after which the types of the queries hold.
        language: The language of the table, if it was given.
        input: The number of pairs and entities of the table, and its SHA-256.
    """

    train: MentionTable
    dev: list[Query]
    test: list[Query]
    per_type: int
    seed: int
    setting: Setting
    normalizer: str
    language: str | None
    input: Input

    @property
    def sizes(self) -> dict[str, dict[str, int]]:
        """The number of queries of each type of the setting, in dev and in test."""
        return {
            name: {kind: sum(query.type == kind for query in fold) for kind in self.types}
            for name, fold in (("dev", self.dev), ("test", self.test))
        }

    @property
    def types(self) -> tuple[str, ...]:
        """The query types of the setting, the easiest first."""
        return TYPES_OF[self.setting]


class _Groups(NamedTuple):
    of_row: Integers
    entity: Integers  # of each group: the number of its entity
    present: Booleans  # of each group: whether the normalizer left something of the mention
    entities: int


def split(
    table: MentionTable,
    *,
    per_type: int = 1000,
    seed: int = 0,
    setting: Setting = "joint",
    normalizer: str = "none",
    language: str | None = None,
) -> Split:
    """Split a table into training data and queries of three types for dev and for test.

    - hard: every pair of the entity leaves the training data; at most 20% of the entities;
    - medium: the pair leaves and another mention of the entity stays; at most half of the
      entities that have several;
    - easy: the pair stays, with its full count.

    Pairs are drawn uniformly, whatever their counts. An entity has at most one hard query and at
    most one medium query. The result is deterministic: it depends on the table and the arguments.

    Args:
        table: The mention table of the target.
        per_type: The most queries of each type for dev, and as many for test.
        seed: The random seed.
        setting: "joint" has all three types. "high-resource" has no hard queries. "zero-shot" is
            for targets with very little data: all pairs become hard queries, half of them dev and
            half test, ``per_type`` is not used and the training data is empty.
        normalizer: Mentions that are equal after it are one mention. Use that of the index.
        language: The language of the table, for the normalizer.

    Returns:
        Train, dev and test.

    >>> pairs = [(f"{name} {n}", f"Q{n}") for n in range(10) for name in ("Vík", "Vágur")]
    >>> made = split(MentionTable.from_pairs(pairs), per_type=2)
    >>> made.sizes["test"], len(made.train)
    ({'easy': 2, 'medium': 2, 'hard': 1}, 12)
    """
    _check(table, per_type, seed, setting, normalizer, language)
    groups = _group(table, normalizer, language)
    if setting == "zero-shot":
        drawn = {HARD: _halve(groups, int(seed))}
        stays = np.zeros(len(groups.entity), np.bool_)
    else:
        drawn, stays = _draw(groups, int(per_type), int(seed), TYPES_OF[setting])
    dev, test = (
        [
            query
            for kind in TYPES_OF[setting]
            for query in _queries(table, groups.of_row, drawn[kind][side], kind)
        ]
        for side in (0, 1)
    )
    return Split(
        train=_keep_rows(table, stays[groups.of_row]),
        dev=dev,
        test=test,
        per_type=int(per_type),
        seed=int(seed),
        setting=setting,
        normalizer=normalizer,
        language=language,
        input=Input(len(table), groups.entities, table.digest),
    )


def _check(table: Any, per_type: Any, seed: Any, setting: Any, normalizer: Any, lang: Any) -> None:  # noqa: ANN401
    if not isinstance(table, MentionTable):
        raise ParameterError(f"table is {shown(table)}: expected a MentionTable")
    if not len(table):
        raise ParameterError("the table is empty: there is nothing to split")
    check_whole_number("per_type", per_type)
    if check_whole_number("seed", seed, minimum=0) >= 2**63:
        raise ParameterError(f"seed is {shown(seed)}: expected at most 2**63 - 1")
    if setting not in get_args(Setting):
        raise ParameterError(f"setting is {shown(setting)}: expected {', '.join(TYPES_OF)}")
    if lang is not None and not isinstance(lang, str):
        raise ParameterError(f"language is {shown(lang)}: expected a code such as 'fo'")
    check_normalizer(normalizer)


def _group(table: MentionTable, normalizer: str, language: str | None) -> _Groups:
    """Group the rows; groups are numbered by their first rows in the table, which is sorted."""
    encoded = table.arrow["entity"].combine_chunks().dictionary_encode()
    of_row = encoded.indices.to_numpy().astype(np.int64)
    entities = len(encoded.dictionary)
    if normalizer == "none":
        return _Groups(np.arange(len(table)), of_row, np.ones(len(table), np.bool_), entities)
    texts = _normalize(table, normalizer, language)
    # A text and an entity make one number; these are numbered again by first occurrence.
    both = texts.indices.to_numpy().astype(np.int64) * entities + of_row
    numbered = pa.array(both).dictionary_encode()
    text, entity = np.divmod(numbered.dictionary.to_numpy(), entities)
    present = pc.not_equal(texts.dictionary, "").to_numpy(zero_copy_only=False)[text]
    return _Groups(numbered.indices.to_numpy().astype(np.int64), entity, present, entities)


def _normalize(table: MentionTable, normalizer: str, language: str | None) -> pa.DictionaryArray:
    chunks = [
        pa.array(
            normalize_many(batch["mention"].to_pylist(), normalizer, language=language),
            pa.large_string(),
        )
        for batch in table.arrow.to_batches(max_chunksize=_ROWS_AT_ONCE)
    ]
    return pa.chunked_array(chunks).combine_chunks().dictionary_encode()


def _draw(
    groups: _Groups, per_type: int, seed: int, types: Sequence[str]
) -> tuple[dict[str, tuple[Integers, Integers]], Booleans]:
    """Return the groups drawn for dev and for test, by type, and which groups stay in train."""
    drawn = {}
    stays = np.ones(len(groups.entity), np.bool_)
    if HARD in types:
        found = _one_per_entity(groups, groups.present, seed, HARD)
        drawn[HARD] = _alternate(found, min(per_type, groups.entities // 5 // 2))
        hard = np.zeros(groups.entities, np.bool_)
        hard[groups.entity[np.concatenate(drawn[HARD])]] = True
        stays &= ~hard[groups.entity]
    # A mention that becomes empty has no token: it would not keep an entity in the index.
    several = np.bincount(groups.entity[groups.present], minlength=groups.entities) >= 2
    found = _one_per_entity(groups, groups.present & stays & several[groups.entity], seed, MEDIUM)
    drawn[MEDIUM] = _alternate(found, min(per_type, int(several.sum()) // 2 // 2))
    stays[np.concatenate(drawn[MEDIUM])] = False
    remaining = np.flatnonzero(groups.present & stays)
    keys = shuffle_keys(remaining, seed, _STREAMS[EASY])
    drawn[EASY] = _alternate(remaining[np.argsort(keys)], per_type)
    return drawn, stays


def _one_per_entity(groups: _Groups, eligible: Booleans, seed: int, kind: str) -> Integers:
    """Return eligible groups in random order, only the first of each entity."""
    candidates = np.flatnonzero(eligible)
    keys = shuffle_keys(candidates, seed, _STREAMS[kind])
    entity = groups.entity[candidates]
    least = np.full(groups.entities, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, entity, keys)
    first = keys == least[entity]  # no two keys are equal
    ordered: Integers = candidates[first][np.argsort(keys[first])]
    return ordered


def _alternate(ordered: Integers, most: int) -> tuple[Integers, Integers]:
    """Return as many groups for dev as for test, at most ``most`` for each."""
    each = min(most, len(ordered) // 2)
    return ordered[0 : 2 * each : 2], ordered[1 : 2 * each : 2]


def _halve(groups: _Groups, seed: int) -> tuple[Integers, Integers]:
    """Return all groups in two halves that differ by one at most and share one entity at most.

    Entities go to the smaller side, the largest first, in random order among equals. The larger
    side then always has an entity with at least as many groups as the sides differ by: an entity
    that makes its side the larger one has at least as many groups as the new difference, and one
    that does not leaves the larger side as it was and the difference smaller. So half the
    difference can be moved from one entity. If enough entities have one group, nothing is moved.
    """
    sizes = np.bincount(groups.entity, minlength=groups.entities)
    order = np.lexsort((shuffle_keys(np.arange(len(sizes)), seed, _STREAMS[HARD]), -sizes))
    in_test = np.zeros(len(sizes), np.bool_)
    difference = 0  # dev less test
    for entity, size in zip(order.tolist(), sizes[order].tolist(), strict=True):
        in_test[entity] = difference > 0
        difference += -size if difference > 0 else size
    of_group = in_test[groups.entity]
    if moved := abs(difference) // 2:
        largest = next(entity for entity in order if in_test[entity] == (difference < 0))
        its = np.flatnonzero(groups.entity == largest)
        keys = shuffle_keys(its, seed, _STREAMS[HARD])
        of_group[its[np.argsort(keys)[:moved]]] ^= True
    return np.flatnonzero(~of_group), np.flatnonzero(of_group)


def _queries(table: MentionTable, of_row: Integers, drawn: Integers, kind: str) -> list[Query]:
    """Return the most frequent spelling of each group, the first of equals, in table order."""
    rows = np.flatnonzero(np.isin(of_row, drawn))
    counts = table.arrow["count"].to_numpy()[rows]
    ranked = rows[np.lexsort((rows, -counts, of_row[rows]))]
    chosen = np.sort(ranked[np.unique(of_row[ranked], return_index=True)[1]])
    columns = table.arrow.select(["mention", "entity"]).take(chosen)
    pairs = zip(columns["mention"].to_pylist(), columns["entity"].to_pylist(), strict=True)
    return [Query(mention, entity, kind) for mention, entity in pairs]


def _keep_rows(table: MentionTable, stay: Booleans) -> MentionTable:
    if stay.all():
        return table
    if not stay.any():
        return MentionTable(Rows(SCHEMA.empty_table()))
    return MentionTable(Rows(table.arrow.filter(stay)))
