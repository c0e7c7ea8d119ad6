"""The data set that an extraction of many wikis writes: its folders, its reports, its place."""

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
from candgen.wikipedia.spark.tasks import Finishing, site_of
from candgen.wikipedia.statistics import Tally

REPORT = "_report.json"
"""In the folder that is written; what begins so is no data for Spark, Arrow and ourselves."""


def check_output(output: Path) -> None:
    """Refuse a place that cannot be written, or holds what is not ours."""
    if not output.parent.is_dir():
        raise StorageError(f"{output.parent} is not a folder: make it, or choose another output")
    former = (output / REPORT).is_file() or (output.is_dir() and not any(output.iterdir()))
    if output.exists() and not former:
        raise StorageError(
            f"{output} is there and was not written by this command: move it away or choose "
            "another output"
        )


def folders(language: str, options: Options) -> list[str]:
    """Name the folders of a language's tables, by fold.

    >>> folders("fo", Options())
    ['language=fo']
    """
    here = f"language={language}"
    return [here] if options.split is None else [f"{fold}/{here}" for fold in FOLDS]


def report_of(
    wiki: Wiki, options: Options, tally: Tally, tables: Mapping[str, Mapping[str, int]]
) -> Report:
    """Put together what is known of a wiki; what is missing among the tables was too rare."""
    rare = tally.seen.total() - tally.dropped.total()
    rare -= sum(table["occurrences"] for table in tables.values())
    if rare:
        tally.dropped[Reason.RARE] += rare
    return Report.of(site_of(wiki), wiki.language, wiki.sources, options, tally, tables)


def finishings(folder: Path, reports: Sequence[Report], options: Options) -> Iterator[Finishing]:
    """Tell, for every file of the data set, of which of Spark's it is made; make its folders."""
    shutil.rmtree(folder / "tables", ignore_errors=True)
    unfinished = folder / "unfinished"
    unfinished.mkdir(exist_ok=True)
    for report in reports:
        for fold, name in enumerate(folders(report.language, options)):
            table = folder / "tables" / name
            table.mkdir(parents=True)
            made = folder / "pairs" / f"language={report.language}" / f"fold={fold}"
            pieces = [str(piece) for piece in sorted(made.glob("*.parquet"))]
            for number, piece in enumerate(pieces or [None]):
                output = str(table / f"part-{number:05}.parquet")
                yield Finishing(piece, output, str(unfinished), report.metadata())


def publish(workspace: Workspace, output: Path, reports: Sequence[Report]) -> None:
    """Write the reports, and put the new folder into the place of the old one."""
    told = {"candgen_version": version(), "wikis": [report.to_dict() for report in reports]}
    text = json.dumps(told, ensure_ascii=False, indent=2)
    write_text(workspace.folder / "tables" / REPORT, text + "\n")
    try:
        if output.exists():
            output.rename(workspace.folder / "replaced")
        (workspace.folder / "tables").rename(output)
    except OSError as error:
        raise StorageError(
            f"{output} cannot be written: {error.strerror or error}; choose another place"
        ) from error
    workspace.discard()
