"""The distinct spellings of every entity, in few bytes: what a mention is compared with.

A symbol is one byte, whatever the script, and what languages spell alike is kept once. A count is
kept as a logarithm in one byte: nobody needs to know whether a name was seen 1,000 or 1,050 times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.generators.rerank.edit_model import EditModel
from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.tables.mention_table import MentionTable
from candgen.tables.string_table import StringTable
from candgen.text.normalize import normalize_many

STEPS = 8
"""Steps of a stored logarithm for each doubling."""
_ROWS_AT_ONCE = 1 << 18

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def normalized_rows(
    tables: Mapping[str, MentionTable],
    normalizer: str,
    languages: Mapping[str, str | None],
    *,
    longest: int | None = None,
) -> pa.Table:
    """The rows of all tables: entity, text after the normalizer, count and number of the table.

    Of texts, only so many symbols are kept.

    ``languages`` says which language the normalizer is told for each table. Rows of which the
    normalizer leaves nothing are left out.
    """
    parts = []
    for number, (name, table) in enumerate(tables.items()):
        for batch in table.arrow.to_batches(max_chunksize=_ROWS_AT_ONCE):
            mentions = batch["mention"].to_pylist()
            texts = normalize_many(mentions, normalizer, language=languages[name])
            short = [text[:longest] for text in texts]
            columns = {
                "entity": batch["entity"],
                "text": pa.array(short, pa.large_string()),
                "count": batch["count"],
                "table": pa.array(np.full(len(texts), number, np.uint16)),
            }
            parts.append(pa.table(columns))
    rows = pa.concat_tables(parts)
    return rows.filter(pc.not_equal(rows["text"], ""))


@dataclass(frozen=True)
class Spellings:
    """Spellings ``first[e]`` to ``first[e + 1] - 1`` are those of entity e, most frequent first.

    Spelling i is ``symbols[start[i]:start[i + 1]]``, in the numbers of an edit model, and ``count``
    has its logarithm. ``popularity`` has that of all counts of an entity, ``languages`` how many
    tables have it. ``entities`` are sorted by their bytes.
    """

    entities: StringTable
    first: npt.NDArray[Any]
    symbols: Bytes
    start: npt.NDArray[Any]
    count: Bytes
    popularity: Bytes
    languages: Bytes

    @classmethod
    def build(cls, rows: pa.Table, model: EditModel) -> "Spellings":
        """What ``normalized_rows`` gave, by entity."""
        spelled = (
            rows.group_by(["entity", "text"], use_threads=False)
            .aggregate([("count", "sum")])
            .sort_by([("entity", "ascending"), ("count_sum", "descending"), ("text", "ascending")])
        )
        whole = (
            rows.group_by("entity", use_threads=False)
            .aggregate([("count", "sum"), ("table", "count_distinct")])
            .sort_by("entity")
        )
        sizes = spelled["entity"].combine_chunks().dictionary_encode().indices.to_numpy()
        symbols, start = model.encoded(spelled["text"].to_pylist())
        first = np.concatenate(([0], np.cumsum(np.bincount(sizes))))
        return cls(
            StringTable.from_arrow(whole["entity"].combine_chunks()),
            _narrow(first),
            symbols,
            _narrow(start),
            _logarithms(spelled["count_sum"].to_numpy()),
            _logarithms(whole["count_sum"].to_numpy()),
            np.minimum(whole["table_count_distinct"].to_numpy(), 255).astype(np.uint8),
        )

    def places(self, entities: Sequence[str]) -> npt.NDArray[np.int64]:
        """Where entities stand, -1 for those that are not there."""
        return self.entities.places(entities)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything, to be stored."""
        return {
            "first": self.first,
            "symbols": self.symbols,
            "start": self.start,
            "count": self.count,
            "popularity": self.popularity,
            "languages": self.languages,
            **add_prefix("entity", self.entities.arrays()),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "Spellings":
        """The spellings that ``arrays`` describe."""
        names = ("first", "symbols", "start", "count", "popularity", "languages")
        return cls(
            entities=StringTable(**strip_prefix("entity", arrays)),
            **{name: arrays[name] for name in names},
        )


def logarithm(stored: npt.NDArray[Any]) -> Floats:
    """log(1 + count) of counts that are stored as logarithms.

    >>> [round(float(x), 2) for x in np.expm1(logarithm(_logarithms(np.array([0, 1, 9, 1000]))))]
    [0.0, 1.0, 9.37, 1023.0]
    """
    return stored.astype(np.float64) * float(np.log(2.0) / STEPS)


def _logarithms(counts: npt.NDArray[Any]) -> Bytes:
    steps: Floats = np.minimum(np.rint(STEPS * np.log2(1.0 + counts)), 255)
    return steps.astype(np.uint8)


def _narrow(numbers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """The same numbers in four bytes each, where that is enough."""
    return numbers.astype(np.uint32) if numbers[-1] < 2**32 else numbers
