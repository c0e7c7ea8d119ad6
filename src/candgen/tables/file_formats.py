"""Mention tables as files: the format is chosen by the suffix of the name."""

import gzip
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath

import pyarrow as pa

from candgen.errors import TableError
from candgen.storage.atomic import atomic_write
from candgen.tables import jsonl, parquet, tsv
from candgen.tables.rows import Rows
from candgen.tables.text_file import FilePath, as_path, reason, table_errors

TEXT_SUFFIXES = (".tsv", ".jsonl", ".ndjson")
TABLE_SUFFIXES = (*(text + gz for text in TEXT_SUFFIXES for gz in ("", ".gz")), ".parquet")

_LOG = logging.getLogger("candgen")
_READERS: dict[str, Callable[..., Rows]] = {
    ".tsv": tsv.read_rows,
    ".jsonl": jsonl.read_rows,
    ".ndjson": jsonl.read_rows,
    ".parquet": parquet.read_rows,
}
_RENDERERS: dict[str, Callable[[pa.Table], Iterator[bytes]]] = {
    ".tsv": tsv.render_rows,
    ".jsonl": jsonl.render_rows,
    ".ndjson": jsonl.render_rows,
}


def suffix_of(path: Path) -> str:
    """Return the suffix of a name, without .gz; raise TableError if it is unknown.

    >>> suffix_of(Path("fo.TSV.gz"))
    '.tsv'
    """
    name = path.name.lower()
    suffix = PurePath(name.removesuffix(".gz")).suffix
    if suffix in TEXT_SUFFIXES or (suffix == ".parquet" and not name.endswith(".gz")):
        return suffix
    raise TableError(
        f"{path} has an unknown suffix, expected a name that ends in .tsv, .jsonl, .ndjson "
        "(or one of these and .gz) or .parquet"
    )


def read_rows(path: FilePath, *, skip_bad_rows: bool = False) -> Rows:
    """Read the rows of a file in its order, or of all Parquet files of a folder."""
    where = as_path(path)
    with table_errors(where):
        read = parquet.read_folder if where.is_dir() else _READERS[suffix_of(where)]
        rows = read(where, skip_bad_rows=skip_bad_rows)
    if rows.skipped:
        _LOG.warning(
            "%s: bad rows left out: %d, the first: %s", where, rows.skipped, rows.first_skipped
        )
    return rows


def write_rows(path: FilePath, columns: pa.Table, metadata: Mapping[str, str]) -> None:
    """Write a table in the format of the suffix: the whole file, or nothing at all."""
    where = as_path(path)
    suffix = suffix_of(where)
    encoded = parquet.encode_metadata(metadata)
    try:
        with atomic_write(where) as file:
            if suffix == ".parquet":
                parquet.write_rows(file, columns, encoded)
            elif where.name.lower().endswith(".gz"):
                # No name and no time, so that the same table gives the same bytes.
                with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                    packed.writelines(_RENDERERS[suffix](columns))
            else:
                file.writelines(_RENDERERS[suffix](columns))
    except NotADirectoryError as error:
        raise TableError(f"{where} cannot be written: {error}, make it first") from error
    except OSError as error:
        raise TableError(
            f"{where} cannot be written: {reason(error)}; make room or choose another place"
        ) from error
