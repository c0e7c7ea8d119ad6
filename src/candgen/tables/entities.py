"""Names, descriptions and types of entities, to be shown: a table that is stored with an index."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from candgen.errors import StorageError, TableError
from candgen.storage import index_folder
from candgen.storage.index_folder import StoredIndex, add_prefix, strip_prefix
from candgen.tables.string_table import StringTable
from candgen.tables.table_files import as_path, kind_of, reason, text_of

PREFIX = "descriptions"
BETWEEN_TYPES = "|"
"""Stands between the types of an entity in a text file; Parquet and JSON have lists."""

_TEXTS = ("entity", "language", "name", "description")
_TYPES = ("type", "instance_of")


class Described(NamedTuple):
    """An entity in one language."""

    language: str
    name: str
    description: str


@dataclass(frozen=True)
class Descriptions:
    """Rows ``start[e]`` to ``start[e + 1] - 1`` are those of entity e, types likewise.

    >>> table = Descriptions.from_rows([("Q1741", "da", "Wien", "by i Østrig", ["Q515"])])
    >>> table.of("Q1741"), table.types_of("Q1741"), table.of("Q1")
    ([Described(language='da', name='Wien', description='by i Østrig')], ['Q515'], [])
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
    def from_rows(cls, rows: Iterable[tuple[str, str, str, str, Sequence[str]]]) -> "Descriptions":
        """From (entity, language, name, description, types)."""
        columns = list(zip(*rows, strict=True)) or [()] * 5
        texts = [pa.array(column, pa.large_string()) for column in columns[:4]]
        types = pa.array(columns[4], pa.large_list(pa.large_string()))
        return cls.from_arrow(pa.table([*texts, types], [*_TEXTS, "type"]))

    @classmethod
    def from_arrow(cls, table: pa.Table) -> "Descriptions":
        """From columns entity, language, name, description and type, a list, without nulls."""
        table = table.take(pc.sort_indices(table["entity"])).combine_chunks()
        entity = table["entity"].combine_chunks() if len(table) else pa.array([], pa.large_string())
        entities = pc.unique(entity)
        start, number = _runs(entity, entities)
        types, type_start, type_number = _types(table["type"], number, len(entities))
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
    def of_known(
        cls, table: pa.Table, known: StringTable | None, path: str | os.PathLike[str]
    ) -> "Descriptions":
        """Return what a table, read from a path, says of known entities and of their types.

        Without ``known``, all rows are kept.
        """
        found = cls.from_arrow(_only(table, None if known is None else known.to_arrow()))
        if not len(found.entities):
            raise TableError(
                f"{os.fspath(path)} has none of the entities of the index: do both have the same "
                "kind of ids?"
            )
        return found

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "Descriptions | None":
        """What is stored with an index, if anything is."""
        arrays = strip_prefix(PREFIX, stored.arrays)
        if not arrays:
            return None
        try:
            ids, languages, name, description, types = (
                StringTable(**strip_prefix(table, arrays))
                for table in ("ids", "languages", "name", "description", "types")
            )
            return cls(
                ids,
                arrays["start"],
                languages,
                arrays["language"],
                name,
                description,
                types,
                arrays["type_start"],
                arrays["type"],
            )
        except (KeyError, TypeError) as error:
            raise StorageError(
                f"{stored.path} has descriptions that this version of candgen cannot read: store "
                "them again with candgen serve --entities"
            ) from error

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What is stored."""
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
        """Add them to the folder of an index, in place of those that are there."""
        index_folder.amend(path, PREFIX, self.arrays())

    def of(self, entity: str) -> list[Described]:
        """What is said of an entity, in the order of languages; nothing if it is not there."""
        place = self._place(entity)
        if place < 0:
            return []
        first, last = self.start[place : place + 2].tolist()
        languages = self.languages.take(self.language[first:last])
        rows = zip(languages, self.name[first:last], self.description[first:last], strict=True)
        return sorted(Described(*row) for row in rows)

    def types_of(self, entity: str) -> list[str]:
        """The types of an entity."""
        place = self._place(entity)
        if place < 0:
            return []
        first, last = self.type_start[place : place + 2].tolist()
        return self.types.take(self.type[first:last])

    def _place(self, entity: str) -> int:
        return int(self.entities.places([entity])[0])


def _runs(
    entity: pa.LargeStringArray, entities: pa.LargeStringArray
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each entity starts in the sorted rows, and the entity of each row."""
    number = pc.index_in(entity, entities).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.searchsorted(number, np.arange(len(entities) + 1)), number


def _types(
    lists: pa.ChunkedArray, number: npt.NDArray[np.int64], entities: int
) -> tuple[pa.LargeStringArray, npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """All types, where those of each entity start, and which they are: each once, by its id."""
    listed = pa.chunked_array(lists, pa.large_list(pa.large_string())).combine_chunks()
    flat = pc.list_flatten(listed)
    types = pc.unique(flat).sort()
    owner = np.repeat(number, pc.list_value_length(listed).to_numpy(zero_copy_only=False))
    which = pc.index_in(flat, types).to_numpy(zero_copy_only=False).astype(np.int64)
    pairs = np.unique(np.stack([owner, which], axis=1), axis=0).reshape(-1, 2)
    start = np.searchsorted(pairs[:, 0], np.arange(entities + 1))
    return types, start, pairs[:, 1].astype(np.uint32)


def _only(table: pa.Table, known: pa.LargeStringArray | None) -> pa.Table:
    """The rows of known entities, and of their types, which have names too."""
    if known is None:
        return table
    mine = table.filter(pc.is_in(table["entity"], known))
    types = pc.unique(pc.list_flatten(mine["type"]))
    theirs = table.filter(pc.is_in(table["entity"], types))
    strangers = theirs.filter(pc.invert(pc.is_in(theirs["entity"], known)))
    return pa.concat_tables([mine, strangers])


def read_entities(path: str | os.PathLike[str]) -> pa.Table:
    """Read a table of entities: TSV or JSON Lines, plain or gzip, or Parquet.

    The columns are entity, language, name, description and type (or instance_of, as ``candgen
    extract-wikidata`` has it); entity and one of the last three must be there, and what is not is
    empty.
    """
    where = as_path(path)
    try:
        kind = kind_of(where)
        if kind.suffix == ".parquet":
            table = pq.read_table(where)
            table.validate(full=True)  # text may be anything there
        elif kind.suffix == ".tsv":
            table = _read_tsv(text_of(where, gzipped=kind.gzipped))
        else:
            text = pa.BufferReader(text_of(where, gzipped=kind.gzipped))
            table = pyarrow.json.read_json(text)
    except FileNotFoundError as error:
        raise TableError(f"{where} does not exist: check the name and the folder") from error
    except (OSError, pa.ArrowException) as error:
        raise TableError(
            f"{where} cannot be read as a table of entities: {reason(error)}"
        ) from error
    if len({*table.column_names}) < len(table.column_names):
        raise TableError(f"{where} has two columns of one name: {', '.join(table.column_names)}")
    if "entity" not in table.column_names or not {*_TEXTS[2:], *_TYPES} & set(table.column_names):
        raise TableError(
            f"{where} has the columns {', '.join(table.column_names) or 'none'}: expected entity, "
            "language, name, description and type, of which entity and one of the last three are "
            "needed"
        )
    try:
        return _columns(table)
    except pa.ArrowException as error:
        raise TableError(f"{where}: a column is not text: {reason(error)}") from error


def _read_tsv(text: bytes) -> pa.Table:
    if not text.strip():
        return pa.table({})
    parse = pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False, escape_char=False)
    header = text.split(b"\n", 1)[0].decode("utf-8").split("\t")
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(header, pa.large_string()), strings_can_be_null=False
    )
    read = pyarrow.csv.ReadOptions(use_threads=False)
    return pyarrow.csv.read_csv(
        pa.BufferReader(text), read_options=read, parse_options=parse, convert_options=convert
    )


def _columns(table: pa.Table) -> pa.Table:
    """The five columns, without nulls; rows without an entity are left out."""
    columns: dict[str, Any] = {}
    for name in _TEXTS:
        given = _column(table, name)
        columns[name] = pc.fill_null(given.cast(pa.large_string()), "")
    types = next((_column(table, name) for name in _TYPES if name in table.column_names), None)
    columns["type"] = _lists(types, len(table))
    made = pa.table(columns)
    return made.filter(pc.not_equal(made["entity"], ""))


def _column(table: pa.Table, name: str) -> Any:  # noqa: ANN401
    return table[name] if name in table.column_names else pa.nulls(len(table), pa.large_string())


def _lists(types: Any, length: int) -> Any:  # noqa: ANN401
    """Lists of types, whatever they were: nothing, texts or lists."""
    if types is None:
        types = pa.nulls(length, pa.large_string())
    if pa.types.is_null(types.type):
        types = types.cast(pa.large_string())
    if not (pa.types.is_list(types.type) or pa.types.is_large_list(types.type)):
        types = pc.split_pattern(types.cast(pa.large_string()), BETWEEN_TYPES)
    as_list = types.cast(pa.large_list(pa.large_string()))
    whole = as_list.to_pylist()
    return pa.array(
        [[each for each in some or () if each] for some in whole], pa.large_list(pa.large_string())
    )
