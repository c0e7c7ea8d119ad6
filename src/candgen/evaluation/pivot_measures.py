"""Measure a language that may become a pivot, for the pairs of a target or for its names alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError
from candgen.evaluation.shuffle import shuffle_keys
from candgen.evaluation.trigram_similarity import (
    WHOLE,
    Millionths,
    NameRows,
    TrigramIndex,
    most_similar,
    most_similar_in_group,
    overlap,
)
from candgen.tables.mention_table import MentionTable

OVERLAP_NAMES = 20_000
"""Names of a language, spread evenly over its table, that give its distribution of trigrams."""
NAMES_PER_ENTITY = 50
"""The most frequent ones; some entities have thousands."""
MIN_SIMILARITY = 500_000
"""The similarity, in millionths, above which two names are taken for the same name."""


@dataclass(frozen=True)
class PivotMeasures:
    """A language, and for each of the target's pairs, or names, whether and how well it has it."""

    language: str
    pairs: int
    entities: int
    overlap: float
    covered: npt.NDArray[np.bool_]
    similarity: Millionths

    @property
    def coverage(self) -> float:
        """The fraction of pairs or names that is covered."""
        return int(np.count_nonzero(self.covered)) / len(self.covered)

    @property
    def closeness(self) -> float:
        """The mean similarity of those that are covered."""
        many = int(np.count_nonzero(self.covered))
        return int(self.similarity[self.covered].sum()) / (WHOLE * many) if many else 0.0


Measure = Callable[[str, MentionTable], PivotMeasures]


def prepare_pairs(target: MentionTable, normalizer: str, language: str | None) -> Measure:
    """Return a function that measures languages for a target whose entities are known."""
    if not len(target):
        raise ParameterError(
            "the target has no pairs: give at least one, or names without entities"
        )
    mentions = NameRows.of(target.arrow["mention"].to_pylist(), normalizer, language)
    entities = target.arrow["entity"].combine_chunks().dictionary_encode()
    group = entities.indices.to_numpy().astype(np.int64)
    sample = _sample_evenly(target, normalizer, language)

    def measure(code: str, table: MentionTable) -> PivotMeasures:
        others, first = _group_by_entity(table, entities.dictionary, normalizer, code)
        covered = first[group + 1] > first[group]
        similarity = most_similar_in_group(mentions, group, others, first)
        theirs = _sample_evenly(table, normalizer, code)
        return _measures(code, table, overlap(sample, theirs), covered, similarity)

    return measure


def prepare_names(
    target: Sequence[str], normalizer: str, language: str | None, *, sample: int, seed: int
) -> Measure:
    """Return a function that estimates the same for a target with names but without entities.

    A name counts as covered if the most similar name of the language has a similarity of at least
    ``MIN_SIMILARITY``.
    """
    names = NameRows.of(_sample(target, sample, seed), normalizer, language)
    queries = TrigramIndex.of(names)
    if not len(queries.trigrams):
        raise ParameterError("the target has no names: give at least one that is not empty")

    def measure(code: str, table: MentionTable) -> PivotMeasures:
        similarity = most_similar(queries, NameRows.of(table.mentions, normalizer, code))
        similarity[similarity < MIN_SIMILARITY] = 0
        theirs = _sample_evenly(table, normalizer, code)
        return _measures(code, table, overlap(names, theirs), similarity > 0, similarity)

    return measure


def _measures(
    code: str,
    table: MentionTable,
    overlap: float,
    covered: npt.NDArray[np.bool_],
    similarity: Millionths,
) -> PivotMeasures:
    entities = int(pc.count_distinct(table.arrow["entity"]).as_py())
    return PivotMeasures(code, len(table), entities, overlap, covered, similarity)


def _group_by_entity(
    table: MentionTable, entities: pa.Array, normalizer: str, language: str
) -> tuple[NameRows, npt.NDArray[np.int64]]:
    """Return the mentions of the target's entities in a table, and where those of each begin."""
    group = pc.index_in(table.arrow["entity"], value_set=entities)
    here = pc.is_valid(group)
    # Arrow selects the rows: a large table has millions of others, which never become strings.
    rows, group = table.arrow.filter(here), group.filter(here).to_numpy().astype(np.int64)
    order = np.lexsort((-rows["count"].to_numpy(), group))
    sizes = np.bincount(group, minlength=len(entities))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = order[rank < NAMES_PER_ENTITY]
    sizes = np.minimum(sizes, NAMES_PER_ENTITY)
    mentions = rows["mention"].take(kept).to_pylist()
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return NameRows.of(mentions, normalizer, language), first


def _sample_evenly(table: MentionTable, normalizer: str, language: str | None) -> NameRows:
    """Return names spread evenly over a table; it is sorted, so that all letters take part."""
    distinct = pc.unique(table.arrow["mention"])
    size = min(len(distinct), OVERLAP_NAMES)
    places = np.arange(size) * len(distinct) // max(size, 1)
    return NameRows.of(distinct.take(places).to_pylist(), normalizer, language)


def _sample(target: Sequence[str], size: int, seed: int) -> list[str]:
    """Return at most ``size`` of the names, each once; their order does not matter."""
    if isinstance(target, str) or not all(isinstance(name, str) for name in target):
        raise ParameterError("target: expected a mention table, or a list of names, all strings")
    names = sorted(set(target))
    keys = shuffle_keys(np.arange(len(names)), seed, 0)
    return [names[place] for place in np.sort(np.argsort(keys)[:size]).tolist()]
