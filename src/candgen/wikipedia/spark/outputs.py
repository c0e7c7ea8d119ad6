"""The data set that an extraction of many wikis writes: its folders and reports."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from candgen.dumps.workspace import Workspace
from candgen.errors import StorageError
from candgen.storage.atomic import write_text
from candgen.storage.versions import version
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.options import FOLDS, Options
from candgen.wikipedia.report import Report
from candgen.wikipedia.spark.dump_folder import Wiki
from candgen.wikipedia.spark.tasks import TableJob, read_site
from candgen.wikipedia.statistics import PageStatistics

REPORT = "_report.json"
"""In the output folder; Spark, Arrow and candgen ignore files whose names begin with _."""


def check_output(output: Path) -> None:
    """Raise StorageError if the output cannot be written, or exists and is not a data set."""
    if not output.parent.is_dir():
        raise StorageError(f"{output.parent} is not a folder: make it, or choose another output")
    former = (output / REPORT).is_file() or (output.is_dir() and not any(output.iterdir()))
    if output.exists() and not former:
        raise StorageError(
            f"{output} exists and was not written by this command: move it away or choose "
            "another output"
        )


def name_folders(language: str, options: Options) -> list[str]:
    """Return the names of the folders of a language's tables, by fold.

    >>> name_folders("fo", Options())
    ['language=fo']
    """
    here = f"language={language}"
    return [here] if options.split is None else [f"{fold}/{here}" for fold in FOLDS]


def make_report(
    wiki: Wiki,
    options: Options,
    statistics: PageStatistics,
    tables: Mapping[str, Mapping[str, int]],
) -> Report:
    """Return the report of a wiki; occurrences that no table has were below the minimum."""
    rare = statistics.seen.total() - statistics.dropped.total()
    rare -= sum(table["occurrences"] for table in tables.values())
    if rare:
        statistics.dropped[Reason.RARE] += rare
    return Report.of(read_site(wiki), wiki.language, wiki.sources, options, statistics, tables)


def plan_tables(folder: Path, reports: Sequence[Report], options: Options) -> Iterator[TableJob]:
    """Make the folders of the data set, and yield each of its files with Spark's file for it."""
    shutil.rmtree(folder / "tables", ignore_errors=True)
    unfinished = folder / "unfinished"
    unfinished.mkdir(exist_ok=True)
    for report in reports:
        for fold, name in enumerate(name_folders(report.language, options)):
            table = folder / "tables" / name
            table.mkdir(parents=True)
            made = folder / "pairs" / f"language={report.language}" / f"fold={fold}"
            pieces = [str(piece) for piece in sorted(made.glob("*.parquet"))]
            for number, piece in enumerate(pieces or [None]):
                output = str(table / f"part-{number:05}.parquet")
                yield TableJob(piece, output, str(unfinished), report.metadata())


def publish(workspace: Workspace, output: Path, reports: Sequence[Report]) -> None:
    """Write the reports, and put the data set in its place."""
    content = {"candgen_version": version(), "wikis": [report.to_dict() for report in reports]}
    text = json.dumps(content, ensure_ascii=False, indent=2)
    write_text(workspace.folder / "tables" / REPORT, text + "\n")
    workspace.finish_folder(workspace.folder / "tables", output)
