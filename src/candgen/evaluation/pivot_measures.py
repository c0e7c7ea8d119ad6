"""What is measured of a language that may be a pivot, for pairs of the target or for bare names."""

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
    Names,
    Queries,
    nearest,
    nearest_in_group,
    overlap,
)
from candgen.tables.mention_table import MentionTable

OVERLAP_NAMES = 20_000
"""So many names of a language, spread evenly over its table, give its distribution of trigrams."""
NAMES_OF_AN_ENTITY = 50
"""The most frequent ones; some entities have thousands."""
ALIKE = 500_000
"""The likeness, in millionths, from which on a name is taken for the same name in two languages."""


@dataclass(frozen=True)
class Measured:
    """A language: for each of the target's pairs, or names, whether it is covered, and how well."""

    language: str
    pairs: int
    entities: int
    overlap: float
    covered: npt.NDArray[np.bool_]
    likeness: Millionths

    @property
    def coverage(self) -> float:
        """The share that is covered."""
        return int(np.count_nonzero(self.covered)) / len(self.covered)

    @property
    def closeness(self) -> float:
        """The mean likeness of what is covered."""
        many = int(np.count_nonzero(self.covered))
        return int(self.likeness[self.covered].sum()) / (WHOLE * many) if many else 0.0


Measure = Callable[[str, MentionTable], Measured]


def measure_pairs(target: MentionTable, normalizer: str, language: str | None) -> Measure:
    """What measures languages for a target whose entities are known."""
    if not len(target):
        raise ParameterError(
            "the target has no pairs: give at least one, or names without entities"
        )
    mentions = Names.of(
        target.arrow["mention"].to_pylist(), normalizer=normalizer, language=language
    )
    entities = target.arrow["entity"].combine_chunks().dictionary_encode()
    group = entities.indices.to_numpy().astype(np.int64)
    sampled = _sampled(target, normalizer, language)

    def measure(code: str, table: MentionTable) -> Measured:
        others, first = _by_entity(table, entities.dictionary, normalizer, code)
        return Measured(
            code,
            len(table),
            _entities(table),
            overlap(sampled, _sampled(table, normalizer, code)),
            first[group + 1] > first[group],
            nearest_in_group(mentions, group, others, first),
        )

    return measure


def measure_names(
    target: Sequence[str], normalizer: str, language: str | None, *, sample: int, seed: int
) -> Measure:
    """What estimates the same for a target of which there are only names.

    A name counts as covered where the name most like it is at least as like it as ALIKE says.
    """
    names = _drawn(target, sample, seed)
    found = Names.of(names, normalizer=normalizer, language=language)
    queries = Queries.of(found)
    if not len(queries.tokens):
        raise ParameterError("the target has no names: give at least one that is not empty")

    def measure(code: str, table: MentionTable) -> Measured:
        theirs = Names.of(table.mentions, normalizer=normalizer, language=code)
        likeness = nearest(queries, theirs)
        likeness[likeness < ALIKE] = 0
        return Measured(
            code,
            len(table),
            _entities(table),
            overlap(found, _sampled(table, normalizer, code)),
            likeness > 0,
            likeness,
        )

    return measure


def _by_entity(
    table: MentionTable, entities: pa.Array, normalizer: str, language: str
) -> tuple[Names, npt.NDArray[np.int64]]:
    """The mentions of the target's entities in a table, and where those of each begin."""
    group = pc.index_in(table.arrow["entity"], value_set=entities)
    here = pc.is_valid(group)
    # Arrow picks the rows: a large table has millions of others, which never become strings.
    rows, group = table.arrow.filter(here), group.filter(here).to_numpy().astype(np.int64)
    order = np.lexsort((-rows["count"].to_numpy(), group))
    sizes = np.bincount(group, minlength=len(entities))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = order[rank < NAMES_OF_AN_ENTITY]
    sizes = np.minimum(sizes, NAMES_OF_AN_ENTITY)
    mentions = rows["mention"].take(kept).to_pylist()
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Names.of(mentions, normalizer=normalizer, language=language), first


def _sampled(table: MentionTable, normalizer: str, language: str | None) -> Names:
    """Names of a table, spread evenly: they are sorted, so every letter has its share."""
    distinct = pc.unique(table.arrow["mention"])
    most = min(len(distinct), OVERLAP_NAMES)
    places = np.arange(most) * len(distinct) // max(most, 1)
    return Names.of(distinct.take(places).to_pylist(), normalizer=normalizer, language=language)


def _drawn(target: Sequence[str], sample: int, seed: int) -> list[str]:
    """At most so many of the names, each once, whatever order they came in."""
    if isinstance(target, str) or not all(isinstance(name, str) for name in target):
        raise ParameterError("target: expected a mention table, or a list of names, all strings")
    names = sorted(set(target))
    keys = shuffle_keys(np.arange(len(names)), seed, 0)
    return [names[place] for place in np.sort(np.argsort(keys)[:sample]).tolist()]


def _entities(table: MentionTable) -> int:
    return int(pc.count_distinct(table.arrow["entity"]).as_py())
