"""``candgen evaluate``: recall of indexes on queries with known entities."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

import candgen
from candgen.cli.options import (
    Named,
    NamedIndexes,
    Normalizer,
    SkipBadRows,
    option,
    parse_table,
    parse_tables,
    read_table,
)
from candgen.cli.output import show, write
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from candgen import Query, Report


class Fold(StrEnum):
    """The folds of a dataset that hold queries."""

    DEV = "dev"
    TEST = "test"


class QuerySet(NamedTuple):
    """Queries, their language, and the normalizer that gave them their types."""

    queries: "Sequence[Query]"
    language: str | None = None
    normalizer: str = "none"


class Format(StrEnum):
    """The output formats."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"
    LATEX = "latex"


def evaluate(
    queries: Annotated[
        Path, typer.Argument(metavar="QUERIES", help="Dataset, or TSV file: mention, entity, type.")
    ],
    indexes: NamedIndexes,
    *,
    ks: Annotated[
        list[int] | None,
        option("N", "k of recall@k; may be repeated.", "-k", min=1, show_default="10, 20, 30"),
    ] = None,
    fold: Annotated[Fold, typer.Option(help="Fold of the dataset.")] = Fold.TEST,
    pivots: Annotated[
        list[str] | None,
        option(
            "[LANG=]FILE",
            "Also report the queries without an exact match among the pivot's names.",
            "--pivot",
        ),
    ] = None,
    normalizer: Annotated[
        Normalizer | None,
        typer.Option(
            help="Text normalizer for that comparison.", show_default="the dataset's, or none"
        ),
    ] = None,
    language: Annotated[
        str | None, option("LANG", "Language of the queries.", show_default="the dataset's")
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    results: Annotated[
        Path | None, option("FILE", "Write the answer to every query to a TSV file.")
    ] = None,
) -> None:
    """Measure the recall of indexes on queries.

    \b
    Examples:
      candgen evaluate mk.dataset mk.candgen
      candgen evaluate test.tsv joint=a.candgen alone=b.candgen -k 1 -k 30 \\
        --results answers.tsv

    Recall@k is the percentage of queries whose entity is among the first k candidates. Every query
    counts, also one whose entity is not in an index. Several indexes are compared in
    pairs.
    """
    named = parse_indexes(indexes)
    tables = parse_tables("--pivot", pivots)
    if results is not None and not results.absolute().parent.is_dir():
        folder = results.absolute().parent
        raise ParameterError(f"--results {results}: {folder} is not a folder: make it first")
    with progress_bar() as progress:
        progress(f"reading {queries}", 0.0)
        found = _read_queries(queries, fold, skip_bad_rows=skip_bad_rows)
        report = candgen.evaluate(
            {each.language: candgen.load(each.path, progress=progress) for each in named},
            found.queries,
            ks=ks or (10, 20, 30),
            normalizer=normalizer or found.normalizer,
            language=language or found.language,
            progress=progress,
            pivots={
                each.language: read_table(each, progress, skip_bad_rows=skip_bad_rows)
                for each in tables
            }
            or None,
        )
    if results is not None:
        report.write_results(results)
    _show(report, form)


def parse_indexes(texts: list[str]) -> list[Named]:
    """Return the name and the path of each [NAME=]INDEX, with every name once."""
    named = [parse_table("INDEX", text, expected="[NAME=]INDEX") for text in texts]
    names = [each.language for each in named]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ParameterError(f"{repeated[0]!r} names two indexes: give each a name, NAME=INDEX")
    return named


def _read_queries(path: Path, fold: Fold, *, skip_bad_rows: bool) -> QuerySet:
    from candgen.paper.corpus import open_folds  # noqa: PLC0415
    from candgen.tables.queries import read_queries  # noqa: PLC0415

    if not path.is_dir():
        return QuerySet(read_queries(path))
    folds = open_folds(path, skip_bad_rows=skip_bad_rows)
    queries = folds.dev if fold is Fold.DEV else folds.test
    return QuerySet(queries, folds.language, getattr(folds, "normalizer", "none"))


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
