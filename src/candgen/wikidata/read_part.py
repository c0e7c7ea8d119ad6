"""A part of the dump to rows: the work of one worker process."""

from typing import NamedTuple

import pyarrow as pa

from candgen.errors import TableError
from candgen.wikidata.items import UNREADABLE, Item, SkipReason, entity_key, read_item
from candgen.wikidata.lines import Line, Lines, Part
from candgen.wikidata.names import ItemDescriber, ItemRows, Selection
from candgen.wikidata.statistics import MAX_LISTED, BadLine, ItemStatistics

NAMES = pa.schema(
    [("key", pa.large_string()), ("entity", pa.large_string()), ("sources", pa.uint8())]
)
ENTITIES = pa.schema(
    [
        ("key", pa.large_string()),
        ("language", pa.string()),
        ("name", pa.large_string()),
        ("description", pa.large_string()),
        ("instance_of", pa.large_string()),
        ("sitelinks", pa.int64()),
    ]
)
"""Rows of the sorted runs; the keys sort them as the tables are sorted."""

_MAX_OBJECTS = 1 << 16  # rows that are held as Python objects
_MAX_ROW_BYTES = 1 << 31  # of a part, in memory; real parts have a tenth of it
_BEGINNING = 60  # characters of a bad line


class PartResult(NamedTuple):
    """The rows and statistics of a part."""

    part: Part
    names: pa.Table
    entities: pa.Table
    statistics: ItemStatistics


def name_key(language: str, mention: str) -> str:
    """Return a key that sorts by language, then by mention; a tab is in neither."""
    return f"{language}\t{mention}"


class PartReader:
    """Makes rows of parts; it can be sent to a worker process."""

    def __init__(self, selection: Selection) -> None:
        self._describer = ItemDescriber(selection)

    def __call__(self, part: Part, *, items: int | None = None) -> PartResult:
        """Read a part, or its first ``items`` items."""
        statistics, rows, number = ItemStatistics(), _Rows(part.path), 0
        lines = Lines(part)
        for number, line in enumerate(lines, start=1):
            found = self._read(line, statistics)
            if isinstance(found, SkipReason):
                statistics.skipped[found] += 1
                if found in UNREADABLE and len(statistics.bad) < MAX_LISTED:
                    beginning = (line or b"")[: 4 * _BEGINNING].decode("utf-8", "replace")
                    bad = BadLine(part.number, number, str(found), beginning[:_BEGINNING])
                    statistics.bad.append(bad)
            elif found is not None:
                rows.add(*found)
                statistics.kept += 1
            if statistics.items == items:
                break
        statistics.lines[part.number] = number
        statistics.faults, statistics.damaged = lines.faults[:MAX_LISTED], len(lines.faults)
        statistics.truncated = lines.truncated
        names, entities = rows.tables()
        return PartResult(part._replace(lines=None), names, entities, statistics)

    def _read(
        self, line: Line, statistics: ItemStatistics
    ) -> tuple[Item, ItemRows] | SkipReason | None:
        """Read a line; None if it has no entity."""
        text = None if line is None else _strip_array(line, statistics)
        if text is None:
            return SkipReason.LONG
        if not text:
            return None
        item = read_item(text)
        if isinstance(item, SkipReason):
            return item
        statistics.items += 1
        statistics.newest = max(statistics.newest, item.modified)
        rows = self._describer.describe(item)
        if isinstance(rows, SkipReason):
            return rows
        statistics.invalid += rows.invalid
        return item, rows


def _strip_array(line: bytes, statistics: ItemStatistics) -> bytes:
    """Remove the brackets and commas of the array that holds the entities."""
    text = line.removeprefix(b"\xef\xbb\xbf").strip()
    if text in (b"[", b"[]") or text.startswith(b"[{"):
        statistics.opened += 1
        text = text[1:].lstrip()
    if text == b"]" or text.endswith(b"}]"):
        statistics.closed += 1
        text = text[:-1].rstrip()
    return text.removesuffix(b",").rstrip()


class _Rows:
    """Rows that are converted now and then to Arrow tables, which are much smaller."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._bytes = 0
        self._names: list[tuple[str, str, int]] = []
        self._entities: list[tuple[str, str, str, str | None, str, int]] = []
        self._tables: tuple[list[pa.Table], list[pa.Table]] = ([], [])

    def add(self, item: Item, rows: ItemRows) -> None:
        for (language, mention), sources in rows.names.items():
            self._names.append((name_key(language, mention), item.entity, sources))
        key, classes = entity_key(item.entity), " ".join(item.instance_of)
        for language, name, description in rows.displays:
            row = (key, language, name, description, classes, len(item.sitelinks))
            self._entities.append(row)
        if len(self._names) + len(self._entities) >= _MAX_OBJECTS:
            self._convert()

    def _convert(self) -> None:
        for rows, schema, tables in zip(
            (self._names, self._entities), (NAMES, ENTITIES), self._tables, strict=True
        ):
            columns = list(zip(*rows, strict=True)) or [()] * len(schema)  # type: ignore[misc]
            arrays = [pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)]
            tables.append(pa.table(arrays, schema=schema))
            self._bytes += tables[-1].nbytes
        self._names, self._entities = [], []
        if self._bytes > _MAX_ROW_BYTES:
            raise TableError(
                f"{self._path} has more than {_MAX_ROW_BYTES >> 30} GiB of names in one part, "
                "expected Wikidata's JSON dump: download it again"
            )

    def tables(self) -> tuple[pa.Table, pa.Table]:
        self._convert()
        names, entities = (pa.concat_tables(tables) for tables in self._tables)
        return names, entities
