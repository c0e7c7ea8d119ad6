"""``candgen pivots``: which languages to choose as pivots of a target."""

from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import candgen
from candgen.cli.options import Normalizer, SkipBadRows, parse_table
from candgen.cli.output import note, show, write, write_json
from candgen.cli.progress import progress_bar
from candgen.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from candgen import PivotRanking

DRAWINGS = (".svg", ".png")


class Format(StrEnum):
    """How the ranking is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


class By(StrEnum):
    """What each language is chosen to raise."""

    CEILING = "ceiling"
    CLOSENESS = "closeness"


def pivots(
    *,
    target: Annotated[
        str,
        typer.Option(
            metavar="[LANG=]FILE",
            help="The target's table, or its names alone: one a line, or a column mention.",
        ),
    ],
    candidates: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Mention tables <lang>.*, one for each language.")
    ],
    by: Annotated[
        By, typer.Option(help="Raise what exists at all, or how alike the names are that exist.")
    ] = By.CEILING,
    most: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="The most languages to choose.", show_default="all"),
    ] = None,
    least: Annotated[
        float, typer.Option(metavar="POINTS", min=0.0, help="Stop where no language adds so much.")
    ] = 0.01,
    normalizer: Annotated[
        Normalizer, typer.Option(help="How text is folded before names are compared.")
    ] = Normalizer.LATIN,
    sample: Annotated[
        int, typer.Option(metavar="N", min=1, help="The most names to look at, of names alone.")
    ] = 2000,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2**63 - 1, help="Another sample.")
    ] = 0,
    skip_bad_rows: SkipBadRows = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw the curve there; .svg or .png.")
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="For a person, or for a program.")
    ] = Format.TABLE,
) -> None:
    """Say which languages to learn from: how much of a target each covers, and what each adds.

    \b
    Examples:
      candgen pivots --target fo=fo.parquet --candidates names
      candgen pivots --target fo=fo.parquet --candidates names --by closeness --most 8 \\
        --plot pivots.svg
      candgen pivots --target fo=names.txt --candidates names

    Names alone, without entities, are enough; then everything is an estimate. If the package
    lang2vec is installed, there is also the distance of the languages' families.
    """
    from candgen.tables.table_folder import TableFolder  # noqa: PLC0415
    from candgen.tables.target_file import read_target  # noqa: PLC0415

    named = parse_table("--target", target)
    if plot is not None:
        _check_plot(plot)
    with progress_bar() as progress:
        progress(f"reading {named.path}", 0.0)
        known = read_target(named.path, skip_bad_rows=skip_bad_rows)
        folder = TableFolder(candidates, skip_bad_rows=skip_bad_rows, without=named.language)
        ranking = candgen.rank_pivots(
            known,
            folder,
            by=by.value,
            language=named.language,
            normalizer=normalizer.value,
            sample=sample,
            seed=seed,
            most=most,
            least=least,
            distances=_distances(named.language, list(folder)),
            progress=progress,
        )
        if plot is not None:
            progress(f"drawing {plot}", 0.0)
            _draw(ranking, plot)
    if ranking.estimated:
        note(f"{named.path} has names without entities: all figures are estimates")
    _show(ranking, form)


def _distances(target: str, languages: list[str]) -> dict[str, float]:
    from candgen.integrations.uriel import distances  # noqa: PLC0415

    try:
        return distances(target, languages)
    except MissingExtraError:
        return {}  # a column that is not there


def _check_plot(path: Path) -> None:
    """Refuse before the work what would fail after it."""
    if path.suffix not in DRAWINGS:
        raise ParameterError(f"--plot {path}: expected a name that ends in {' or '.join(DRAWINGS)}")
    if find_spec("matplotlib") is None:
        raise MissingExtraError("--plot needs matplotlib: pip install 'candgen[plots]'")
    if not path.resolve().parent.is_dir():
        raise ParameterError(f"--plot {path}: {path.parent} is not a folder, make it first")


def _draw(ranking: "PivotRanking", path: Path) -> None:
    from candgen.reporting.plot import draw  # noqa: PLC0415

    draw(ranking.figure()).write(path)


def _show(ranking: "PivotRanking", form: Format) -> None:
    if form is Format.JSON:
        write_json(ranking.as_json())
    elif form is Format.CSV:
        write(ranking.table().to_csv())
    else:
        show(ranking.table(), whole=True)
