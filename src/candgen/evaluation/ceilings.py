"""Ceilings: which golds can be found at all, and which queries a copy of a pivot name answers.

>>> icelandic = MentionTable.from_pairs([("Vín", "Q1741"), ("Rín", "Q584")])
>>> queries = [Query("Wien", "Q1741", "easy"), Query("Oslo", "Q585", "hard")]
>>> ceiling(queries, candidate_space(icelandic))["all"]
Ceiling(queries=2, recall=50.0)
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError
from candgen.evaluation.metrics import by_type
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.text.normalize import normalize_many

Flags = npt.NDArray[np.bool_]


class Ceiling(NamedTuple):
    """How many queries there are, and the percent of them whose gold is in the candidate space."""

    queries: int
    recall: float


def candidate_space(*tables: MentionTable, named: Collection[str] | None = None) -> frozenset[str]:
    """The entities of all the tables together; of these only the named ones, where given.

    >>> icelandic = MentionTable.from_pairs([("Vín", "Q1741"), ("Rín", "Q584")])
    >>> sorted(candidate_space(icelandic, named=["Q584"]))
    ['Q584']
    """
    wanted = None if named is None else pa.array(set(named), pa.large_string())
    entities: set[str] = set()
    for table in _checked(tables):
        column = pc.unique(table.arrow["entity"])
        # A large table has millions of others, which never become Python strings.
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
    """The candidate spaces of the paper, by the paper's labels, as far as the tables allow them.

    PL and PL+TL are those of PTI, zero-shot and joint. EN, EN+PL and EN+PL+TL are those of
    Charagram, which compares with English names: only entities that have one count, that is, a
    mention in the English table. So the three coincide, by definition, unless ``named`` says of
    more entities that they have an English name, such as those with an English label but without
    an English article. ``among`` limits the spaces to entities that somebody will ask for.
    """
    learned = {"PL": list(_checked(pivots))}
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
    """Which queries have their gold in the candidate space."""
    if isinstance(space, str):
        raise ParameterError(f"the candidate space is {space!r}: expected several entities")
    known = space if isinstance(space, Set | Mapping) else frozenset(space)
    return np.array([query.entity in known for query in queries], dtype=np.bool_)


def ceiling(queries: Sequence[Query], space: Collection[str]) -> dict[str, Ceiling]:
    """The highest recall that a generator with this candidate space can have, for any k.

    The keys are ``all``, then each type that is present, easiest first.

    >>> ceiling([Query("Wien", "Q1741", "easy"), Query("Oslo", "Q585", "hard")], {"Q1741"})["hard"]
    Ceiling(queries=1, recall=0.0)
    """
    found = covered(queries, space)
    parts = by_type(found, [query.type for query in queries])
    named = {type_: part for type_, part in parts.items() if type_ is not None}
    return {name: _ceiling(part) for name, part in {"all": found, **named}.items()}


def unlike_pivots(
    queries: Sequence[Query],
    pivots: Iterable[MentionTable],
    *,
    normalizer: str = "none",
    language: str | None = None,
    languages: Sequence[str | None] | None = None,
) -> Flags:
    """Which queries have a mention that is not one of the gold's names in any pivot.

    The others are answered by looking the mention up in the pivots. A gold that no pivot has, has
    no names there, so its queries are among these; ``covered`` tells them apart.
    Strings are compared as they are, or after the normalizer, which is told the language of the
    queries and those of the pivots in their order.

    >>> icelandic = MentionTable.from_pairs([("Vín", "Q1741"), ("Vín", "Q282")])
    >>> queries = [Query("Vín", "Q282"), Query("Wien", "Q1741"), Query("vin", "Q1741")]
    >>> unlike_pivots(queries, [icelandic]).tolist()
    [False, True, True]
    >>> unlike_pivots(queries, [icelandic], normalizer="default").tolist()
    [False, True, False]
    """
    tables = _checked(pivots)
    spoken = [None] * len(tables) if languages is None else list(languages)
    if len(spoken) != len(tables):
        raise ParameterError(
            f"languages has {len(spoken)} and pivots {len(tables)}: expected one for each pivot"
        )
    mentions = normalize_many([query.mention for query in queries], normalizer, language=language)
    golds = [query.entity for query in queries]
    names = set[tuple[str, str]]()
    for table, its_language in zip(tables, spoken, strict=True):
        names |= _names(table, golds, normalizer, its_language)
    pairs = zip(mentions, golds, strict=True)
    return np.array([pair not in names for pair in pairs], dtype=np.bool_)


def _names(
    table: MentionTable, golds: Sequence[str], normalizer: str, language: str | None
) -> set[tuple[str, str]]:
    """The names of the golds in a table, normalized.

    Arrow picks their rows: a large pivot has millions of others, which never become Python strings.
    """
    wanted = pa.array(set(golds), type=pa.large_string())
    rows = table.arrow.filter(pc.is_in(table.arrow["entity"], value_set=wanted))
    mentions = normalize_many(rows["mention"].to_pylist(), normalizer, language=language)
    return set(zip(mentions, rows["entity"].to_pylist(), strict=True))


def _checked(tables: Iterable[MentionTable]) -> list[MentionTable]:
    checked = list(tables)
    for table in checked:
        if not isinstance(table, MentionTable):
            raise ParameterError(f"{table!r} is not a mention table: expected mention tables only")
    return checked


def _ceiling(found: Flags) -> Ceiling:
    if not len(found):
        return Ceiling(0, math.nan)
    return Ceiling(len(found), 100 * int(np.count_nonzero(found)) / len(found))
