"""Tables of (title, entity) that a user gives: the entities of pages."""

import gzip
import logging
import os
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from candgen.dumps.file_errors import explain_read_errors
from candgen.errors import TableError, shown

_LOG = logging.getLogger("candgen")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ENTITY_NAMES = ("entity", "qid", "wikidata", "item")
_SCHEMA = pa.schema([("title", pa.large_string()), ("entity", pa.large_string())])


def read_ids(path: str | os.PathLike[str]) -> pa.Table:
    """Read a table of titles and their entities: .tsv with a header row, .tsv.gz or .parquet.

    The columns are title and entity (or qid, wikidata, item), in any order among others.
    Underscores in titles become spaces. Rows without a title or an entity are left out, and of two
    entities of one title the first is taken; the log has a warning with their number.
    """
    where = Path(path)
    name = where.name.lower()
    with explain_read_errors(where):
        try:
            if name.endswith(".parquet"):
                table = _read_parquet(where)
            elif name.endswith((".tsv", ".tsv.gz")):
                table = _read_tsv(where)
            else:
                raise TableError(
                    f"{where} has an unknown suffix, expected a name that ends in .tsv, .tsv.gz "
                    "or .parquet"
                )
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            message = f"{where} is cut short or damaged: copy or download it again"
            raise TableError(message) from error
    return _drop_repeated(_drop_incomplete(table, where), where)


def _open(path: Path) -> BinaryIO:
    zipped = path.name.lower().endswith(".gz")
    return cast("BinaryIO", gzip.open(path, "rb")) if zipped else path.open("rb")


def _read_tsv(path: Path) -> pa.Table:
    with _open(path) as file:
        first = file.readline().removeprefix(_BYTE_ORDER_MARK)
        if not first.strip():
            raise TableError(
                f"{path} is empty, expected a header row with title and entity, separated by a tab"
            )
        header = first.decode("utf-8", "replace").rstrip("\r\n").split("\t")
        wanted = [str(place) for place in _find_columns(header, f"{path}, in its header row,")]
        try:
            table = _parse(file, len(header), wanted)
        except pa.ArrowException as error:
            raise TableError(_describe_first_problem(path, len(header), str(error))) from error
    return table.rename_columns(_SCHEMA.names)


def _parse(file: BinaryIO, width: int, wanted: list[str]) -> pa.Table:
    if not file.peek(1):  # type: ignore[attr-defined]
        return pa.table({place: pa.array([], pa.large_string()) for place in wanted})
    # Columns are named by their places: a name may be empty, or occur twice.
    places = [str(place) for place in range(width)]
    return pa.csv.read_csv(
        file,
        read_options=pa.csv.ReadOptions(column_names=places),
        parse_options=pa.csv.ParseOptions(delimiter="\t", quote_char=False, escape_char=False),
        convert_options=pa.csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(wanted, pa.large_string()),
            strings_can_be_null=False,
        ),
    )


def _describe_first_problem(path: Path, width: int, otherwise: str) -> str:
    """Return the message for the first invalid line, which Arrow does not always name."""
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            found = line.rstrip(b"\r\n").count(b"\t") + 1
            if line.strip(b"\r\n") and found != width:
                return f"{path} line {number}: expected {width} columns, found {found}"
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = f"0x{line[error.start]:02x}"
                return f"{path} line {number}: byte {byte} is not UTF-8: save the file as UTF-8"
    return f"{path} is not a valid TSV file: {otherwise.splitlines()[0]}"


def _read_parquet(path: Path) -> pa.Table:
    try:
        # Not pq.read_table, which makes columns of the names of folders in the path.
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            places = _find_columns(names, str(path))
            table = file.read(columns=[names[place] for place in places])
    except (pa.ArrowException, OSError) as error:
        if getattr(error, "errno", None):  # of the system, not of Arrow
            raise
        raise TableError(f"{path} is not a valid Parquet file: copy or write it again") from error
    columns = []
    for place in places:
        column = table[names[place]]
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if str(kind) not in ("string", "large_string", "string_view", "null"):
            raise TableError(
                f"{path}: column {names[place]} holds {kind}, expected strings: convert it"
            )
        columns.append(column.cast(pa.large_string()))
    return pa.table(columns, schema=_SCHEMA)


def _find_columns(names: list[str], place: str) -> tuple[int, int]:
    """Return the places of the title and the entity among the columns.

    >>> _find_columns(["id", "QID", "title"], "ids.tsv")
    (2, 1)
    """
    lower = [name.strip().lower() for name in names]
    entity = next((name for name in _ENTITY_NAMES if name in lower), None)
    if "title" not in lower or entity is None:
        missing = "title" if "title" not in lower else "entity"
        raise TableError(
            f"{place} has no column {missing}, only {shown(names)}: name the columns title and "
            f"entity (or {', '.join(_ENTITY_NAMES[1:])})"
        )
    return lower.index("title"), lower.index(entity)


def _drop_incomplete(table: pa.Table, path: Path) -> pa.Table:
    titles = pc.replace_substring(table["title"], pattern="_", replacement=" ")
    table = pa.table([titles, table["entity"]], schema=_SCHEMA)
    present = [
        pc.fill_null(pc.not_equal(table[name], ""), fill_value=False)
        for name in ("title", "entity")
    ]
    kept = table.filter(pc.and_(*present))
    if left_out := len(table) - len(kept):
        _LOG.warning("%s: rows left out without a title or an entity: %d", path, left_out)
    return kept


def _drop_repeated(table: pa.Table, path: Path) -> pa.Table:
    if not len(table):
        return table
    codes = table["title"].combine_chunks().dictionary_encode().indices.to_numpy()
    _, first = np.unique(codes, return_index=True)  # codes are in the order of the file
    if len(first) == len(table):
        return table
    kept = table.take(first)
    other = pc.not_equal(table["entity"], kept["entity"].take(pa.array(codes)))
    if conflicts := len(np.unique(codes[other.to_numpy()])):
        _LOG.warning(
            "%s: titles with more than one entity, of which the first was taken: %d",
            path,
            conflicts,
        )
    return kept
