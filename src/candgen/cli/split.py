"""``candgen split``: from one mention table to training data, dev and test."""

import contextlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import candgen
from candgen.cli.options import (
    Normalizer,
    OutputFolder,
    PerType,
    Seed,
    SkipBadRows,
    parse_table,
    read_table,
)
from candgen.cli.output import show, table
from candgen.cli.progress import progress_bar
from candgen.errors import CandgenError, StorageError, TableError

if TYPE_CHECKING:
    from candgen import Split


class Setting(StrEnum):
    """What the queries are for."""

    JOINT = "joint"
    ZERO_SHOT = "zero-shot"
    HIGH_RESOURCE = "high-resource"


class Layout(StrEnum):
    """The layouts of the output folder."""

    CANDGEN = "candgen"
    RELEASED = "released"


def split(
    names: Annotated[
        str, typer.Argument(metavar="[LANG=]FILE", help="Mention table of the target.")
    ],
    *,
    output: OutputFolder,
    per_type: PerType = 1000,
    seed: Seed = 0,
    setting: Annotated[
        Setting,
        typer.Option(help="zero-shot: all pairs become queries; high-resource: no hard queries."),
    ] = Setting.JOINT,
    normalizer: Annotated[
        Normalizer,
        typer.Option(help="Text normalizer for the query types; that of build is default."),
    ] = Normalizer.NONE,
    skip_bad_rows: SkipBadRows = False,
    layout: Annotated[
        Layout, typer.Option(help="released: FOLDER/LANG, laid out as the paper's authors did.")
    ] = Layout.CANDGEN,
) -> None:
    """Split a mention table into train, dev and test.

    \b
    Examples:
      candgen split fo=fo.parquet -o fo.dataset
      candgen split co.tsv.gz --setting zero-shot -o co.dataset

    The pair of an easy query stays in train. For a medium query, another mention of its entity
    stays; for a hard query, none does. Small tables give fewer queries: at most 20% of the
    entities become hard. A dataset in the output folder is replaced.
    """
    named = parse_table("[LANG=]FILE", names)
    with progress_bar() as progress:
        whole = read_table(named, progress, skip_bad_rows=skip_bad_rows)
        if len(whole) == 0:
            raise TableError(f"{named.path} has no pairs: give a table with some")
        progress("drawing queries", 0.0)
        made = candgen.split(
            whole,
            per_type=per_type,
            seed=seed,
            setting=setting.value,
            normalizer=normalizer.value,
            language=named.language,
        )
        progress(f"writing {output}", 0.0)
        _write(made, output, layout, named.language)
    _show(made, output)


def _write(made: "Split", output: Path, layout: Layout, language: str) -> None:
    from candgen.evaluation.dataset import write_dataset  # noqa: PLC0415
    from candgen.tables.released import write_released  # noqa: PLC0415

    if layout is Layout.CANDGEN:
        write_dataset(output, made)
        return
    missing: list[Path] = []
    try:
        missing = [each for each in (output, *output.parents) if not each.exists()]
        output.mkdir(parents=True, exist_ok=True)
        write_released(output / language, made)
    except (OSError, CandgenError) as error:
        for each in missing:  # leave no empty folder behind
            with contextlib.suppress(OSError):
                each.rmdir()
        if isinstance(error, CandgenError):
            raise
        raise StorageError(f"{output} cannot be written: {error.strerror}") from error


def _show(made: "Split", output: Path) -> None:
    """Print the numbers of queries."""
    numbers = table("", "easy", "medium", "hard", "all", right=("easy", "medium", "hard", "all"))
    for name, sizes in made.sizes.items():
        cells = (
            f"{sizes[kind]:,}" if kind in sizes else "–" for kind in ("easy", "medium", "hard")
        )
        numbers.add_row(name, *cells, f"{sum(sizes.values()):,}")
    show(
        f"{output}: {len(made.train):,} of {made.input.pairs:,} pairs stay for training",
        "",
        numbers,
    )
