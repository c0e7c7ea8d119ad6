"""``candgen query``: the candidates of mentions."""

import inspect
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import candgen
from candgen.cli.output import show, table, visible, write
from candgen.cli.progress import is_terminal, mention_counter, progress_bar
from candgen.cli.stdin import stdin_lines
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from candgen import Candidate
    from candgen.tables.source_mentions import SourceMention

MENTIONS_AT_ONCE = 1000
CANDIDATES_AT_ONCE = 1_000_000

Answers = list[list["Candidate"]]
Lam = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER", min=0, help="Weight of the posterior.", show_default="that of the index"
    ),
]


class Format(StrEnum):
    """How answers are written."""

    TABLE = "table"
    JSONL = "jsonl"
    TSV = "tsv"


class Scores(StrEnum):
    """What a score is."""

    RAW = "raw"
    SHARE = "share"


def query(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="A folder made by candgen build.")],
    mentions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MENTION",
            help="What to look for. Without any, or with a single -, stdin is read, one a line.",
        ),
    ] = None,
    *,
    k: Annotated[
        int, typer.Option("-k", metavar="N", min=1, help="The most candidates of a mention.")
    ] = 30,
    lam: Lam = None,
    scores: Annotated[
        Scores, typer.Option(help="Raw, or as shares of the sum over all entities.")
    ] = Scores.RAW,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="How to write the answers.",
            show_default="table for a person, else jsonl",
        ),
    ] = None,
) -> None:
    """Find the entities that mentions may mean, best first.

    \b
    Examples:
      candgen query fo.candgen "Tórshavn" "Føroyar" -k 5
      candgen query fo.candgen --format tsv < mentions.txt > candidates.tsv
      cut -f1 names.tsv | candgen query fo.candgen - | jq .candidates[0].entity

    JSON Lines have one line for every line of input, also for an empty one. TSV has the columns
    mention, rank, entity and score, and no row for a mention without candidates.
    """
    given = [] if mentions in (None, ["-"]) else list(mentions or ())
    if form is None:
        form = Format.TABLE if given and is_terminal(sys.stdout) else Format.JSONL
    at_once = max(1, min(MENTIONS_AT_ONCE, CANDIDATES_AT_ONCE // k))
    options: dict[str, Any] = {"k": k}
    if lam is not None:
        options["lam"] = lam
    if scores is not Scores.RAW:
        options["scores"] = scores.value
    if given:
        _answer_arguments(index, given, options, form, at_once)
    else:
        _answer_stdin(index, options, form, at_once)


def _answer_arguments(
    index: Path, mentions: list[str], options: dict[str, Any], form: Format, at_once: int
) -> None:
    for mention in mentions:
        try:
            mention.encode("utf-8")
        except UnicodeEncodeError:
            raise ParameterError(f"the mention {mention!r} is not UTF-8: convert it") from None
    generator = _open(index, options)
    write_answers = _writer(form, generator)
    for start in range(0, len(mentions), at_once):
        batch = mentions[start : start + at_once]
        with progress_bar() as progress:
            progress("searching", 0.0)
            answers = generator.candidates(batch, **options)
        write_answers(batch, answers)


def _answer_stdin(index: Path, options: dict[str, Any], form: Format, at_once: int) -> None:
    generator = _open(index, options)
    write_answers = _writer(form, generator)
    if is_terminal(sys.stdin):
        typer.echo("candgen: reading mentions, one a line; Ctrl-D ends", err=True)
    with mention_counter() as count:
        for batch in stdin_lines(at_once):
            write_answers(batch, generator.candidates(batch, **options))
            count(len(batch))


def _open(index: Path, options: dict[str, Any]) -> Any:  # noqa: ANN401
    with progress_bar() as progress:
        progress(f"opening {index}", 0.0)
        generator = candgen.load(index)
    refuse_untaken(index, generator.candidates, options)
    return generator


def refuse_untaken(index: Path, function: Callable[..., Any], options: Iterable[str]) -> None:
    """Refuse options that a method of this generator does not take."""
    taken = inspect.signature(function).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in taken.values()):
        return
    if untaken := [name for name in options if name not in taken]:
        raise ParameterError(
            f"--{untaken[0]} means nothing to the generator in {index}: drop it, or ask an index "
            "that was built with --method pti"
        )


def _writer(form: Format, generator: Any) -> Callable[[Sequence[str], Answers], None]:  # noqa: ANN401
    """The function that writes mentions and their answers."""
    if form is Format.TABLE:
        return lambda mentions, answers: _show(mentions, answers, generator)
    if form is Format.JSONL:
        return lambda mentions, answers: write("".join(map(json_line, mentions, answers)))
    write("mention\trank\tentity\tscore\n")
    return lambda mentions, answers: write("".join(map(tsv_rows, mentions, answers)))


def json_line(mention: str, candidates: "Sequence[Candidate]") -> str:
    """One answer as a line of JSON Lines."""
    found = (
        f'{{"entity": {_quoted(candidate.entity)}, "score": {score}}}'
        for candidate, score in zip(candidates, _shortest(candidates), strict=True)
    )
    return f'{{"mention": {_quoted(mention)}, "candidates": [{", ".join(found)}]}}\n'


def tsv_rows(mention: str, candidates: "Sequence[Candidate]") -> str:
    """One answer as rows of TSV."""
    if any(c in mention for c in "\t\n\r"):
        raise ParameterError(
            f"the mention {mention!r} has a tab or a line break, which TSV cannot hold: "
            "choose --format jsonl"
        )
    return "".join(
        f"{mention}\t{rank}\t{candidate.entity}\t{score}\n"
        for rank, (candidate, score) in enumerate(
            zip(candidates, _shortest(candidates), strict=True), start=1
        )
    )


_quoted = json.JSONEncoder(ensure_ascii=False).encode


def _shortest(candidates: "Sequence[Candidate]") -> list[str]:
    """The scores in as few digits as tell one number from the next.

    Most scores are 32-bit numbers. Those of tiers are not, and 32 bits would make some of them
    equal: they keep the digits of 64 bits.
    """
    import numpy as np  # noqa: PLC0415

    scores = [float(candidate.score) for candidate in candidates]
    with np.errstate(over="ignore", under="ignore"):
        rounded = np.array(scores, np.float64).astype(np.float32)
    return [
        str(short) if float(short) == score else repr(score)
        for short, score in zip(rounded, scores, strict=True)
    ]


def _show(mentions: Sequence[str], answers: Answers, generator: Any) -> None:  # noqa: ANN401
    """Answers for a person, with names where the index knows them."""
    from candgen.protocols import Names  # noqa: PLC0415 (--help need not wait for NumPy)

    for mention, candidates in zip(mentions, answers, strict=True):
        if not candidates:
            show(f"{visible(mention)!r}: no candidates", "")
            continue
        known = isinstance(generator, Names)
        made = table("rank", "entity", "score", *["also known as"] * known, right=("rank", "score"))
        made.title, made.title_justify = visible(mention), "left"
        for rank, (entity, score) in enumerate(candidates, start=1):
            names = [_names(generator.names(entity))] if known else []
            made.add_row(str(rank), visible(entity), f"{score:.4g}", *names)
        show(made, "")


def _names(sources: "Sequence[SourceMention]") -> str:
    """An entity's most frequent mention in each language: "Wien (de, fo), Vín (is)"."""
    first_of: dict[str, str] = {}
    for source in sources:
        first_of.setdefault(source.language, source.mention)
    languages_of: dict[str, list[str]] = {}
    for language, mention in first_of.items():
        languages_of.setdefault(mention, []).append(language)
    return ", ".join(
        f"{visible(mention)} ({', '.join(languages)})"
        for mention, languages in languages_of.items()
    )
