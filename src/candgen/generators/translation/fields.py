"""What a translation index is built from: its names, its words, and what translates them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError, TableError
from candgen.generators.inputs import TARGET, collect_tables, describe_table
from candgen.generators.rerank.spellings import no_rows, normalized_rows
from candgen.generators.translation.aligned_names import (
    SEARCHED_NORMALIZER,
    aligned_pairs,
    word_rows,
)
from candgen.generators.translation.exact_names import ExactNames
from candgen.generators.translation.lexicon import Lexicon
from candgen.generators.translation.shared_words import SharedWords
from candgen.index.tie_order import tie_order
from candgen.protocols import Progress
from candgen.tables.mention_table import MentionTable
from candgen.tables.source_mentions import SourceMentions
from candgen.tables.string_table import StringTable
from candgen.text.normalize import check_normalizer

ENGLISH = "en"

Tables = Mapping[str, MentionTable]


class Fields(NamedTuple):
    """The fields of a ``Translation``, in their order."""

    entities: StringTable
    target: ExactNames
    pivots: ExactNames
    searched: ExactNames
    words: SharedWords
    lexicon: Lexicon
    sources: SourceMentions
    parameters: dict[str, Any]
    inputs: dict[str, Any]


def build_fields(
    pivots: Tables,
    target: MentionTable | None,
    english: MentionTable | None,
    *,
    language: str | None,
    normalizer: str,
    progress: Progress,
) -> Fields:
    """Return everything that ``Translation.build`` needs; its arguments are those."""
    check_normalizer(normalizer)
    tables = collect_tables(pivots, target, language, {})
    own = {each: table for each, table in tables.items() if each not in pivots}
    related = {each: table for each, table in tables.items() if each in pivots}
    every = _with_english(tables, english)
    spoken = {each: language if each == TARGET else each for each in every}
    searched = {ENGLISH: every[ENGLISH]} if english is not None else related or own

    progress("learning translations", 0.0)
    # Among their own names, the pivots have nothing to translate.
    teachers = [own] if english is None else [own, related]
    lexicon = Lexicon.learn([aligned_pairs(some, searched, spoken) for some in teachers])
    progress("reading names", 0.0)
    rows = [
        normalized_rows(own, normalizer, spoken) if own else no_rows(),
        normalized_rows(related, normalizer, spoken) if related else no_rows(),
        word_rows(searched, SEARCHED_NORMALIZER, spoken),
    ]
    entities, placed = _place(rows)
    progress("indexing names", 0.0)
    whole, of_pivots, names = map(ExactNames.build, placed)
    words = SharedWords.build(names.names)
    parameters = {
        "normalizer": normalizer,
        "language": language,
        "target": None if target is None else language or TARGET,
        "languages": list(tables),
        "sources": list(every),
        "searched": list(searched),
    }
    sources, inputs = _describe(every, entities)
    progress("done", 1.0)
    return Fields(entities, whole, of_pivots, names, words, lexicon, sources, parameters, inputs)


def _with_english(tables: Tables, english: MentionTable | None) -> dict[str, MentionTable]:
    """Return the tables and that of English; if it is one of them, both are added up."""
    if english is None:
        return dict(tables)
    if not isinstance(english, MentionTable):
        raise ParameterError(f"english is {english!r}: expected a MentionTable")
    if len(english) == 0:
        raise ParameterError("the table of English is empty: leave it out, or give it rows")
    known = tables.get(ENGLISH)
    if known is None or known == english:
        return {**tables, ENGLISH: english}
    return {**tables, ENGLISH: known.merge(english)}


def _place(rows: list[pa.Table]) -> tuple[StringTable, list[pa.Table]]:
    """Return all entities of rows, and the rows with the place of each entity among them."""
    every = pc.unique(pa.chunked_array([chunk for each in rows for chunk in each["entity"].chunks]))
    if not len(every):
        raise TableError("no mention has a token: there is nothing to build an index from")
    entities, order = tie_order(every)
    placed = []
    for each in rows:
        number = pc.index_in(each["entity"], value_set=every)
        place = pa.chunked_array([order[chunk.to_numpy()] for chunk in number.chunks], pa.uint32())
        placed.append(each.append_column("place", place))
    return entities, placed


def _describe(
    tables: Tables, entities: StringTable
) -> tuple[SourceMentions, dict[str, dict[str, Any]]]:
    """Return the mentions of the entities in all tables, and what is stored about the tables."""
    known = entities.to_arrow()
    rows = {
        each: pc.fill_null(pc.index_in(table.arrow["entity"], value_set=known), -1)
        .to_numpy()
        .astype(np.int64)
        for each, table in tables.items()
    }
    inputs = {
        each: describe_table(table, len(np.unique(rows[each][rows[each] >= 0])))
        for each, table in tables.items()
    }
    return SourceMentions.gather(tables, rows, len(entities)), inputs
