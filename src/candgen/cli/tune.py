"""``candgen tune``: choosing a method's parameters on dev."""

import logging
import os
import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import candgen
from candgen.catalogue import METHODS as CATALOGUE
from candgen.cli.build import check_output
from candgen.cli.options import (
    Named,
    Normalizer,
    SkipBadRows,
    check_teachers,
    known_method,
    parse_settings,
    parse_table,
    parse_value,
    refuse_repeated,
)
from candgen.cli.output import show, write_json
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from candgen.evaluation.experiment import Tuning
    from candgen.evaluation.split import TrainDevTest
    from candgen.methods import Method


class Format(StrEnum):
    """How the choice is written."""

    TABLE = "table"
    JSON = "json"


def tune(
    dataset: Annotated[
        Path,
        typer.Argument(
            metavar="DATASET", help="A folder made by candgen split; its test is not opened."
        ),
    ],
    *,
    pivots: Annotated[
        list[str] | None,
        typer.Option("--pivot", metavar="[LANG=]FILE", help="Table of a pivot; may be repeated."),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=X,X,...",
            help="Values to try, such as lam=0.2,1 or normalizer=default,none; may be repeated.",
            show_default="the method's; for pti alpha=0.1,0.4,1 and lam=0.2,0.4,1",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, help="Recall at this k.")] = 30,
    method: Annotated[
        str, typer.Option(metavar="NAME", help=f"What to build: {', '.join(CATALOGUE)}.")
    ] = "pti",
    english: Annotated[
        str | None,
        typer.Option(
            metavar="[LANG=]FILE", help="Table of English names, for methods that need them."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter that is not chosen, such as epochs=20; may be repeated.",
        ),
    ] = None,
    zero_shot: Annotated[
        bool, typer.Option("--zero-shot", help="Learn from the pivots alone.")
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(metavar="LANG", help="Language of the target.", show_default="the dataset's"),
    ] = None,
    normalizer: Annotated[
        Normalizer, typer.Option(help="How text is folded.")
    ] = Normalizer.DEFAULT,
    skip_bad_rows: SkipBadRows = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Build the best index there."),
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="For a person, or for a program.")
    ] = Format.TABLE,
) -> None:
    """Choose a method's parameters by recall on the dev queries of a dataset: alpha and lam of pti.

    \b
    Examples:
      candgen tune mk.dataset --pivot bg=bg.tsv.gz -o mk.candgen
      candgen tune mk.dataset --pivot bg.tsv.gz --pivot sr.tsv.gz --grid alpha=0,0.2,0.5,1
      candgen tune mk.dataset --pivot bg.tsv.gz --method charagram --english en.tsv.gz \\
        --set epochs=20 -o mk.candgen

    Every combination is tried; test is never looked at. The highest recall wins, among equals
    the highest mean reciprocal rank.
    """
    from candgen.evaluation import experiment  # noqa: PLC0415 (--help need not wait for NumPy)
    from candgen.evaluation.corpus import open_parts  # noqa: PLC0415
    from candgen.methods import Training  # noqa: PLC0415

    chosen = known_method(method)
    values, fixed = _parameters(chosen, parse_grid(grid or ()), settings or (), normalizer)
    named = [parse_table("--pivot", text) for text in pivots or ()]
    check_teachers(method, chosen, english=english is not None, dev=False)
    names = None if english is None else parse_table("--english", english)
    refuse_repeated([each.language for each in named])
    if output is not None:
        check_output(output)
    with progress_bar() as progress:
        parts = open_parts(dataset, skip_bad_rows=skip_bad_rows)
        target = None if zero_shot or len(parts.train) == 0 else parts.train
        _warn_of_folding(dataset, parts, fixed.get("normalizer", normalizer.value))

        def read(table: Named) -> candgen.MentionTable:
            progress(f"reading {table.path}", 0.0)
            return candgen.MentionTable.read(table.path, skip_bad_rows=skip_bad_rows)

        training = Training(
            {each.language: read(each) for each in named}, target, language or parts.language,
            None if names is None else read(names), parts.dev, progress,
        )  # fmt: skip
        if not training.pivots and target is None:
            raise ParameterError(
                "nothing to learn from: give --pivot, or a dataset with training data"
            )
        tuning = experiment.tune(chosen, training, parts.dev, grid=values, fixed=fixed, k=k)
        if output is not None:
            progress(f"building {output}", 0.0)
            best = tuning.generator
            if best is None:
                best = chosen(training, {**fixed, **tuning.best.parameters})
            best.save(output)
    _show(tuning, form, output)


def _parameters(
    method: "Method", grid: dict[str, list[Any]], settings: Sequence[str], normalizer: Normalizer
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The values to choose from, and what is fixed; of what is set there is one value."""
    fixed = {"normalizer": normalizer.value} if "normalizer" in method.options else {}
    for name, value in parse_settings(settings).items():
        if name in grid:
            raise ParameterError(f"--set {name} and --grid {name}: say one of them")
        if name in method.grid:
            grid[name] = [value]
        else:
            fixed[name] = value
    return grid, fixed


def _warn_of_folding(dataset: Path, parts: "TrainDevTest", normalizer: str) -> None:
    split_by = getattr(parts, "normalizer", normalizer)
    if split_by != normalizer:
        logging.getLogger("candgen").warning(
            "%s was split with normalizer %s, the index folds text with %s: "
            "what is one mention to it may be two in the dataset", dataset, split_by, normalizer
        )  # fmt: skip


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """The values of each parameter, from NAME=X,X,... each.

    >>> parse_grid(["lam=0.2,1", "normalizer=none"])
    {'lam': [0.2, 1], 'normalizer': ['none']}
    """
    values: dict[str, list[Any]] = {}
    for text in texts:
        name, _, listed = text.partition("=")
        if not name or name in values or not all(listed.split(",")):
            raise ParameterError(f"--grid {text}: expected NAME=X,X,... once for each name")
        values[name] = [parse_value(each) for each in listed.split(",")]
    return values


def _show(tuning: "Tuning", form: Format, output: Path | None) -> None:
    best = tuning.best
    if form is Format.JSON:
        write_json(
            {
                "queries": tuning.queries, "k": tuning.k, "best": best._asdict(),
                "trials": [trial._asdict() for trial in tuning.trials],
            }
        )  # fmt: skip
        return
    show(tuning.table(), whole=True)
    show("", f"best on dev: {best.described or 'nothing to choose'}")
    if output is not None:
        show(f"built {output}: try candgen info {shlex.quote(os.fspath(output))}")
