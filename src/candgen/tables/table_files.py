"""Mention tables as files: TSV, JSON Lines and Parquet to rows and back.

Reading gives `Rows`: legal rows in the order of the file. Writing is all or nothing.
"""

import gzip
import io
import json
import logging
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from candgen.errors import ParameterError, TableError, shown
from candgen.storage.atomic import atomic_write
from candgen.tables.rows import SCHEMA, RawRows, Rows, collect, concat_rows, rows_are_valid
from candgen.tables.string_table import string_buffers

_LOG = logging.getLogger("candgen")
_DIGITS = re.compile("[0-9]{1,4000}")  # int() refuses more than 4300 of them
_MARK = b"\xef\xbb\xbf"  # a byte order mark
_BATCH = 1 << 13  # rows
_BLOCK = 1 << 23  # bytes
_SKIP_HINT = " (skip_bad_rows=True, or --skip-bad-rows, leaves such rows out)"
# What other programs keep in Parquet metadata describes their file, not the table.
_FOREIGN_METADATA = ("ARROW:", "pandas", "org.apache.")

FilePath = str | os.PathLike[str]


# Reading


def read_rows(path: FilePath, *, skip_bad_rows: bool = False) -> Rows:
    """Read a table, its format told by the suffix of the path or by its being a folder."""
    where = as_path(path)
    try:
        if where.is_dir():
            rows = _read_folder(where, skip_bad_rows=skip_bad_rows)
        elif (kind := kind_of(where)).suffix == ".parquet":
            rows = _read_parquet(where, skip_bad_rows=skip_bad_rows)
        else:
            data = text_of(where, gzipped=kind.gzipped)
            rows = _TEXT_READERS[kind.suffix](where, data, skip_bad_rows=skip_bad_rows)
    except FileNotFoundError as error:
        raise TableError(f"{where} does not exist: check the name and the folder") from error
    except OSError as error:
        raise TableError(f"{where} cannot be read: {reason(error)}") from error
    if rows.skipped:
        _LOG.warning(
            "%s: bad rows left out: %d, the first: %s", where, rows.skipped, rows.first_skipped
        )
    return rows


class Kind(NamedTuple):
    """What the name of a file tells of its format."""

    suffix: str
    gzipped: bool


def kind_of(path: Path) -> Kind:
    """The format of a file by its name; one sentence if there is no such format."""
    name = path.name.lower()
    suffix = PurePath(name.removesuffix(".gz")).suffix
    gzipped = name.endswith(".gz")
    if suffix in _TEXT_READERS or (suffix == ".parquet" and not gzipped):
        return Kind(suffix, gzipped)
    raise TableError(
        f"{path} has an unknown suffix, expected a name that ends in .tsv, .jsonl, .ndjson "
        "(or one of these and .gz) or .parquet"
    )


def as_path(path: FilePath) -> Path:
    """The path, if it can be one."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path) or not str(path):
        raise ParameterError(f"path is {shown(path)}, expected the name of a file")
    return Path(path)


def reason(error: BaseException) -> str:
    """What an error says, in a few words."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0].rstrip(".")


def text_of(path: Path, *, gzipped: bool) -> bytes:
    """Give the UTF-8 text of a file with plain line ends and without a byte order mark."""
    if not gzipped:
        data = path.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            raise TableError(f"{path} is compressed by gzip: add .gz to its name")
    else:
        try:
            with gzip.open(path) as file:
                data = file.read()
        except gzip.BadGzipFile as error:
            raise TableError(
                f"{path} is not a sound gzip file: copy it again, or drop .gz from its name "
                "if it is not compressed"
            ) from error
        except (EOFError, zlib.error) as error:
            raise TableError(
                f"{path} is cut short or damaged: copy or download it again"
            ) from error
    _check_utf8(path, data)
    return data.removeprefix(_MARK).replace(b"\r\n", b"\n")


def _is_utf8(data: bytes) -> bool:
    """Do what data.decode() does, without making the string."""
    offsets = pa.py_buffer(np.array([0, len(data)], dtype=np.int64))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _check_utf8(path: Path, data: bytes) -> None:
    if _is_utf8(data):
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"0x{data[error.start]:02x}"
        raise TableError(
            f"{path} line {line}: byte {byte} is not UTF-8: save the file as UTF-8"
        ) from error


def _blocks(data: bytes, start: int = 0) -> Iterator[bytes]:
    """Cut into a few megabytes each of whole lines, without the line end that closes the file.

    So an empty last line is no line: what is left of it is the end of the line before.
    """
    stop = len(data) - data.endswith(b"\n")
    while start < stop:
        end = data.find(b"\n", start + _BLOCK, stop) + 1 or stop
        yield data[start:end]
        start = end


def _lines(block: bytes) -> Iterator[str]:
    # Not str.splitlines: U+2028 and the like are ordinary characters here.
    for line in io.BytesIO(block):
        yield line.decode("utf-8").removesuffix("\n")


def _read_tsv(path: Path, data: bytes, *, skip_bad_rows: bool) -> Rows:
    if not data.strip(b"\n"):
        raise TableError(
            f"{path} is empty, expected a header row with mention, entity and optionally count, "
            "separated by tabs"
        )
    start = (data.find(b"\n") + 1) or len(data)
    header = data[:start].decode("utf-8").removesuffix("\n").split("\t")
    _check_names(str(path), header, "in the header row, separated by tabs")
    parts: list[Rows] = []
    line = 2
    for block in _blocks(data, start):
        columns = _parse_tsv(block, header)
        if columns is not None:
            parts.append(Rows(columns))
        else:
            rows = _tsv_rows(block, header)
            parts.append(_collect_lines(path, rows, first=line, skip_bad_rows=skip_bad_rows))
        line += block.count(b"\n")
    return concat_rows(parts)


def _collect_lines(path: Path, rows: RawRows, *, first: int, skip_bad_rows: bool) -> Rows:
    return collect(
        rows,
        lambda line: f"{path} line {line}",
        first=first,
        skip_bad_rows=skip_bad_rows,
        hint=_SKIP_HINT,
    )


def _check_names(place: str, names: list[str], how: str) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise TableError(
            f"{place} has more than one column {shown(repeated[0])}: rename or drop one"
        )
    missing = [name for name in ("mention", "entity") if name not in names]
    if missing:
        raise TableError(
            f"{place} has no column {' and no column '.join(missing)}, only {shown(names)}: "
            f"name the columns mention, entity and optionally count {how}"
        )


def _tsv_rows(block: bytes, header: list[str]) -> RawRows:
    mention, entity = header.index("mention"), header.index("entity")
    count = header.index("count") if "count" in header else None
    for line in _lines(block):
        fields = line.split("\t")
        if len(fields) != len(header):
            found = len(fields) if line else "an empty line"
            yield f"expected {len(header)} columns, found {found}"
        else:
            times = 1 if count is None else _whole_number(fields[count])
            yield fields[mention], fields[entity], times


def _whole_number(text: str) -> int | str:
    return int(text) if _DIGITS.fullmatch(text) else text


def _parse_tsv(block: bytes, header: list[str]) -> pa.Table | None:
    """Parse like `_tsv_rows`, ten times faster; None if that must have a look at the rows.

    Arrow's reader has ideas of its own (it skips a mark at the start, a lone carriage return ends
    a line, a number may be hexadecimal), so what it sees and what it makes of it are checked.
    """
    if b"\r" in block or block.startswith(_MARK):
        return None
    names = [name for name in SCHEMA.names if name in header]
    try:
        text = pa.csv.read_csv(
            pa.BufferReader(block),
            read_options=pa.csv.ReadOptions(column_names=header, block_size=1 << 21),
            parse_options=pa.csv.ParseOptions(
                delimiter="\t",
                quote_char=False,
                escape_char=False,
                newlines_in_values=False,
                ignore_empty_lines=False,
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=names,
                column_types=dict.fromkeys(names, pa.large_string()),
                strings_can_be_null=False,
                check_utf8=False,  # the whole text was checked
            ),
        )
    except pa.ArrowException:
        return None
    lines = block.count(b"\n") + (not block.endswith(b"\n"))
    counts = _parse_counts(text["count"]) if "count" in names else _ones(len(text))
    if len(text) != lines or counts is None:
        return None
    columns = pa.table([text["mention"], text["entity"], counts], schema=SCHEMA)
    return columns if rows_are_valid(columns) else None


def _parse_counts(texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
    for chunk in texts.chunks:
        offsets, digits = string_buffers(chunk)
        lengths = np.diff(offsets)
        if not ((lengths >= 1) & (lengths <= 18)).all():  # 18 digits always fit 64 bits
            return None
        if not ((digits >= ord("0")) & (digits <= ord("9"))).all():
            return None
    return texts.cast(pa.int64())


def _ones(length: int) -> pa.ChunkedArray:
    return pa.chunked_array([np.ones(length, dtype=np.int64)])


def _read_jsonl(path: Path, data: bytes, *, skip_bad_rows: bool) -> Rows:
    return _collect_lines(path, _jsonl_rows(data), first=1, skip_bad_rows=skip_bad_rows)


def _jsonl_rows(data: bytes) -> RawRows:
    for line in chain.from_iterable(map(_lines, _blocks(data))):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            yield found.get("mention"), found.get("entity"), found.get("count", 1)
        else:
            yield f"found {shown(line)}, expected a JSON object with mention and entity"


def _read_folder(path: Path, *, skip_bad_rows: bool) -> Rows:
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
    parts = [_read_parquet(file, skip_bad_rows=skip_bad_rows) for file in files]
    common = set.intersection(*(set(part.metadata.items()) for part in parts))
    return concat_rows(parts)._replace(metadata=dict(sorted(common)))


def _read_parquet(path: Path, *, skip_bad_rows: bool) -> Rows:
    try:
        # Not pq.read_table, which makes columns of the folders that the path goes through.
        with pq.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata.metadata
            _check_names(str(path), schema.names, "in the Parquet schema")
            table = file.read(columns=[name for name in SCHEMA.names if name in schema.names])
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if getattr(error, "errno", None):  # the system's, not Arrow's
            raise
        raise TableError(
            f"{path} is not a sound Parquet file ({reason(error)}): copy or write it again"
        ) from error
    rows = arrow_rows(table, str(path), skip_bad_rows=skip_bad_rows, hint=_SKIP_HINT)
    return rows._replace(metadata=_decoded_metadata(metadata or {}))


def arrow_rows(table: pa.Table, place: str, *, skip_bad_rows: bool = False, hint: str = "") -> Rows:
    """Take mention, entity and count, if it has one, from an Arrow table."""
    _check_names(place, table.column_names, "in the schema")
    selected = _plain_columns(table, place)
    try:
        columns = selected.cast(SCHEMA)
    except pa.ArrowInvalid:  # a count beyond 64 bits
        columns = None
    if columns is not None and rows_are_valid(columns):
        return Rows(columns)
    return collect(
        _arrow_row_by_row(selected),
        lambda row: f"{place} row {row}",
        first=1,
        skip_bad_rows=skip_bad_rows,
        hint=hint,
    )


def _plain_columns(table: pa.Table, place: str) -> pa.Table:
    columns: dict[str, pa.ChunkedArray] = {}
    for name in SCHEMA.names:
        if name not in table.column_names:
            columns[name] = _ones(len(table))
            continue
        kind = table[name].type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if name == "count":
            fits, expected = pa.types.is_integer(kind), "whole numbers"
        else:
            fits, expected = str(kind) in ("string", "large_string", "string_view"), "strings"
        if not fits and not pa.types.is_null(kind):
            raise TableError(
                f"{place}: column {name} holds {kind}, expected {expected}: convert it"
            )
        target = kind if name == "count" else pa.large_string()
        columns[name] = table[name].cast(target)
    return pa.table(columns)


def _arrow_row_by_row(columns: pa.Table) -> RawRows:
    for batch in columns.to_batches(max_chunksize=_BATCH):
        mentions, entities = (
            [_decoded(value) for value in batch[name].cast(pa.large_binary()).to_pylist()]
            for name in ("mention", "entity")
        )
        yield from zip(mentions, entities, batch["count"].to_pylist(), strict=True)


def _decoded(value: bytes | None) -> object:
    try:
        return None if value is None else value.decode("utf-8")
    except UnicodeDecodeError:
        return value  # not a string, as row_problem will say


def _decoded_metadata(metadata: Mapping[bytes, bytes]) -> dict[str, str]:
    pairs = (
        (k.decode("utf-8", "replace"), v.decode("utf-8", "replace")) for k, v in metadata.items()
    )
    return {key: value for key, value in sorted(pairs) if not key.startswith(_FOREIGN_METADATA)}


_TEXT_READERS: dict[str, Callable[..., Rows]] = {
    ".tsv": _read_tsv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
}


# Writing


def write_rows(path: FilePath, columns: pa.Table, metadata: Mapping[str, str]) -> None:
    """Write a table in the format told by the suffix: the whole file, or nothing at all."""
    where = as_path(path)
    kind = kind_of(where)
    encoded = _encoded_metadata(metadata)
    try:
        with atomic_write(where) as file:
            if kind.suffix == ".parquet":
                table = columns.replace_schema_metadata(encoded)
                pq.write_table(table, file, compression="zstd")
            else:
                _write_text(file, _TEXT_WRITERS[kind.suffix](columns), gzipped=kind.gzipped)
    except NotADirectoryError as error:
        raise TableError(f"{where} cannot be written: {error}, make it first") from error
    except OSError as error:
        raise TableError(
            f"{where} cannot be written: {reason(error)}; make room or choose another place"
        ) from error


def _write_text(file: BinaryIO, pieces: Iterator[bytes], *, gzipped: bool) -> None:
    if not gzipped:
        file.writelines(pieces)
        return
    # No name and no time, so that the same table gives the same bytes.
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
        packed.writelines(pieces)


def _tsv_pieces(columns: pa.Table) -> Iterator[bytes]:
    # Not pyarrow.csv, which refuses a quotation mark in an unquoted field.
    yield b"mention\tentity\tcount\n"
    tab, end, nothing = (pa.scalar(text, pa.large_string()) for text in ("\t", "\n", ""))
    for batch in columns.to_batches(max_chunksize=_BATCH):
        counts = batch["count"].cast(pa.large_string())
        last = pc.binary_join_element_wise(counts, nothing, end)
        lines = pc.binary_join_element_wise(batch["mention"], batch["entity"], last, tab)
        yield string_buffers(lines)[1].tobytes()


def _jsonl_pieces(columns: pa.Table) -> Iterator[bytes]:
    quoted = json.JSONEncoder(ensure_ascii=False).encode
    for batch in columns.to_batches(max_chunksize=_BATCH):
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        yield "".join(
            f'{{"mention": {quoted(m)}, "entity": {quoted(e)}, "count": {n}}}\n' for m, e, n in rows
        ).encode("utf-8")


_TEXT_WRITERS: dict[str, Callable[[pa.Table], Iterator[bytes]]] = {
    ".tsv": _tsv_pieces,
    ".jsonl": _jsonl_pieces,
    ".ndjson": _jsonl_pieces,
}


def _encoded_metadata(metadata: Mapping[str, str]) -> dict[bytes, bytes] | None:
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
