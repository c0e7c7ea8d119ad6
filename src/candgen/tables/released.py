"""The layout in which the paper's authors released their data: a folder a language.

    mentions_tr.txt          wikipedia-id entity mention     one line each time a pair was seen
    mentions_dev_type.txt    entity mention type             0 is easy, 1 is medium, 2 is hard
    mentions_tt_type.txt     entity mention type             the test queries

There are no headers. The words of a mention are joined by ``_``; the Wikipedia id is never used.
A pivot has training data only, and a zero-shot target has queries only.
"""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from candgen.errors import TableError
from candgen.storage.atomic import atomic_folder, atomic_write, storage_errors, write_text
from candgen.tables.folds import Folds
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.tables.released_lines import (
    BYTE_ORDER_MARK,
    ENOUGH,
    parse_query,
    query_line,
    read_training_rows,
    training_blocks,
)
from candgen.tables.rows import SCHEMA, Rows

TRAIN, DEV, TEST = ("mentions_tr.txt", "mentions_dev_type.txt", "mentions_tt_type.txt")

_LOG = logging.getLogger("candgen")

FilePath = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Released:
    """The data of one language; each file is read when it is first asked for."""

    path: Path
    skip_bad_rows: bool = False

    @property
    def language(self) -> str:
        """The name of the folder."""
        return self.path.resolve().name

    @cached_property
    def train(self) -> MentionTable:
        """The training data, an empty table if there is none."""
        if not (self.path / TRAIN).exists():
            return MentionTable(Rows(SCHEMA.empty_table()))
        return read_training(self.path / TRAIN, skip_bad_rows=self.skip_bad_rows)

    @cached_property
    def dev(self) -> list[Query]:
        """The queries on which parameters are chosen; none if the file is not there."""
        return self._queries(DEV)

    @cached_property
    def test(self) -> list[Query]:
        """The queries that are for the end; none if the file is not there."""
        return self._queries(TEST)

    def _queries(self, name: str) -> list[Query]:
        if not (self.path / name).exists():
            return []
        return read_typed(self.path / name, skip_bad_rows=self.skip_bad_rows)


def languages(folder: FilePath) -> list[str]:
    """The folders in it that hold training data or test queries, sorted by name."""
    try:
        inside = sorted(entry for entry in Path(folder).iterdir() if entry.is_dir())
    except OSError:
        return []
    return [e.name for e in inside if (e / TRAIN).is_file() or (e / TEST).is_file()]


def is_released(folder: FilePath) -> bool:
    """Whether this is data in the released layout: a folder with a folder for each language."""
    return bool(languages(folder))


def read_released(folder: FilePath, *, skip_bad_rows: bool = False) -> Released:
    """Open the folder of one language.

    A bad line is a TableError that names it, when its file is read; with `skip_bad_rows` such
    lines are left out and reported in the log.
    """
    path = Path(folder)
    if not any((path / name).is_file() for name in (TRAIN, DEV, TEST)):
        raise TableError(
            f"{path} has no data of a language: expected a folder with {TRAIN}, {DEV} or {TEST}"
        )
    return Released(path, skip_bad_rows)


def read_training(path: FilePath, *, skip_bad_rows: bool = False) -> MentionTable:
    """Read lines ``wikipedia-id entity mention``; each counts 1, and equal ones add up."""
    where = Path(path)
    try:
        rows = read_training_rows(where, stop_early=not skip_bad_rows)
    except OSError as error:
        raise TableError(f"{where} cannot be read: {error.strerror or error}") from error
    _report(where, rows.first_skipped, rows.skipped, skip_bad_rows=skip_bad_rows)
    return MentionTable(rows)


def read_typed(path: FilePath, *, skip_bad_rows: bool = False) -> list[Query]:
    """Read lines ``entity mention type``."""
    where = Path(path)
    try:
        data = where.read_bytes().removeprefix(BYTE_ORDER_MARK)
    except OSError as error:
        raise TableError(f"{where} cannot be read: {error.strerror or error}") from error
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    parsed = [parse_query(line) for line in lines]
    bad = [number for number, found in enumerate(parsed) if isinstance(found, str)]
    first = f"{where} line {bad[0] + 1}: {parsed[bad[0]]}" if bad else None
    _report(where, first, len(bad), skip_bad_rows=skip_bad_rows)
    return [found for found in parsed if isinstance(found, Query)]


def _report(where: Path, first: str | None, bad: int, *, skip_bad_rows: bool) -> None:
    if not bad:
        return
    if skip_bad_rows:
        _LOG.warning("%s: bad lines left out: %d, the first: %s", where, bad, first)
        return
    more = f"; bad lines after it: {bad - 1}" if bad > 1 else ""
    more += " or more" if bad >= ENOUGH else ""
    raise TableError(f"{first}{more} (skip_bad_rows=True, or --skip-bad-rows, leaves them out)")


def write_released(folder: FilePath, data: Folds) -> None:
    """Write training data, dev and test to the folder of one language, or nothing at all.

    A count of 3 becomes three lines. What would not read back the same is refused: an underscore
    in a mention, a space in an entity. A folder that is not empty is refused too, as there is
    no telling whose data it holds.
    """
    blocks = training_blocks(data.train)  # checks at once, and makes lines later
    dev, test = _typed(data.dev, "dev"), _typed(data.test, "test")
    with atomic_folder(Path(folder), lambda _: False) as fresh:
        with atomic_write(fresh / TRAIN) as file:
            file.writelines(blocks)
        write_text(fresh / DEV, dev)
        write_text(fresh / TEST, test)


def write_training(path: FilePath, table: MentionTable) -> None:
    """Write a mention table as lines ``0 entity mention``, the whole file or nothing."""
    blocks = training_blocks(table)
    with storage_errors(Path(path), "cannot be written"), atomic_write(Path(path)) as file:
        file.writelines(blocks)


def _typed(queries: Sequence[Query], name: str) -> str:
    return "".join(query_line(query, f"{name}[{at}]") for at, query in enumerate(queries))
