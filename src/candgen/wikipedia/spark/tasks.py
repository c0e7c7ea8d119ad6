"""What the machines of a cluster do: tasks that know nothing of each other, each giving rows.

The rows of all kinds have the same columns, so that a dump is read once for all of them.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from candgen.dumps.compressed_streams import Part, aligned, open_dump, parts
from candgen.dumps.parenthesis import without_parenthesis
from candgen.dumps.parquet_writer import TableWriter
from candgen.errors import TableError
from candgen.tables.rows import SCHEMA
from candgen.wikipedia import sql
from candgen.wikipedia.inputs import Beside, Sources
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.markup.titles import Titles
from candgen.wikipedia.options import Options
from candgen.wikipedia.pages import header
from candgen.wikipedia.read_part import Links, Pages, harvest
from candgen.wikipedia.spark.dump_folder import Wiki
from candgen.wikipedia.statistics import Tally

PART = 32 << 20
"""So many bytes of a bzip2 file are a task."""

LINKS, PAGES, ENTITIES, REDIRECTS, TALLIES = "links", "pages", "entities", "redirects", "tallies"

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
        ("tally", pa.string()),
    ]
)
"""Rows of every kind; what a kind has not is null."""

_BATCH = 1 << 16  # rows


class Task(NamedTuple):
    """A piece of work, in plain values."""

    number: int
    language: str
    kind: str
    """LINKS for a range of a dump, which gives pages and a tally as well; ENTITIES, REDIRECTS."""
    path: str
    dumps: tuple[str, ...]
    """All dumps of the wiki; the beginning of the first tells what wiki it is."""
    siteinfo: str | None
    start: int = 0
    end: int | None = None


def tasks(wikis: Sequence[Wiki], options: Options, *, size: int = PART) -> list[Task]:
    """Cut the files of wikis into tasks, each wiki's after the other's."""
    made: list[Task] = []
    for wiki in wikis:
        for kind, part in _pieces(wiki.sources, options, size):
            siteinfo = wiki.sources.siteinfo
            made.append(
                Task(
                    len(made),
                    wiki.language,
                    kind,
                    part.path,
                    wiki.sources.dumps,
                    str(siteinfo) if siteinfo else None,
                    part.start,
                    part.end,
                )
            )
    return made


def _pieces(sources: Sources, options: Options, size: int) -> Iterator[tuple[str, Part]]:
    if options.pages is not None:  # which are the first is known to who reads one after the other
        yield LINKS, Part(sources.dumps[0])
    else:
        for path in sources.dumps:
            for part in _ranges(path, size):
                yield LINKS, part
    if sources.page_props:
        yield ENTITIES, Part(str(sources.page_props))
    if sources.redirects:
        yield REDIRECTS, Part(str(sources.redirects))


def _ranges(path: str, size: int) -> list[Part]:
    """Cut a bzip2 file anywhere: the streams that begin in a range belong to it.

    Where they begin is found by whoever reads the range, so nobody reads the file only to plan.
    """
    with open_dump(path) as file:
        cut = file.read(3) == b"BZh"
        length = file.seek(0, 2)
    if not cut:
        return [Part(path)]
    return [Part(path, at, min(at + size, length)) for at in range(0, length, size)]


def rows(task: Task, options: Options) -> Iterator[pa.RecordBatch]:
    """Do a task: give its rows, in the columns of ROWS."""
    for kind, table in _WORK[task.kind](task, options):
        given = {"kind": kind, "language": task.language, "task": task.number}
        yield from _wide(table, given).to_batches(max_chunksize=_BATCH)


def _wide(table: pa.Table, given: Mapping[str, object]) -> pa.Table:
    columns = []
    for field in ROWS:
        if field.name in given:
            columns.append(pa.repeat(pa.scalar(given[field.name], field.type), len(table)))
        elif field.name in table.column_names:
            columns.append(table[field.name].cast(field.type))
        else:
            columns.append(pa.nulls(len(table), field.type))
    return pa.table(columns, schema=ROWS)


# A range of a dump


def _harvested(task: Task, options: Options) -> Iterator[tuple[str, pa.Table]]:
    tally = Tally()
    for part, limited in _parts(task, options, tally):
        for found in harvest(part, limited, site=_site(task.dumps[0], task.siteinfo)):
            if isinstance(found, Links):
                yield LINKS, found.table
            elif isinstance(found, Pages):
                yield PAGES, _named(found.table, options)
            elif isinstance(found, Tally):
                tally.add(found)
    yield TALLIES, pa.table({"tally": [tally.to_json()]})


def _parts(task: Task, options: Options, tally: Tally) -> Iterator[tuple[Part, Options]]:
    """Give the part of a task; if only so many pages are wanted, parts until there are so many."""
    if options.pages is None:
        part = aligned(Part(task.path, task.start, task.end))
        if part is not None:
            yield part, options
        return
    for part in parts(task.dumps):
        left = options.pages - tally.pages["read"]
        if left > 0:
            yield part, replace(options, pages=left)


def _named(pages: pa.Table, options: Options) -> pa.Table:
    """Add what titles are as mentions, and in which of the three tables."""
    if not options.titles and not options.redirect_titles:
        return pages
    titles = pages["title"].to_pylist()
    names = pa.array(map(without_parenthesis, titles), pa.string())
    folds = pa.array(map(options.fold, titles), pa.int8())
    return pages.append_column("mention", names).append_column("fold", folds)


def site_of(wiki: Wiki) -> Site:
    """Read what the dumps say of their wiki, which must be one."""
    siteinfo = wiki.sources.siteinfo
    sites = [_site(dump, str(siteinfo) if siteinfo else None) for dump in wiki.sources.dumps]
    for site, dump in zip(sites, wiki.sources.dumps, strict=True):
        if site.wiki != sites[0].wiki:
            raise TableError(
                f"{dump} is of {site.wiki}, and {wiki.sources.dumps[0]} of {sites[0].wiki}, but "
                "their names are of one wiki: rename or move one"
            )
    return sites[0]


@lru_cache(maxsize=8)
def _site(dump: str, siteinfo: str | None) -> Site:
    beside = Beside(Sources((dump,), siteinfo=Path(siteinfo) if siteinfo else None))
    return Site.from_xml(header(dump), details=beside.details)


# Tables of the database


def _entities(task: Task, _options: Options) -> Iterator[tuple[str, pa.Table]]:
    with sql.open_dump(task.path) as file:
        found = sql.page_entity_rows(file, name=task.path)
        for some in _batches(found, ("id", "entity")):
            yield ENTITIES, some


def _redirects(task: Task, _options: Options) -> Iterator[tuple[str, pa.Table]]:
    titles = Titles(_site(task.dumps[0], task.siteinfo))
    with sql.open_dump(task.path) as file:
        found = (
            (page, "" if away else titles.from_database(namespace, key), namespace, bool(away))
            for page, namespace, key, away in sql.redirect_rows(file, name=task.path)
        )
        for some in _batches(found, ("id", "redirect", "redirect_namespace", "outside")):
            yield REDIRECTS, some


def _batches(found: Iterator[tuple[Any, ...]], names: tuple[str, ...]) -> Iterator[pa.Table]:
    while some := list(islice(found, _BATCH)):
        columns = zip(*some, strict=True)
        yield pa.table(
            {n: pa.array(c, ROWS.field(n).type) for n, c in zip(names, columns, strict=True)}
        )


_WORK: Mapping[str, Callable[[Task, Options], Iterator[tuple[str, pa.Table]]]] = {
    LINKS: _harvested,
    ENTITIES: _entities,
    REDIRECTS: _redirects,
}


# The tables, in the end


class Finishing(NamedTuple):
    """A file of a table, and what it is made of."""

    piece: str | None
    """Spark's file; None for a table without rows."""
    output: str
    unfinished: str
    """A folder for what is not whole yet."""
    metadata: Mapping[str, str]


def finish(work: Finishing) -> None:
    """Write a Parquet file as the engine on one machine does; doing it twice does no harm."""
    temporary = Path(work.unfinished) / f"{secrets.token_hex(8)}.parquet"
    writer = TableWriter(temporary)
    if work.piece is not None:
        with pq.ParquetFile(work.piece) as rows:
            for batch in rows.iter_batches(_BATCH, columns=SCHEMA.names):
                table = pa.Table.from_batches([batch])
                writer.write(table.filter(pc.is_valid(table["mention"])))
    writer.close(work.metadata)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(work.output)
