"""``candgen build``: from mention tables to an index."""

import os
import re
import shlex
import sys
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.filesize import decimal

import candgen
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError, StorageError

if TYPE_CHECKING:
    from candgen import CharNgrams, MentionTable, PivotTokenIndex

ALPHA = 0.4


SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave bad rows out, and say how many.")
]


class Unit(StrEnum):
    """What a character is."""

    CODEPOINT = "codepoint"
    GRAPHEME = "grapheme"


class Normalizer(StrEnum):
    """How text is folded."""

    DEFAULT = "default"
    PAPER = "paper"
    NONE = "none"


class Named(NamedTuple):
    """A table's language and file; ``explicit`` where the user named the language."""

    language: str
    path: Path
    explicit: bool


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
    pivots: Annotated[
        list[str] | None,
        typer.Option("--pivot", metavar="[LANG=]FILE", help="Table of a pivot; may be repeated."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="[LANG=]FILE", help="Table of the target. Without it: zero-shot."),
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
        float, typer.Option(metavar="NUMBER", min=0, help="Weight of the posterior.")
    ] = 0.4,
    threshold: Annotated[
        float,
        typer.Option(
            metavar="NUMBER", min=0, max=1, help="Drop priors and posteriors that are smaller."
        ),
    ] = 0.0,
    ngrams: Annotated[
        str, typer.Option(metavar="LOW-HIGH", help="Lengths of the character n-grams.")
    ] = "2-5",
    unit: Annotated[Unit, typer.Option(help="What a character is.")] = Unit.CODEPOINT,
    normalizer: Annotated[
        Normalizer, typer.Option(help="How text is folded.")
    ] = Normalizer.DEFAULT,
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
) -> None:
    """Build an index from the mention tables of pivots, of a target, or both.

    \b
    Examples:
      candgen build --pivot is=is.parquet --pivot da=da.parquet --target fo=fo.parquet \\
        --alpha is=0.4 --alpha da=0.1 --lam 0.4 -o fo.candgen
      candgen build --pivot is.tsv.gz --language fo -o zero-shot.candgen

    A table is a .tsv or .jsonl file, plain or .gz, or .parquet, with the columns mention, entity
    and optionally count. LANG is the file's name up to its first dot unless it is given; what
    stands before = is a LANG only if it has no dot and no slash, so ./a=b.tsv is a file.
    """
    start = time.perf_counter()
    named = [parse_table("--pivot", text) for text in pivots or ()]
    main = None if target is None else parse_table("--target", target)
    query_language = _query_language(named, main, language)
    alpha = parse_alphas(alphas or (), [pivot.language for pivot in named])
    tokenizer = parse_ngrams(ngrams, unit)
    check_output(output)
    with progress_bar() as progress:

        def read(table: Named) -> "MentionTable":
            progress(f"reading {table.path}", 0.0)
            return candgen.MentionTable.read(table.path, skip_bad_rows=skip_bad_rows)

        target_table = None if main is None else read(main)
        pivot_tables = {pivot.language: read(pivot) for pivot in named}
        index = candgen.PivotTokenIndex.build(
            pivots=pivot_tables,
            target=target_table,
            language=query_language,
            alpha=alpha,
            lam=lam,
            threshold=threshold,
            tokenizer=tokenizer,
            normalizer=normalizer.value,
            threads=threads or os.cpu_count() or 1,
            progress=progress,
        )
        progress(f"saving {output}", 0.0)
        index.save(output)
    example = target_table or next(iter(pivot_tables.values()))
    sys.stderr.write(_summary(output, index, time.perf_counter() - start))
    sys.stderr.write(
        f"try: candgen query {shlex.quote(str(output))} {_most_frequent(example)} -k 5\n"
    )


def parse_table(option: str, text: str, *, expected: str = "[LANG=]FILE") -> Named:
    """What [LANG=]FILE means.

    >>> parse_table("--pivot", "is=names/all.parquet").language
    'is'
    >>> parse_table("--pivot", "names/is.tsv.gz").language
    'is'
    """
    before, equals, after = text.partition("=")
    explicit = bool(equals) and not re.search(r"[./\\]", before)
    file = after if explicit else text
    language = before if explicit else Path(file).name.split(".")[0]
    if not file:
        raise ParameterError(f"{option} {text!r} names no file: expected {expected}")
    if not language:
        raise ParameterError(f"{option} {text!r} has no name: expected {expected}")
    return Named(language, Path(file), explicit)


def parse_alphas(texts: Sequence[str], pivots: Sequence[str]) -> dict[str, float]:
    """The weight of each pivot, from [LANG=]NUMBER each.

    >>> parse_alphas(["0.2", "da=0.1"], ["is", "da"])
    {'is': 0.2, 'da': 0.1}
    """
    given: dict[str, float] = {}
    for text in texts:
        language, _, number = text.rpartition("=")
        if "=" in text and language not in pivots:
            known = f"the pivots are {', '.join(pivots)}" if pivots else "there are no pivots"
            raise ParameterError(f"--alpha {text}: {language!r} is no pivot; {known}")
        if language in given:
            whose = f"of {language!r}" if language else "of all pivots"
            raise ParameterError(f"--alpha gives the weight {whose} twice: drop one")
        try:
            given[language] = float(number)
        except ValueError:
            raise ParameterError(f"--alpha {text}: {number!r} is not a number") from None
        if not 0 <= given[language] < float("inf"):
            raise ParameterError(f"--alpha {text}: expected a finite number of at least 0")
    return {pivot: given.get(pivot, given.get("", ALPHA)) for pivot in pivots}


def parse_ngrams(text: str, unit: Unit) -> "CharNgrams":
    """The tokenizer that LOW-HIGH, or one number for both, means."""
    low, _, high = text.partition("-")
    try:
        return candgen.CharNgrams(int(low), int(high or low), unit.value)
    except ValueError:
        raise ParameterError(
            f"--ngrams is {text!r}: expected LOW-HIGH with 1 <= LOW <= HIGH <= 32, such as 2-5"
        ) from None


def check_output(output: Path) -> None:
    """Refuse, before the long work, what saving would refuse after it."""
    from candgen import storage  # noqa: PLC0415 (--help need not wait for NumPy)

    there = os.access(output, os.F_OK)
    if there:
        storage.refuse_foreign(output)
    place = output if there else output.absolute().parent
    if not os.access(place, os.W_OK | os.X_OK):
        raise StorageError(
            f"{output} cannot be written: {place} is not a folder that you may write into"
        )


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


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse a name that stands for two tables."""
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ParameterError(
            f"{repeated[0]!r} names more than one table: give each a language of its own, LANG=FILE"
        )


def _summary(output: Path, index: "PivotTokenIndex", seconds: float) -> str:
    from candgen import storage  # noqa: PLC0415

    numbers = {
        "entities": len(index.tokens.entities),
        "tokens": int((index.tokens.blocks.token_total > 0).sum()),
        "postings": index.tokens.postings,
    }
    shown = ", ".join(f"{number:,} {what}" for what, number in numbers.items())
    return (
        f"{output}: {shown}, {decimal(sum(storage.load(output).sizes.values()))}, {seconds:.1f} s\n"
    )


def _most_frequent(table: "MentionTable") -> str:
    """A mention to try, quoted for a shell."""
    at = int(table.arrow["count"].to_numpy().argmax())
    return shlex.quote(table.arrow["mention"][at].as_py())
