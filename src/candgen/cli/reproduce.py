"""``candgen reproduce``: the paper's tables and figures, on its data or on yours."""

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from candgen.cli.options import Normalizer, OutputFolder, PerType, Seed, SkipBadRows, option
from candgen.cli.output import note, show
from candgen.cli.progress import progress_bar
from candgen.errors import MissingExtraError, ParameterError
from candgen.generators.summaries import METHODS as CATALOGUE
from candgen.paper.published import EXHIBITS, HIGH_RESOURCE, PAIRS

if TYPE_CHECKING:
    from candgen.paper.published import Pair

ALL = "all"
"""What --methods takes for every method, neural ones too."""


def reproduce(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help=f"Tables and figures: {', '.join(EXHIBITS)}, all."),
    ],
    *,
    data: Annotated[
        Path,
        option(
            "FOLDER",
            "Mention tables <lang>.*, or folders <lang> as the paper's authors released them.",
        ),
    ],
    output: OutputFolder,
    pairs: Annotated[
        list[str] | None,
        option(
            "TARGET-PIVOT",
            "Language pair, or TARGET-PIVOT+PIVOT; may be repeated.",
            "--pair",
            show_default="the paper's nine",
        ),
    ] = None,
    methods: Annotated[
        str | None,
        option(
            "NAME,NAME",
            f"Methods: {', '.join(CATALOGUE)}, or all.",
            show_default="all but neural ones",
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        option("N", "Maximum epochs of neural methods.", min=1, show_default="their own"),
    ] = None,
    training_pairs: Annotated[
        int | None,
        option("N", "Maximum training pairs of neural methods.", min=1, show_default="their own"),
    ] = None,
    per_type: PerType = 1000,
    seed: Seed = 0,
    normalizer: Annotated[Normalizer, typer.Option(help="Text normalizer.")] = Normalizer.DEFAULT,
    zero_shot_only: Annotated[
        str | None,
        option(
            "LANG,LANG",
            "Targets without training data, or none.",
            show_default="the paper's: co,olo,tk",
        ),
    ] = None,
    high_resource: Annotated[
        str | None,
        option(
            "LANG,LANG",
            "Languages evaluated with their own data only.",
            show_default=f"those of {','.join(HIGH_RESOURCE)} that are pivots here",
        ),
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    figures: Annotated[bool, typer.Option(help="Plot the figures, which needs matplotlib.")] = True,
) -> None:
    """Reproduce the paper's tables and figures.

    \b
    Examples:
      candgen reproduce all --data names -o results
      candgen reproduce main-results --data names --pair mk-bg --pair fo-is+da \\
        -o results
      candgen reproduce main-results query-types --methods all --epochs 20 \\
        --data names -o results

    Our figures are shown beside the published ones. Parameters are chosen on dev; everything shown
    is measured on test. Measurements are kept in the
    output folder, so the same command continues an interrupted run. report.html has everything.
    """
    from candgen.paper.cache import ResultCache  # noqa: PLC0415
    from candgen.paper.corpus import Corpus  # noqa: PLC0415
    from candgen.paper.plan import Plan  # noqa: PLC0415
    from candgen.paper.reproduce import CACHE_FOLDER, resolve_names  # noqa: PLC0415
    from candgen.paper.reproduce import reproduce as make  # noqa: PLC0415

    exhibits = resolve_names(*names)
    chosen = _methods(methods)
    corpus = Corpus(
        data, per_type=per_type, seed=seed, normalizer=normalizer.value, skip_bad_rows=skip_bad_rows
    )
    known = _pairs(pairs, zero_shot_only, corpus.languages)
    plan = Plan(
        corpus,
        known,
        chosen,
        ResultCache(output / CACHE_FOLDER),
        command=[sys.executable, "-m", "candgen.cli.measure_process"],
        options=_budget(epochs, training_pairs, chosen),
        high_resource=_high_resource(high_resource, known),
    )
    if exhibits == ("high-resource",) and not plan.high_resource:
        raise ParameterError("no pair has a high-resource pivot: give --high-resource LANG")
    plan.check()
    if figures and find_spec("matplotlib") is None:
        raise MissingExtraError(
            "figures need matplotlib: pip install 'candgen[plots]', or add --no-figures"
        )
    with progress_bar() as progress:
        made = make(
            exhibits,
            plan,
            output,
            command=["candgen", *context.obj],
            progress=progress,
            figures=figures,
        )
    for exhibit in made:
        show(*exhibit.tables, whole=True)
    note(f"wrote {output}: open {(output / 'report.html').resolve().as_uri()}")


def _methods(names: str | None) -> dict[str, Any]:
    from candgen.generators.registry import METHODS  # noqa: PLC0415

    if names is None:
        return {name: method for name, method in METHODS.items() if not method.neural}
    listed = list(METHODS) if names == ALL else names.split(",")
    if unknown := [name for name in listed if name not in METHODS]:
        raise ParameterError(
            f"there is no method {unknown[0]!r}: choose {', '.join(METHODS)}, or {ALL}"
        )
    return {name: method for name, method in METHODS.items() if name in listed}


def _high_resource(names: str | None, pairs: "tuple[Pair, ...]") -> tuple[str, ...]:
    pivots = {pivot for pair in pairs for pivot in pair.pivots}
    if names is None:
        return tuple(each for each in HIGH_RESOURCE if each in pivots)
    return tuple(dict.fromkeys(names.split(",")))


def _pairs(
    texts: list[str] | None, zero_shot_only: str | None, languages: list[str]
) -> "tuple[Pair, ...]":
    from candgen.paper.corpus import parse_pair, with_zero_shot_only  # noqa: PLC0415

    chosen = PAIRS
    if texts:
        chosen = tuple(parse_pair(text, PAIRS, languages) for text in dict.fromkeys(texts))
    if zero_shot_only is None:
        return chosen
    named = () if zero_shot_only == "none" else tuple(zero_shot_only.split(","))
    return with_zero_shot_only(chosen, named)


def _budget(
    epochs: int | None, training_pairs: int | None, methods: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the training budget of neural methods; raise ParameterError if none has one."""
    budget = {"epochs": ("--epochs", epochs), "pairs": ("--training-pairs", training_pairs)}
    for name, (spelling, value) in budget.items():
        if value and not any(name in method.options for method in methods.values()):
            raise ParameterError(
                f"{spelling} {value}: none of {', '.join(methods)} has this parameter: drop it"
            )
    return {name: value for name, (_, value) in budget.items() if value}
