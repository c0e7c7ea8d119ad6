"""A part of the dump to rows: what the worker processes do."""

from typing import NamedTuple

import pyarrow as pa

from candgen.wikidata.items import BAD, Item, Skipped, read_item
from candgen.wikidata.lines import Line, Lines, Part
from candgen.wikidata.names import Described, Describer, Selection
from candgen.wikidata.statistics import SHOWN, BadLine, Tally

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
"""Rows on their way; the keys sort them as the tables are sorted."""

_ROWS = 1 << 16  # rows that are held as Python's objects
_BEGINNING = 60  # characters of a bad line


class Result(NamedTuple):
    """What a part gave."""

    part: Part
    names: pa.Table
    entities: pa.Table
    tally: Tally


def name_key(language: str, mention: str) -> str:
    """Give a key that sorts by language, then by mention; a tab is in neither."""
    return f"{language}\t{mention}"


def entity_key(entity: str) -> str:
    """Give a key that sorts the shorter id first.

    >>> sorted(["Q100", "Q21"], key=entity_key)
    ['Q21', 'Q100']
    """
    return f"{len(entity):02}{entity}"


class PartReader:
    """Makes rows of parts; can be sent to another process."""

    def __init__(self, selection: Selection) -> None:
        self._describer = Describer(selection)

    def __call__(self, part: Part, *, items: int | None = None) -> Result:
        """Read a part to its end, or until there were so many items."""
        tally, rows, number = Tally(), _Rows(), 0
        lines = Lines(part)
        for number, line in enumerate(lines, start=1):
            found = self._read(line, tally)
            if isinstance(found, Skipped):
                tally.skipped[found] += 1
                if found in BAD and len(tally.bad) < SHOWN:
                    tally.bad.append(_bad_line(part, number, found, line))
            elif found is not None:
                rows.add(*found)
                tally.kept += 1
            if tally.items == items:
                break
        tally.lines[part.number] = number
        tally.faults, tally.damaged = lines.faults[:SHOWN], len(lines.faults)
        tally.truncated = lines.truncated
        names, entities = rows.tables()
        return Result(part._replace(lines=None), names, entities, tally)

    def _read(self, line: Line, tally: Tally) -> tuple[Item, Described] | Skipped | None:
        """Read a line; None if it has no entity."""
        text = None if line is None else _entity(line, tally)
        if text is None:
            return Skipped.LONG
        if not text:
            return None
        item = read_item(text)
        if isinstance(item, Skipped):
            return item
        tally.items += 1
        tally.newest = max(tally.newest, item.modified)
        described = self._describer.describe(item)
        if isinstance(described, Skipped):
            return described
        tally.illegal += described.illegal
        return item, described


def _entity(line: bytes, tally: Tally) -> bytes:
    """Take away the brackets and commas of the array that the entities are in."""
    text = line.removeprefix(b"\xef\xbb\xbf").strip()
    if text in (b"[", b"[]") or text.startswith(b"[{"):
        tally.opened += 1
        text = text[1:].lstrip()
    if text == b"]" or text.endswith(b"}]"):
        tally.closed += 1
        text = text[:-1].rstrip()
    return text.removesuffix(b",").rstrip()


def _bad_line(part: Part, number: int, reason: Skipped, line: Line) -> BadLine:
    beginning = (line or b"")[: 4 * _BEGINNING].decode("utf-8", "replace")
    return BadLine(part.number, number, str(reason), beginning[:_BEGINNING])


class _Rows:
    """Rows that are made into Arrow tables now and then, which are much smaller."""

    def __init__(self) -> None:
        self._names: list[tuple[str, str, int]] = []
        self._entities: list[tuple[str, str, str, str | None, str, int]] = []
        self._tables: tuple[list[pa.Table], list[pa.Table]] = ([], [])

    def add(self, item: Item, described: Described) -> None:
        for (language, mention), sources in described.names.items():
            self._names.append((name_key(language, mention), item.entity, sources))
        key, classes = entity_key(item.entity), " ".join(item.instance_of)
        for language, name, description in described.shown:
            row = (key, language, name, description, classes, len(item.sitelinks))
            self._entities.append(row)
        if len(self._names) + len(self._entities) >= _ROWS:
            self._move()

    def _move(self) -> None:
        for rows, schema, tables in zip(
            (self._names, self._entities), (NAMES, ENTITIES), self._tables, strict=True
        ):
            columns = list(zip(*rows, strict=True)) or [()] * len(schema)  # type: ignore[misc]
            arrays = [pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)]
            tables.append(pa.table(arrays, schema=schema))
        self._names, self._entities = [], []

    def tables(self) -> tuple[pa.Table, pa.Table]:
        self._move()
        names, entities = (pa.concat_tables(tables) for tables in self._tables)
        return names, entities
