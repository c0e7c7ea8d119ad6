"""``candgen demo``: real names, some of them hidden, and how many are found again."""

import contextlib
import hashlib
import shlex
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from candgen.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from candgen.generators.explanation import Explanation
    from candgen.generators.pivot import PivotTokenIndex
    from candgen.mentions import MentionTable

TARGET = "fo"
PIVOTS = ("is", "da", "no")
HELD_OUT = 0.3
KS = (1, 10, 30)
FEWEST = 50
"""Names that a target must have: a recall on fewer than a dozen queries says nothing."""

KINDS = ("territory", "language", "currency", "script", "city", "zone")
TYPES = {
    "easy": "the name is in the training data",
    "medium": "its entity is, under other names only",
    "hard": "its entity is not",
}


class Query(NamedTuple):
    """A name to be found again, the entity that it means, and how hard that is."""

    mention: str
    entity: str
    type: str


Answers = Sequence[Sequence[str]]
"""The entities that a method returns for each query, best first."""


class Experiment(NamedTuple):
    """What was asked, what each method answered, and the index to keep."""

    tables: "Mapping[str, MentionTable]"
    queries: list[Query]
    answers: dict[str, Answers]
    index: "PivotTokenIndex"

    def held_out(self) -> list[Query]:
        """The queries that are not in the training data."""
        return [query for query in self.queries if query.type != "easy"]

    def recall(self, method: str, k: int, *types: str) -> float:
        """In percent, over all queries of these types."""
        hits = [
            query.entity in answer[:k]
            for query, answer in zip(self.queries, self.answers[method], strict=True)
            if query.type in types
        ]
        return 100 * sum(hits) / len(hits) if hits else 0.0


def demo(
    target: Annotated[
        str, typer.Option(help="The language to find names in: a code of CLDR.")
    ] = TARGET,
    pivot: Annotated[
        list[str] | None,
        typer.Option(help="A language to learn from; may be repeated.  [default: is, da, no]"),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the index.")
    ] = Path("demo.candgen"),
    seed: Annotated[int, typer.Option(help="Another seed hides other names.")] = 0,
) -> None:
    """Try candgen on the real names that come with Babel: no download, no files needed.

    Hides a part of the target's names of countries, languages, currencies, scripts, cities and time
    zones, builds indexes of the rest and of the pivots' names, and looks for what was hidden.

    Example: candgen demo --target mk --pivot bg --pivot sr --pivot ru
    """
    from rich.console import Console  # noqa: PLC0415 (--help need not wait for any of these)

    with _waiting("loading kernels (on first use they are compiled, which takes half a minute)"):
        names, pivots = _names(target, pivot)
        _warm_up()
    with _waiting("building two indexes and querying them"):
        experiment = _experiment(names, target=target, pivots=pivots, seed=seed)
        experiment.index.save(output)
    console = Console(highlight=False, markup=False)
    _show_names(console, experiment, target, pivots)
    _show_recall(console, experiment)
    best = _show_answers(console, experiment, target, seed)
    _show_explanation(console, experiment.index.explain(best.mention, best.entity))
    _show_next(console, output, best)


def _names(
    target: str, chosen: Sequence[str] | None
) -> "tuple[dict[str, MentionTable], Sequence[str]]":
    """The names of all languages, and the pivots among them."""
    from candgen.integrations import cldr  # noqa: PLC0415

    if not chosen and target != TARGET:
        raise ParameterError(
            f"what is {target!r} to learn from? Name related languages: --pivot CODE, repeated"
        )
    pivots = chosen or PIVOTS
    for language in pivots:
        if language == target or pivots.count(language) > 1:
            raise ParameterError(
                f"{language!r} is given twice: the target and the pivots must all differ"
            )
    names = {language: cldr.names(language) for language in (target, *pivots)}
    if len(names[target]) < FEWEST:
        raise ParameterError(
            f"CLDR has only {len(names[target])} names of its own in {target!r}: "
            f"choose a target that has at least {FEWEST}"
        )
    return names, pivots


def _warm_up() -> None:
    """Call everything once: kernels are compiled when they are first called."""
    from candgen.generators.pivot import PivotTokenIndex  # noqa: PLC0415
    from candgen.mentions import MentionTable  # noqa: PLC0415

    table = MentionTable.from_pairs([("Havn", "city:Havn"), ("Heima", "city:Heima")])
    index = PivotTokenIndex.build({"pivot": table}, table)
    index.candidates(["Havn"])
    index.explain("Havn", "city:Havn")


def _experiment(
    names: "Mapping[str, MentionTable]", *, target: str, pivots: Sequence[str], seed: int
) -> Experiment:
    """Hide a part of the target's names, and let three methods look for all of them."""
    from candgen.generators.pivot import PivotTokenIndex  # noqa: PLC0415
    from candgen.mentions import MentionTable  # noqa: PLC0415

    pairs = [(mention, entity) for mention, entity, _ in names[target]]
    hidden = {pair for pair in pairs if _drawn(seed, *pair) < HELD_OUT}
    train = MentionTable.from_pairs(pair for pair in pairs if pair not in hidden)
    known = set(train.entities)
    queries = [
        Query(*pair, "easy" if pair not in hidden else "medium" if pair[1] in known else "hard")
        for pair in pairs
    ]
    tables = {target: train, **{pivot: names[pivot] for pivot in pivots}}
    learned = {pivot: names[pivot] for pivot in pivots}
    zero_shot = PivotTokenIndex.build(learned, language=target)
    joint = PivotTokenIndex.build(learned, train, language=target)
    mentions = [query.mention for query in queries]
    return Experiment(
        tables, queries,
        {
            "exact matching": _exact(tables, mentions, target),
            "zero-shot": _entities(zero_shot, mentions),
            "joint": _entities(joint, mentions),
        },
        joint,
    )  # fmt: skip


def _drawn(seed: int, mention: str, entity: str) -> float:
    """A number from 0 to 1 that depends on nothing else: each name is hidden or not by itself."""
    digest = hashlib.sha256(f"{seed}\t{mention}\t{entity}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _entities(index: "PivotTokenIndex", mentions: list[str]) -> Answers:
    answers = index.candidates(mentions, k=max(KS))
    return [[candidate.entity for candidate in answer] for answer in answers]


def _exact(tables: "Mapping[str, MentionTable]", mentions: list[str], language: str) -> Answers:
    """What looking names up can do: entities with this very name, in most languages first."""
    from candgen.text import normalize_many  # noqa: PLC0415

    entities: dict[str, Counter[str]] = {}
    for name, table in tables.items():
        rows = list(table)
        texts = normalize_many([mention for mention, _, _ in rows], language=name)
        for text, (_, entity, _) in zip(texts, rows, strict=True):
            entities.setdefault(text, Counter())[entity] += 1
    return [
        sorted(found, key=lambda entity: (-found[entity], len(entity), entity))
        for text in normalize_many(mentions, language=language)
        for found in [entities.get(text, Counter[str]())]
    ]


def _show_names(
    console: "Console", experiment: Experiment, target: str, pivots: Sequence[str]
) -> None:
    from candgen.integrations import cldr  # noqa: PLC0415

    title = ", ".join(cldr.language_name(pivot) for pivot in pivots[:-1])
    title += (" and " if title else "") + cldr.language_name(pivots[-1])
    console.print(f"\n{cldr.language_name(target)}, learned from {title}", style="bold")
    console.print(
        "Names of countries, languages, currencies, scripts, cities and time zones (CLDR)."
    )
    sizes = [f"{language} {len(table):,}" for language, table in experiment.tables.items()]
    hidden = len(experiment.held_out())
    console.print(f"Training names: {', '.join(sizes)}. Hidden from all of them: {hidden:,}.")


def _show_recall(console: "Console", experiment: Experiment) -> None:
    """How many of the hidden names are found, and how many of each type are ranked first."""
    hidden = experiment.held_out()
    table = _table(f"{len(hidden):,} hidden names as queries: recall, in percent")
    for column in ("", *(f"recall@{k}" for k in KS), f"recall@{KS[1]}"):
        table.add_column(column, justify="left" if column == "" else "right")
    table.columns[-1].header, table.columns[-1].justify = "", "left"
    for method in experiment.answers:
        recalls = [experiment.recall(method, k, "medium", "hard") for k in KS]
        table.add_row(method, *map("{:.1f}".format, recalls), _bar(recalls[1] / 100))
    console.print(table)
    counts = Counter(query.type for query in experiment.queries)
    table = _table("the right entity ranked first (recall@1), by type of query")
    table.add_column("")
    for name in TYPES:
        table.add_column(name, justify="right")
    for method in experiment.answers:
        row = [
            f"{experiment.recall(method, 1, name):.1f}" if counts[name] else "-" for name in TYPES
        ]
        table.add_row(method, *row)
    table.add_row("queries", *(f"{counts[name]:,}" for name in TYPES), style="dim")
    console.print(table)
    for name, meaning in TYPES.items():
        console.print(f"  {name + ':':8}{meaning}", style="dim")


def _show_answers(console: "Console", experiment: Experiment, target: str, seed: int) -> Query:
    """A name of each kind that nobody could look up, drawn by lot, right or wrong."""
    from candgen.integrations import cldr  # noqa: PLC0415

    drawn = _examples(experiment, seed)
    table = _table("hidden names that no training name equals, drawn by lot; the joint index says")
    for column in (target, "", "entity", "in English", "score"):
        table.add_column(column, justify="right" if column == "score" else "left", no_wrap=True)
    best: Query | None = None
    answers = experiment.index.candidates([query.mention for query in drawn], k=max(KS))
    for query, answer in zip(drawn, answers, strict=True):
        ranks = [rank for rank, found in enumerate(answer, 1) if found.entity == query.entity]
        if ranks == [1]:
            best = best or query
        shown = [*range(1, min(3, len(answer)) + 1), *(rank for rank in ranks if rank > 3)]
        for place, rank in enumerate(shown):
            entity, score = answer[rank - 1]
            table.add_row(
                "" if place else query.mention,
                f"{'✓' if rank in ranks else ' '} {rank}",
                entity, cldr.label(entity), f"{score:.3f}",
                style="" if rank in ranks else "dim",
            )  # fmt: skip
        if not ranks:
            missed = cldr.label(query.entity)
            table.add_row("", "✗ -", query.entity, missed, f"not in {max(KS)}")
    console.print(table)
    return best or drawn[0]


def _examples(experiment: Experiment, seed: int) -> list[Query]:
    """One query of each kind, without those that exact matching answers."""
    exact = experiment.answers["exact matching"]
    missed = [
        query
        for query, answer in zip(experiment.queries, exact, strict=True)
        if query.type != "easy" and not answer
    ] or experiment.queries
    examples: dict[str, Query] = {}
    for query in sorted(missed, key=lambda query: _drawn(seed, query.mention, query.entity)):
        examples.setdefault(query.entity.partition(":")[0], query)
    return [examples[kind] for kind in KINDS if kind in examples]


def _show_explanation(console: "Console", explanation: "Explanation") -> None:
    mention, entity, lam = explanation.mention, explanation.entity, explanation.lam
    table = _table(f"why {mention} may be {entity}: the weightiest tokens they share")
    for column in ("token", "prior", f"{lam:g} x posterior", ""):
        table.add_column(column, justify="left" if column in ("token", "") else "right")
    heaviest = max((part.prior + part.posterior for part in explanation.tokens), default=1.0)
    for part in explanation.tokens[:6]:
        weight = (part.prior + part.posterior) / heaviest
        table.add_row(part.token, f"{part.prior:.3f}", f"{part.posterior:.3f}", _bar(weight))
    more = explanation.tokens[6:]
    if more:
        prior, posterior = sum(part.prior for part in more), sum(part.posterior for part in more)
        table.add_row(f"{len(more)} more", f"{prior:.3f}", f"{posterior:.3f}", style="dim")
    table.add_row("score", f"{explanation.score:.3f}", style="bold")
    console.print(table)
    shares = sorted(explanation.languages.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{language} {share:.0%}" for language, share in shares if share > 0)
    console.print(f"  learned from: {shown or 'nothing'}")
    known = ", ".join(f"{source.mention} ({source.language})" for source in explanation.sources[:6])
    console.print(f"  its names in the index: {known}")


def _show_next(console: "Console", output: Path, best: Query) -> None:
    console.print(
        f"\nThe joint index, without the hidden names, is in {output}. Try next:", style="bold"
    )
    for command in _commands(output, best):
        console.print(f"  {shlex.join(command)}", soft_wrap=True)


def _commands(output: Path, best: Query) -> list[list[str]]:
    """What to type next."""
    program, index = _program(), str(output)
    return [
        [*program, "query", index, best.mention, "-k", "5"],
        [*program, "explain", index, best.mention, best.entity],
        [*program, "info", index],
        [*program, "demo", "--target", "mk", "--pivot", "bg", "--pivot", "sr", "--pivot", "ru"],
    ]


def _program() -> list[str]:
    """How this very program is called: by its name if the shell would find it, or by its path."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return [sys.executable, "-m", "candgen"]
    found = shutil.which("candgen")
    if called.stem != "candgen" or (found and Path(found).samefile(called)):
        return ["candgen"]
    return [sys.argv[0]]


def _table(title: str) -> "Table":
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    return Table(
        title="\n" + title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD,
        pad_edge=False, padding=(0, 2, 0, 0),
    )  # fmt: skip


def _bar(share: float, width: int = 24) -> str:
    """A bar whose length is a share of the width, to an eighth of a character."""
    eighths = round(share * width * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


@contextlib.contextmanager
def _waiting(doing: str) -> Iterator[None]:
    """Say on stderr what takes long: on a terminal at once, elsewhere after two seconds."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    console = Console(stderr=True, highlight=False, markup=False)
    if console.is_terminal:
        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        with Progress(*columns, console=console, transient=True) as progress:
            progress.add_task(doing, total=None)
            yield
        return
    timer = threading.Timer(2, console.print, [f"{doing} ..."], {"soft_wrap": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
