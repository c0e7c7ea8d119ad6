"""``candgen tune``: choose a method's parameters on dev."""

import logging
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from candgen.cli.index_extras import calibrate
from candgen.cli.options import (
    English,
    Format,
    Named,
    Normalizer,
    OutputFormat,
    Pivots,
    Settings,
    SkipBadRows,
    check_output,
    check_training_inputs,
    known_method,
    option,
    parse_settings,
    parse_table,
    parse_tables,
    parse_value,
    read_table,
)
from candgen.cli.output import note, show, write_json
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError
from candgen.generators.summaries import METHODS as CATALOGUE

if TYPE_CHECKING:
    from candgen import MentionTable
    from candgen.evaluation.steps import Steps
    from candgen.evaluation.tune import Tuning
    from candgen.protocols import Method, Progress, Training
    from candgen.tables.folds import Folds
    from candgen.tables.queries import Query


PIVOTS = "choosing pivots"
NORMALIZERS = "comparing normalizers"
CHOICES = "choosing parameters"
INDEX = "building the index"
MEASURES = "measuring recall on dev"

BOTH_STAGES = "rerank"
"""The method whose normalizer is chosen on dev, and whose second stage has weights."""


def tune(
    dataset: Annotated[
        Path,
        typer.Argument(metavar="DATASET", help="Dataset, made by candgen split; test is not read."),
    ],
    *,
    pivots: Pivots = None,
    pivot_tables: Annotated[
        Path | None,
        option("FOLDER", "Instead of --pivot: mention tables <lang>.* to choose pivots from."),
    ] = None,
    grid: Annotated[
        list[str] | None,
        option(
            "NAME=X,X,...",
            "Values to try, such as lam=0.2,1 or normalizer=default,none; may be repeated.",
            show_default="the method's; for pti alpha=0.1,0.4,1 and lam=0.2,0.4,1, "
            "and with several pivots an alpha for each",
        ),
    ] = None,
    min_pivot_gain: Annotated[
        float | None,
        option(
            "X",
            "Of several pivots, drop those that add fewer points of recall per tenth of the "
            "index's postings, such as 0.03; 0 keeps all.",
            min=0.0,
            show_default="0",
        ),
    ] = None,
    k: Annotated[int, option("N", "k of recall@k.", "-k", min=1)] = 30,
    method: Annotated[str, option("NAME", f"Method: {', '.join(CATALOGUE)}.")] = "rerank",
    english: English = None,
    settings: Settings = None,
    zero_shot: Annotated[
        bool, typer.Option("--zero-shot", help="Learn from the pivots only.")
    ] = False,
    language: Annotated[
        str | None, option("LANG", "Language of the target.", show_default="the dataset's")
    ] = None,
    normalizer: Annotated[
        Normalizer | None,
        typer.Option(
            help="Text normalizer.", show_default="for rerank chosen on dev, else default"
        ),
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    output: Annotated[
        Path | None, option("FOLDER", "Build the best index there.", "--output", "-o")
    ] = None,
    form: OutputFormat = Format.TABLE,
) -> None:
    """Choose a method's parameters by recall on dev queries.

    \b
    Examples:
      candgen tune mk.dataset --pivot-tables names -o mk.candgen
      candgen tune mk.dataset --pivot bg.tsv.gz --pivot sr.tsv.gz -o mk.candgen
      candgen tune mk.dataset --method pti --pivot bg=bg.tsv.gz -o paper.candgen
      candgen tune mk.dataset --pivot bg.tsv.gz --pivot sr.tsv.gz \\
        --grid alpha=0,0.2,0.5,1
      candgen tune mk.dataset --pivot bg.tsv.gz --method charagram \\
        --english en.tsv.gz --set epochs=20 -o mk.candgen

    Every combination of the grid is tried; test is never read. The highest recall wins, then the
    highest mean reciprocal rank. With several pivots and no --grid alpha, an alpha is searched for
    each pivot, by recall and mean reciprocal rank together. No pivot is dropped unless
    --min-pivot-gain asks for it. For rerank, which is pti with a second stage, the recalls shown
    are those of the first stage; the weights of the second are learned on dev when the index is
    built. At most half as many easy queries as others are used for that, so that they do not
    outweigh the names that the training data lacks. --method pti is the method of the paper.
    """
    from candgen.auto import choose_normalizer  # noqa: PLC0415
    from candgen.evaluation.held_back import thin_easy  # noqa: PLC0415
    from candgen.evaluation.tune import tune as choose  # noqa: PLC0415
    from candgen.paper.corpus import open_folds  # noqa: PLC0415
    from candgen.protocols import Training  # noqa: PLC0415

    chosen = known_method(method)
    values, fixed = _parameters(method, chosen, parse_grid(grid or ()), settings or (), normalizer)
    named = parse_tables("--pivot", pivots)
    if named and pivot_tables is not None:
        raise ParameterError(
            "--pivot and --pivot-tables: give the pivots, or the folder to choose them from"
        )
    if min_pivot_gain is not None and pivot_tables is None:
        _check_searched(chosen, values, named)
    check_training_inputs(method, chosen, english=english is not None, dev=False)
    names = None if english is None else parse_table("--english", english)
    if output is not None:
        check_output(output)
    reasons: list[str] = []
    with progress_bar(whole=True) as progress:
        folds = open_folds(dataset, skip_bad_rows=skip_bad_rows)
        target = None if zero_shot or len(folds.train) == 0 else folds.train
        _warn_of_normalizer(dataset, folds, fixed.get("normalizer"))

        def read(table: Named) -> "MentionTable":
            return read_table(table, progress, skip_bad_rows=skip_bad_rows)

        training = Training(
            {each.language: read(each) for each in named},
            target,
            language or folds.language,
            None if names is None else read(names),
            thin_easy(folds.dev) if method == BOTH_STAGES else folds.dev,
            progress,
        )
        compares = method == BOTH_STAGES and "normalizer" not in {*fixed, *values}
        steps = _steps(progress, pivots=pivot_tables, compares=compares, output=output)
        if pivot_tables is not None:
            training = replace(training, progress=steps.start(PIVOTS, measured=True))
            training = _choose_pivots(training, pivot_tables, reasons, skip_bad_rows=skip_bad_rows)
        if not training.pivots and target is None:
            raise ParameterError(
                "nothing to learn from: give --pivot, or a dataset with training data"
            )
        if compares:
            training = replace(training, progress=steps.start(NORMALIZERS, measured=True))
            fixed["normalizer"], reason = choose_normalizer(training, training.dev)
            reasons.append(reason)
        training = replace(training, progress=steps.start(CHOICES, measured=chosen.ranks is None))
        tuning = choose(
            chosen,
            training,
            training.dev,
            grid=values,
            fixed=fixed,
            k=k,
            worth=min_pivot_gain or 0.0,
        )
        if output is not None:
            training = replace(training, progress=steps.start(INDEX))
            best = tuning.generator
            if best is None:
                best = chosen(training, {**fixed, **tuning.best.parameters})
            best.save(output)
            shown = steps.start(MEASURES)
            reasons += _describe_second_stage(best, training.dev, shown)
            reasons.append(calibrate(output, best, folds.dev, shown))
    for reason in reasons:
        note(reason, wrap=True)
    _show(tuning, form, output)


def _steps(
    progress: "Progress", *, pivots: Path | None, compares: bool, output: Path | None
) -> "Steps":
    """Return the steps, with the part of the time that each takes."""
    from candgen.evaluation.steps import Steps  # noqa: PLC0415

    shares = {
        PIVOTS: 8 if pivots is not None else 0,
        NORMALIZERS: 32 if compares else 0,
        CHOICES: 25,
        INDEX: 25 if output is not None else 0,
        MEASURES: 10 if output is not None else 0,
    }
    return Steps(progress, {name: share for name, share in shares.items() if share})


def _choose_pivots(
    training: "Training", folder: Path, reasons: list[str], *, skip_bad_rows: bool
) -> "Training":
    """Return the training with pivots chosen among the tables of a folder, by train or dev."""
    from candgen.auto import choose_pivots, explain_pivots  # noqa: PLC0415
    from candgen.tables.table_folder import TableFolder  # noqa: PLC0415

    tables = TableFolder(folder, skip_bad_rows=skip_bad_rows, without=training.language or "")
    names = [query.mention for query in training.dev]
    known = names if training.target is None else training.target
    ranking, pivots = choose_pivots(
        known, tables, language=training.language, progress=training.progress
    )
    reasons.append(explain_pivots(ranking, pivots, len(tables), known))
    return replace(training, pivots=pivots)


def _describe_second_stage(
    generator: Any,  # noqa: ANN401
    dev: "Sequence[Query]",
    progress: "Progress",
) -> list[str]:
    """Return a sentence about what a second stage changes on dev, which gave it its weights."""
    from candgen.evaluation.evaluate import evaluate  # noqa: PLC0415
    from candgen.generators.rerank.rerank import Rerank  # noqa: PLC0415

    if not isinstance(generator, Rerank):
        return []
    stages = {"first": generator.first_stage, "both": generator}
    report = evaluate(stages, dev, ks=(1, 30), progress=progress)
    first, both = (report.recall(name, k=1) for name in ("first", "both"))
    shown = ", ".join(f"{name} {value:.2f}" for name, value in generator.weights._asdict().items())
    sentence = f"Recall@1 on dev is {both:.1f}% with the second stage and {first:.1f}% without"
    return [f"{sentence}; its weights, learned on dev: {shown}."]


def _parameters(
    name: str,
    method: "Method",
    grid: dict[str, list[Any]],
    settings: Sequence[str],
    normalizer: Normalizer | None,
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return the values to choose from, and the parameters that are fixed."""
    fixed: dict[str, Any] = {}
    if "normalizer" in method.options and (normalizer is not None or name != BOTH_STAGES):
        fixed["normalizer"] = (normalizer or Normalizer.DEFAULT).value
    if "depth" in grid:
        raise ParameterError(
            "--grid depth: the trials measure the first stage, which depth does not change: use "
            "--set depth=N"
        )
    for each, value in parse_settings(settings).items():
        if each == "normalizer" and normalizer is not None:
            raise ParameterError("--set normalizer and --normalizer are the same: drop one")
        if each in grid:
            raise ParameterError(f"--set {each} and --grid {each}: give one of them")
        if each in method.grid:
            grid[each] = [value]
        else:
            fixed[each] = value
    return grid, fixed


def _check_searched(method: "Method", grid: dict[str, list[Any]], pivots: Sequence[Named]) -> None:
    """Raise ParameterError for --min-pivot-gain if no alphas are searched."""
    if method.search is None or method.joint & set(grid) or len(pivots) < 2:
        raise ParameterError(
            "--min-pivot-gain is for several pivots whose alphas are searched: drop it, or give "
            "two or more --pivot, no --grid alpha and the method pti or rerank"
        )


def _warn_of_normalizer(dataset: Path, folds: "Folds", normalizer: str | None) -> None:
    of_split = getattr(folds, "normalizer", normalizer)
    if normalizer is not None and of_split != normalizer:
        logging.getLogger("candgen").warning(
            "%s was split with the normalizer %s, but the index uses %s: "
            "one mention of the index may be two in the dataset",
            dataset,
            of_split,
            normalizer,
        )


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of each parameter, from NAME=X,X,... each.

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
                "queries": tuning.queries,
                "k": tuning.k,
                "best": best._asdict(),
                "trials": [trial._asdict() for trial in tuning.trials],
                "pivots": [pivot._asdict() for pivot in tuning.pivots],
            }
        )
        return
    show(tuning.table(), whole=True)
    if tuning.pivots:
        show("", tuning.pivot_table(), whole=True)
    show("", f"best on dev: {best.described or 'no parameters to choose'}")
    if output is not None:
        show(f"built {output}: try candgen info {shlex.quote(os.fspath(output))}")
