"""Runs of rows to the tables that are left: names a language, and entities to show."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from candgen.dumps.external_sort import merged
from candgen.errors import StorageError
from candgen.storage.atomic import atomic_write
from candgen.tables.rows import SCHEMA as MENTIONS
from candgen.wikidata.read_part import entity_key, name_key

ENTITIES = pa.schema(
    [
        ("entity", pa.large_string()),
        ("language", pa.string()),
        ("name", pa.large_string()),
        ("description", pa.large_string()),
        ("instance_of", pa.list_(pa.string())),
        ("sitelinks", pa.int64()),
    ]
)
"""Sorted by entity, the shorter id first, then by language."""

_GROUP = 1 << 20  # rows; as Arrow writes a table that it has all of
_COUNTS = np.array([mask.bit_count() for mask in range(8)], dtype=np.int64)


def write_names(
    folder: Path, runs: Sequence[Path], languages: Iterable[str], metadata: Mapping[str, str]
) -> dict[str, int]:
    """Write one mention table a language; how many rows each has."""
    left = sorted(languages, key=lambda code: name_key(code, ""))
    rows = dict.fromkeys(left, 0)
    found = chain.from_iterable(_by_language(names, left) for names in map(_counted, merged(runs)))
    for code, tables in groupby(found, key=itemgetter(0)):
        rows[code] = _write_mentions(folder, code, (table for _, table in tables), metadata)
    for code in (code for code, length in rows.items() if not length):
        _write_mentions(folder, code, iter(()), metadata)
    return rows


def _write_mentions(
    folder: Path, code: str, tables: Iterator[pa.Table], metadata: Mapping[str, str]
) -> int:
    schema = _with(MENTIONS, {**metadata, "language": code})
    return _write(folder / f"{code}.parquet", schema, tables)


def write_entities(path: Path, runs: Sequence[Path], metadata: Mapping[str, str]) -> int:
    """Write the table of entities; how many rows it has."""
    return _write(path, _with(ENTITIES, metadata), map(_once, merged(runs)))


def _with(schema: pa.Schema, metadata: Mapping[str, str]) -> pa.Schema:
    return schema.with_metadata(dict(sorted(metadata.items())))


def _write(path: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> int:
    """Write row groups of equal length, so that the same rows give the same bytes."""
    rows = 0
    waiting = schema.empty_table()
    try:
        with (
            atomic_write(path) as file,
            pq.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for table in tables:
                rows += len(table)
                waiting = pa.concat_tables([waiting, table.cast(schema)])
                while len(waiting) >= _GROUP:
                    writer.write_table(waiting.slice(0, _GROUP).combine_chunks(), _GROUP)
                    waiting = waiting.slice(_GROUP)
            if len(waiting) or not rows:
                writer.write_table(waiting.combine_chunks(), _GROUP)
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(
            f"{path.name} cannot be written: {reason}; make room or choose another place"
        ) from error
    return rows


def _counted(names: pa.Table) -> pa.Table:
    """Count where each name of an entity comes from; the dump may have an entity twice."""
    names = _sorted(names, ("key", "entity"))
    starts = _starts(names, ("key", "entity"))
    sources = np.bitwise_or.reduceat(names["sources"].to_numpy(), starts)
    kept = names.take(starts)
    return pa.table([kept["key"], kept["entity"], _COUNTS[sources]], ["key", "entity", "count"])


def _by_language(names: pa.Table, languages: Iterable[str]) -> Iterator[tuple[str, pa.Table]]:
    for code in languages:
        mine = names.filter(pc.starts_with(names["key"], name_key(code, "")))
        if len(mine):
            mention = pc.utf8_slice_codeunits(mine["key"], len(name_key(code, "")))
            columns = [mention, mine["entity"], mine["count"]]
            yield code, pa.table(columns, schema=MENTIONS)


def _once(entities: pa.Table) -> pa.Table:
    """Of an entity that the dump has twice keep what has more sitelinks."""
    more = pc.negate(entities["sitelinks"])
    keys = ("key", "language", "more", "name", "description", "instance_of")
    entities = _sorted(entities.append_column("more", more), keys)
    kept = entities.take(_starts(entities, ("key", "language")))
    classes = [each.split() for each in kept["instance_of"].to_pylist()]
    columns = {
        "entity": pc.utf8_slice_codeunits(kept["key"], len(entity_key(""))),
        **{name: kept[name] for name in ("language", "name", "description", "sitelinks")},
        "instance_of": pa.array(classes, type=ENTITIES.field("instance_of").type),
    }
    return pa.table([columns[name] for name in ENTITIES.names], schema=ENTITIES)


def _sorted(table: pa.Table, names: Iterable[str]) -> pa.Table:
    return table.take(pc.sort_indices(table, [(name, "ascending") for name in names]))


def _starts(table: pa.Table, names: Iterable[str]) -> npt.NDArray[np.int64]:
    """Give the position of the first of each run of rows that are equal in some columns."""
    differs = np.ones(len(table), dtype=np.bool_)
    columns = [table[name].combine_chunks() for name in names]
    changed = [pc.not_equal(c[1:], c[:-1]).to_numpy(zero_copy_only=False) for c in columns]
    differs[1:] = np.logical_or.reduce(changed)
    return np.flatnonzero(differs)
