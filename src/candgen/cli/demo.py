"""``candgen demo``: real names, some of them hidden, and how many are found again."""

import contextlib
import hashlib
import shlex
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.text import Text

from candgen.cli.output import bar, show, table, write
from candgen.cli.progress import is_terminal, progress_bar
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from candgen import Candidate, Explanation, MentionTable, PivotTokenIndex, Query, Rerank

TARGET = "fo"
PIVOTS = ["is", "da", "no"]
HIDDEN = 0.3
KS = (1, 10, 30)
HOST, PORT = "127.0.0.1", 8000
FEWEST = 50
"""Names that a target must have: the recall on a dozen queries says nothing."""
PATIENCE = 2.0
"""Seconds before a line on stderr says what takes so long."""

KINDS = ("territory", "language", "currency", "script", "city", "zone")
TYPES = {
    "easy": "the name itself is in the training data",
    "medium": "its entity is, under other names only",
    "hard": "its entity is not",
}


@dataclass(frozen=True)
class Experiment:
    """What was learned and asked, and what each method answered: entities, best first."""

    tables: "Mapping[str, MentionTable]"
    queries: "Sequence[Query]"
    answers: Mapping[str, Sequence[Sequence[str]]]
    joint: "PivotTokenIndex"
    both: "Rerank"

    @property
    def hidden(self) -> "list[Query]":
        """The queries that are not in the training data."""
        return [query for query in self.queries if query.type != "easy"]

    def recall(self, method: str, k: int, *types: str) -> float | None:
        """In percent, over all queries of these types; None if there are none."""
        hits = [
            query.entity in answer[:k]
            for query, answer in zip(self.queries, self.answers[method], strict=True)
            if query.type in types
        ]
        return 100 * sum(hits) / len(hits) if hits else None


def demo(
    *,
    target: Annotated[
        str, typer.Option(metavar="LANG", help="The language whose names are looked for.")
    ] = TARGET,
    pivot: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LANG",
            help="A language to learn from; may be repeated.",
            show_default=f"{', '.join(PIVOTS)} for {TARGET}",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Where the index goes.",
            show_default=f"demo-{TARGET}.candgen, by the target",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed hides other names.")] = 0,
    serving: Annotated[
        bool,
        typer.Option(
            "--serve/--no-serve", help="In a terminal, end by serving a page to try the index with."
        ),
    ] = True,
) -> None:
    """Try candgen on real names: no files and no network needed.

    \b
    Examples:
      candgen demo
      candgen demo --target mk --pivot bg --pivot sr --pivot ru

    Takes the names of countries, languages, currencies, scripts, cities and time zones that come
    with Babel, hides a part of the target's, learns from the rest and from the pivots', and looks
    for what was hidden.
    """
    names = _names(target, pivot or (PIVOTS if target == TARGET else []))
    target = next(iter(names))
    with _waiting("loading kernels (the first time they are compiled: half a minute)"):
        _call_kernels()
    output = output or Path(f"demo-{target}.candgen")
    with _waiting("building indexes and asking them"):
        experiment = _experiment(names, target=target, seed=seed)
        experiment.both.save(output)
        _describe(output, names.values())
    _show_names(experiment, target)
    _show_recall(experiment)
    example = _show_answers(experiment, target, seed)
    _show_explanation(experiment.joint.explain(example.mention, example.entity))
    show(
        Text(f"\nBoth stages are in {output}; it has not seen the hidden names.", style="bold"),
        "Try next:",
    )
    for command in _next_commands(output, example):
        write(f"  {shlex.join(command)}\n")
    if serving and is_terminal(sys.stdout) and is_terminal(sys.stdin):
        _serve(output)


def _names(target: str, pivots: Sequence[str]) -> "dict[str, MentionTable]":
    """The names in each language, by its code, the target first."""
    from candgen.integrations import cldr  # noqa: PLC0415

    codes = [cldr.locale(language) for language in (target, *pivots)]
    if not pivots:
        raise ParameterError(
            f"what is {target!r} to learn from? Name a related language or more: --pivot LANG"
        )
    if twice := [code for code, times in Counter(codes).items() if times > 1]:
        raise ParameterError(
            f"{twice[0]!r} is given twice: the target and the pivots must all be different"
        )
    names = {code: cldr.names(code) for code in codes}
    if len(names[codes[0]]) < FEWEST:
        raise ParameterError(
            f"there are only {len(names[codes[0]])} names of its own in {target!r}: "
            f"choose a target that has at least {FEWEST}"
        )
    return names


def _call_kernels() -> None:
    """Kernels are loaded, or compiled, when they are first called."""
    from candgen import MentionTable, PivotTokenIndex, Rerank  # noqa: PLC0415

    table = MentionTable.from_pairs([("Havn", "city:Havn"), ("Heima", "city:Heima")])
    index = PivotTokenIndex.build({"pivot": table}, table)
    index.candidates(["Havn"])
    index.explain("Havn", "city:Havn")
    Rerank(index).candidates(["Havn"])


def _experiment(names: "Mapping[str, MentionTable]", *, target: str, seed: int) -> Experiment:
    """Hide a part of the target's names, and let four methods look for all of them."""
    from candgen import MentionTable, PivotTokenIndex, Query, Rerank  # noqa: PLC0415

    pairs = [(mention, entity) for mention, entity, _ in names[target]]
    hidden = {pair for pair in pairs if _drawn(pair, seed) < HIDDEN}
    train = MentionTable.from_pairs(pair for pair in pairs if pair not in hidden)
    known = set(train.entities)
    queries = [
        Query(*pair, "easy" if pair not in hidden else "medium" if pair[1] in known else "hard")
        for pair in pairs
    ]
    mentions = [mention for mention, _ in pairs]
    pivots = {language: table for language, table in names.items() if language != target}
    zero_shot = PivotTokenIndex.build(pivots, language=target)
    joint = PivotTokenIndex.build(pivots, train, language=target)
    both = Rerank(joint)
    tables = {target: train, **pivots}
    answers = {
        "exact matching": _exact(tables, mentions, target),
        "zero-shot": [_entities(found) for found in zero_shot.candidates(mentions, k=max(KS))],
        "joint": [_entities(found) for found in joint.candidates(mentions, k=max(KS))],
        "second stage": [_entities(found) for found in both.candidates(mentions, k=max(KS))],
    }
    return Experiment(tables, queries, answers, joint, both)


def _drawn(pair: tuple[str, str], seed: int) -> float:
    """A number from 0 to 1: whether a name is hidden does not depend on which others there are."""
    digest = hashlib.sha256("\t".join((str(seed), *pair)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _entities(candidates: "Sequence[Candidate]") -> list[str]:
    return [candidate.entity for candidate in candidates]


def _exact(
    tables: "Mapping[str, MentionTable]", mentions: Sequence[str], target: str
) -> list[list[str]]:
    """What looking names up can do: the entities of this very name, in most languages first."""
    from candgen.text.normalize import normalize_many  # noqa: PLC0415

    languages: dict[str, Counter[str]] = {}
    for language, names in tables.items():
        known, entities, _ = zip(*names, strict=True)
        for text, entity in zip(normalize_many(known, language=language), entities, strict=True):
            languages.setdefault(text, Counter())[entity] += 1
    found = [languages.get(text, Counter()) for text in normalize_many(mentions, language=target)]
    return [sorted(each, key=lambda entity: (-each[entity], len(entity), entity)) for each in found]


def _describe(output: Path, tables: "Iterable[MentionTable]") -> None:
    """Store what to show of each entity with the index: its English name, and its kind."""
    from candgen.integrations.cldr import label  # noqa: PLC0415
    from candgen.tables.entities import EntityTable  # noqa: PLC0415

    entities = sorted({entity for table in tables for _, entity, _ in table})
    EntityTable.from_rows(
        (entity, "en", label(entity), "", [entity.partition(":")[0]]) for entity in entities
    ).store(output)


def _show_names(experiment: Experiment, target: str) -> None:
    from candgen.integrations.cldr import language_name  # noqa: PLC0415

    *others, last = (language_name(code) for code in experiment.tables if code != target)
    pivots = " and ".join([", ".join(others), last] if others else [last])
    sizes = ", ".join(f"{code} {len(names):,}" for code, names in experiment.tables.items())
    show(
        Text(f"\n{language_name(target)}, learned from {pivots}", style="bold"),
        "Names of countries, languages, currencies, scripts, cities and time zones (CLDR)",
        f"learned: {sizes}",
        f"hidden:  {target} {len(experiment.hidden):,}",
    )


def _show_recall(experiment: Experiment) -> None:
    """How many hidden names each method finds, and how often it is right at once."""
    counts = Counter(query.type for query in experiment.queries)
    at = [f"@{k}" for k in KS]
    found = table("recall", *at, "", right=at)
    first = table("recall@1", *TYPES, right=TYPES)
    for method in experiment.answers:
        recalls = [experiment.recall(method, k, "medium", "hard") or 0.0 for k in KS]
        found.add_row(method, *(f"{recall:.1f}" for recall in recalls), bar(recalls[1] / 100))
        by_type = (experiment.recall(method, 1, name) for name in TYPES)
        first.add_row(method, *("-" if recall is None else f"{recall:.1f}" for recall in by_type))
    first.add_row("queries", *(f"{counts[name]:,}" for name in TYPES), style="dim")
    show(
        _title(f"The {len(experiment.hidden):,} hidden names as queries, in percent"),
        found,
        _title("Every name as a query: how often the right entity comes first, in percent"),
        first,
        *(Text(f"{name + ':':8}{meaning}", style="dim") for name, meaning in TYPES.items()),
    )
    gain = {
        name: (experiment.recall("joint", 1, name) or 0.0)
        - (experiment.recall("zero-shot", 1, name) or 0.0)
        for name in TYPES
    }
    if gain["easy"] > 0 > gain["hard"]:
        show(
            "The joint index leans towards what has a name in the target: hard queries lose. The "
            "second stage looks at the names themselves."
        )


def _show_answers(experiment: Experiment, target: str, seed: int) -> "Query":
    """Show the candidates of a few hidden names, and return one that was answered well."""
    from candgen.integrations.cldr import label  # noqa: PLC0415

    examples = _examples(experiment, seed)
    mentions = [query.mention for query in examples]
    shown = table(target, "", "entity", "in English", "score", right=["score"])
    right: list[Query] = []
    for query, answer in zip(examples, experiment.both.candidates(mentions, k=30), strict=True):
        ranks = {candidate.entity: rank for rank, candidate in enumerate(answer, 1)}
        name = query.mention
        for entity, score in answer:
            if ranks[entity] <= 3 or entity == query.entity:
                style, mark = ("", "✓") if entity == query.entity else ("dim", " ")
                cells = name, f"{mark} {ranks[entity]}", entity, label(entity), f"{score:.3f}"
                shown.add_row(*cells, style=style)
                name = ""
        if query.entity not in ranks:
            shown.add_row(name, "✗", query.entity, label(query.entity), "-")
        elif ranks[query.entity] == 1:
            right.append(query)
    show(_title("Hidden names that equal none learned, by lot, as both stages see them"), shown)
    return (right or examples)[0]


def _examples(experiment: Experiment, seed: int) -> "list[Query]":
    """A hidden name of each kind, if possible without those that exact matching answers."""
    exact = zip(experiment.queries, experiment.answers["exact matching"], strict=True)
    unmatched = [query for query, answer in exact if not answer] or experiment.hidden
    by_lot = sorted(unmatched, key=lambda query: _drawn(query[:2], seed))
    kinds = {query.entity.partition(":")[0]: query for query in reversed(by_lot)}
    return [kinds[kind] for kind in KINDS if kind in kinds]


def _show_explanation(explanation: "Explanation") -> None:
    """The tokens that weigh most, the share of each language, and the names that were learned."""
    parts = explanation.tokens
    weight = f"{explanation.lam:g} posterior"
    shown = table("token", "prior", weight, "", right=["prior", weight])
    most = max((part.prior + part.posterior for part in parts), default=1.0)
    for part in parts[:6]:
        share = (part.prior + part.posterior) / most
        shown.add_row(part.token, f"{part.prior:.3f}", f"{part.posterior:.3f}", bar(share))
    if rest := parts[6:]:
        prior, posterior = sum(part.prior for part in rest), sum(part.posterior for part in rest)
        shown.add_row(f"{len(rest)} more", f"{prior:.3f}", f"{posterior:.3f}", style="dim")
    shares = sorted(explanation.languages.items(), key=lambda share: -share[1])
    learned = ", ".join(f"{source.mention} ({source.language})" for source in explanation.sources)
    show(
        _title(f"Why {explanation.mention} may be {explanation.entity}: the tokens they share"),
        shown,
        f"score {explanation.score:.3f}, "
        f"by language: {', '.join(f'{code} {share:.0%}' for code, share in shares if share)}",
        f"names learned: {learned}",
    )


def _title(text: str) -> Group:
    return Group("", Text(text, style="bold"))


def _serve(output: Path) -> None:
    """A page to try the index with, until Ctrl-C; on another port if somebody has the usual one."""
    try:
        from candgen.service.server import is_free, serve  # noqa: PLC0415
        from candgen.service.settings import Settings, name_indexes  # noqa: PLC0415
    except ImportError:
        return  # without the extra `server` the command above says what to install
    settings = Settings(name_indexes([f"demo={output}"]), log=False)
    port = PORT if is_free(HOST, PORT) else 0
    show("", "Starting a page to try it with ...")
    serve(settings, host=HOST, port=port, workers=1, tell=_tell)


def _tell(address: str) -> None:
    show(
        Text(f"Open {address} in a browser", style="bold"),
        f"OpenRefine takes {address}reconcile. Ctrl-C ends it.",
    )


def _next_commands(output: Path, example: "Query") -> list[list[str]]:
    program, index = _program(), str(output)
    return [
        [*program, "query", index, example.mention, "-k", "5"],
        [*program, "explain", index, example.mention, example.entity],
        [*program, "info", index],
        [*program, "serve", index],
        [*program, "demo", "--target", "mk", "--pivot", "bg", "--pivot", "sr", "--pivot", "ru"],
    ]


def _program() -> list[str]:
    """What was typed to get here; just the name where the shell would find it."""
    called = Path(sys.argv[0])
    if called.parts[-2:] == ("candgen", "__main__.py"):
        return [sys.executable, "-m", "candgen"]
    found = shutil.which("candgen")
    if called.stem != "candgen" or (found and called.exists() and called.samefile(found)):
        return ["candgen"]
    return [sys.argv[0]]


@contextlib.contextmanager
def _waiting(doing: str) -> Iterator[None]:
    """Say on stderr what takes long: on a terminal at once, elsewhere after a while."""
    if is_terminal(sys.stderr):
        with progress_bar() as progress:
            progress(doing, 0.0)
            yield
        return
    timer = threading.Timer(PATIENCE, lambda: typer.echo(f"candgen: {doing}", err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
