"""``candgen tune``: choosing a method's parameters on dev."""

import logging
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import candgen
from candgen.cli.index_extras import calibrate
from candgen.cli.options import (
    Named,
    Normalizer,
    SkipBadRows,
    check_output,
    check_training_inputs,
    known_method,
    parse_settings,
    parse_table,
    parse_value,
    refuse_repeated,
)
from candgen.cli.output import note, show, write_json
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError
from candgen.generators.summaries import METHODS as CATALOGUE

if TYPE_CHECKING:
    from candgen.evaluation.tune import Tuning
    from candgen.protocols import Method, Training
    from candgen.tables.folds import Folds
    from candgen.tables.queries import Query


BOTH_STAGES = "rerank"
"""The method whose normalizer dev chooses, and whose second stage has weights."""


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
    candidates: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="In place of --pivot: tables <lang>.* to choose pivots from."
        ),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=X,X,...",
            help="Values to try, such as lam=0.2,1 or normalizer=default,none; may be repeated.",
            show_default="the method's; for pti alpha=0.1,0.4,1 and lam=0.2,0.4,1, "
            "and with several pivots an alpha for each",
        ),
    ] = None,
    worth: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            min=0.0,
            help="Of several pivots, leave out those that bring less than this many points of "
            "recall for each tenth of the index's postings; 0 keeps all.",
            show_default="0.03",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, help="Recall at this k.")] = 30,
    method: Annotated[
        str, typer.Option(metavar="NAME", help=f"What to build: {', '.join(CATALOGUE)}.")
    ] = "rerank",
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
        Normalizer | None,
        typer.Option(
            help="How text is folded.", show_default="what dev says for rerank, else default"
        ),
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Build the best index there."),
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="For a person, or for a program.")
    ] = Format.TABLE,
) -> None:
    """Choose a method's parameters by recall on the dev queries of a dataset.

    \b
    Examples:
      candgen tune mk.dataset --candidates names -o mk.candgen
      candgen tune mk.dataset --pivot bg.tsv.gz --pivot sr.tsv.gz --pivot en.tsv.gz -o mk.candgen
      candgen tune mk.dataset --method pti --pivot bg=bg.tsv.gz -o paper.candgen
      candgen tune mk.dataset --pivot bg.tsv.gz --pivot sr.tsv.gz --grid alpha=0,0.2,0.5,1
      candgen tune mk.dataset --pivot bg.tsv.gz --method charagram --english en.tsv.gz \\
        --set epochs=20 -o mk.candgen

    Every combination is tried; test is never looked at. The highest recall wins, among equals
    the highest mean reciprocal rank. With several pivots and no --grid alpha, an alpha is found for
    each, by recall and mean reciprocal rank together; those that are not worth what they take are
    left out, even if that costs a little. The recalls of rerank, which is pti
    with a second stage, are those of its first stage; the weights of the second are learned on dev
    when it is built. --method pti is the paper's.
    """
    from candgen.evaluation.tune import tune as choose  # noqa: PLC0415
    from candgen.paper.corpus import open_folds  # noqa: PLC0415
    from candgen.protocols import MIN_POINTS_PER_TENTH, Training  # noqa: PLC0415

    chosen = known_method(method)
    values, fixed = _parameters(method, chosen, parse_grid(grid or ()), settings or (), normalizer)
    named = [parse_table("--pivot", text) for text in pivots or ()]
    if named and candidates is not None:
        raise ParameterError(
            "--pivot and --candidates: say which pivots, or where to look for them"
        )
    if worth is not None and candidates is None:
        _check_searched(chosen, values, named)
    check_training_inputs(method, chosen, english=english is not None, dev=False)
    names = None if english is None else parse_table("--english", english)
    refuse_repeated([each.language for each in named])
    if output is not None:
        check_output(output)
    reasons: list[str] = []
    with progress_bar() as progress:
        parts = open_folds(dataset, skip_bad_rows=skip_bad_rows)
        target = None if zero_shot or len(parts.train) == 0 else parts.train
        _warn_of_folding(dataset, parts, fixed.get("normalizer"))

        def read(table: Named) -> candgen.MentionTable:
            progress(f"reading {table.path}", 0.0)
            return candgen.MentionTable.read(table.path, skip_bad_rows=skip_bad_rows)

        training = Training(
            {each.language: read(each) for each in named},
            target,
            language or parts.language,
            None if names is None else read(names),
            parts.dev,
            progress,
        )
        if candidates is not None:
            training = _with_pivots(training, candidates, reasons, skip_bad_rows=skip_bad_rows)
        if not training.pivots and target is None:
            raise ParameterError(
                "nothing to learn from: give --pivot, or a dataset with training data"
            )
        if method == BOTH_STAGES and "normalizer" not in {*fixed, *values}:
            fixed["normalizer"] = _normalizer(training, reasons)
        tuning = choose(
            chosen,
            training,
            parts.dev,
            grid=values,
            fixed=fixed,
            k=k,
            worth=MIN_POINTS_PER_TENTH if worth is None else worth,
        )
        if output is not None:
            progress(f"building {output}", 0.0)
            best = tuning.generator
            if best is None:
                best = chosen(training, {**fixed, **tuning.best.parameters})
            best.save(output)
            reasons += _second_stage(best, parts.dev)
            reasons.append(calibrate(output, best, parts.dev, progress))
    for reason in reasons:
        note(reason)
    _show(tuning, form, output)


def _with_pivots(
    training: "Training", folder: Path, reasons: list[str], *, skip_bad_rows: bool
) -> "Training":
    """Choose pivots among the tables of a folder, by the names that may be learned from."""
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


def _normalizer(training: "Training", reasons: list[str]) -> str:
    from candgen.auto import choose_normalizer  # noqa: PLC0415

    chosen, why = choose_normalizer(training, training.dev)
    reasons.append(why)
    return chosen


def _second_stage(generator: Any, dev: "Sequence[Query]") -> list[str]:  # noqa: ANN401
    """What a second stage changes on dev, where its weights were learned."""
    from candgen.evaluation.evaluate import evaluate  # noqa: PLC0415
    from candgen.generators.rerank.rerank import Rerank  # noqa: PLC0415

    if not isinstance(generator, Rerank):
        return []
    report = evaluate({"first": generator.first_stage, "both": generator}, dev, ks=(1, 30))
    first, both = (report.recall(name, k=1) for name in ("first", "both"))
    shown = ", ".join(f"{name} {value:.2f}" for name, value in generator.weights._asdict().items())
    said = (
        f"The second stage puts {both:.1f}% of the dev queries' entities first, the first stage "
        f"{first:.1f}%; weights, learned there: {shown}."
    )
    return [said]


def _parameters(
    name: str,
    method: "Method",
    grid: dict[str, list[Any]],
    settings: Sequence[str],
    normalizer: Normalizer | None,
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The values to choose from, and what is fixed; of what is set there is one value."""
    fixed: dict[str, Any] = {}
    if "normalizer" in method.options and (normalizer is not None or name != BOTH_STAGES):
        fixed["normalizer"] = (normalizer or Normalizer.DEFAULT).value
    if "depth" in grid:
        raise ParameterError(
            "--grid depth: what is tried is measured in the first stage, which depth does not "
            "change: say --set depth=N"
        )
    for each, value in parse_settings(settings).items():
        if each == "normalizer" and normalizer is not None:
            raise ParameterError("--set normalizer and --normalizer are the same: drop one")
        if each in grid:
            raise ParameterError(f"--set {each} and --grid {each}: say one of them")
        if each in method.grid:
            grid[each] = [value]
        else:
            fixed[each] = value
    return grid, fixed


def _check_searched(method: "Method", grid: dict[str, list[Any]], pivots: Sequence[Named]) -> None:
    """Refuse --worth where no alphas are searched."""
    if method.search is None or method.joint & set(grid) or len(pivots) < 2:
        raise ParameterError(
            "--worth is for several pivots whose alphas are searched: drop it, or give two --pivot "
            "or more, no --grid alpha and the method pti or rerank"
        )


def _warn_of_folding(dataset: Path, parts: "Folds", normalizer: str | None) -> None:
    split_by = getattr(parts, "normalizer", normalizer)
    if normalizer is not None and split_by != normalizer:
        logging.getLogger("candgen").warning(
            "%s was split with normalizer %s, the index folds text with %s: "
            "what is one mention to it may be two in the dataset",
            dataset,
            split_by,
            normalizer,
        )


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
    show("", f"best on dev: {best.described or 'nothing to choose'}")
    if output is not None:
        show(f"built {output}: try candgen info {shlex.quote(os.fspath(output))}")
