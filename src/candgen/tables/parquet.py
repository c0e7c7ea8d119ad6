"""Parquet files, folders of them, and Arrow tables, as rows of mention tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from candgen.errors import ParameterError, TableError, shown
from candgen.tables.parquet_file import open_parquet
from candgen.tables.rows import (
    SCHEMA,
    SKIP_HINT,
    RawRows,
    Rows,
    check_columns,
    collect,
    concat_rows,
    rows_are_valid,
)

_BATCH = 1 << 13  # rows
# What other programs keep in Parquet metadata describes their file, not the table.
_FOREIGN_METADATA = ("ARROW:", "pandas", "org.apache.")


def read_folder(path: Path, *, skip_bad_rows: bool) -> Rows:
    """Read all Parquet files in a folder and below it as one table."""
    files = sorted(
        file
        for file in path.rglob("*.parquet")
        if file.is_file()
        and not any(p.startswith((".", "_")) for p in file.relative_to(path).parts)
    )
    if not files:
        raise TableError(
            f"{path} is a folder without .parquet files: name a file, or another folder"
        )
    parts = [read_rows(file, skip_bad_rows=skip_bad_rows) for file in files]
    common = set.intersection(*(set(part.metadata.items()) for part in parts))
    return concat_rows(parts)._replace(metadata=dict(sorted(common)))


def read_rows(path: Path, *, skip_bad_rows: bool) -> Rows:
    """Read the columns mention and entity, and count if there is one, of a Parquet file."""
    with open_parquet(path) as file:
        check_columns(str(path), file.schema.names, "in the Parquet schema")
        names = [name for name in SCHEMA.names if name in file.schema.names]
        for name in names:
            _check_type(name, file.schema.field(name).type, str(path))
        table = file.read(names)
    rows = arrow_rows(table, str(path), skip_bad_rows=skip_bad_rows, hint=SKIP_HINT)
    return rows._replace(metadata=_decode_metadata(file.metadata))


def arrow_rows(table: pa.Table, place: str, *, skip_bad_rows: bool = False, hint: str = "") -> Rows:
    """Return mention and entity, and count if there is one, of an Arrow table."""
    check_columns(place, table.column_names, "in the schema")
    selected = _select_columns(table, place)
    try:
        columns = selected.cast(SCHEMA)
    except pa.ArrowInvalid:  # a count beyond 64 bits
        columns = None
    if columns is not None and rows_are_valid(columns):
        return Rows(columns)
    return collect(
        _plain_rows(selected),
        lambda row: f"{place} row {row}",
        first=1,
        skip_bad_rows=skip_bad_rows,
        hint=hint,
    )


def _select_columns(table: pa.Table, place: str) -> pa.Table:
    columns: dict[str, pa.ChunkedArray] = {}
    for name in SCHEMA.names:
        if name not in table.column_names:
            columns[name] = pa.chunked_array([np.ones(len(table), dtype=np.int64)])
            continue
        kind = _check_type(name, table[name].type, place)
        columns[name] = table[name].cast(kind if name == "count" else pa.large_string())
    return pa.table(columns)


def _check_type(name: str, kind: pa.DataType, place: str) -> pa.DataType:
    """Return the type of a column's values; raise TableError if a mention table cannot have it."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if name == "count":
        fits, expected = pa.types.is_integer(kind), "whole numbers"
    else:
        fits, expected = str(kind) in ("string", "large_string", "string_view"), "strings"
    if not fits and not pa.types.is_null(kind):
        raise TableError(f"{place}: column {name} holds {kind}, expected {expected}: convert it")
    return kind


def _plain_rows(columns: pa.Table) -> RawRows:
    for batch in columns.to_batches(max_chunksize=_BATCH):
        mentions, entities = (
            [_decode(value) for value in batch[name].cast(pa.large_binary()).to_pylist()]
            for name in ("mention", "entity")
        )
        yield from zip(mentions, entities, batch["count"].to_pylist(), strict=True)


def _decode(value: bytes | None) -> object:
    try:
        return None if value is None else value.decode("utf-8")
    except UnicodeDecodeError:
        return value  # not a string: row_problem returns a sentence about it


def _decode_metadata(metadata: Mapping[bytes, bytes]) -> dict[str, str]:
    pairs = (
        (k.decode("utf-8", "replace"), v.decode("utf-8", "replace")) for k, v in metadata.items()
    )
    return {key: value for key, value in sorted(pairs) if not key.startswith(_FOREIGN_METADATA)}


def write_rows(file: BinaryIO, columns: pa.Table, metadata: dict[bytes, bytes] | None) -> None:
    """Write a mention table to an open file."""
    table = columns.replace_schema_metadata(metadata)
    pq.write_table(table, file, compression="zstd")


def encode_metadata(metadata: Mapping[str, str]) -> dict[bytes, bytes] | None:
    """Return metadata as a Parquet file has it; raise ParameterError if it is invalid."""
    if not isinstance(metadata, Mapping):
        raise ParameterError(f"metadata is {shown(metadata)}, expected a dict of strings")
    encoded: dict[bytes, bytes] = {}
    for key, value in metadata.items():
        try:
            encoded[key.encode("utf-8")] = value.encode("utf-8")
        except (AttributeError, UnicodeEncodeError):
            expected = "expected two strings that UTF-8 can write"
            raise ParameterError(f"metadata has {shown(key)}: {shown(value)}, {expected}") from None
        if key.startswith(_FOREIGN_METADATA):
            raise ParameterError(
                f"metadata has the key {shown(key)}, which other programs use: choose another"
            )
    return dict(sorted(encoded.items())) or None
