"""``candgen extract-wikidata``: names and descriptions of entities from Wikidata's dump."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from candgen.cli.interrupts import interruptible
from candgen.cli.options import AllowTruncated, OutputFolder, Resume, Workers, option
from candgen.cli.output import show, table
from candgen.cli.progress import progress_bar

if TYPE_CHECKING:
    from candgen.wikidata.extract import WikidataReport

INCOMPLETE = 1
"""Exit status: the tables are written, but a part of the dump could not be read."""


def extract_wikidata(
    dump: Annotated[
        str, typer.Argument(metavar="DUMP", help="A .json.bz2, .json.gz or .json file; - is stdin.")
    ],
    *,
    languages: Annotated[
        str, option("LANG,...", "Languages, with a mention table each; mul is one, too.")
    ],
    output: OutputFolder,
    labels: Annotated[bool, typer.Option("--labels/--no-labels", help="Use labels.")] = True,
    aliases: Annotated[bool, typer.Option("--aliases/--no-aliases", help="Use aliases.")] = True,
    sitelinks: Annotated[
        bool,
        typer.Option(
            "--sitelinks/--no-sitelinks",
            help="Use titles of Wikipedia's pages, without their parenthesis.",
        ),
    ] = True,
    mul: Annotated[
        bool, typer.Option("--mul", help="Add the names of mul, for all languages, to each.")
    ] = False,
    has_sitelink: Annotated[
        bool, typer.Option("--has-sitelink", help="Only items with a page in some project.")
    ] = False,
    instance_of: Annotated[
        str | None, option("QID,...", "Only instances of one of these classes.")
    ] = None,
    not_instance_of: Annotated[
        str | None,
        option(
            "QID,...",
            'No instances of these classes; "" for all items.',
            show_default="pages about Wikipedia",
        ),
    ] = None,
    workers: Workers = None,
    resume: Resume = False,
    allow_truncated: AllowTruncated = False,
    items: Annotated[int | None, option("N", "Read only the first N items.", min=1)] = None,
) -> None:
    """Extract names and entities from Wikidata's dump.

    \b
    Examples:
      candgen extract-wikidata latest-all.json.bz2 --languages fo,is,da -o names
      candgen extract-wikidata latest-all.json.gz --languages fo \\
        --instance-of Q5,Q515 -o names

    The output folder gets LANG.parquet for each language, whose counts, from 1 to 3, are the number
    of sources of a name among label, aliases and title; entities.parquet, with the name,
    description, classes and number of pages of each item; and report.json. The exit status is 1 if
    part of the dump is missing.
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
    advice = "--resume continues the run" if resumable else ""
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
    skipped = table("skipped", "", right=("",))
    for reason, number in report.skipped.items():
        skipped.add_row(reason, f"{number:,}")
    summary = f"{output}: {kept:,} of {items:,} items have names in these languages"
    show(summary, "", rows, *(("", skipped) if report.skipped else ()))
