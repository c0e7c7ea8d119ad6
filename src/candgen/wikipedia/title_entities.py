"""Tables of (title, entity) that a user gives: the entities of pages."""

import logging
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import TableError, shown
from candgen.tables.parquet_file import open_parquet
from candgen.tables.text_file import table_errors
from candgen.tables.tsv import read_tsv

_LOG = logging.getLogger("candgen")
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
    with table_errors(where):
        if name.endswith(".parquet"):
            table = _read_parquet(where)
        elif name.endswith((".tsv", ".tsv.gz")):
            table = _read_tsv(where)
        else:
            raise TableError(
                f"{where} has an unknown suffix, expected a name that ends in .tsv, .tsv.gz "
                "or .parquet"
            )
    return _drop_repeated(_drop_incomplete(table, where), where)


def _read_tsv(path: Path) -> pa.Table:
    file = read_tsv(path, "title and entity")
    return pa.table(
        file.columns(_find_columns(file.header, f"{path}, in its header row,")), schema=_SCHEMA
    )


def _read_parquet(path: Path) -> pa.Table:
    with open_parquet(path) as file:
        names = file.schema.names
        places = _find_columns(names, str(path))
        for place in places:
            kind = file.schema.field(place).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if str(kind) not in ("string", "large_string", "string_view", "null"):
                raise TableError(
                    f"{path}: column {names[place]} holds {kind}, expected strings: convert it"
                )
        table = file.read([names[place] for place in places])
    return pa.table([column.cast(pa.large_string()) for column in table.columns], schema=_SCHEMA)


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
