"""The tasks of Spark's workers: independent of each other, each yields rows.

The rows of all kinds have the same columns, so that a dump is read once for all of them.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from candgen.dumps.compressed_streams import Part, align_part, cut_into_parts, open_dump
from candgen.dumps.parenthesis import remove_parenthesis
from candgen.dumps.parquet_writer import MentionTableWriter
from candgen.errors import TableError
from candgen.tables.rows import SCHEMA
from candgen.wikipedia import sql
from candgen.wikipedia.inputs import SideTables, Sources
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.markup.titles import Titles
from candgen.wikipedia.options import Options
from candgen.wikipedia.pages import read_header
from candgen.wikipedia.read_part import read_part
from candgen.wikipedia.spark.dump_folder import Wiki
from candgen.wikipedia.statistics import PageStatistics

PART_BYTES = 32 << 20
"""Bytes of a bzip2 file for one task."""

LINKS, PAGES, ENTITIES, REDIRECTS = "links", "pages", "entities", "redirects"
STATISTICS = "statistics"

ROWS = pa.schema(
    [
        ("kind", pa.string()),
        ("language", pa.string()),
        ("mention", pa.string()),  # of a link; of a page, its name
        ("title", pa.string()),
        ("fold", pa.int8()),
        ("count", pa.int64()),
        ("id", pa.int64()),
        ("namespace", pa.int32()),
        ("redirect", pa.string()),
        ("redirect_namespace", pa.int32()),
        ("outside", pa.bool_()),
        ("entity", pa.string()),
        ("task", pa.int64()),
        ("statistics", pa.string()),
    ]
)
"""Rows of every kind; columns that a kind does not have are null."""

_BATCH = 1 << 16  # rows


class Task(NamedTuple):
    """A piece of work, in plain values."""

    number: int
    language: str
    kind: str
    """LINKS for a range of a dump, which gives pages and statistics too; ENTITIES, REDIRECTS."""
    path: str
    dumps: tuple[str, ...]
    """All dumps of the wiki; the first has the header."""
    siteinfo: str | None
    start: int = 0
    end: int | None = None


def cut_into_tasks(
    wikis: Sequence[Wiki], options: Options, *, size: int = PART_BYTES
) -> list[Task]:
    """Cut the files of wikis into tasks, wiki after wiki."""
    made: list[Task] = []
    for language, sources in wikis:
        siteinfo = str(sources.siteinfo) if sources.siteinfo else None
        for kind, part in _cut_files(sources, options, size):
            path, start, end = part
            number = len(made)
            made.append(Task(number, language, kind, path, sources.dumps, siteinfo, start, end))
    return made


def _cut_files(sources: Sources, options: Options, size: int) -> Iterator[tuple[str, Part]]:
    if options.pages is not None:  # the first pages are found by one task, in order
        yield LINKS, Part(sources.dumps[0])
    else:
        for path in sources.dumps:
            for part in _cut_dump(path, size):
                yield LINKS, part
    if sources.page_props:
        yield ENTITIES, Part(str(sources.page_props))
    if sources.redirects:
        yield REDIRECTS, Part(str(sources.redirects))


def _cut_dump(path: str, size: int) -> list[Part]:
    """Cut a bzip2 file anywhere: the streams that begin in a range belong to it.

    The task that reads a range finds their beginnings, so the plan needs no reading.
    """
    with open_dump(path) as file:
        is_bzip2 = file.read(3) == b"BZh"
        length = file.seek(0, 2)
    if not is_bzip2:
        return [Part(path)]
    return [Part(path, at, min(at + size, length)) for at in range(0, length, size)]


def run_task(task: Task, options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task, in the columns of ROWS."""
    for kind, table in _WORK[task.kind](task, options):
        given = {"kind": kind, "language": task.language, "task": task.number}
        yield from _add_columns(table, given).to_batches(max_chunksize=_BATCH)


def _add_columns(table: pa.Table, given: Mapping[str, object]) -> pa.Table:
    columns = []
    for field in ROWS:
        if field.name in given:
            columns.append(pa.repeat(pa.scalar(given[field.name], field.type), len(table)))
        elif field.name in table.column_names:
            columns.append(table[field.name].cast(field.type))
        else:
            columns.append(pa.nulls(len(table), field.type))
    return pa.table(columns, schema=ROWS)


def _read_dump(task: Task, options: Options) -> Iterator[tuple[str, pa.Table]]:
    statistics = PageStatistics()
    for part, limited in _find_parts(task, options, statistics):
        for found in read_part(part, limited, site=_read_site(task.dumps[0], task.siteinfo)):
            if isinstance(found, PageStatistics):
                statistics.add(found)
            elif not isinstance(found, Site):
                kind, table = found
                yield kind, _add_names(table, options) if kind == PAGES else table
    yield STATISTICS, pa.table({"statistics": [statistics.to_json()]})


def _find_parts(
    task: Task, options: Options, statistics: PageStatistics
) -> Iterator[tuple[Part, Options]]:
    """Yield the part of a task; with a number of pages, parts until these are read."""
    if options.pages is None:
        part = align_part(Part(task.path, task.start, task.end))
        if part is not None:
            yield part, options
        return
    for part in cut_into_parts(task.dumps):
        left = options.pages - statistics.pages["read"]
        if left > 0:
            yield part, replace(options, pages=left)


def _add_names(pages: pa.Table, options: Options) -> pa.Table:
    """Add the mentions that titles are, and their folds, if requested."""
    if not options.titles and not options.redirect_titles:
        return pages
    titles = pages["title"].to_pylist()
    names = pa.array(map(remove_parenthesis, titles), pa.string())
    folds = pa.array(map(options.fold_of, titles), pa.int8())
    return pages.append_column("mention", names).append_column("fold", folds)


def read_site(wiki: Wiki) -> Site:
    """Read the headers of a wiki's dumps, which must be of one wiki."""
    siteinfo = wiki.sources.siteinfo
    sites = [_read_site(dump, str(siteinfo) if siteinfo else None) for dump in wiki.sources.dumps]
    for site, dump in zip(sites, wiki.sources.dumps, strict=True):
        if site.wiki != sites[0].wiki:
            raise TableError(
                f"{dump} is of {site.wiki}, and {wiki.sources.dumps[0]} of {sites[0].wiki}, but "
                "their names are of one wiki: rename or move one"
            )
    return sites[0]


@lru_cache(maxsize=8)
def _read_site(dump: str, siteinfo: str | None) -> Site:
    side_tables = SideTables(Sources((dump,), siteinfo=Path(siteinfo) if siteinfo else None))
    return Site.from_xml(read_header(dump), details=side_tables.details)


def _read_entities(task: Task, _options: Options) -> Iterator[tuple[str, pa.Table]]:
    rows = sql.iterate_page_entities(task.path)
    return ((ENTITIES, table) for table in sql.batch_rows(rows, _select(("id", "entity"))))


def _read_redirects(task: Task, _options: Options) -> Iterator[tuple[str, pa.Table]]:
    titles = Titles(_read_site(task.dumps[0], task.siteinfo))
    rows = (
        (page, "" if away else titles.from_database(namespace, key), namespace, bool(away))
        for page, namespace, key, away in sql.iterate_redirects(task.path)
    )
    schema = _select(("id", "redirect", "redirect_namespace", "outside"))
    return ((REDIRECTS, table) for table in sql.batch_rows(rows, schema))


def _select(names: Sequence[str]) -> pa.Schema:
    return pa.schema([ROWS.field(name) for name in names])


_WORK: Mapping[str, Callable[[Task, Options], Iterator[tuple[str, pa.Table]]]] = {
    LINKS: _read_dump,
    ENTITIES: _read_entities,
    REDIRECTS: _read_redirects,
}


class TableJob(NamedTuple):
    """A file of the data set, and Spark's file with its rows."""

    piece: str | None
    """None for a table without rows."""
    output: str
    unfinished: str
    """The folder for incomplete files."""
    metadata: Mapping[str, str]


def write_table(job: TableJob) -> None:
    """Write a Parquet file as the engine on one machine does; it may be repeated."""
    temporary = Path(job.unfinished) / f"{secrets.token_hex(8)}.parquet"
    writer = MentionTableWriter(temporary)
    if job.piece is not None:
        with pq.ParquetFile(job.piece) as rows:
            for batch in rows.iter_batches(_BATCH, columns=SCHEMA.names):
                table = pa.Table.from_batches([batch])
                writer.write(table.filter(pc.is_valid(table["mention"])))
    writer.close(job.metadata)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(job.output)
