"""The mention table: how often each mention was seen linking to each entity, in one language."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError, TableError, shown
from candgen.tables.file_formats import read_rows, write_rows
from candgen.tables.limits import use_limits
from candgen.tables.parquet import arrow_rows
from candgen.tables.rows import MAX_COUNT, SCHEMA, RawRows, Rows, collect
from candgen.tables.string_table import string_buffers
from candgen.tables.text_file import FilePath

Pair = tuple[str, str] | tuple[str, str, int]


class MentionTable:
    """An immutable table of (mention, entity, count), sorted, each pair once.

    Rows are in code point order of the mention, then of the entity, whatever order they came in,
    and the counts of a pair that came twice are summed. Counts are whole numbers of at least 1, and
    all counts of a table together are at most 10**15.

    >>> table = MentionTable.from_pairs([("Tórshavn", "Q10704"), ("Havnin", "Q10704", 12)])
    >>> list(table)
    [('Havnin', 'Q10704', 12), ('Tórshavn', 'Q10704', 1)]
    """

    def __init__(self, rows: Rows) -> None:
        if not isinstance(rows, Rows):
            raise ParameterError(
                f"MentionTable was given {shown(rows)}: "
                "make a table with MentionTable.read, from_pairs or from_arrow"
            )
        self._arrow = _canonical(rows.columns)
        self._skipped = rows.skipped
        self._metadata = dict(rows.metadata)

    @classmethod
    def from_pairs(cls, pairs: Iterable[Pair]) -> "MentionTable":
        """Return a table of ``pairs``: (mention, entity), with count 1, or with a third value.

        The order of pairs does not matter; the counts of equal ones are added.
        """
        if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
            raise ParameterError(
                f"pairs is {shown(pairs)}, expected a list or another iterable of "
                "(mention, entity) or (mention, entity, count)"
            )
        return cls(collect(_rows_of(pairs), "pairs[{}]".format, first=0))

    @classmethod
    def from_arrow(cls, table: pa.Table) -> "MentionTable":
        """Make a table of the columns mention, entity and, if there is one, count."""
        if not isinstance(table, pa.Table):
            raise ParameterError(f"table is {shown(table)}, expected a pyarrow.Table")
        return cls(arrow_rows(table, "the Arrow table"))

    @classmethod
    def read(
        cls,
        path: FilePath,
        *,
        skip_bad_rows: bool = False,
        max_row_bytes: int | None = None,
        max_table_bytes: int | None = None,
    ) -> "MentionTable":
        """Read .tsv, .jsonl or .ndjson, each also with .gz, or .parquet.

        ``path`` is a file, or a folder of Parquet files. TSV has a header row, UTF-8 text and no
        quoting; the columns mention, entity and optionally count may be in any order among others.
        A bad row raises a TableError that names its line; with ``skip_bad_rows`` it is left out,
        counted in ``skipped``, and logged.

        A row may have 1 MiB, or ``max_row_bytes``. All rows, unpacked, may have 4 GiB, and 50 times
        what the file has (256 MiB are always allowed), or ``max_table_bytes``.
        """
        with use_limits(max_row_bytes, max_table_bytes):
            rows = read_rows(path, skip_bad_rows=skip_bad_rows)
        try:
            return cls(rows)
        except TableError as error:
            raise TableError(f"{path}: {error}") from error

    def write(self, path: FilePath, *, metadata: Mapping[str, str] | None = None) -> None:
        """Write the table to ``path``, in the format of its suffix; atomic.

        The same table always gives the same bytes. Only Parquet stores ``metadata``, by default the
        table's own.
        """
        write_rows(path, self._arrow, self._metadata if metadata is None else metadata)

    def merge(self, *others: "MentionTable") -> "MentionTable":
        """Add up the counts of this table and others."""
        tables = (self, *others)
        for table in tables:
            if not isinstance(table, MentionTable):
                raise ParameterError(f"merge was given {shown(table)}, expected mention tables")
        return MentionTable(Rows(pa.concat_tables([table.arrow for table in tables])))

    @property
    def arrow(self) -> pa.Table:
        """The columns mention and entity (large_string) and count (int64), sorted, in one chunk."""
        return self._arrow

    @property
    def skipped(self) -> int:
        """How many bad rows were left out when the table was read."""
        return self._skipped

    @property
    def metadata(self) -> dict[str, str]:
        """What was stored beside the table in a Parquet file; empty for other formats."""
        return dict(self._metadata)

    @property
    def mentions(self) -> list[str]:
        """The distinct mentions, sorted by code point."""
        return list(self._mentions)

    @property
    def entities(self) -> list[str]:
        """The distinct entities, sorted by code point."""
        return list(self._entities)

    @cached_property
    def total(self) -> int:
        """The sum of all counts."""
        return int(pc.sum(self._arrow["count"]).as_py() or 0)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the contents, in hexadecimal, the same for every format and machine.

        It covers, little-endian: `candgen mention table 1` and a line feed; the number of rows;
        the byte offsets of the mentions, from 0, one more than rows; the mentions in UTF-8;
        the same two for the entities; the counts. All numbers are 64 bits.
        """
        state = hashlib.sha256(b"candgen mention table 1\n")
        state.update(len(self).to_bytes(8, "little"))
        for name in ("mention", "entity"):
            offsets, text = string_buffers(_column(self._arrow, name))
            state.update(_little_endian(offsets))
            state.update(text.data)
        state.update(_little_endian(_column(self._arrow, "count").to_numpy()))
        return state.hexdigest()

    def __len__(self) -> int:
        return cast("int", self._arrow.num_rows)

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        for batch in self._arrow.to_batches(max_chunksize=8192):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MentionTable):
            return NotImplemented
        return bool(self._arrow.equals(other.arrow))

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"MentionTable({len(self):,} {'pair' if len(self) == 1 else 'pairs'})"

    @cached_property
    def _mentions(self) -> tuple[str, ...]:
        mentions = _column(self._arrow, "mention")
        return tuple(mentions.take(_starts(mentions)).to_pylist())

    @cached_property
    def _entities(self) -> tuple[str, ...]:
        entities = pc.unique(_column(self._arrow, "entity"))
        return tuple(entities.take(pc.array_sort_indices(entities)).to_pylist())


def _rows_of(pairs: Iterable[object]) -> RawRows:
    for pair in pairs:
        if not isinstance(pair, tuple | list) or not 2 <= len(pair) <= 3:
            yield f"found {shown(pair)}, expected (mention, entity) and maybe a count"
        else:
            yield pair[0], pair[1], pair[2] if len(pair) == 3 else 1


def _column(table: pa.Table, name: str) -> pa.Array:
    """Return a column of a table that `_canonical` made or combined: one chunk, or empty."""
    column = table[name]
    return column.chunk(0) if column.num_chunks else pa.array([], type=column.type)


def _canonical(rows: pa.Table) -> pa.Table:
    """Sort rows and sum the counts of equal pairs."""
    rows = rows.combine_chunks()
    _check_counts(_column(rows, "count").to_numpy())
    if _strictly_sorted(rows):
        return rows
    rows = _sorted(rows)
    mentions, entities = _column(rows, "mention"), _column(rows, "entity")
    starts = _starts(mentions, entities)
    if len(starts) == len(rows):
        return rows
    sums = np.add.reduceat(_column(rows, "count").to_numpy(), starts)
    return pa.table([mentions.take(starts), entities.take(starts), sums], schema=SCHEMA)


def _check_counts(counts: npt.NDArray[np.int64]) -> None:
    """Raise TableError unless all counts are at least 1 and add up to at most MAX_COUNT.

    Every table is checked here, wherever its rows come from. The sum is in float64: it cannot
    overflow, and it is exact up to 2**53, which is more than MAX_COUNT.
    """
    if (least := counts.min(initial=1)) < 1:
        raise TableError(f"a count is {least}, expected a whole number of at least 1")
    if (total := counts.sum(dtype=np.float64)) > MAX_COUNT:
        raise TableError(
            f"the counts add up to {total:.0f}, expected at most {MAX_COUNT}: scale them down"
        )


def _strictly_sorted(rows: pa.Table) -> bool:
    mentions, entities = _column(rows, "mention"), _column(rows, "entity")
    rising = pc.less(mentions[:-1], mentions[1:])
    same = pc.equal(mentions[:-1], mentions[1:])
    rising = pc.or_(rising, pc.and_(same, pc.less(entities[:-1], entities[1:])))
    return bool(pc.all(rising, min_count=0).as_py())


def _sorted(rows: pa.Table) -> pa.Table:
    """Sort by mention and entity; the order of UTF-8 bytes is that of code points.

    Sorting first by the first eight bytes, as numbers, brings rows near their place, so that the
    exact sort compares neighbours in memory: together about two thirds of its time alone.
    """
    near = rows.take(np.argsort(_first_bytes(_column(rows, "mention"))))
    return near.take(pc.sort_indices(near, [("mention", "ascending"), ("entity", "ascending")]))


def _first_bytes(strings: pa.LargeStringArray) -> npt.NDArray[np.uint64]:
    """Return the first eight bytes of each string as a number that sorts like them."""
    offsets, text = string_buffers(strings)
    padded = np.concatenate([text, np.zeros(8, dtype=np.uint8)])
    eight_from = np.ndarray(len(text) + 1, dtype=">u8", buffer=padded, strides=(1,))
    numbers: npt.NDArray[np.uint64] = eight_from[offsets[:-1]].astype(np.uint64)
    masks = np.array([(1 << 64) - (1 << 8 * (8 - n)) for n in range(9)], dtype=np.uint64)
    return numbers & masks[np.minimum(np.diff(offsets), 8)]


def _starts(*columns: pa.Array) -> npt.NDArray[np.int64]:
    """Return the position of the first of each run of equal rows."""
    starts = np.ones(len(columns[0]), dtype=np.bool_)
    differs = [pc.not_equal(c[1:], c[:-1]).to_numpy(zero_copy_only=False) for c in columns]
    starts[1:] = np.logical_or.reduce(differs)
    return np.flatnonzero(starts)


def _little_endian(numbers: npt.NDArray[np.int64]) -> memoryview:
    return np.ascontiguousarray(numbers, dtype="<i8").data
