"""``candgen extract-wikidata``: names, aliases and what to show, from Wikidata's JSON dump."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from candgen.cli.interrupts import interruptible
from candgen.cli.options import AllowTruncated, Resume, Workers
from candgen.cli.output import show, table
from candgen.cli.progress import progress_bar

if TYPE_CHECKING:
    from candgen.wikidata.extract import WikidataReport

INCOMPLETE = 1
"""Exit status: the tables are there, but a part of the dump could not be read."""


def extract_wikidata(
    dump: Annotated[
        str, typer.Argument(metavar="DUMP", help="A .json.bz2, .json.gz or .json file; - is stdin.")
    ],
    *,
    languages: Annotated[
        str,
        typer.Option(
            metavar="LANG,...", help="A mention table for each of these; mul is one of them."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="The folder to write to.")
    ],
    labels: Annotated[bool, typer.Option("--labels/--no-labels", help="Labels are names.")] = True,
    aliases: Annotated[
        bool, typer.Option("--aliases/--no-aliases", help="Aliases are names.")
    ] = True,
    sitelinks: Annotated[
        bool,
        typer.Option(
            "--sitelinks/--no-sitelinks",
            help="Titles of Wikipedia's pages, without their parenthesis, are names.",
        ),
    ] = True,
    mul: Annotated[
        bool,
        typer.Option("--mul", help="Names that hold in all languages are names of each of these."),
    ] = False,
    has_sitelink: Annotated[
        bool, typer.Option("--has-sitelink", help="Only items with a page in some project.")
    ] = False,
    instance_of: Annotated[
        str | None, typer.Option(metavar="QID,...", help="Only instances of one of these.")
    ] = None,
    not_instance_of: Annotated[
        str | None,
        typer.Option(
            metavar="QID,...",
            help='No instances of these, instead of pages that are about Wikipedia; "" for none.',
        ),
    ] = None,
    workers: Workers = None,
    resume: Resume = False,
    allow_truncated: AllowTruncated = False,
    items: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="A sample: the first N items.")
    ] = None,
) -> None:
    """Make mention tables and a table of entities from Wikidata's JSON dump.

    \b
    Examples:
      candgen extract-wikidata latest-all.json.bz2 --languages fo,is,da,en -o names
      candgen extract-wikidata latest-all.json.gz --languages fo --instance-of Q5,Q515 -o names

    FOLDER gets LANG.parquet for each language, with counts from 1 to 3 that say from how many of
    label, aliases and title a name comes; entities.parquet, with the name, description, classes and
    number of pages of each item; and report.json. The status is 1 if part of the dump is missing.
    """
    from candgen.wikidata.extract import extract_wikidata as extract  # noqa: PLC0415
    from candgen.wikidata.names import Selection  # noqa: PLC0415

    selection = Selection(
        languages=_listed(languages),
        labels=labels,
        aliases=aliases,
        sitelinks=sitelinks,
        mul=mul,
        has_sitelink=has_sitelink,
        instance_of=_listed(instance_of or ""),
        not_instance_of=None if not_instance_of is None else _listed(not_instance_of),
    )
    resumable = dump != "-" and items is None
    advice = "--resume goes on from what is finished" if resumable else ""
    with interruptible(advice), progress_bar() as progress:
        report = extract(
            dump,
            output,
            selection=selection,
            workers=workers or os.cpu_count() or 1,
            resume=resume,
            items=items,
            progress=progress,
        )
    _show(report, output)
    if not report.complete and not allow_truncated:
        raise typer.Exit(INCOMPLETE)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",") if each.strip())


def _show(report: "WikidataReport", output: Path) -> None:
    kept, items = report.counts["items kept"], report.counts["items"]
    rows = table("", "rows", right=("rows",))
    for language, length in report.names.items():
        rows.add_row(f"{language}.parquet", f"{length:,}")
    rows.add_row("entities.parquet", f"{report.entities:,}")
    skipped = table("left out", "", right=("",))
    for reason, number in report.skipped.items():
        skipped.add_row(reason, f"{number:,}")
    summary = f"{output}: {kept:,} of {items:,} items have names in these languages"
    show(summary, "", rows, *(("", skipped) if report.skipped else ()))
