"""The mentions of each entity in the tables that an index was built from."""

import numpy as np
import pyarrow as pa

from candgen.tables.mention_table import MentionTable
from candgen.tables.source_mentions import SourceMention, SourceMentions

TABLES = {
    "da": MentionTable.from_pairs([("Wien", "Q1741", 3), ("Østrig", "Q40")]),
    "is": MentionTable.from_pairs(
        [("Vín", "Q1741", 3), ("Vín", "Q282", 5), ("Vínarborg", "Q1741")]
    ),
}
ENTITIES = ["Q1741", "Q282"]  # Q40 has no number


def gather():
    numbers = {
        language: np.array(
            [ENTITIES.index(entity) if entity in ENTITIES else -1 for _, entity, _ in table]
        )
        for language, table in TABLES.items()
    }
    return SourceMentions.gather(TABLES, numbers, len(ENTITIES))


def test_the_most_frequent_first_then_by_language():
    sources = gather()
    assert sources.of(0) == [
        SourceMention("Wien", "da", 3),
        SourceMention("Vín", "is", 3),
        SourceMention("Vínarborg", "is", 1),
    ]
    assert sources.of(1) == [SourceMention("Vín", "is", 5)]


def test_the_tables_come_back_without_entities_that_have_no_number():
    tables = gather().tables(pa.array(ENTITIES, pa.large_string()))
    assert list(tables["da"]) == [("Wien", "Q1741", 3)]
    assert tables["is"] == TABLES["is"]


def test_arrays_read_back():
    sources = gather()
    again = SourceMentions.from_arrays(sources.arrays(), languages=sources.languages)
    assert [again.of(n) for n in range(2)] == [sources.of(n) for n in range(2)]
