"""``candgen pivots``: which languages to choose as pivots of a target."""

from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import candgen
from candgen.cli.options import Normalizer, Seed, SkipBadRows, option, parse_table
from candgen.cli.output import note, show, write, write_json
from candgen.cli.progress import progress_bar
from candgen.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from candgen import PivotRanking

PLOT_SUFFIXES = (".svg", ".png")


class Format(StrEnum):
    """The output formats."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


class Objective(StrEnum):
    """What the choice of languages maximizes."""

    CEILING = "ceiling"
    CLOSENESS = "closeness"


def pivots(
    *,
    target: Annotated[
        str,
        option(
            "[LANG=]FILE",
            "Mention table of the target, or names only: one per line, or a column mention.",
        ),
    ],
    pivot_tables: Annotated[Path, option("FOLDER", "Mention tables <lang>.*, one per language.")],
    objective: Annotated[
        Objective,
        typer.Option(help="Maximize the entities covered, or the similarity of their names."),
    ] = Objective.CEILING,
    max_pivots: Annotated[
        int | None, option("N", "Maximum number of languages to choose.", min=1, show_default="all")
    ] = None,
    min_gain: Annotated[
        float, option("POINTS", "Stop when no language adds this much.", min=0.0)
    ] = 0.01,
    normalizer: Annotated[
        Normalizer, typer.Option(help="Text normalizer for the comparison of names.")
    ] = Normalizer.LATIN,
    sample: Annotated[int, option("N", "Sample size, for a target of names only.", min=1)] = 2000,
    seed: Seed = 0,
    skip_bad_rows: SkipBadRows = False,
    plot: Annotated[
        Path | None, option("FILE.svg", "Plot the curve to a .svg or .png file.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
) -> None:
    """Rank languages as pivots of a target: coverage and gain.

    \b
    Examples:
      candgen pivots --target fo=fo.parquet --pivot-tables names
      candgen pivots --target fo=fo.parquet --pivot-tables names \\
        --objective closeness --max-pivots 8 --plot pivots.svg
      candgen pivots --target fo=names.txt --pivot-tables names

    Names without entities are enough; then all figures are estimates. If the package lang2vec is
    installed, the output also has the distance between the language families.
    """
    from candgen.tables.table_folder import TableFolder  # noqa: PLC0415
    from candgen.tables.target_file import read_target  # noqa: PLC0415

    named = parse_table("--target", target)
    if plot is not None:
        _check_plot(plot)
    with progress_bar() as progress:
        progress(f"reading {named.path}", 0.0)
        known = read_target(named.path, skip_bad_rows=skip_bad_rows)
        folder = TableFolder(pivot_tables, skip_bad_rows=skip_bad_rows, without=named.language)
        ranking = candgen.rank_pivots(
            known,
            folder,
            by=objective.value,
            language=named.language,
            normalizer=normalizer.value,
            sample=sample,
            seed=seed,
            most=max_pivots,
            least=min_gain,
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
        return {}  # then the output has no such column


def _check_plot(path: Path) -> None:
    """Raise an error before the work if the plot would fail after it."""
    if path.suffix not in PLOT_SUFFIXES:
        raise ParameterError(
            f"--plot {path}: expected a name that ends in {' or '.join(PLOT_SUFFIXES)}"
        )
    if find_spec("matplotlib") is None:
        raise MissingExtraError("--plot needs matplotlib: pip install 'candgen[plots]'")
    if not path.resolve().parent.is_dir():
        raise ParameterError(f"--plot {path}: {path.parent} is not a folder: make it first")


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
