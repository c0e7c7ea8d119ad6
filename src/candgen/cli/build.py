"""``candgen build``: from mention tables to an index."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

from candgen.cli.build_auto import build_auto_command
from candgen.cli.index_extras import EntityFile, calibrate
from candgen.cli.options import (
    ALPHA,
    LAM,
    NGRAMS,
    English,
    Entities,
    Named,
    Normalizer,
    OutputFolder,
    Pivots,
    Settings,
    SkipBadRows,
    Unit,
    check_output,
    check_training_inputs,
    known_method,
    option,
    parse_alphas,
    parse_ngrams,
    parse_settings,
    parse_table,
    read_table,
    reject_repeated,
    reject_unknown_options,
)
from candgen.cli.output import note, suggest_query
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError
from candgen.generators.summaries import METHODS as CATALOGUE

if TYPE_CHECKING:
    from candgen import MentionTable, Query
    from candgen.protocols import Generator, Method, Progress, Training

DEFAULT_METHOD = "pti"
HELP_WIDTH = 76


def _describe_methods() -> str:
    """Return the methods, with a line or two each, for the end of --help."""
    column = max(map(len, CATALOGUE))
    lines = ["\b", "Methods:"]
    for name, summary in CATALOGUE.items():
        first, *rest = wrap(summary, HELP_WIDTH - column - 2)
        lines += [f"  {name:<{column}}  {first}", *(f"  {'':{column}}  {line}" for line in rest)]
    return "\n".join(lines)


METHODS_SHOWN = _describe_methods()


def build(
    *,
    output: OutputFolder,
    method: Annotated[
        str | None,
        option("NAME", "Method: one of those listed below.", show_default=DEFAULT_METHOD),
    ] = None,
    pivots: Pivots = None,
    target: Annotated[
        str | None, option("[LANG=]FILE", "Mention table of the target; without it, zero-shot.")
    ] = None,
    english: English = None,
    dev: Annotated[
        Path | None,
        option("QUERIES", "Dev queries, a TSV file or a dataset, for methods that use them."),
    ] = None,
    alphas: Annotated[
        list[str] | None,
        option(
            "[LANG=]NUMBER",
            "Weight of a pivot's counts; without LANG, of all other pivots.",
            "--alpha",
            show_default=str(ALPHA),
        ),
    ] = None,
    lam: Annotated[
        float | None, option("NUMBER", "Weight of the posterior.", min=0, show_default=str(LAM))
    ] = None,
    threshold: Annotated[
        float | None, option("NUMBER", "Drop smaller priors and posteriors.", min=0, max=1)
    ] = None,
    ngrams: Annotated[
        str | None, option("LOW-HIGH", "Lengths of the character n-grams.", show_default=NGRAMS)
    ] = None,
    ngram_unit: Annotated[
        Unit | None, typer.Option(help="Unit of the n-grams.", show_default=Unit.CODEPOINT.value)
    ] = None,
    normalizer: Annotated[
        Normalizer | None,
        typer.Option(help="Text normalizer.", show_default="default; latin for rerank"),
    ] = None,
    settings: Settings = None,
    language: Annotated[
        str | None,
        option(
            "LANG",
            "Language of the queries, needed without a target.",
            show_default="that of the target",
        ),
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    threads: Annotated[
        int | None, option("N", "Number of threads.", min=1, show_default="one per core")
    ] = None,
    auto: Annotated[
        bool,
        typer.Option(
            "--auto", help="Choose pivots, normalizer and weights; add a second stage; print why."
        ),
    ] = False,
    entities: Entities = None,
    pivot_tables: Annotated[
        Path | None, option("FOLDER", "With --auto: mention tables <lang>.* to choose pivots from.")
    ] = None,
    max_size: Annotated[
        str | None,
        option(
            "SIZE",
            "With --auto: largest size of the index, such as 500MB; the pivots that bring least "
            "are left out.",
            show_default="no limit",
        ),
    ] = None,
) -> None:
    """Build an index from mention tables.

    \b
    Examples:
      candgen build --auto --target fo=fo.parquet --pivot-tables names \\
        -o fo.candgen
      candgen build --pivot is=is.parquet --pivot da=da.parquet \\
        --target fo=fo.parquet --alpha is=0.4 --alpha da=0.1 -o fo.candgen
      candgen build --pivot is.tsv.gz --language fo -o zero-shot.candgen
      candgen build --method charagram --pivot is.tsv.gz --english en.tsv.gz \\
        --dev fo.dataset --language fo --set epochs=20 -o neural.candgen

    The tables are those of pivots, of the target, or both: .tsv or .jsonl files, plain or .gz, or
    .parquet, with the columns mention, entity and optionally count. Without LANG=, the language is
    the file name up to its first dot. Text before = is a LANG only if it has no dot and no slash,
    so ./a=b.tsv is a file. An index in the output folder is replaced.
    """
    if auto or pivot_tables is not None:
        others = {
            "--pivot": pivots,
            "--english": english,
            "--dev": dev,
            "--alpha": alphas,
            "--lam": lam,
            "--threshold": threshold,
            "--ngrams": ngrams,
            "--ngram-unit": ngram_unit,
            "--set": settings,
            "--normalizer": normalizer,
            "--threads": threads,
            "--language": language,
            "--method": method,
        }
        given = [option for option, value in others.items() if value is not None]
        build_auto_command(
            target,
            pivot_tables,
            output,
            given,
            entities,
            auto=auto,
            max_size=max_size,
            skip_bad_rows=skip_bad_rows,
        )
        return
    if max_size is not None:
        raise ParameterError("--max-size is for --auto, which chooses pivots: add --auto")
    start = time.perf_counter()
    method = method or DEFAULT_METHOD
    chosen = known_method(method)
    named = [parse_table("--pivot", text) for text in pivots or ()]
    main = None if target is None else parse_table("--target", target)
    names = None if english is None else parse_table("--english", english)
    query_language = _query_language(named, main, language)
    options: dict[str, tuple[str, Any]] = {
        "alpha": ("--alpha", alphas and parse_alphas(alphas, [each.language for each in named])),
        "lam": ("--lam", lam),
        "threshold": ("--threshold", threshold),
        "tokenizer": ("--ngrams" if ngrams else "--ngram-unit", _tokenizer(ngrams, ngram_unit)),
        "normalizer": ("--normalizer", normalizer and normalizer.value),
        "threads": ("--threads", threads),
    }
    parameters = _parameters(method, chosen, options, parse_settings(settings or ()))
    check_training_inputs(method, chosen, english=english is not None, dev=dev is not None)
    check_output(output)
    with progress_bar() as progress:
        table = EntityFile(entities, progress)
        training = _training(
            named, main, names, dev, query_language, progress, skip_bad_rows=skip_bad_rows
        )
        training = replace(training, sitelinks=table.sitelinks())
        generator = chosen(training, parameters)
        shown = table.select(generator)
        progress(f"saving {output}", 0.0)
        generator.save(output)
        if training.dev:
            calibrate(output, generator, training.dev, progress)
        if shown is not None:
            shown.store(output)
    note(_summary(output, chosen, generator, time.perf_counter() - start))
    suggest_query(output, _most_frequent(training.target or next(iter(training.pivots.values()))))


def _tokenizer(ngrams: str | None, unit: Unit | None) -> Any:  # noqa: ANN401
    """Return the tokenizer, if an option names one."""
    if ngrams is None and unit is None:
        return None
    return parse_ngrams(ngrams or NGRAMS, unit or Unit.CODEPOINT)


def _parameters(
    name: str, method: "Method", given: Mapping[str, tuple[str, Any]], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters that options give; the method has defaults for all but threads."""
    options = {
        parameter: option for parameter, (option, value) in given.items() if value is not None
    }
    if "tokenizer" in settings:
        raise ParameterError("--set tokenizer: use --ngrams, --ngram-unit and --set wildcards=true")
    if twice := sorted(options.keys() & settings.keys()):
        raise ParameterError(f"{options[twice[0]]} and --set {twice[0]} are the same: drop one")
    reject_unknown_options(name, method, options | {each: f"--set {each}" for each in settings})
    chosen = {parameter: given[parameter][1] for parameter in options}
    if "threads" in method.options:
        chosen.setdefault("threads", os.cpu_count() or 1)
    return {**chosen, **settings}


def _query_language(
    pivots: Sequence[Named], target: Named | None, language: str | None
) -> str | None:
    """Return the language of target and queries; raise ParameterError if two tables share one."""
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
    reject_repeated(names)
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
        return read_table(table, progress, skip_bad_rows=skip_bad_rows)

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
        raise ParameterError(f"--dev {path} has no queries: give another file, or drop it")
    return queries


def _summary(output: Path, method: "Method", generator: "Generator", seconds: float) -> str:
    """Return a line about the index: its size, and how long the work took."""
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
    return f"{output}: {shown}, {size}, {seconds:.1f} s"


def _most_frequent(table: "MentionTable") -> str:
    """Return a mention to try."""
    at = int(table.arrow["count"].to_numpy().argmax())
    mention: str = table.arrow["mention"][at].as_py()
    return mention
