"""The layout in which the paper's authors released their data: one folder for each language.

    mentions_tr.txt          wikipedia-id entity mention     one line each time a pair was seen
    mentions_dev_type.txt    entity mention type             0 is easy, 1 is medium, 2 is hard
    mentions_tt_type.txt     entity mention type             the test queries

There are no headers. The words of a mention are joined by ``_``; the Wikipedia id is never used.
A pivot has training data only, and a zero-shot target has queries only.
"""

import io
import logging
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from candgen.errors import TableError
from candgen.storage.atomic import atomic_folder, atomic_write, storage_errors, write_text
from candgen.tables.folds import Folds
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.tables.released_lines import (
    MAX_BAD_LINES,
    parse_query,
    read_training_rows,
    render_query,
    render_training,
)
from candgen.tables.rows import SCHEMA, Rows
from candgen.tables.text_file import FilePath, read_whole_lines

TRAIN, DEV, TEST = ("mentions_tr.txt", "mentions_dev_type.txt", "mentions_tt_type.txt")

_LOG = logging.getLogger("candgen")


@dataclass(frozen=True, eq=False)
class ReleasedFolds:
    """The data of one language; each file is read when it is first used."""

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
        """The held-out queries; none if the file is not there."""
        return self._queries(TEST)

    def _queries(self, name: str) -> list[Query]:
        if not (self.path / name).exists():
            return []
        return read_typed(self.path / name, skip_bad_rows=self.skip_bad_rows)


def languages(folder: FilePath) -> list[str]:
    """Return the folders in a folder that hold training data or test queries, sorted by name."""
    try:
        inside = sorted(entry for entry in Path(folder).iterdir() if entry.is_dir())
    except OSError:
        return []
    return [e.name for e in inside if (e / TRAIN).is_file() or (e / TEST).is_file()]


def is_released(folder: FilePath) -> bool:
    """Return whether a folder has the released layout: a folder for each language."""
    return bool(languages(folder))


def read_released(folder: FilePath, *, skip_bad_rows: bool = False) -> ReleasedFolds:
    """Open the folder of one language.

    A bad line raises a TableError when its file is read; with `skip_bad_rows` such lines are left
    out and logged.
    """
    path = Path(folder)
    if not any((path / name).is_file() for name in (TRAIN, DEV, TEST)):
        raise TableError(
            f"{path} has no data of a language: expected a folder with {TRAIN}, {DEV} or {TEST}"
        )
    return ReleasedFolds(path, skip_bad_rows)


def read_training(path: FilePath, *, skip_bad_rows: bool = False) -> MentionTable:
    """Read lines ``wikipedia-id entity mention``; each counts 1, and equal ones add up."""
    where = Path(path)
    rows = read_training_rows(where, stop_early=not skip_bad_rows)
    _report(where, rows.first_skipped, rows.skipped, skip_bad_rows=skip_bad_rows)
    return MentionTable(rows)


def read_typed(path: FilePath, *, skip_bad_rows: bool = False) -> list[Query]:
    """Read lines ``entity mention type``."""
    where = Path(path)
    queries: list[Query] = []
    bad, first = 0, None
    lines = chain.from_iterable(map(io.BytesIO, read_whole_lines(where)))
    for number, line in enumerate(lines, start=1):
        found = parse_query(line.removesuffix(b"\n"))
        if isinstance(found, Query):
            queries.append(found)
        else:
            bad += 1
            first = first or f"{where} line {number}: {found}"
    _report(where, first, bad, skip_bad_rows=skip_bad_rows)
    return queries


def _report(where: Path, first: str | None, bad: int, *, skip_bad_rows: bool) -> None:
    if not bad:
        return
    if skip_bad_rows:
        _LOG.warning("%s: bad lines left out: %d, the first: %s", where, bad, first)
        return
    more = f"; bad lines after it: {bad - 1}" if bad > 1 else ""
    more += " or more" if bad >= MAX_BAD_LINES else ""
    raise TableError(f"{first}{more} (skip_bad_rows=True, or --skip-bad-rows, leaves them out)")


def write_released(folder: FilePath, data: Folds) -> None:
    """Write training data, dev and test to the folder of one language, or nothing at all.

    A count of 3 becomes three lines. Raise TableError for data that would not read back the same
    (an underscore in a mention, a space in an entity), and StorageError if the folder is not empty:
    its files could be data of another language.
    """
    train = render_training(data.train)  # checks now, and yields lines later
    dev, test = (
        "".join(render_query(query, f"{name}[{at}]") for at, query in enumerate(queries))
        for name, queries in (("dev", data.dev), ("test", data.test))
    )
    with atomic_folder(Path(folder), lambda _: False) as fresh:
        with atomic_write(fresh / TRAIN) as file:
            file.writelines(train)
        write_text(fresh / DEV, dev)
        write_text(fresh / TEST, test)


def write_training(path: FilePath, table: MentionTable) -> None:
    """Write a mention table as lines ``0 entity mention``, the whole file or nothing."""
    lines = render_training(table)
    with storage_errors(Path(path), "cannot be written"), atomic_write(Path(path)) as file:
        file.writelines(lines)
