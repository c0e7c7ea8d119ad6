"""The distinct spellings of every entity, in few bytes: what a mention is compared with.

A symbol is one byte, whatever the script, and a spelling that several languages share is kept once.
A count is stored as a logarithm in one byte.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.generators.rerank.edit_model import EditModel
from candgen.generators.rerank.logarithms import encode_logarithm
from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_offsets, check_range
from candgen.tables.mention_table import MentionTable
from candgen.tables.string_table import StringTable
from candgen.text.normalize import normalize_many

_ROWS_AT_ONCE = 1 << 18

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def no_rows() -> pa.Table:
    """Return a table without rows, with the columns of ``normalized_rows``."""
    columns = {
        "entity": pa.large_string(),
        "text": pa.large_string(),
        "count": pa.int64(),
        "table": pa.uint16(),
    }
    return pa.schema(columns).empty_table()  # not a constant: this imports pandas, if installed


def normalized_rows(
    tables: Mapping[str, MentionTable],
    normalizer: str,
    languages: Mapping[str, str | None],
    *,
    longest: int | None = None,
    only: pa.Array | None = None,
) -> pa.Table:
    """Return the rows of all tables: entity, normalized text, count and number of the table.

    ``languages`` has the language of each table for the normalizer. Texts are cut after ``longest``
    symbols; rows whose text is empty are left out, and so are those of other entities than
    ``only`` these, if given.
    """
    parts = []
    for number, (name, table) in enumerate(tables.items()):
        here = table.arrow
        if only is not None:
            here = here.filter(pc.is_in(here["entity"], value_set=only))
        for batch in here.to_batches(max_chunksize=_ROWS_AT_ONCE):
            mentions = batch["mention"].to_pylist()
            texts = normalize_many(mentions, normalizer, language=languages[name])
            short = [text[:longest] for text in texts]
            columns = {
                "entity": batch["entity"],
                "text": pa.array(short, pa.large_string()),
                "count": batch["count"],
                "table": pa.array(np.full(len(texts), number, np.uint16)),
            }
            rows = pa.table(columns)
            parts.append(rows.filter(pc.not_equal(rows["text"], "")))
    return pa.concat_tables(parts) if parts else no_rows()


@dataclass(frozen=True)
class Spellings:
    """Spellings ``first[e]`` to ``first[e + 1] - 1`` are those of entity e, most frequent first.

    Spelling i is ``symbols[start[i]:start[i + 1]]``, in the numbers of an edit model, and
    ``count[i]`` the logarithm of its count. ``popularity`` has the logarithm of all counts of an
    entity, ``languages`` how many tables have it, ``sitelinks`` the logarithm of its sitelinks, 0
    if they are unknown. ``entities`` are sorted by their bytes.
    """

    entities: StringTable
    first: npt.NDArray[Any]
    symbols: Bytes
    start: npt.NDArray[Any]
    count: Bytes
    popularity: Bytes
    languages: Bytes
    sitelinks: Bytes

    @classmethod
    def build(
        cls, rows: pa.Table, model: EditModel, sitelinks: Mapping[str, int] | None = None
    ) -> "Spellings":
        """Group what ``normalized_rows`` returned by entity."""
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
        symbols, start = model.encode_column(spelled["text"])
        first = np.concatenate(([0], np.cumsum(np.bincount(sizes))))
        arrays = (
            _narrow(first),
            symbols,
            _narrow(start),
            encode_logarithm(spelled["count_sum"].to_numpy()),
            encode_logarithm(whole["count_sum"].to_numpy()),
            np.minimum(whole["table_count_distinct"].to_numpy(), 255).astype(np.uint8),
            encode_logarithm(_numbers_of(whole["entity"], sitelinks or {})),
        )
        for array in arrays:
            array.setflags(write=False)  # like those of a stored index: kernels compile once
        return cls(StringTable.from_arrow(whole["entity"].combine_chunks()), *arrays)

    def places(self, entities: Iterable[str]) -> npt.NDArray[np.int64]:
        """Return where entities stand, -1 for those that are not there."""
        return self.entities.places(entities)

    def validate(self, alphabet: int) -> None:
        """Raise ValueError unless every entity has spellings in an alphabet of this size."""
        spellings, entities = len(self.count), len(self.entities)
        self.entities.validate("spellings.entity", is_sorted=True)
        check_offsets("spellings.first", self.first, entities, spellings)
        check_array("spellings.symbols", self.symbols, np.uint8, -1)
        check_range("spellings.symbols", self.symbols, 0, alphabet - 1)
        check_offsets("spellings.start", self.start, spellings, len(self.symbols))
        check_array("spellings.count", self.count, np.uint8, spellings)
        check_array("spellings.popularity", self.popularity, np.uint8, entities)
        check_array("spellings.languages", self.languages, np.uint8, entities)
        check_array("spellings.sitelinks", self.sitelinks, np.uint8, entities)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything, to be stored."""
        return {
            "first": self.first,
            "symbols": self.symbols,
            "start": self.start,
            "count": self.count,
            "popularity": self.popularity,
            "languages": self.languages,
            "sitelinks": self.sitelinks,
            **add_prefix("entity", self.entities.arrays()),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "Spellings":
        """Return the spellings that ``arrays`` describe."""
        names = ("first", "symbols", "start", "count", "popularity", "languages", "sitelinks")
        return cls(
            entities=StringTable(**strip_prefix("entity", arrays)),
            **{name: arrays[name] for name in names},
        )


def _numbers_of(entities: pa.ChunkedArray, known: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """Return a number for each entity, 0 where none is known."""
    if not known:
        return np.zeros(len(entities), np.int64)
    chunks = (chunk.to_pylist() for chunk in entities.chunks)
    numbers = (known.get(entity, 0) for chunk in chunks for entity in chunk)
    return np.fromiter(numbers, np.int64, len(entities))


def _narrow(numbers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Return the same numbers in four bytes each, if they fit."""
    return numbers.astype(np.uint32) if numbers[-1] < 2**32 else numbers
