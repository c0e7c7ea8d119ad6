"""Rows of names as their words, and pairs of names of the same entity to learn words from."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from candgen.generators.rerank.name_pairs import Pairs, word_entities, word_pairs
from candgen.generators.rerank.spellings import normalized_rows
from candgen.tables.mention_table import MentionTable
from candgen.text.tokenizers import Words

SCRIPT_NORMALIZER = "default"
"""For the words that are translated: a normalizer that keeps the script."""
SEARCHED_NORMALIZER = "latin"
"""For the names that are searched: a word without a translation is romanized, and may be one."""

Languages = Mapping[str, str | None]
"""The language of each table, for the normalizer."""


def words_of(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of normalized texts: runs of letters, marks and digits.

    >>> words_of(["saint-pierre, 2nd", "!"])
    [['saint', 'pierre', '2nd'], []]
    """
    cut = Words().cutter
    return [cut(text) for text in texts]


def word_rows(
    tables: Mapping[str, MentionTable],
    normalizer: str,
    languages: Languages,
    *,
    only: pa.Array | None = None,
) -> pa.Table:
    """Return rows of names like ``normalized_rows``; a text is its words, with spaces between.

    Names without a word are left out. The most frequent names of a table come first.
    """
    rows = normalized_rows(tables, normalizer, languages, only=only)
    chunks = [_join_words(chunk) for chunk in rows["text"].chunks]  # few are strings at a time
    column = rows.column_names.index("text")
    rows = rows.set_column(column, "text", pa.chunked_array(chunks, pa.large_string()))
    rows = rows.filter(pc.not_equal(rows["text"], ""))
    order = [("table", "ascending"), ("count", "descending"), ("text", "ascending")]
    return rows.sort_by([*order, ("entity", "ascending")])


def _join_words(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    return pa.array(map(" ".join, words_of(texts.to_pylist())), pa.large_string())


def aligned_pairs(
    sources: Mapping[str, MentionTable], searched: Mapping[str, MentionTable], languages: Languages
) -> Pairs:
    """Return names of the ``sources``, each with a searched name of the same entity.

    A language that is in both is not paired with itself.
    """
    pairs: Pairs = []
    for source, table in sources.items():
        for language, other in searched.items():
            if source != language:
                both = {source: table, language: other}
                pairs += _pairs_of_two(both, languages)
    return pairs


def _pairs_of_two(tables: Mapping[str, MentionTable], languages: Languages) -> Pairs:
    """Return pairs of a name in the first table and one in the second."""
    second, other = list(tables.items())[1]
    here, there = (pc.unique(table.arrow["entity"]) for table in tables.values())
    shared = here.filter(pc.is_in(here, value_set=there))
    rows = word_rows(tables, SCRIPT_NORMALIZER, languages, only=shared)
    some = word_entities(rows, joint=True)
    written = word_rows({second: other}, SEARCHED_NORMALIZER, languages, only=some)
    return word_pairs(rows, written, 1, joint=True)
