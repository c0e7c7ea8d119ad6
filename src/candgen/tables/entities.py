"""Names, descriptions and types of entities, for display: a table that is stored with an index."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import StorageError, TableError, shown
from candgen.storage import index_folder
from candgen.storage.index_folder import StoredIndex, add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_offsets, check_range
from candgen.tables import jsonl
from candgen.tables.file_formats import suffix_of
from candgen.tables.parquet_file import open_parquet
from candgen.tables.rows import LONE_SURROGATE
from candgen.tables.string_table import StringTable
from candgen.tables.text_file import as_path, reason
from candgen.tables.tsv import read_tsv

PREFIX = "descriptions"
TYPE_SEPARATOR = "|"
"""Between the types of an entity in a TSV file; Parquet and JSON have lists."""

_TEXTS = ("entity", "language", "name", "description")
_TYPES = ("type", "instance_of")
_SITELINKS = "sitelinks"
_BATCH = 1 << 13  # rows
_EXPECTED = (
    "entity, language, name, description and type, of which entity and one of the last three are "
    "needed"
)


class EntityText(NamedTuple):
    """The name and description of an entity in one language."""

    language: str
    name: str
    description: str


@dataclass(frozen=True)
class EntityTable:
    """Rows ``start[e]`` to ``start[e + 1] - 1`` belong to entity e; ``type_start`` is the same.

    >>> table = EntityTable.from_rows([("Q1741", "da", "Wien", "by i Østrig", ["Q515"])])
    >>> table.of("Q1741"), table.types_of("Q1741"), table.of("Q1")
    ([EntityText(language='da', name='Wien', description='by i Østrig')], ['Q515'], [])
    """

    entities: StringTable
    start: npt.NDArray[np.int64]
    languages: StringTable
    language: npt.NDArray[np.uint16]
    name: StringTable
    description: StringTable
    types: StringTable
    type_start: npt.NDArray[np.int64]
    type: npt.NDArray[np.uint32]

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, str, str, Sequence[str]]]) -> "EntityTable":
        """Make a table of (entity, language, name, description, types)."""
        columns = list(zip(*rows, strict=True)) or [()] * 5
        texts = [pa.array(column, pa.large_string()) for column in columns[:4]]
        types = pa.array(columns[4], pa.large_list(pa.large_string()))
        return cls.from_arrow(pa.table([*texts, types], [*_TEXTS, "type"]))

    @classmethod
    def from_arrow(cls, table: pa.Table) -> "EntityTable":
        """Make a table of the columns that `read_entities` returns."""
        table = table.take(pc.sort_indices(table["entity"])).combine_chunks()
        entity = table["entity"].combine_chunks() if len(table) else pa.array([], pa.large_string())
        entities = pc.unique(entity)
        number = pc.index_in(entity, entities).to_numpy(zero_copy_only=False).astype(np.int64)
        start = np.searchsorted(number, np.arange(len(entities) + 1))
        types, type_start, type_number = _group_types(table["type"], number, len(entities))
        languages = pc.unique(table["language"].combine_chunks()).sort()
        if len(languages) > np.iinfo(np.uint16).max:
            raise TableError(f"{len(languages):,} languages are too many: expected codes like 'fo'")
        language = pc.index_in(table["language"], languages).to_numpy().astype(np.uint16)
        return cls(
            StringTable.from_arrow(entities),
            start,
            StringTable.from_arrow(languages),
            language,
            StringTable.from_arrow(table["name"].combine_chunks()),
            StringTable.from_arrow(table["description"].combine_chunks()),
            StringTable.from_arrow(types),
            type_start,
            type_number,
        )

    @classmethod
    def select(
        cls, table: pa.Table, known: StringTable | None, path: str | os.PathLike[str]
    ) -> "EntityTable":
        """Make a table of the known entities, and of their types, which have names too.

        ``path`` is where the columns were read from. Without ``known``, all rows are kept.
        """
        if known is not None:
            is_known = pc.is_in(table["entity"], known.to_arrow())
            types = pc.unique(pc.list_flatten(table.filter(is_known)["type"]))
            is_type = pc.and_not(pc.is_in(table["entity"], types), is_known)
            table = pa.concat_tables([table.filter(is_known), table.filter(is_type)])
        found = cls.from_arrow(table)
        if not len(found.entities):
            raise TableError(
                f"{os.fspath(path)} has none of the entities of the index: do both have the same "
                "kind of ids?"
            )
        return found

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "EntityTable | None":
        """Return the table that is stored with an index, or None."""
        arrays = strip_prefix(PREFIX, stored.arrays)
        if not arrays:
            return None
        try:
            names = ("ids", "languages", "name", "description", "types")
            fields: dict[str, Any] = {
                name: StringTable(**strip_prefix(name, arrays)) for name in names
            }
            fields |= {name: arrays[name] for name in ("start", "language", "type_start", "type")}
            return cls(entities=fields.pop("ids"), **fields)
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(
                f"{stored.path} has descriptions that this version of candgen cannot read: store "
                "them again with candgen serve --entities"
            ) from error

    def validate(self) -> None:
        """Raise ValueError unless every row has texts, a language and types that are there."""
        rows, entities = len(self.name), len(self.entities)
        self.entities.validate("descriptions.ids", is_sorted=True)
        self.languages.validate("descriptions.languages")
        self.types.validate("descriptions.types")
        self.name.validate("descriptions.name")
        self.description.validate("descriptions.description", items=rows)
        check_offsets("descriptions.start", self.start, entities, rows)
        check_array("descriptions.language", self.language, np.uint16, rows)
        check_range("descriptions.language", self.language, 0, len(self.languages) - 1)
        check_array("descriptions.type", self.type, np.uint32, -1)
        check_range("descriptions.type", self.type, 0, len(self.types) - 1)
        check_offsets("descriptions.type_start", self.type_start, entities, len(self.type))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays to store."""
        return {
            **add_prefix("ids", self.entities.arrays()),
            "start": self.start,
            **add_prefix("languages", self.languages.arrays()),
            "language": self.language,
            **add_prefix("name", self.name.arrays()),
            **add_prefix("description", self.description.arrays()),
            **add_prefix("types", self.types.arrays()),
            "type_start": self.type_start,
            "type": self.type,
        }

    def store(self, path: str | os.PathLike[str]) -> None:
        """Add the table to the folder of an index; replace the one that is there."""
        index_folder.amend(path, PREFIX, self.arrays())

    def of(self, entity: str) -> list[EntityText]:
        """Return the texts of an entity by language; none if the entity is not in the table."""
        row = self._find(entity)
        if row < 0:
            return []
        first, last = self.start[row : row + 2].tolist()
        languages = self.languages.take(self.language[first:last])
        rows = zip(languages, self.name[first:last], self.description[first:last], strict=True)
        return sorted(EntityText(*row) for row in rows)

    def types_of(self, entity: str) -> list[str]:
        """Return the types of an entity."""
        row = self._find(entity)
        if row < 0:
            return []
        first, last = self.type_start[row : row + 2].tolist()
        return self.types.take(self.type[first:last])

    def _find(self, entity: str) -> int:
        return int(self.entities.places([entity])[0])


def _group_types(
    lists: pa.ChunkedArray, number: npt.NDArray[np.int64], entities: int
) -> tuple[pa.LargeStringArray, npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """Return all types, where those of each entity start, and their numbers, each once."""
    listed = pa.chunked_array(lists, pa.large_list(pa.large_string())).combine_chunks()
    flat = pc.list_flatten(listed)
    types = pc.unique(flat).sort()
    owner = np.repeat(number, pc.list_value_length(listed).to_numpy(zero_copy_only=False))
    which = pc.index_in(flat, types).to_numpy(zero_copy_only=False).astype(np.int64)
    pairs = np.unique(np.stack([owner, which], axis=1), axis=0).reshape(-1, 2)
    start = np.searchsorted(pairs[:, 0], np.arange(entities + 1))
    return types, start, pairs[:, 1].astype(np.uint32)


def read_entities(path: str | os.PathLike[str]) -> pa.Table:
    """Read a table of entities: TSV or JSON Lines, plain or gzip, or Parquet.

    The columns are entity, language, name, description, type (or instance_of, as ``candgen
    extract-wikidata`` writes it) and sitelinks; entity and one of name, description and type are
    needed, and the others are empty if they are not there, or 0.
    """
    where = as_path(path)
    read = {".parquet": _read_parquet, ".tsv": _read_tsv}.get(suffix_of(where), _read_jsonl)
    try:
        return _fill_columns(read(where), where)
    except pa.ArrowException as error:
        raise TableError(f"{where}: a column is not text: {reason(error)}") from error


def read_sitelinks(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read how many sitelinks entities have, from a table of entities: see ``sitelinks_of``."""
    return sitelinks_of(read_entities(path))


def sitelinks_of(table: pa.Table) -> dict[str, int]:
    """Return the number of sitelinks of each entity that has any, of what `read_entities` returned.

    >>> rows = {"entity": ["Q1741", "Q1741", "Q99"], "sitelinks": [251, 251, 0]}
    >>> sitelinks_of(pa.table(rows))
    {'Q1741': 251}
    """
    linked = table.select(["entity", _SITELINKS]).filter(pc.greater(table[_SITELINKS], 0))
    most = linked.group_by("entity", use_threads=False).aggregate([(_SITELINKS, "max")])
    entities, numbers = most["entity"].to_pylist(), most[f"{_SITELINKS}_max"].to_pylist()
    return dict(zip(entities, numbers, strict=True))


def _check_columns(path: Path, names: Sequence[str]) -> list[str]:
    """Return the columns to read; raise TableError if one is missing, or is there twice."""
    if len(set(names)) < len(names):
        raise TableError(f"{path} has two columns with the same name: {shown(names)}")
    if "entity" not in names or not {*_TEXTS[2:], *_TYPES} & set(names):
        raise TableError(
            f"{path} has the columns {shown(names) if names else 'none'}: expected {_EXPECTED}"
        )
    return [name for name in (*_TEXTS, *_TYPES, _SITELINKS) if name in names]


def _read_tsv(path: Path) -> pa.Table:
    file = read_tsv(path, _EXPECTED)
    names = _check_columns(path, file.header)
    return pa.table(file.columns([file.header.index(name) for name in names]), names)


def _read_parquet(path: Path) -> pa.Table:
    with open_parquet(path) as file:
        names = _check_columns(path, file.schema.names)
        for name in names:
            kind = file.schema.field(name).type
            if _is_list(kind) and name in _TYPES:
                kind = kind.value_type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            is_text = str(kind) in ("string", "large_string", "string_view", "null")
            if not is_text and not pa.types.is_integer(kind):
                raise TableError(
                    f"{path}: column {name} holds {shown(str(kind))}, expected {_expected(name)}"
                )
        table = file.read(names)
    table.validate(full=True)  # Parquet does not check that text is UTF-8
    return table


def _read_jsonl(path: Path) -> pa.Table:
    seen: dict[str, None] = {}
    parts = []
    objects = jsonl.read_objects(path)
    while batch := list(islice(objects, _BATCH)):
        names = (*_TEXTS, *_TYPES, _SITELINKS)
        columns: dict[str, list[str | None]] = {name: [] for name in names}
        for line, found in batch:
            seen.update(dict.fromkeys(found))
            for name, column in columns.items():
                column.append(_text_of(found.get(name), name, f"{path} line {line}"))
        parts.append(pa.table({k: pa.array(v, pa.large_string()) for k, v in columns.items()}))
    return pa.concat_tables(parts).select(_check_columns(path, list(seen)))


def _text_of(value: object, name: str, place: str) -> str | None:
    """Return a value as a TSV file has it: text, in which types have a separator."""
    if isinstance(value, list) and name in _TYPES:
        types = [_text_of(each, "one of the types", place) for each in value]
        return TYPE_SEPARATOR.join(each for each in types if each)
    if isinstance(value, int) and not isinstance(value, bool):
        return shown(value)
    if value is None or (isinstance(value, str) and not LONE_SURROGATE.search(value)):
        return value
    raise TableError(f"{place}: {name} is {shown(value)}, expected {_expected(name)}")


def _expected(name: str) -> str:
    return "whole numbers" if name == _SITELINKS else "text"


def _fill_sitelinks(table: pa.Table, path: Path) -> pa.ChunkedArray | pa.Array:
    """Return the column of sitelinks, 0 where there are none; raise TableError for other values."""
    if _SITELINKS not in table.column_names:
        return pa.array(np.zeros(len(table), np.int64))
    column = table[_SITELINKS]
    if not pa.types.is_integer(column.type):
        texts = column.cast(pa.large_string())
        column = pc.if_else(pc.equal(texts, ""), None, texts)
    try:
        numbers = pc.fill_null(column.cast(pa.int64()), 0)
    except pa.ArrowException as error:
        raise TableError(
            f"{path}: column {_SITELINKS} is not all whole numbers: {reason(error)}"
        ) from error
    if len(numbers) and pc.min(numbers).as_py() < 0:
        raise TableError(f"{path}: column {_SITELINKS} has a negative number")
    return numbers


def _fill_columns(table: pa.Table, path: Path) -> pa.Table:
    """Return the columns without nulls; rows without an entity are left out."""
    columns = dict(zip(table.column_names, table.columns, strict=True))
    missing = pa.nulls(len(table), pa.large_string())
    filled: dict[str, Any] = {
        name: pc.fill_null(columns.get(name, missing).cast(pa.large_string()), "")
        for name in _TEXTS
    }
    types = next((columns[name] for name in _TYPES if name in columns), missing)
    whole = pa.table({**filled, "type": _to_lists(types), _SITELINKS: _fill_sitelinks(table, path)})
    return whole.filter(pc.not_equal(whole["entity"], ""))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _to_lists(types: Any) -> Any:  # noqa: ANN401
    """Return lists of types from a column of nulls, strings or lists, without empty types."""
    if not _is_list(types.type):
        types = pc.split_pattern(types.cast(pa.large_string()), TYPE_SEPARATOR)
    kind = pa.large_list(pa.large_string())
    lists = pa.chunked_array(types.cast(kind), kind).combine_chunks()
    flat = pc.list_flatten(lists)
    kept = pc.fill_null(pc.not_equal(flat, ""), fill_value=False)
    owner = pc.list_parent_indices(lists).filter(kept)
    start = np.searchsorted(owner.to_numpy(), np.arange(len(lists) + 1))
    return pa.LargeListArray.from_arrays(pa.array(start, pa.int64()), flat.filter(kept))
