"""``candgen tune``: choosing alpha and lam on dev."""

import logging
import os
import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import candgen
from candgen.cli.build import Normalizer, SkipBadRows, check_output, parse_table, refuse_repeated
from candgen.cli.output import show, write_json
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from candgen.evaluation.experiment import Tuning


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
            show_default="alpha=0.1,0.4,1 and lam=0.2,0.4,1",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, help="Recall at this k.")] = 30,
    method: Annotated[str, typer.Option(metavar="NAME", help="What to build.")] = "pti",
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
    """Choose alpha and lam by recall on the dev queries of a dataset. Test is never looked at.

    \b
    Examples:
      candgen tune mk.dataset --pivot bg=bg.tsv.gz -o mk.candgen
      candgen tune mk.dataset --pivot bg.tsv.gz --pivot sr.tsv.gz --grid alpha=0,0.2,0.5,1

    Every combination is tried, and counted once. The highest recall wins, among equals the
    highest mean reciprocal rank.
    """
    from candgen.evaluation import experiment  # noqa: PLC0415 (--help need not wait for NumPy)
    from candgen.evaluation.corpus import open_parts  # noqa: PLC0415
    from candgen.methods import Training  # noqa: PLC0415

    chosen = known_method(method)
    values = parse_grid(grid or ())
    named = [parse_table("--pivot", text) for text in pivots or ()]
    refuse_repeated([each.language for each in named])
    if output is not None:
        check_output(output)
    with progress_bar() as progress:
        parts = open_parts(dataset, skip_bad_rows=skip_bad_rows)
        target = None if zero_shot or len(parts.train) == 0 else parts.train
        split_by = getattr(parts, "normalizer", normalizer.value)
        if split_by != normalizer.value:
            logging.getLogger("candgen").warning(
                "%s was split with normalizer %s, the index folds text with %s: "
                "what is one mention to it may be two in the dataset", dataset, split_by, normalizer
            )  # fmt: skip
        tables = {}
        for each in named:
            progress(f"reading {each.path}", 0.0)
            tables[each.language] = candgen.MentionTable.read(
                each.path, skip_bad_rows=skip_bad_rows
            )
        training = Training(tables, target, language or parts.language, dev=parts.dev)
        if not tables and target is None:
            raise ParameterError(
                "nothing to learn from: give --pivot, or a dataset with training data"
            )
        fixed = {"normalizer": normalizer.value} if "normalizer" in chosen.options else {}
        tuning = experiment.tune(
            chosen, training, parts.dev, grid=values, fixed=fixed, k=k, progress=progress
        )
        if output is not None:
            progress(f"building {output}", 0.0)
            chosen(training, {**fixed, **tuning.best.parameters}).save(output)
    _show(tuning, form, output)


def known_method(name: str) -> Any:  # noqa: ANN401
    """The method of this name."""
    from candgen.generators import METHODS  # noqa: PLC0415

    if name not in METHODS:
        raise ParameterError(f"there is no method {name!r}: choose {', '.join(METHODS)}")
    return METHODS[name]


def parse_grid(texts: Sequence[str]) -> dict[str, list[float | str]]:
    """The values of each parameter, from NAME=X,X,... each.

    >>> parse_grid(["lam=0.2,1", "normalizer=none"])
    {'lam': [0.2, 1.0], 'normalizer': ['none']}
    """
    values: dict[str, list[float | str]] = {}
    for text in texts:
        name, _, listed = text.partition("=")
        if not name or name in values or not all(listed.split(",")):
            raise ParameterError(f"--grid {text}: expected NAME=X,X,... once for each name")
        values[name] = [_value(each) for each in listed.split(",")]
    return values


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


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
