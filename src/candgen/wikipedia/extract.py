"""From the dump files of a wiki to its mention table, on one machine.

Parts of the dump are harvested by one or more processes, each into sorted runs on the disk. Then
redirects are followed and titles replaced by entities while the runs are merged into the table.
"""

import json
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from candgen.dumps.compressed_streams import STDIN, Part, parts
from candgen.dumps.external_sort import merged, read_arrow, write_run
from candgen.dumps.parenthesis import without_parenthesis
from candgen.dumps.parquet_writer import TableWriter
from candgen.dumps.workspace import Workspace
from candgen.errors import ParameterError, StorageError
from candgen.storage.versions import version
from candgen.tables.rows import SCHEMA
from candgen.wikipedia.inputs import Beside, Sources
from candgen.wikipedia.markup.conventions import language_of
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.options import FOLDS, Options
from candgen.wikipedia.pages import header
from candgen.wikipedia.read_part import LINKS, PAGES
from candgen.wikipedia.read_parts import Progress, Watcher, gather
from candgen.wikipedia.report import Report
from candgen.wikipedia.resolve import Resolver, first_of_each, follow
from candgen.wikipedia.statistics import Tally

__all__ = ["Options", "Progress", "Report", "Sources", "extract"]

_LOG = logging.getLogger("candgen")


def extract(
    sources: Sources | str | Path,
    output: str | Path,
    *,
    language: str | None = None,
    options: Options | None = None,
    workers: int = 1,
    resume: bool = False,
    progress: Watcher = lambda _progress: None,
) -> Report:
    """Write the mention table of a wiki, and a report beside it; give the report.

    With ``options.split`` there are three tables, ``fo.train.parquet`` and so on. Where the dump
    is cut off, the table has what comes before, and the report says so. ``resume`` goes on from
    the parts that an interrupted run of the same files and options has finished.
    """
    if not isinstance(sources, Sources):
        sources = Sources((str(sources),))
    options = options or Options()
    output = Path(os.path.realpath(output))  # a symbolic link stays one
    _check(sources, output, language, workers=workers, resume=resume)
    beside = Beside(sources)
    pieces = parts(sources.dumps)
    site = None  # a single part tells it itself: what comes from a pipe can be read once only
    if STDIN not in sources.dumps and (len(pieces) > 1 or resume or sources.tables):
        site = _site(sources.dumps, beside)
        sources.check_wiki(site.wiki)
    workspace = Workspace(output)
    workspace.begin(_plan(sources, options, pieces), resume=resume)
    try:
        site, tally = gather(
            pieces,
            options,
            site=site,
            details=beside.details,
            workspace=workspace,
            workers=workers,
            progress=progress,
        )
        return _finish(sources, options, output, site, tally, beside, workspace, language, progress)
    finally:
        if STDIN in sources.dumps or not workspace.has_finished_parts:
            workspace.discard()
        workspace.release()


def _finish(
    sources: Sources,
    options: Options,
    output: Path,
    site: Site,
    tally: Tally,
    beside: Beside,
    workspace: Workspace,
    language: str | None,
    progress: Watcher,
) -> Report:
    """Make the tables and the report of what was gathered, and move them to their places."""
    language = _language(language, site)
    progress(Progress("following redirects"))
    resolver = _resolver(workspace, options, site, beside, tally, language)
    tables = _outputs(output, options)
    writers = _merge(workspace, tables, resolver, options, tally, progress)
    made = {
        path.name: {"pairs": writer.pairs, "occurrences": writer.occurrences}
        for path, writer in zip(tables, writers, strict=True)
    }
    report = Report.of(site, language, sources, options, tally, made)
    if not report.adds_up:
        raise StorageError(f"the parts in {workspace.folder} do not add up: run without --resume")
    for writer in writers:
        writer.close(report.metadata())
    told = output.with_suffix(".report.json")
    text = json.dumps(report.to_dict(), ensure_ascii=False, indent=2)
    (workspace.folder / told.name).write_text(text + "\n", encoding="utf-8")
    workspace.finish([*tables, told])
    if not report.kept:
        _LOG.warning("%s has no pairs: the report tells what was seen and dropped", output)
    return report


def _check(
    sources: Sources, output: Path, language: str | None, *, workers: int, resume: bool
) -> None:
    if output.suffix != ".parquet":
        raise ParameterError(f"the output is {output}, expected a name that ends in .parquet")
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise ParameterError(
            f"{output} cannot be written, expected the name of a file in a folder that exists"
        )
    if language == "":
        raise ParameterError("the language is empty, expected a code such as fo, or none")
    if workers < 1:
        raise ParameterError(f"{workers} workers were asked for, expected at least 1")
    if resume and STDIN in sources.dumps:
        raise ParameterError("what comes from stdin cannot be resumed: name a file")


def _site(dumps: Sequence[str], beside: Beside) -> Site:
    """Read what the dumps say of their wiki, which must be one."""
    sites = {dump: Site.from_xml(header(dump), details=beside.details) for dump in dumps}
    wikis = {site.wiki: dump for dump, site in sites.items()}
    if len(wikis) > 1:
        told = ", ".join(f"{dump} of {wiki}" for wiki, dump in sorted(wikis.items()))
        raise ParameterError(f"the dumps are of several wikis ({told}): extract each by itself")
    return next(iter(sites.values()))


def _language(named: str | None, site: Site) -> str:
    """Choose the language in the ids of pages; the user's word counts, but may be a mistake."""
    if named is None or named == site.wiki:
        return site.language
    if named not in (site.language, language_of(site.wiki)):
        _LOG.warning("the language was given as %s, but the dump is of %s", named, site.wiki)
    return named


def _plan(sources: Sources, options: Options, pieces: Sequence[Part]) -> dict[str, Any]:
    """Tell apart two runs whose parts must not be mixed."""
    stats = {str(path): path.stat() for path in sources.files}
    return {
        "candgen": version(),
        "files": {path: [stat.st_size, stat.st_mtime_ns] for path, stat in stats.items()},
        "options": asdict(options),
        "parts": [list(piece) for piece in pieces],
    }


def _outputs(output: Path, options: Options) -> list[Path]:
    if options.split is None:
        return [output]
    return [output.with_suffix(f".{fold}.parquet") for fold in FOLDS]


def _resolver(
    workspace: Workspace, options: Options, site: Site, beside: Beside, tally: Tally, language: str
) -> Resolver:
    """Read the pages, add their names to the runs if that was asked for, and follow redirects."""
    wanted = pa.array(options.namespaces, pa.int32())
    tables = [PAGES.empty_table()]
    for path in workspace.tables("pages"):
        table = read_arrow(path)
        useful = pc.or_(pc.is_valid(table["redirect"]), pc.is_in(table["namespace"], wanted))
        tables.append(table.filter(useful))
    pages = first_of_each(beside.redirected(pa.concat_tables(tables), site))
    names = _names(pages, options, tally)
    write_run(workspace.folder / "names.links", names)
    redirects = follow(pages, options.namespaces)
    return Resolver(redirects, beside.entities(pages, site), language=language)


def _names(pages: pa.Table, options: Options, tally: Tally) -> pa.Table:
    """Give the names of pages and redirects, if they were asked for, as if links showed them."""
    mine = pages.filter(pc.is_in(pages["namespace"], pa.array(options.namespaces, pa.int32())))
    redirects = pc.is_valid(mine["redirect"])
    kinds = {
        "page titles": (options.titles, pc.invert(redirects)),
        "redirect titles": (options.redirect_titles, redirects),
    }
    titles: list[str] = []
    for kind, (wanted, which) in kinds.items():
        if wanted:
            found = mine.filter(which)["title"].to_pylist()
            tally.seen[kind] = len(found)
            titles += found
    names, folds = map(without_parenthesis, titles), map(options.fold, titles)
    columns = [list(names), titles, list(folds), [1] * len(titles)]
    return pa.table(columns, schema=LINKS)


def _merge(
    workspace: Workspace,
    outputs: Sequence[Path],
    resolver: Resolver,
    options: Options,
    tally: Tally,
    progress: Watcher,
) -> list[TableWriter]:
    """Write the tables into the work folder, but for their ends; count what is dropped."""
    writers = [TableWriter(workspace.folder / output.name) for output in outputs]
    for links in merged(workspace.tables("links")):
        rows = resolver.resolve(links, tally.dropped)
        for fold, writer in enumerate(writers):
            mine = rows.filter(pc.equal(rows["fold"], fold)).select(SCHEMA.names)
            rare = writer.write(mine, minimum=options.minimum)
            if rare:
                tally.dropped[Reason.RARE] += rare
        progress(Progress("writing pairs", pages=tally.pages["read"]))
    return writers
