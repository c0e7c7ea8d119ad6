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
from candgen.cli.options import IndexFolder, Lam, option
from candgen.cli.output import escape_controls, show, table, visible, write
from candgen.cli.progress import is_terminal, mention_counter, progress_bar
from candgen.cli.stdin import stdin_lines
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from candgen import Candidate
    from candgen.tables.source_mentions import SourceMention

MENTIONS_PER_BATCH = 1000
CANDIDATES_PER_BATCH = 1_000_000

Answers = list[list["Candidate"]]


class Format(StrEnum):
    """The output formats."""

    TABLE = "table"
    JSONL = "jsonl"
    TSV = "tsv"


class Scores(StrEnum):
    """Scores as they are, or as shares of their sum."""

    RAW = "raw"
    SHARE = "share"


def query(
    index: IndexFolder,
    mentions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MENTION", help="Mentions; without any, or with -, from stdin, one per line."
        ),
    ] = None,
    *,
    k: Annotated[int, option("N", "Maximum candidates per mention.", "-k", min=1)] = 30,
    lam: Lam = None,
    scores: Annotated[
        Scores, typer.Option(help="Raw scores, or shares of the sum over all entities.")
    ] = Scores.RAW,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format", help="Output format.", show_default="table on a terminal, else jsonl"
        ),
    ] = None,
) -> None:
    """Find the entities that mentions may mean, best first.

    \b
    Examples:
      candgen query fo.candgen "Tórshavn" "Føroyar" -k 5
      candgen query fo.candgen --format tsv < mentions.txt > candidates.tsv
      cut -f1 names.tsv | candgen query fo.candgen - | jq .candidates[0].entity

    JSON Lines output has one line for every line of input, also for an empty one. TSV output has
    the columns mention, rank, entity and score, and no row for a mention without candidates.
    """
    given = [] if mentions in (None, ["-"]) else list(mentions or ())
    if form is None:
        form = Format.TABLE if given and is_terminal(sys.stdout) else Format.JSONL
    per_batch = max(1, min(MENTIONS_PER_BATCH, CANDIDATES_PER_BATCH // k))
    options: dict[str, Any] = {"k": k}
    if lam is not None:
        options["lam"] = lam
    if scores is not Scores.RAW:
        options["scores"] = scores.value
    _check_utf8(given)
    with progress_bar() as progress:
        progress(f"opening {index}", 0.0)
        generator: Any = candgen.load(index, progress=progress)
    reject_unsupported(index, generator.candidates, options)
    write_answers = _writer(form, generator)
    for start in range(0, len(given), per_batch):
        batch = given[start : start + per_batch]
        with progress_bar() as progress:
            progress("searching", 0.0)
            answers = generator.candidates(batch, **options)
        write_answers(batch, answers)
    if given:
        return
    if is_terminal(sys.stdin):
        typer.echo("candgen: reading mentions from stdin, one per line; Ctrl-D ends", err=True)
    with mention_counter() as count:
        for batch in stdin_lines(per_batch):
            write_answers(batch, generator.candidates(batch, **options))
            count(len(batch))


def _check_utf8(mentions: Sequence[str]) -> None:
    for mention in mentions:
        try:
            mention.encode("utf-8")
        except UnicodeEncodeError:
            raise ParameterError(f"the mention {mention!r} is not UTF-8: convert it") from None


def reject_unsupported(index: Path, function: Callable[..., Any], options: Iterable[str]) -> None:
    """Raise ParameterError for an option that this function of a generator does not take."""
    supported = inspect.signature(function).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in supported.values()):
        return
    if unsupported := [name for name in options if name not in supported]:
        raise ParameterError(
            f"--{unsupported[0]} is not supported by the generator in {index}: drop it, or query "
            "an index that was built with --method pti"
        )


def _writer(form: Format, generator: Any) -> Callable[[Sequence[str], Answers], None]:  # noqa: ANN401
    """Return the function that writes mentions and their answers."""
    if form is Format.TABLE:
        return lambda mentions, answers: _show(mentions, answers, generator)
    if form is Format.JSONL:
        return lambda mentions, answers: write("".join(map(json_line, mentions, answers)))
    write("mention\trank\tentity\tscore\n")
    return lambda mentions, answers: write("".join(map(tsv_rows, mentions, answers)))


def json_line(mention: str, candidates: "Sequence[Candidate]") -> str:
    """Return one answer as a line of JSON Lines."""
    found = (
        f'{{"entity": {_quoted(candidate.entity)}, "score": {score}}}'
        for candidate, score in zip(candidates, _shortest(candidates), strict=True)
    )
    line = f'{{"mention": {_quoted(mention)}, "candidates": [{", ".join(found)}]}}'
    return escape_controls(line) + "\n"


def tsv_rows(mention: str, candidates: "Sequence[Candidate]") -> str:
    """Return one answer as rows of TSV."""
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
    """Return the scores in the fewest digits that tell each from its neighbours.

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
    """Print answers as tables, with names if the index has them."""
    from candgen.protocols import Names  # noqa: PLC0415

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
    """Return an entity's most frequent mention in each language: "Wien (de, fo), Vín (is)"."""
    first_of: dict[str, str] = {}
    for source in sources:
        first_of.setdefault(source.language, source.mention)
    languages_of: dict[str, list[str]] = {}
    for language, mention in first_of.items():
        languages_of.setdefault(mention, []).append(language)
    return ", ".join(
        visible(f"{mention} ({', '.join(languages)})")
        for mention, languages in languages_of.items()
    )
