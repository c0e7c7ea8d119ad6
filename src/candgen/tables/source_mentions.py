"""The mentions of each entity in the tables that an index was built from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_offsets, check_range, check_texts
from candgen.tables.mention_table import MentionTable
from candgen.tables.rows import MAX_COUNT, Rows
from candgen.tables.string_table import StringTable


class SourceMention(NamedTuple):
    """A mention of an entity in one of the tables that an index was built from."""

    mention: str
    language: str
    count: int  # type: ignore[assignment]  # the word of the tables, not the method of tuples


@dataclass(frozen=True)
class SourceMentions:
    """Mentions ``start[e]`` to ``start[e + 1] - 1`` belong to entity e, the most frequent first."""

    languages: Sequence[str]
    start: npt.NDArray[np.int64]
    mention: StringTable
    language: npt.NDArray[np.uint16]
    count: npt.NDArray[np.int64]

    @classmethod
    def gather(
        cls,
        tables: Mapping[str, MentionTable],
        entity_of_row: Mapping[str, npt.NDArray[np.signedinteger[Any]]],
        entities: int,
    ) -> "SourceMentions":
        """Collect the mentions of all tables by entity; rows without an entity are left out."""
        rows = pa.concat_tables(
            [table.arrow.replace_schema_metadata() for table in tables.values()]
        )
        sizes = [len(table) for table in tables.values()]
        language = np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)
        count = rows["count"].to_numpy()
        entity = np.concatenate([entity_of_row[each] for each in tables])
        order = np.lexsort((language, -count, entity))  # stable: then by mention
        order = order[np.searchsorted(entity[order], 0) :]
        start = np.searchsorted(entity[order], np.arange(entities + 1))
        mention = StringTable.from_arrow(rows["mention"].take(order).combine_chunks())
        return cls(list(tables), start, mention, language[order], count[order])

    def of(self, entity: int) -> list[SourceMention]:
        """Return the mentions of one entity."""
        first, last = self.start[entity : entity + 2].tolist()
        return [
            SourceMention(mention, self.languages[language], count)
            for mention, language, count in zip(
                self.mention[first:last],
                self.language[first:last].tolist(),
                self.count[first:last].tolist(),
                strict=True,
            )
        ]

    def tables(self, entities: pa.LargeStringArray) -> dict[str, MentionTable]:
        """Return the tables by language; ``entities`` are the ids, by number."""
        owner = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        rows = pa.table(
            {
                "mention": self.mention.to_arrow(),
                "entity": entities.take(pa.array(owner)),
                "count": pa.array(self.count),
            }
        )
        return {
            name: MentionTable(Rows(rows.filter(pa.array(self.language == number))))
            for number, name in enumerate(self.languages)
        }

    def validate(self, entities: int) -> None:
        """Raise ValueError unless these are mentions of so many entities."""
        check_texts("the languages of the mentions", self.languages)
        mentions = len(self.mention)
        self.mention.validate("sources.mention")
        check_offsets("sources.start", self.start, entities, mentions)
        check_array("sources.language", self.language, np.uint16, mentions)
        check_range("sources.language", self.language, 0, len(self.languages) - 1)
        check_array("sources.count", self.count, np.int64, mentions)
        check_range("sources.count", self.count, 1, MAX_COUNT)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays to store; the names of the languages are not among them."""
        return {
            "start": self.start,
            "language": self.language,
            "count": self.count,
            **add_prefix("mention", self.mention.arrays()),
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], *, languages: Sequence[str]
    ) -> "SourceMentions":
        """Make the mentions from stored arrays."""
        mention = StringTable(**strip_prefix("mention", arrays))
        return cls(languages, arrays["start"], mention, arrays["language"], arrays["count"])
