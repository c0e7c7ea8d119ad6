"""The dump files of a wiki to its mention table, on one machine.

One or more processes read parts of the dump, each into sorted runs on the disk. Then redirects are
followed and titles replaced by entities while the runs are merged into the table.
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

from candgen.dumps.compressed_streams import STDIN, cut_into_parts
from candgen.dumps.external_sort import merge_runs, read_arrow, write_run
from candgen.dumps.parenthesis import remove_parenthesis
from candgen.dumps.parquet_writer import MentionTableWriter
from candgen.dumps.workspace import Workspace
from candgen.errors import ParameterError, StorageError, check_whole_number
from candgen.storage.atomic import write_text
from candgen.storage.versions import version
from candgen.tables.rows import SCHEMA
from candgen.wikipedia.inputs import SideTables, Sources
from candgen.wikipedia.markup.conventions import language_of
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.options import FOLDS, Options
from candgen.wikipedia.pages import read_header
from candgen.wikipedia.read_part import LINKS, PAGES
from candgen.wikipedia.read_parts import ProgressCallback, ReadingProgress, read_parts
from candgen.wikipedia.report import Report
from candgen.wikipedia.resolve import Resolver, follow_redirects, keep_first_of_each_title
from candgen.wikipedia.statistics import PageStatistics

__all__ = ["Options", "ReadingProgress", "Report", "Sources", "extract"]

_LOG = logging.getLogger("candgen")


def extract(
    sources: Sources | str | Path,
    output: str | Path,
    *,
    language: str | None = None,
    options: Options | None = None,
    workers: int = 1,
    resume: bool = False,
    progress: ProgressCallback = lambda _progress: None,
) -> Report:
    """Write the mention table of a wiki, and a report beside it; return the report.

    With ``options.split`` there are three tables, ``fo.train.parquet`` and so on. Where the dump
    is cut off, the table has everything before, and the report says so. ``resume`` continues an
    interrupted run of the same files and options.
    """
    if not isinstance(sources, Sources):
        sources = Sources((str(sources),))
    options = options or Options()
    output = Path(os.path.realpath(output))  # a symbolic link stays one
    _check_parameters(sources, output, language, workers=workers, resume=resume)
    side_tables = SideTables(sources)
    parts = cut_into_parts(sources.dumps)
    site = None  # a single part has it: a pipe can be read only once
    if STDIN not in sources.dumps and (len(parts) > 1 or resume or sources.tables):
        site = _read_site(sources.dumps, side_tables)
        sources.check_wiki(site.wiki)
    workspace = Workspace(output)
    plan = make_plan(sources.files, options, parts=[list(part) for part in parts])
    workspace.begin(plan, resume=resume)
    try:
        site, statistics = read_parts(
            parts,
            options,
            site=site,
            details=side_tables.details,
            workspace=workspace,
            workers=workers,
            progress=progress,
        )
        language = _choose_language(language, site)
        progress(ReadingProgress("following redirects"))
        resolver = _make_resolver(workspace, options, site, side_tables, statistics, language)
        tables = _name_tables(output, options)
        writers = _merge(workspace, tables, resolver, options, statistics, progress)
        made = {
            path.name: {"pairs": writer.pairs, "occurrences": writer.occurrences}
            for path, writer in zip(tables, writers, strict=True)
        }
        report = Report.of(site, language, sources, options, statistics, made)
        _finish(workspace, output, tables, writers, report)
    finally:
        if STDIN in sources.dumps or not workspace.finished_parts():
            workspace.discard()
        workspace.release()
    return report


def _finish(
    workspace: Workspace,
    output: Path,
    tables: Sequence[Path],
    writers: Sequence[MentionTableWriter],
    report: Report,
) -> None:
    """Complete the tables, write the report, and move all to their places."""
    if not report.adds_up:
        raise StorageError(
            f"the counts of the parts in {workspace.folder} do not add up: run without --resume"
        )
    for writer in writers:
        writer.close(report.metadata())
    described = output.with_suffix(".report.json")
    text = json.dumps(report.to_dict(), ensure_ascii=False, indent=2)
    write_text(workspace.folder / described.name, text + "\n")
    workspace.finish([*tables, described])
    if not report.kept:
        _LOG.warning("%s has no pairs: the report has the numbers of dropped links", output)


def _check_parameters(
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
    check_whole_number("workers", workers)
    if resume and STDIN in sources.dumps:
        raise ParameterError("stdin cannot be read again to resume: name a file")


def _read_site(dumps: Sequence[str], side_tables: SideTables) -> Site:
    """Read the headers of the dumps, which must be of one wiki."""
    sites = {dump: Site.from_xml(read_header(dump), details=side_tables.details) for dump in dumps}
    wikis = {site.wiki: dump for dump, site in sites.items()}
    if len(wikis) > 1:
        listed = ", ".join(f"{dump} of {wiki}" for wiki, dump in sorted(wikis.items()))
        raise ParameterError(f"the dumps are of several wikis ({listed}): extract each by itself")
    return next(iter(sites.values()))


def _choose_language(named: str | None, site: Site) -> str:
    """Return the language for the ids of pages: that of the user, with a warning if it is odd."""
    if named is None or named == site.wiki:
        return site.language
    if named not in (site.language, language_of(site.wiki)):
        _LOG.warning("the language was given as %s, but the dump is of %s", named, site.wiki)
    return named


def make_plan(files: Sequence[Path], options: Options, **work: object) -> dict[str, Any]:
    """Return what a run reads and does: a run with another plan cannot resume it."""
    stats = {str(path): path.stat() for path in files}
    return {
        "candgen": version(),
        "files": {path: [stat.st_size, stat.st_mtime_ns] for path, stat in stats.items()},
        "options": asdict(options),
        **work,
    }


def _name_tables(output: Path, options: Options) -> list[Path]:
    if options.split is None:
        return [output]
    return [output.with_suffix(f".{fold}.parquet") for fold in FOLDS]


def _make_resolver(
    workspace: Workspace,
    options: Options,
    site: Site,
    side_tables: SideTables,
    statistics: PageStatistics,
    language: str,
) -> Resolver:
    """Read the pages, add their names to the runs if requested, and follow redirects."""
    wanted = pa.array(options.namespaces, pa.int32())
    tables = [PAGES.empty_table()]
    for path in workspace.tables("pages"):
        table = read_arrow(path)
        useful = pc.or_(pc.is_valid(table["redirect"]), pc.is_in(table["namespace"], wanted))
        tables.append(table.filter(useful))
    corrected = side_tables.correct_redirects(pa.concat_tables(tables), site)
    pages = keep_first_of_each_title(corrected)
    write_run(workspace.folder / "names.links", _make_name_links(pages, options, statistics))
    redirects = follow_redirects(pages, options.namespaces)
    return Resolver(redirects, side_tables.find_entities(pages, site), language=language)


def _make_name_links(pages: pa.Table, options: Options, statistics: PageStatistics) -> pa.Table:
    """Return the names of pages and redirects, if requested, in the columns of links."""
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
            statistics.seen[kind] = len(found)
            titles += found
    names, folds = map(remove_parenthesis, titles), map(options.fold_of, titles)
    columns = [list(names), titles, list(folds), [1] * len(titles)]
    return pa.table(columns, schema=LINKS)


def _merge(
    workspace: Workspace,
    outputs: Sequence[Path],
    resolver: Resolver,
    options: Options,
    statistics: PageStatistics,
    progress: ProgressCallback,
) -> list[MentionTableWriter]:
    """Write the rows of the tables into the work folder; count the dropped links."""
    writers = [MentionTableWriter(workspace.folder / output.name) for output in outputs]
    for links in merge_runs(workspace.tables("links")):
        rows = resolver.resolve(links, statistics.dropped)
        for fold, writer in enumerate(writers):
            mine = rows.filter(pc.equal(rows["fold"], fold)).select(SCHEMA.names)
            rare = writer.write(mine, minimum=options.minimum)
            if rare:
                statistics.dropped[Reason.RARE] += rare
        progress(ReadingProgress("writing pairs", pages=statistics.pages["read"]))
    return writers
