"""``candgen extract``: from the dumps of Wikipedia to mention tables."""

import os
import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from candgen.cli.interrupts import interruptible
from candgen.cli.options import AllowTruncated, Resume, Workers, parse_table
from candgen.cli.output import note, show, table, visible
from candgen.cli.progress import byte_bar
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from candgen.wikipedia.inputs import Sources
    from candgen.wikipedia.options import Options
    from candgen.wikipedia.read_parts import ProgressCallback
    from candgen.wikipedia.report import Report

TRUNCATED = 1
"""The exit status for a dump of which something is missing."""
FAULTS_SHOWN = 5


class Engine(StrEnum):
    """What does the work."""

    EMBEDDED = "embedded"
    SPARK = "spark"


def extract(
    language: Annotated[
        str | None,
        typer.Argument(
            metavar="[LANG]",
            help="The wiki's language: fo. With Spark, one or more of those in the folder: fo,is.",
        ),
    ] = None,
    *,
    dumps: Annotated[
        list[str],
        typer.Option(
            "--dump",
            metavar="FILE",
            help="pages-articles: .xml, .xml.bz2 or .xml.gz, or - for stdin; may be repeated. "
            "With Spark, a folder of dumps of many wikis.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The .parquet file to write; with Spark, a folder.",
        ),
    ],
    page_props: Annotated[
        Path | None,
        typer.Option(metavar="SQL", help="page_props.sql.gz: the Wikidata entity of each page."),
    ] = None,
    redirects: Annotated[
        Path | None,
        typer.Option(metavar="SQL", help="redirect.sql.gz; without it the dump itself tells."),
    ] = None,
    ids: Annotated[
        str | None,
        typer.Option(
            metavar="[LANG=]FILE",
            help="Table of titles and entities, .tsv or .parquet; LANG if --langlinks leads there.",
        ),
    ] = None,
    langlinks: Annotated[
        Path | None,
        typer.Option(metavar="SQL", help="langlinks.sql.gz: titles in the language of --ids."),
    ] = None,
    siteinfo: Annotated[
        Path | None,
        typer.Option(metavar="JSON", help="siteinfo-namespaces.json.gz: more names of namespaces."),
    ] = None,
    minimum: Annotated[
        int, typer.Option("--min-count", metavar="N", min=1, help="Leave rarer pairs out.")
    ] = 1,
    templates: Annotated[
        bool, typer.Option("--templates/--no-templates", help="Links inside templates.")
    ] = True,
    refs: Annotated[bool, typer.Option("--refs/--no-refs", help="Links inside references.")] = True,
    tables: Annotated[
        bool, typer.Option("--tables/--no-tables", help="Links inside tables.")
    ] = True,
    titles: Annotated[
        bool, typer.Option("--titles", help="Add the name of each page as a mention.")
    ] = False,
    redirect_titles: Annotated[
        bool, typer.Option("--redirect-titles", help="Add the name of each redirect as a mention.")
    ] = False,
    namespaces: Annotated[
        str, typer.Option(metavar="N,N", help="Pages that are read, and linked to.")
    ] = "0",
    pages: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Read only the first pages.")
    ] = None,
    split_articles: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="Three tables, train, dev and test, with such shares of the articles: 70,15,15.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Another split.")] = 0,
    workers: Workers = None,
    resume: Resume = False,
    allow_truncated: AllowTruncated = False,
    engine: Annotated[Engine, typer.Option(help="What does the work.")] = Engine.EMBEDDED,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Spark's master: spark://host:7077, local[*].")
    ] = None,
) -> None:
    """Make the mention table of a wiki from its dump files.

    \b
    Examples:
      candgen extract fo --dump fowiki-20230501-pages-articles-multistream.xml.bz2 \\
        --page-props fowiki-20230501-page_props.sql.gz -o fo.parquet
      candgen extract fo --dump fowiki.xml.bz2 -o fo.parquet
      candgen extract mr --dump mrwiki.xml.bz2 --split-articles 70,15,15 --seed 1 -o mr.parquet
      candgen extract --engine spark --master spark://host:7077 --dump mirror -o mentions

    Entities come from --page-props or --ids; without them a page is its own, as fo:Tórshavn. Links
    to redirects count for their targets. A report, fo.report.json, goes beside the table.
    """
    from candgen.wikipedia.options import Options  # noqa: PLC0415

    options = Options(
        namespaces=_numbers("--namespaces", namespaces),
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
    beside = {
        "--page-props": page_props,
        "--redirects": redirects,
        "--ids": ids,
        "--langlinks": langlinks,
        "--siteinfo": siteinfo,
        "--workers": workers,
    }
    advice = "--resume goes on from what is finished" if "-" not in dumps else ""
    with interruptible(advice), byte_bar() as progress:
        if engine is Engine.SPARK:
            folder = _mirror(dumps, beside)
            reports = _with_spark(folder, output, language, master, options, resume, progress)
        elif master is not None:
            raise ParameterError("--master is for Spark: add --engine spark")
        else:
            sources = _sources(dumps, page_props, redirects, ids, langlinks, siteinfo, language)
            reports = [_embedded(sources, output, language, workers, options, resume, progress)]
    for report in reports:
        _show(report, output if engine is Engine.SPARK else output.parent)
    truncated = ", ".join(report.wiki for report in reports if report.truncated)
    if truncated:
        note(
            f"candgen: warning: the dump of {truncated} is cut off or damaged; "
            "its table is marked as truncated"
        )
        if not allow_truncated:
            raise typer.Exit(TRUNCATED)


def _embedded(
    sources: "Sources",
    output: Path,
    language: str | None,
    workers: int | None,
    options: "Options",
    resume: bool,  # noqa: FBT001
    progress: "ProgressCallback",
) -> "Report":
    from candgen.wikipedia.extract import extract  # noqa: PLC0415

    return extract(
        sources,
        output,
        language=language,
        options=options,
        resume=resume,
        workers=workers or os.cpu_count() or 1,
        progress=progress,
    )


def _with_spark(
    folder: str,
    output: Path,
    language: str | None,
    master: str | None,
    options: "Options",
    resume: bool,  # noqa: FBT001
    progress: "ProgressCallback",
) -> "list[Report]":
    from candgen.wikipedia.spark.extract import extract_with_spark  # noqa: PLC0415

    return extract_with_spark(
        folder,
        output,
        master=master,
        languages=language.split(",") if language else None,
        options=options,
        resume=resume,
        progress=progress,
    )


def _mirror(dumps: Sequence[str], beside: Mapping[str, object]) -> str:
    """The folder that Spark reads; what else it needs it finds there."""
    if given := [option for option, value in beside.items() if value is not None]:
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
        raise ParameterError(
            f"--ids {ids}: titles of another language need --langlinks, which leads to them"
        )
    if langlinks is not None and (named is None or not named.explicit):
        raise ParameterError(
            "--langlinks leads to another wiki's titles: give their entities and language, "
            "--ids en=FILE"
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


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(number) for number in text.split(",")))
    except ValueError:
        raise ParameterError(f"{option} {text}: expected numbers, such as 0 or 0,14") from None


def _shares(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(share) for share in text.split(","))
    except ValueError:
        raise ParameterError(
            f"--split-articles {text}: expected three numbers, such as 70,15,15"
        ) from None


def _show(report: "Report", folder: Path) -> None:
    """What was seen and kept, and what became of the rest."""
    told = report.to_dict()
    seen = sum(told["seen"].values())
    rows = table("what", "number", "share", right=("number", "share"))
    rows.show_header = False
    rows.add_row("pages read", f"{told['pages'].get('read', 0):,}")
    for what, number in sorted(_pages(told["pages"]).items()):
        rows.add_row(f"  {what}", f"{number:,}")
    for what, number in told["seen"].items():
        rows.add_row(f"{what} seen", f"{number:,}")
    rows.add_row("kept", f"{told['kept']:,}", f"{told['kept'] / (seen or 1):.1%}")
    for reason, number in told["dropped"].items():
        rows.add_row(f"  dropped: {reason}", f"{number:,}")
    shown = [f"{folder / name}: {made['pairs']:,} pairs" for name, made in told["tables"].items()]
    faults = [
        visible(f"{fault['kind']}: {fault['detail']} ({fault['place']})")
        for fault in told["faults"][:FAULTS_SHOWN]
    ]
    show(", ".join(filter(None, (told["wiki"], told["dump_date"]))), "", rows, "", *shown, *faults)
    first = folder / next(iter(told["tables"]))
    note(f"try: candgen info {shlex.quote(str(first))}")


def _pages(counts: Mapping[str, int]) -> dict[str, int]:
    return {what: number for what, number in counts.items() if what != "read" and number}
