"""From titles to entities: redirects are followed, and titles replaced by what they are about.

Everything is done on Arrow columns, a table at a time, so that it costs little memory.
"""

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.kernels.sorted_strings import find_sorted
from candgen.tables.string_table import string_buffers
from candgen.wikipedia.markup.reasons import Reason

HOPS = 8
"""A chain of more redirects than this counts as a loop."""

_REASONS = (Reason.LOOP, Reason.OUTSIDE, Reason.NAMESPACE)
RESOLVED = pa.schema(
    [
        ("mention", pa.large_string()),
        ("entity", pa.large_string()),
        ("fold", pa.int8()),
        ("count", pa.int64()),
    ]
)


class Redirects(NamedTuple):
    """Titles that redirect, sorted; where each leads in the end, or why it leads nowhere."""

    titles: pa.LargeStringArray
    finals: pa.LargeStringArray
    reasons: npt.NDArray[np.int8]
    """A place in _REASONS, or -1."""


def first_of_each(pages: pa.Table) -> pa.Table:
    """Sort pages by title; of several with one title, keep that with the lowest id."""
    pages = pages.sort_by([("title", "ascending"), ("id", "ascending")]).combine_chunks()
    titles = pages["title"]
    new = np.ones(len(titles), dtype=np.bool_)
    new[1:] = pc.not_equal(titles[1:], titles[:-1]).to_numpy()
    return pages.filter(pa.array(new))


def follow(pages: pa.Table, namespaces: Collection[int]) -> Redirects:
    """Follow every redirect to its end, given what `first_of_each` gives."""
    pages = pages.filter(pc.is_valid(pages["redirect"])).combine_chunks()
    titles, targets = _one(pages["title"]), _one(pages["redirect"])
    outside = pages["outside"].to_numpy()
    onward = np.where(outside, -1, _places(targets, titles))  # -1 where the target is no redirect
    at = np.arange(len(titles))
    for _ in range(HOPS - 1):
        at = np.where(onward[at] >= 0, onward[at], at)
    wanted = np.isin(pages["redirect_namespace"].to_numpy()[at], list(namespaces))
    reasons = np.select([onward[at] >= 0, outside[at], ~wanted], [0, 1, 2], -1).astype(np.int8)
    return Redirects(titles, targets.take(pa.array(at)), reasons)


class Entities(NamedTuple):
    """The entities of titles, which are sorted."""

    titles: pa.LargeStringArray
    entities: pa.LargeStringArray

    @classmethod
    def of(cls, *tables: pa.Table) -> "Entities":
        """Make them of tables of title and entity; where two know a title, the first is right."""
        together = pa.concat_tables([table.select(["title", "entity"]) for table in tables])
        order = pa.array(np.arange(together.num_rows))
        together = first_of_each(together.append_column("id", order))
        return cls(_one(together["title"]), _one(together["entity"]))


class Resolver:
    """Gives the entity that each title stands for, or why it stands for none.

    Without entities a title is its own: ``fo:Tórshavn``.
    """

    def __init__(self, redirects: Redirects, entities: Entities | None, *, language: str) -> None:
        self._redirects = redirects
        self._entities = entities
        self._language = language

    def resolve(self, links: pa.Table, dropped: Counter[str]) -> pa.Table:
        """Replace the titles of links by entities; those without are counted as dropped."""
        titles = _one(links["title"])
        counts = links["count"].to_numpy()
        places = _places(titles, self._redirects.titles)
        redirected = places >= 0
        reasons = np.full(len(titles), -1, dtype=np.int8)
        reasons[redirected] = self._redirects.reasons[places[redirected]]
        for number, reason in enumerate(_REASONS):
            _drop(dropped, reason, counts[reasons == number])
        finals = _taken(self._redirects.finals, places)
        titles = pc.coalesce(finals, titles)
        entities = self._entity_of(titles)
        known = pc.is_valid(entities).to_numpy(zero_copy_only=False)
        _drop(dropped, Reason.UNMAPPED, counts[~known & (reasons < 0)])
        table = pa.table(
            [links["mention"], entities, links["fold"], links["count"]], RESOLVED.names
        )
        return table.filter(pa.array(known & (reasons < 0)))

    def _entity_of(self, titles: pa.LargeStringArray) -> pa.LargeStringArray:
        if self._entities is None:
            language = pa.scalar(self._language, pa.large_string())
            return pc.binary_join_element_wise(language, titles, pa.scalar(":", pa.large_string()))
        return _taken(self._entities.entities, _places(titles, self._entities.titles))


def _drop(dropped: Counter[str], reason: Reason, counts: npt.NDArray[np.int64]) -> None:
    if len(counts):
        dropped[reason] += int(counts.sum())


def _places(values: pa.LargeStringArray, among: pa.LargeStringArray) -> npt.NDArray[np.int64]:
    """Tell where each value stands among others, sorted and distinct; -1 if it does not.

    Arrow would make a hash table of the others each time: for many tables and titles that is much.
    """
    (offsets, text), (among_offsets, among_text) = string_buffers(values), string_buffers(among)
    places = np.empty(len(values), dtype=np.int64)
    find_sorted(text, offsets, among_text, among_offsets, places)
    return places


def _taken(values: pa.LargeStringArray, places: npt.NDArray[np.int64]) -> pa.LargeStringArray:
    """The values at places; null where the place is -1."""
    return values.take(pa.array(places, mask=places < 0))


def _one(column: pa.ChunkedArray) -> pa.LargeStringArray:
    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # older releases of Arrow
        return column.chunk(0) if column.num_chunks else pa.array([], column.type)
    return column
