"""``candgen evaluate``: how much of a set of queries indexes find."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

import candgen
from candgen.cli.build import Named, Normalizer, SkipBadRows, parse_table, refuse_repeated
from candgen.cli.output import show, write
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from candgen import Query, Report


class Part(StrEnum):
    """Which queries of a dataset."""

    DEV = "dev"
    TEST = "test"


class Asked(NamedTuple):
    """Queries, their language, and the normalizer after which their types hold."""

    queries: "Sequence[Query]"
    language: str | None = None
    normalizer: str = "none"


class Format(StrEnum):
    """How a report is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"
    LATEX = "latex"


def evaluate(
    queries: Annotated[
        Path,
        typer.Argument(
            metavar="QUERIES", help="A dataset, or a TSV file: mention, entity and type."
        ),
    ],
    indexes: Annotated[
        list[str], typer.Argument(metavar="[NAME=]INDEX...", help="Folders made by candgen build.")
    ],
    *,
    ks: Annotated[
        list[int] | None,
        typer.Option(
            "-k",
            metavar="N",
            min=1,
            help="Recall at k; may be repeated.",
            show_default="10, 20, 30",
        ),
    ] = None,
    part: Annotated[Part, typer.Option(help="Which queries of a dataset.")] = Part.TEST,
    pivots: Annotated[
        list[str] | None,
        typer.Option(
            "--pivot",
            metavar="[LANG=]FILE",
            help="Also look at the queries that are none of the gold's names in these tables.",
        ),
    ] = None,
    normalizer: Annotated[
        Normalizer | None,
        typer.Option(
            help="How text is folded to compare it with pivot names.",
            show_default="the dataset's, or none",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="LANG", help="Language of the queries, for that.", show_default="the dataset's"
        ),
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TABLE,
    results: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the answer to every query there, as TSV."),
    ] = None,
) -> None:
    """Measure how often the right entity is among the first k candidates.

    \b
    Examples:
      candgen evaluate mk.dataset mk.candgen
      candgen evaluate test.tsv joint=a.candgen alone=b.candgen -k 1 -k 30 --results answers.tsv

    Every query counts, also one that no index can answer. Several indexes are compared in pairs.
    """
    named = parse_indexes(indexes)
    tables = [parse_table("--pivot", text) for text in pivots or ()]
    refuse_repeated([each.language for each in tables])
    if results is not None and not results.absolute().parent.is_dir():
        raise ParameterError(f"--results {results}: {results.absolute().parent} is not a folder")
    with progress_bar() as progress:
        progress(f"reading {queries}", 0.0)
        asked = _asked(queries, part, skip_bad_rows=skip_bad_rows)
        report = candgen.evaluate(
            {each.language: candgen.load(each.path) for each in named},
            asked.queries,
            ks=ks or (10, 20, 30),
            normalizer=normalizer or asked.normalizer,
            language=language or asked.language,
            progress=progress,
            pivots={
                each.language: candgen.MentionTable.read(each.path, skip_bad_rows=skip_bad_rows)
                for each in tables
            }
            or None,
        )
    if results is not None:
        report.write_results(results)
    _show(report, form)


def parse_indexes(texts: list[str]) -> list[Named]:
    """What [NAME=]INDEX means, for each; refuses a name that stands for two."""
    named = [parse_table("INDEX", text, expected="[NAME=]INDEX") for text in texts]
    names = [each.language for each in named]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ParameterError(f"{repeated[0]!r} names two indexes: give each a name, NAME=INDEX")
    return named


def _asked(path: Path, part: Part, *, skip_bad_rows: bool) -> Asked:
    from candgen.paper.corpus import open_folds  # noqa: PLC0415
    from candgen.tables.queries import read_queries  # noqa: PLC0415

    if not path.is_dir():
        return Asked(read_queries(path))
    parts = open_folds(path, skip_bad_rows=skip_bad_rows)
    queries = parts.dev if part is Part.DEV else parts.test
    return Asked(queries, parts.language, getattr(parts, "normalizer", "none"))


def _show(report: "Report", form: Format) -> None:
    if form is Format.TABLE:
        show(*report.tables(), whole=True)
        return
    written = {
        Format.CSV: report.to_csv,
        Format.JSON: report.to_json,
        Format.MARKDOWN: report.to_markdown,
        Format.LATEX: report.to_latex,
    }
    write(written[form]().rstrip("\n") + "\n")
