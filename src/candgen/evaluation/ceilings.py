"""Ceilings: which golds can be found at all, and which queries have no exact match in a pivot.

>>> icelandic = MentionTable.from_pairs([("Vín", "Q1741"), ("Rín", "Q584")])
>>> queries = [Query("Wien", "Q1741", "easy"), Query("Oslo", "Q585", "hard")]
>>> ceiling(queries, candidate_space(icelandic))["all"]
Ceiling(queries=2, recall=50.0)
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError
from candgen.evaluation.metrics import Flags, by_type
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.text.normalize import normalize_many


class Ceiling(NamedTuple):
    """The number of queries, and the percentage of them whose gold is in the candidate space."""

    queries: int
    recall: float


def candidate_space(*tables: MentionTable, named: Collection[str] | None = None) -> frozenset[str]:
    """Return the entities of all tables; only those in ``named``, if it is given.

    >>> icelandic = MentionTable.from_pairs([("Vín", "Q1741"), ("Rín", "Q584")])
    >>> sorted(candidate_space(icelandic, named=["Q584"]))
    ['Q584']
    """
    wanted = None if named is None else pa.array(set(named), pa.large_string())
    entities: set[str] = set()
    for table in _check_tables(tables):
        column = pc.unique(table.arrow["entity"])
        # A large table has millions of others, which never become strings.
        mine = column if wanted is None else column.filter(pc.is_in(column, value_set=wanted))
        entities.update(mine.to_pylist())
    return frozenset(entities)


def paper_spaces(
    pivots: Iterable[MentionTable],
    target: MentionTable | None = None,
    english: MentionTable | None = None,
    *,
    named: Collection[str] | None = None,
    among: Collection[str] | None = None,
) -> dict[str, frozenset[str]]:
    """Return the candidate spaces of the paper that the tables allow, by the paper's labels.

    PL and PL+TL are those of PTI, zero-shot and joint. EN, EN+PL and EN+PL+TL are those of
    Charagram, which compares with English names: only entities with a mention in the English table
    count. So the three are equal, unless ``named`` lists more entities with an English name, such
    as those with an English label but without an English article. ``among`` limits the spaces to
    the entities that are needed.
    """
    learned = {"PL": _check_tables(pivots)}
    if target is not None:
        learned["PL+TL"] = [*learned["PL"], target]
    spaces = {label: candidate_space(*tables, named=among) for label, tables in learned.items()}
    if english is not None:
        own = candidate_space(english, named=among)
        with_names = own if named is None else own.union(named)
        wider = {f"EN+{label}": own | entities for label, entities in spaces.items()}
        spaces |= {label: entities & with_names for label, entities in {"EN": own, **wider}.items()}
    return spaces


def covered(queries: Sequence[Query], space: Collection[str]) -> Flags:
    """Return which queries have their gold in the candidate space."""
    if isinstance(space, str):
        raise ParameterError(f"the candidate space is {space!r}: expected several entities")
    known = space if isinstance(space, Set | Mapping) else frozenset(space)
    return np.array([query.entity in known for query in queries], dtype=np.bool_)


def ceiling(queries: Sequence[Query], space: Collection[str]) -> dict[str, Ceiling]:
    """Return the highest recall that a generator with this candidate space can have, for any k.

    The keys are ``all``, then each type that is present, easiest first.

    >>> ceiling([Query("Wien", "Q1741", "easy"), Query("Oslo", "Q585", "hard")], {"Q1741"})["hard"]
    Ceiling(queries=1, recall=0.0)
    """
    found = covered(queries, space)
    groups = by_type(found, [query.type for query in queries])
    named = {type_: group for type_, group in groups.items() if type_ is not None}
    return {
        name: Ceiling(
            len(group), 100 * int(np.count_nonzero(group)) / len(group) if len(group) else math.nan
        )
        for name, group in {"all": found, **named}.items()
    }


def unlike_pivots(
    queries: Sequence[Query],
    pivots: Iterable[MentionTable],
    *,
    normalizer: str = "none",
    language: str | None = None,
    languages: Sequence[str | None] | None = None,
) -> Flags:
    """Return which queries have no exact match: no pivot has this name for the gold.

    All other queries can be answered by a lookup in the pivots. The queries whose gold is in no
    pivot are among these; ``covered`` tells them apart. Strings are compared after the
    ``normalizer``, which uses the ``language`` of the queries and the ``languages`` of the pivots,
    in their order.

    >>> icelandic = MentionTable.from_pairs([("Vín", "Q1741"), ("Vín", "Q282")])
    >>> queries = [Query("Vín", "Q282"), Query("Wien", "Q1741"), Query("vin", "Q1741")]
    >>> unlike_pivots(queries, [icelandic]).tolist()
    [False, True, True]
    >>> unlike_pivots(queries, [icelandic], normalizer="default").tolist()
    [False, True, False]
    """
    tables = _check_tables(pivots)
    codes = [None] * len(tables) if languages is None else list(languages)
    if len(codes) != len(tables):
        raise ParameterError(
            f"languages has {len(codes)} and pivots {len(tables)}: expected one for each pivot"
        )
    mentions = normalize_many([query.mention for query in queries], normalizer, language=language)
    golds = [query.entity for query in queries]
    names = set[tuple[str, str]]()
    for table, code in zip(tables, codes, strict=True):
        names |= _names_of(table, golds, normalizer, code)
    pairs = zip(mentions, golds, strict=True)
    return np.array([pair not in names for pair in pairs], dtype=np.bool_)


def _names_of(
    table: MentionTable, golds: Sequence[str], normalizer: str, language: str | None
) -> set[tuple[str, str]]:
    """Return the normalized names of the golds in a table."""
    # Arrow selects their rows: a large pivot has millions of others, which never become strings.
    wanted = pa.array(set(golds), type=pa.large_string())
    rows = table.arrow.filter(pc.is_in(table.arrow["entity"], value_set=wanted))
    mentions = normalize_many(rows["mention"].to_pylist(), normalizer, language=language)
    return set(zip(mentions, rows["entity"].to_pylist(), strict=True))


def _check_tables(tables: Iterable[MentionTable]) -> list[MentionTable]:
    checked = list(tables)
    for table in checked:
        if not isinstance(table, MentionTable):
            raise ParameterError(f"{table!r} is not a mention table: expected mention tables only")
    return checked
