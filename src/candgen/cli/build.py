"""``candgen build``: from mention tables to an index."""

import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

import candgen
from candgen.cli.build_auto import build_auto_command
from candgen.cli.index_extras import Entities, Table, calibrate
from candgen.cli.options import (
    ALPHA,
    LAM,
    NGRAMS,
    Named,
    Normalizer,
    SkipBadRows,
    Unit,
    check_output,
    check_training_inputs,
    known_method,
    parse_alphas,
    parse_ngrams,
    parse_settings,
    parse_table,
    refuse_repeated,
    reject_unknown_options,
)
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError
from candgen.generators.summaries import METHODS as CATALOGUE

if TYPE_CHECKING:
    from candgen import MentionTable, Query
    from candgen.protocols import Generator, Method, Progress, Training

__all__ = [
    "METHODS_SHOWN",
    "Named",
    "Normalizer",
    "SkipBadRows",
    "build",
    "check_output",
    "parse_settings",
    "parse_table",
    "refuse_repeated",
]

LONGEST_EXAMPLE = 100
DEFAULT = "pti"
"""The method that is built where none is said."""

METHODS_SHOWN = "\b\nMethods:\n" + "\n".join(
    f"  {name:<{max(map(len, CATALOGUE))}}  {line}" for name, line in CATALOGUE.items()
)
"""The methods, a line each, for the end of --help."""


def build(
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="The folder to write; an index there is replaced.",
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What to build: one of the methods below.", show_default=DEFAULT
        ),
    ] = None,
    pivots: Annotated[
        list[str] | None,
        typer.Option("--pivot", metavar="[LANG=]FILE", help="Table of a pivot; may be repeated."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="[LANG=]FILE", help="Table of the target. Without it: zero-shot."),
    ] = None,
    english: Annotated[
        str | None,
        typer.Option(
            metavar="[LANG=]FILE", help="Table of English names, for methods that need them."
        ),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option(
            metavar="QUERIES",
            help="Dev queries, a TSV file or a dataset, for methods that learn from them.",
        ),
    ] = None,
    alphas: Annotated[
        list[str] | None,
        typer.Option(
            "--alpha",
            metavar="[LANG=]NUMBER",
            help="Weight of a pivot's counts, or of all pivots that have none of their own.",
            show_default=str(ALPHA),
        ),
    ] = None,
    lam: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", min=0, help="Weight of the posterior.", show_default=str(LAM)
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", min=0, max=1, help="Drop priors and posteriors that are smaller."
        ),
    ] = None,
    ngrams: Annotated[
        str | None,
        typer.Option(
            metavar="LOW-HIGH", help="Lengths of the character n-grams.", show_default=NGRAMS
        ),
    ] = None,
    unit: Annotated[
        Unit | None, typer.Option(help="What a character is.", show_default=Unit.CODEPOINT.value)
    ] = None,
    normalizer: Annotated[
        Normalizer | None,
        typer.Option(help="How text is folded.", show_default="default; latin for rerank"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Another parameter of the method; may be repeated."
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="LANG",
            help="Language of the queries: name it where there is no target.",
            show_default="that of the target",
        ),
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Threads to use.", show_default="one for each core"),
    ] = None,
    auto: Annotated[
        bool,
        typer.Option(
            "--auto", help="Choose pivots, normalizer and weights, add a second stage, say why."
        ),
    ] = False,
    entities: Entities = None,
    candidates: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="With --auto: mention tables <lang>.* to choose pivots from."
        ),
    ] = None,
) -> None:
    """Build an index from the mention tables of pivots, of a target, or both.

    \b
    Examples:
      candgen build --auto --target fo=fo.parquet --candidates names -o fo.candgen
      candgen build --pivot is=is.parquet --pivot da=da.parquet --target fo=fo.parquet \\
        --alpha is=0.4 --alpha da=0.1 --lam 0.4 -o fo.candgen
      candgen build --pivot is.tsv.gz --language fo -o zero-shot.candgen
      candgen build --method charagram --pivot is.tsv.gz --english en.tsv.gz --dev fo.dataset \\
        --language fo --set epochs=20 -o neural.candgen

    A table is a .tsv or .jsonl file, plain or .gz, or .parquet, with the columns mention, entity
    and optionally count. LANG is the file's name up to its first dot unless it is given; what
    stands before = is a LANG only if it has no dot and no slash, so ./a=b.tsv is a file.
    """
    if auto or candidates is not None:
        others = {
            "--pivot": pivots,
            "--english": english,
            "--dev": dev,
            "--alpha": alphas,
            "--lam": lam,
            "--threshold": threshold,
            "--ngrams": ngrams,
            "--unit": unit,
            "--set": settings,
            "--normalizer": normalizer,
            "--threads": threads,
            "--language": language,
            "--method": method,
        }
        said = [option for option, value in others.items() if value is not None]
        build_auto_command(
            target, candidates, output, said, entities, auto=auto, skip_bad_rows=skip_bad_rows
        )
        return
    start = time.perf_counter()
    method = method or DEFAULT
    chosen = known_method(method)
    named = [parse_table("--pivot", text) for text in pivots or ()]
    main = None if target is None else parse_table("--target", target)
    names = None if english is None else parse_table("--english", english)
    query_language = _query_language(named, main, language)
    given: dict[str, tuple[str, Any]] = {
        "alpha": ("--alpha", alphas and parse_alphas(alphas, [each.language for each in named])),
        "lam": ("--lam", lam),
        "threshold": ("--threshold", threshold),
        "tokenizer": ("--ngrams" if ngrams else "--unit", _tokenizer(ngrams, unit)),
        "normalizer": ("--normalizer", normalizer and normalizer.value),
        "threads": ("--threads", threads),
    }
    parameters = _parameters(method, chosen, given, parse_settings(settings or ()))
    check_training_inputs(method, chosen, english=english is not None, dev=dev is not None)
    check_output(output)
    with progress_bar() as progress:
        table = Table(entities, progress)
        training = _training(
            named, main, names, dev, query_language, progress, skip_bad_rows=skip_bad_rows
        )
        generator = chosen(training, parameters)
        shown = table.chosen(generator)
        progress(f"saving {output}", 0.0)
        generator.save(output)
        if training.dev:
            calibrate(output, generator, training.dev, progress)
        if shown is not None:
            shown.store(output)
    sys.stderr.write(_summary(output, chosen, generator, time.perf_counter() - start))
    example = _most_frequent(training.target or next(iter(training.pivots.values())))
    if len(example) <= LONGEST_EXAMPLE:
        sys.stderr.write(f"try: candgen query {shlex.quote(str(output))} {example} -k 5\n")


def _tokenizer(ngrams: str | None, unit: Unit | None) -> Any:  # noqa: ANN401
    """The tokenizer, if one was asked for."""
    if ngrams is None and unit is None:
        return None
    return parse_ngrams(ngrams or NGRAMS, unit or Unit.CODEPOINT)


def _parameters(
    name: str, method: "Method", given: Mapping[str, tuple[str, Any]], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """What was said, by parameter; what was not said is left to the method, but for threads."""
    options = {
        parameter: option for parameter, (option, value) in given.items() if value is not None
    }
    if "tokenizer" in settings:
        raise ParameterError("--set tokenizer: use --ngrams, --unit and --set wildcards=true")
    if twice := sorted(options.keys() & settings.keys()):
        raise ParameterError(f"{options[twice[0]]} and --set {twice[0]} are the same: drop one")
    reject_unknown_options(name, method, options | {each: f"--set {each}" for each in settings})
    said = {parameter: given[parameter][1] for parameter in options}
    if "threads" in method.options:
        said.setdefault("threads", os.cpu_count() or 1)
    return {**said, **settings}


def _query_language(
    pivots: Sequence[Named], target: Named | None, language: str | None
) -> str | None:
    """The language of target and queries; refuses names that stand for two tables."""
    if not pivots and target is None:
        raise ParameterError("nothing to build from: give --pivot, --target or both")
    names = [pivot.language for pivot in pivots]
    if target is not None:
        if target.explicit and language not in (None, target.language):
            raise ParameterError(
                f"the target is {target.language!r} but --language is {language!r}: "
                "they are the same language, name it once"
            )
        language = language or target.language
        names.append(language)
    refuse_repeated(names)
    return language


def _training(
    pivots: Sequence[Named],
    target: Named | None,
    english: Named | None,
    dev: Path | None,
    language: str | None,
    progress: "Progress",
    *,
    skip_bad_rows: bool,
) -> "Training":
    from candgen.protocols import Training  # noqa: PLC0415

    def read(table: Named) -> "MentionTable":
        progress(f"reading {table.path}", 0.0)
        return candgen.MentionTable.read(table.path, skip_bad_rows=skip_bad_rows)

    return Training(
        target=None if target is None else read(target),
        pivots={pivot.language: read(pivot) for pivot in pivots},
        language=language,
        english=None if english is None else read(english),
        dev=() if dev is None else _dev_queries(dev, skip_bad_rows=skip_bad_rows),
        progress=progress,
    )


def _dev_queries(path: Path, *, skip_bad_rows: bool) -> "Sequence[Query]":
    from candgen.paper.corpus import open_folds  # noqa: PLC0415
    from candgen.tables.queries import read_queries  # noqa: PLC0415

    queries = (
        open_folds(path, skip_bad_rows=skip_bad_rows).dev if path.is_dir() else read_queries(path)
    )
    if not queries:
        raise ParameterError(f"--dev {path} has no queries: give some, or drop it")
    return queries


def _summary(output: Path, method: "Method", generator: "Generator", seconds: float) -> str:
    """What was built, how large it is, and how long it took."""
    from candgen.protocols import TokenIndexed  # noqa: PLC0415
    from candgen.storage import index_folder  # noqa: PLC0415

    if isinstance(generator, TokenIndexed):
        index = generator.token_index
        numbers = {
            "entities": len(index.entities),
            "tokens": index.known,
            "postings": index.postings,
        }
    else:
        numbers = {"parameters": method.size(generator).parameters}
    shown = ", ".join(f"{number:,} {what}" for what, number in numbers.items())
    size = decimal(sum(index_folder.load(output).sizes.values()))
    return f"{output}: {shown}, {size}, {seconds:.1f} s\n"


def _most_frequent(table: "MentionTable") -> str:
    """A mention to try, quoted for a shell."""
    at = int(table.arrow["count"].to_numpy().argmax())
    return shlex.quote(table.arrow["mention"][at].as_py())
