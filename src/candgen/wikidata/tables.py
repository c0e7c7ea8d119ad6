"""Sorted runs of rows merged into the tables: names of each language, and entities."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candgen.dumps.external_sort import find_group_starts, merge_runs, sort_rows
from candgen.dumps.file_errors import explain_write_errors
from candgen.dumps.parquet_writer import RowGroupWriter
from candgen.storage.atomic import atomic_write
from candgen.tables.rows import SCHEMA as MENTIONS
from candgen.wikidata.items import entity_key
from candgen.wikidata.read_part import name_key

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

_COUNTS = np.array([mask.bit_count() for mask in range(8)], dtype=np.int64)


def write_names(
    folder: Path, runs: Sequence[Path], languages: Iterable[str], metadata: Mapping[str, str]
) -> dict[str, int]:
    """Write one mention table for each language; return the number of rows of each."""
    codes = sorted(languages, key=lambda code: name_key(code, ""))
    rows = dict.fromkeys(codes, 0)
    merged = map(_count_sources, merge_runs(runs))
    found = chain.from_iterable(_split_by_language(names, codes) for names in merged)
    for code, tables in groupby(found, key=itemgetter(0)):
        rows[code] = _write_mentions(folder, code, (table for _, table in tables), metadata)
    for code in (code for code, length in rows.items() if not length):
        _write_mentions(folder, code, (), metadata)
    return rows


def _write_mentions(
    folder: Path, code: str, tables: Iterable[pa.Table], metadata: Mapping[str, str]
) -> int:
    return _write(folder / f"{code}.parquet", MENTIONS, {**metadata, "language": code}, tables)


def write_entities(path: Path, runs: Sequence[Path], metadata: Mapping[str, str]) -> int:
    """Write the table of entities; return the number of its rows."""
    return _write(path, ENTITIES, metadata, map(_drop_repeated, merge_runs(runs)))


def _write(
    path: Path, schema: pa.Schema, metadata: Mapping[str, str], tables: Iterable[pa.Table]
) -> int:
    schema = schema.with_metadata(dict(sorted(metadata.items())))
    advice = "make room or choose another place"
    with explain_write_errors(path.name, advice), atomic_write(path) as file:
        writer = RowGroupWriter(file, schema)
        for table in tables:
            writer.write(table.cast(schema))
        if not writer.rows:
            writer.write_group()
        writer.close()
    return writer.rows


def _count_sources(names: pa.Table) -> pa.Table:
    """Count the sources of each name of an entity; the dump may have an entity twice."""
    names = sort_rows(names, ("key", "entity"))
    starts = find_group_starts(names, ("key", "entity"))
    sources = np.bitwise_or.reduceat(names["sources"].to_numpy(), starts)
    kept = names.take(starts)
    return pa.table([kept["key"], kept["entity"], _COUNTS[sources]], ["key", "entity", "count"])


def _split_by_language(names: pa.Table, codes: Iterable[str]) -> Iterator[tuple[str, pa.Table]]:
    for code in codes:
        mine = names.filter(pc.starts_with(names["key"], name_key(code, "")))
        if len(mine):
            mention = pc.utf8_slice_codeunits(mine["key"], len(name_key(code, "")))
            columns = [mention, mine["entity"], mine["count"]]
            yield code, pa.table(columns, schema=MENTIONS)


def _drop_repeated(entities: pa.Table) -> pa.Table:
    """Keep, of an entity that the dump has twice, the one with more sitelinks."""
    more = pc.negate(entities["sitelinks"])
    keys = ("key", "language", "more", "name", "description", "instance_of")
    entities = sort_rows(entities.append_column("more", more), keys)
    kept = entities.take(find_group_starts(entities, ("key", "language")))
    classes = [each.split() for each in kept["instance_of"].to_pylist()]
    columns = {
        "entity": pc.utf8_slice_codeunits(kept["key"], len(entity_key(""))),
        **{name: kept[name] for name in ("language", "name", "description", "sitelinks")},
        "instance_of": pa.array(classes, type=ENTITIES.field("instance_of").type),
    }
    return pa.table([columns[name] for name in ENTITIES.names], schema=ENTITIES)
