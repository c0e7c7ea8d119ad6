"""``candgen extract``: from the dumps of Wikipedia to mention tables."""

import os
import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from candgen.cli.interrupts import interruptible
from candgen.cli.options import AllowTruncated, Resume, Workers, option, parse_table
from candgen.cli.output import note, show, table, visible
from candgen.cli.progress import byte_bar
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from candgen.wikipedia.inputs import Sources
    from candgen.wikipedia.report import Report

TRUNCATED = 1
"""The exit status for a dump that is truncated or damaged."""
FAULTS_SHOWN = 5


class Engine(StrEnum):
    """What runs the extraction."""

    EMBEDDED = "embedded"
    SPARK = "spark"


def extract(
    language: Annotated[
        str | None,
        typer.Argument(
            metavar="[LANG]", help="Language of the wiki: fo. With Spark, one or more: fo,is."
        ),
    ] = None,
    *,
    dumps: Annotated[
        list[str],
        option(
            "FILE",
            "pages-articles: .xml, .xml.bz2 or .xml.gz, or - for stdin; may be repeated. "
            "With Spark, a folder with the dumps of many wikis.",
            "--dump",
        ),
    ],
    output: Annotated[
        Path, option("FILE", "Output file, .parquet; with Spark, a folder.", "--output", "-o")
    ],
    page_props: Annotated[
        Path | None, option("SQL", "page_props.sql.gz: the Wikidata entity of each page.")
    ] = None,
    redirects: Annotated[
        Path | None, option("SQL", "redirect.sql.gz; without it, redirects come from the dump.")
    ] = None,
    ids: Annotated[
        str | None,
        option(
            "[LANG=]FILE", "Table of titles and entities, .tsv or .parquet; LANG= with --langlinks."
        ),
    ] = None,
    langlinks: Annotated[
        Path | None, option("SQL", "langlinks.sql.gz: titles in the language of --ids.")
    ] = None,
    siteinfo: Annotated[
        Path | None, option("JSON", "siteinfo-namespaces.json.gz: more names of namespaces.")
    ] = None,
    minimum: Annotated[int, option("N", "Minimum count of a pair.", "--min-count", min=1)] = 1,
    templates: Annotated[
        bool, typer.Option("--templates/--no-templates", help="Links inside templates.")
    ] = True,
    refs: Annotated[bool, typer.Option("--refs/--no-refs", help="Links inside references.")] = True,
    tables: Annotated[
        bool, typer.Option("--tables/--no-tables", help="Links inside tables.")
    ] = True,
    titles: Annotated[
        bool, typer.Option("--titles", help="Add the title of each page as a mention.")
    ] = False,
    redirect_titles: Annotated[
        bool, typer.Option("--redirect-titles", help="Add the title of each redirect as a mention.")
    ] = False,
    namespaces: Annotated[str, option("N,N", "Namespaces of pages and of link targets.")] = "0",
    pages: Annotated[int | None, option("N", "Read only the first N pages.", min=1)] = None,
    split_articles: Annotated[
        str | None,
        option("A,B,C", "Write train, dev and test, with such shares of the articles: 70,15,15."),
    ] = None,
    seed: Annotated[int, option("N", "Random seed of --split-articles.", min=0)] = 0,
    workers: Workers = None,
    resume: Resume = False,
    allow_truncated: AllowTruncated = False,
    engine: Annotated[
        Engine, typer.Option(help="Engine that runs the extraction.")
    ] = Engine.EMBEDDED,
    master: Annotated[
        str | None, option("URL", "Master of Spark: spark://host:7077, local[*].")
    ] = None,
) -> None:
    """Extract the mention table of a wiki from its dump files.

    \b
    Examples:
      candgen extract fo --dump fowiki-20230501-pages-articles.xml.bz2 \\
        --page-props fowiki-20230501-page_props.sql.gz -o fo.parquet
      candgen extract fo --dump fowiki.xml.bz2 -o fo.parquet
      candgen extract mr --dump mrwiki.xml.bz2 --split-articles 70,15,15 \\
        --seed 1 -o mr.parquet
      candgen extract --engine spark --master spark://host:7077 --dump mirror \\
        -o mentions

    Entities come from --page-props or --ids; without them, each page is its own entity, such as
    fo:Tórshavn. Links to redirects count for their targets. A report, fo.report.json, is written
    beside the table. The exit status is 1 if the dump is truncated or damaged.
    """
    from candgen.wikipedia.options import Options  # noqa: PLC0415

    options = Options(
        namespaces=_numbers(namespaces),
        templates=templates,
        refs=refs,
        tables=tables,
        titles=titles,
        redirect_titles=redirect_titles,
        minimum=minimum,
        pages=pages,
        split=None if split_articles is None else _shares(split_articles),
        seed=seed,
    )
    side_files = {
        "--page-props": page_props,
        "--redirects": redirects,
        "--ids": ids,
        "--langlinks": langlinks,
        "--siteinfo": siteinfo,
        "--workers": workers,
    }
    advice = "--resume continues the run" if "-" not in dumps else ""
    with interruptible(advice), byte_bar() as progress:
        if engine is Engine.SPARK:
            folder = _dump_folder(dumps, side_files)
            from candgen.wikipedia.spark.extract import extract_with_spark  # noqa: PLC0415

            reports = extract_with_spark(
                folder,
                output,
                master=master,
                languages=language.split(",") if language else None,
                options=options,
                resume=resume,
                progress=progress,
            )
        elif master is not None:
            raise ParameterError("--master is for Spark: add --engine spark")
        else:
            from candgen.wikipedia.extract import extract  # noqa: PLC0415

            report = extract(
                _sources(dumps, page_props, redirects, ids, langlinks, siteinfo, language),
                output,
                language=language,
                options=options,
                resume=resume,
                workers=workers or os.cpu_count() or 1,
                progress=progress,
            )
            reports = [report]
    for report in reports:
        _show(report, output if engine is Engine.SPARK else output.parent)
    truncated = ", ".join(report.wiki for report in reports if report.truncated)
    if truncated:
        note(
            f"candgen: warning: the dump of {truncated} is truncated or damaged; "
            "its table is marked as truncated"
        )
        if not allow_truncated:
            raise typer.Exit(TRUNCATED)


def _dump_folder(dumps: Sequence[str], side_files: Mapping[str, object]) -> str:
    """Return the folder that Spark reads; it holds the other files of each wiki, too."""
    if given := [option for option, value in side_files.items() if value is not None]:
        raise ParameterError(
            f"{given[0]} is not for Spark, which takes the files of each wiki from the folder "
            "that --dump names: drop it"
        )
    if len(dumps) > 1 or not Path(dumps[0]).is_dir():
        raise ParameterError(f"--dump {dumps[-1]}: expected one folder of dumps for Spark")
    return dumps[0]


def _sources(
    dumps: list[str],
    page_props: Path | None,
    redirects: Path | None,
    ids: str | None,
    langlinks: Path | None,
    siteinfo: Path | None,
    language: str | None,
) -> "Sources":
    from candgen.wikipedia.extract import Sources  # noqa: PLC0415

    named = None if ids is None else parse_table("--ids", ids)
    if named is not None and named.explicit and langlinks is None and named.language != language:
        raise ParameterError(f"--ids {ids}: titles of another language need --langlinks")
    if langlinks is not None and (named is None or not named.explicit):
        raise ParameterError(
            "--langlinks needs the entities of titles in another language: give --ids en=FILE"
        )
    return Sources(
        dumps=tuple(dumps),
        page_props=page_props,
        redirects=redirects,
        ids=named and named.path,
        langlinks=langlinks,
        langlinks_to=named.language if named and langlinks else "",
        siteinfo=siteinfo,
    )


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(number) for number in text.split(",")))
    except ValueError:
        raise ParameterError(f"--namespaces {text}: expected numbers, such as 0 or 0,14") from None


def _shares(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(share) for share in text.split(","))
    except ValueError:
        raise ParameterError(
            f"--split-articles {text}: expected three numbers, such as 70,15,15"
        ) from None


def _show(report: "Report", folder: Path) -> None:
    """Print what was seen and kept, and why the rest was dropped."""
    counts = report.to_dict()
    seen = sum(counts["seen"].values())
    rows = table("what", "number", "share", right=("number", "share"))
    rows.show_header = False
    rows.add_row("pages read", f"{counts['pages'].get('read', 0):,}")
    for what, number in sorted(counts["pages"].items()):
        if what != "read" and number:
            rows.add_row(f"  {what}", f"{number:,}")
    for what, number in counts["seen"].items():
        rows.add_row(f"{what} seen", f"{number:,}")
    rows.add_row("kept", f"{counts['kept']:,}", f"{counts['kept'] / (seen or 1):.1%}")
    for reason, number in counts["dropped"].items():
        rows.add_row(f"  dropped: {reason}", f"{number:,}")
    shown = [f"{folder / name}: {made['pairs']:,} pairs" for name, made in counts["tables"].items()]
    faults = [
        visible(f"{fault['kind']}: {fault['detail']} ({fault['place']})")
        for fault in counts["faults"][:FAULTS_SHOWN]
    ]
    title = visible(", ".join(filter(None, (counts["wiki"], counts["dump_date"]))))
    show(title, "", rows, "", *shown, *faults)
    note(f"try: candgen info {shlex.quote(str(folder / next(iter(counts['tables']))))}")
