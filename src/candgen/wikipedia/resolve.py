"""Titles to entities: redirects are followed, and titles replaced by the entities of their pages.

The work is done on Arrow columns, a table at a time, so that it needs little memory.
"""

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.dumps.external_sort import find_group_starts, sort_rows
from candgen.kernels.strings import find_sorted
from candgen.tables.string_table import string_buffers
from candgen.wikipedia.markup.reasons import Reason

MAX_HOPS = 8
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
    """Titles that redirect, sorted; the final title of each, or why it has none."""

    titles: pa.LargeStringArray
    finals: pa.LargeStringArray
    reasons: npt.NDArray[np.int8]
    """An index in _REASONS, or -1."""


def keep_first_of_each_title(pages: pa.Table) -> pa.Table:
    """Return pages sorted by title; of several with one title, that with the lowest id."""
    pages = sort_rows(pages, ("title", "id"))
    return pages.take(find_group_starts(pages, ("title",)))


def follow_redirects(pages: pa.Table, namespaces: Collection[int]) -> Redirects:
    """Follow every redirect to its end, given the result of `keep_first_of_each_title`."""
    pages = pages.filter(pc.is_valid(pages["redirect"])).combine_chunks()
    titles, targets = _combine(pages["title"]), _combine(pages["redirect"])
    outside = pages["outside"].to_numpy()
    onward = np.where(
        outside, -1, _find_places(targets, titles)
    )  # -1 where the target is not a redirect
    at = np.arange(len(titles))
    for _ in range(MAX_HOPS - 1):
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
        """Combine tables of title and entity; the first that has a title wins."""
        together = pa.concat_tables([table.select(["title", "entity"]) for table in tables])
        order = pa.array(np.arange(together.num_rows))
        together = keep_first_of_each_title(together.append_column("id", order))
        return cls(_combine(together["title"]), _combine(together["entity"]))


class Resolver:
    """Replaces titles by entities.

    Without entities a title is its own entity: ``fo:Tórshavn``.
    """

    def __init__(self, redirects: Redirects, entities: Entities | None, *, language: str) -> None:
        self._redirects = redirects
        self._entities = entities
        self._language = language

    def resolve(self, links: pa.Table, dropped: Counter[str]) -> pa.Table:
        """Replace the titles of links by entities; links without one are counted in ``dropped``."""
        titles = _combine(links["title"])
        counts = links["count"].to_numpy()
        places = _find_places(titles, self._redirects.titles)
        redirected = places >= 0
        reasons = np.full(len(titles), -1, dtype=np.int8)
        reasons[redirected] = self._redirects.reasons[places[redirected]]
        for number, reason in enumerate(_REASONS):
            _count_dropped(dropped, reason, counts[reasons == number])
        finals = _take(self._redirects.finals, places)
        titles = pc.coalesce(finals, titles)
        entities = self._find_entities(titles)
        known = pc.is_valid(entities).to_numpy(zero_copy_only=False)
        _count_dropped(dropped, Reason.UNMAPPED, counts[~known & (reasons < 0)])
        table = pa.table(
            [links["mention"], entities, links["fold"], links["count"]], RESOLVED.names
        )
        return table.filter(pa.array(known & (reasons < 0)))

    def _find_entities(self, titles: pa.LargeStringArray) -> pa.LargeStringArray:
        if self._entities is None:
            language = pa.scalar(self._language, pa.large_string())
            return pc.binary_join_element_wise(language, titles, pa.scalar(":", pa.large_string()))
        return _take(self._entities.entities, _find_places(titles, self._entities.titles))


def _count_dropped(dropped: Counter[str], reason: Reason, counts: npt.NDArray[np.int64]) -> None:
    if len(counts):
        dropped[reason] += int(counts.sum())


def _find_places(values: pa.LargeStringArray, among: pa.LargeStringArray) -> npt.NDArray[np.int64]:
    """Return the index of each value among others, sorted and distinct; -1 if it is absent.

    Arrow's own function would make a hash table of the others for each table.
    """
    (offsets, text), (among_offsets, among_text) = string_buffers(values), string_buffers(among)
    places = np.empty(len(values), dtype=np.int64)
    find_sorted(text, offsets, among_text, among_offsets, places)
    return places


def _take(values: pa.LargeStringArray, places: npt.NDArray[np.int64]) -> pa.LargeStringArray:
    """Return the values at places; null where the place is -1."""
    return values.take(pa.array(places, mask=places < 0))


def _combine(column: pa.ChunkedArray) -> pa.LargeStringArray:
    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # older releases of Arrow
        return column.chunk(0) if column.num_chunks else pa.array([], column.type)
    return column
