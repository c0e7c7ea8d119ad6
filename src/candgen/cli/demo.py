"""``candgen demo``: hide some real names, learn from the rest, and measure how many are found."""

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
from typing import TYPE_CHECKING, Annotated, Any

import typer

import candgen
from candgen.cli.explain import token_table
from candgen.cli.options import option
from candgen.cli.output import bar, show, table, write
from candgen.cli.progress import is_terminal, progress_bar
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from rich.text import Text

    from candgen import Candidate, Explanation, MentionTable, Query, Report

TARGET = "fo"
PIVOTS = ["is", "da", "no"]
HIDDEN_FRACTION = 0.3
KS = (1, 10, 30)
HOST, PORT = "127.0.0.1", 8000
MIN_NAMES = 50
"""The fewest names of a target: the recall on a dozen queries means nothing."""
SECONDS_BEFORE_NOTE = 2.0
"""After this time, a line on stderr names the step that takes long."""
EXACT, ZERO_SHOT, JOINT, BOTH = "exact matching", "zero-shot", "joint", "second stage"

KINDS = ("territory", "language", "currency", "script", "city", "zone")
TYPES = {
    "easy": "the name itself is in the training data",
    "medium": "its entity is, under other names only",
    "hard": "its entity is not",
}


class ExactMatch:
    """A baseline: the entities that have exactly this name, in most languages first."""

    def __init__(self, tables: "Mapping[str, MentionTable]", language: str) -> None:
        from candgen.text.normalize import normalize_many  # noqa: PLC0415

        self._normalize, self._language = normalize_many, language
        self._entities: dict[str, Counter[str]] = {}
        for each, names in tables.items():
            mentions, entities, _ = zip(*names, strict=True)
            for text, entity in zip(normalize_many(mentions, language=each), entities, strict=True):
                self._entities.setdefault(text, Counter())[entity] += 1

    def candidates(self, mentions: Sequence[str], k: int = 30) -> "list[list[Candidate]]":
        """Return the entities of each name; the score is the number of languages."""
        normalized = self._normalize(mentions, language=self._language)
        found = [self._entities.get(text, Counter()) for text in normalized]
        return [
            [
                candgen.Candidate(entity, float(each[entity]))
                for entity in sorted(each, key=lambda entity: (-each[entity], len(entity), entity))
            ][:k]
            for each in found
        ]


@dataclass(frozen=True)
class Experiment:
    """The tables learned from, the queries, the generators, and reports of their recall."""

    tables: "Mapping[str, MentionTable]"
    queries: "Sequence[Query]"
    generators: Mapping[str, Any]
    on_all: "Report"
    on_hidden: "Report"

    @property
    def hidden(self) -> "Sequence[Query]":
        """The queries that are not in the training data."""
        return self.on_hidden.queries


def demo(
    *,
    target: Annotated[str, option("LANG", "Target language.")] = TARGET,
    pivot: Annotated[
        list[str] | None,
        option(
            "LANG",
            "Pivot language; may be repeated.",
            show_default=f"{', '.join(PIVOTS)} for {TARGET}",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        option(
            "FOLDER",
            "Output folder, for the index.",
            "--output",
            "-o",
            show_default=f"demo-LANG.candgen, here demo-{TARGET}.candgen",
        ),
    ] = None,
    seed: Annotated[int, option("N", "Random seed; decides which names are hidden.")] = 0,
    serving: Annotated[
        bool, typer.Option("--serve/--no-serve", help="On a terminal, serve the index at the end.")
    ] = True,
) -> None:
    """Try candgen on real names, without files or network.

    \b
    Examples:
      candgen demo
      candgen demo --target mk --pivot bg --pivot sr --pivot ru

    The names of countries, languages, currencies, scripts, cities and time zones come with Babel.
    The demo hides some names of the target, learns from the rest and from the pivots, and looks
    for the hidden ones.
    """
    names = _names(target, pivot or (PIVOTS if target == TARGET else []))
    target = next(iter(names))
    output = output or Path(f"demo-{target}.candgen")
    with _waiting("building indexes and querying them"):
        experiment = _experiment(names, target=target, seed=seed)
        experiment.generators[BOTH].save(output)
        _describe(output, names.values())
    _show_names(experiment, target)
    _show_recall(experiment)
    example = _show_answers(experiment, target, seed)
    _show_explanation(experiment.generators[JOINT].explain(example.mention, example.entity))
    show(_styled(f"\nBoth stages are in {output}, without the hidden names.", "bold"), "Try next:")
    for command in _next_commands(output, example):
        write(f"  {shlex.join(command)}\n")
    if serving and is_terminal(sys.stdout) and is_terminal(sys.stdin):
        _serve(output)


def _names(target: str, pivots: Sequence[str]) -> "dict[str, MentionTable]":
    """Return the names in each language, by its code, the target first."""
    from candgen.integrations import cldr  # noqa: PLC0415

    codes = [cldr.locale(language) for language in (target, *pivots)]
    if not pivots:
        raise ParameterError(
            f"the target {target!r} has no pivots: give a related language or more, --pivot LANG"
        )
    if twice := [code for code, times in Counter(codes).items() if times > 1]:
        raise ParameterError(
            f"{twice[0]!r} is given twice: the target and the pivots must all be different"
        )
    names = {code: cldr.names(code) for code in codes}
    if len(names[codes[0]]) < MIN_NAMES:
        raise ParameterError(
            f"{target!r} has only {len(names[codes[0]])} names of its own: "
            f"choose a target that has at least {MIN_NAMES}"
        )
    return names


def _experiment(names: "Mapping[str, MentionTable]", *, target: str, seed: int) -> Experiment:
    """Hide some of the target's names, and evaluate four generators on all of them."""
    pairs = [(mention, entity) for mention, entity, _ in names[target]]
    hidden = {pair for pair in pairs if _random_number(pair, seed) < HIDDEN_FRACTION}
    train = candgen.MentionTable.from_pairs(pair for pair in pairs if pair not in hidden)
    known = set(train.entities)
    queries = [
        candgen.Query(
            *pair, "easy" if pair not in hidden else "medium" if pair[1] in known else "hard"
        )
        for pair in pairs
    ]
    pivots = {language: table for language, table in names.items() if language != target}
    tables = {target: train, **pivots}
    joint = candgen.PivotTokenIndex.build(pivots, train, language=target)
    generators: dict[str, Any] = {
        EXACT: ExactMatch(tables, target),
        ZERO_SHOT: candgen.PivotTokenIndex.build(pivots, language=target),
        JOINT: joint,
        BOTH: candgen.Rerank(joint),
    }
    on_all, on_hidden = (
        candgen.evaluate(generators, each, ks=KS)
        for each in (queries, [query for query in queries if query.type != "easy"])
    )
    return Experiment(tables, queries, generators, on_all, on_hidden)


def _random_number(pair: tuple[str, str], seed: int) -> float:
    """Return a number from 0 to 1 that does not depend on the other names."""
    digest = hashlib.sha256("\t".join((str(seed), *pair)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _describe(output: Path, tables: "Iterable[MentionTable]") -> None:
    """Store the English name and the kind of each entity with the index."""
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
        _styled(f"\n{language_name(target)}, learned from {pivots}", "bold"),
        "Names of countries, languages, currencies, scripts, cities and time zones (CLDR)",
        f"learned: {sizes}",
        f"hidden:  {target} {len(experiment.hidden):,}",
    )


def _show_recall(experiment: Experiment) -> None:
    """Print the recall on the hidden names, and recall@1 on all names, by type."""
    counts = Counter(query.type for query in experiment.queries)
    first = {
        method: {kind: experiment.on_all.recall(method, 1, type=kind) for kind in counts}
        for method in experiment.generators
    }
    at = [f"@{k}" for k in KS]
    found = table("recall", *at, "", right=at)
    by_type = table("recall@1", *TYPES, right=TYPES)
    for method in experiment.generators:
        recalls = [experiment.on_hidden.recall(method, k) for k in KS]
        found.add_row(method, *(f"{recall:.1f}" for recall in recalls), bar(recalls[1] / 100))
        cells = (f"{first[method][kind]:.1f}" if kind in counts else "-" for kind in TYPES)
        by_type.add_row(method, *cells)
    by_type.add_row("queries", *(f"{counts[name]:,}" for name in TYPES), style="dim")
    show(
        _title(f"The {len(experiment.hidden):,} hidden names as queries, in percent"),
        found,
        _title("Every name as a query: how often the right entity comes first, in percent"),
        by_type,
        *(_styled(f"{name + ':':8}{meaning}", "dim") for name, meaning in TYPES.items()),
    )
    gain = {kind: first[JOINT][kind] - first[ZERO_SHOT][kind] for kind in counts}
    if gain.get("easy", 0) > 0 > gain.get("hard", 0):
        show(
            "The joint index prefers entities that have a name in the target: hard queries",
            "lose. The second stage compares the names themselves.",
        )


def _show_answers(experiment: Experiment, target: str, seed: int) -> "Query":
    """Print the candidates of a few hidden names, and return one that was answered well."""
    from candgen.integrations.cldr import label  # noqa: PLC0415

    examples = _examples(experiment, seed)
    answers = experiment.generators[BOTH].candidates([query.mention for query in examples], k=30)
    shown = table(target, "", "entity", "in English", "score", right=["score"])
    right: list[Query] = []
    for query, answer in zip(examples, answers, strict=True):
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
    show(_title("A random sample of hidden names without an exact match, with both stages"), shown)
    return (right or examples)[0]


def _examples(experiment: Experiment, seed: int) -> "list[Query]":
    """Return a hidden name of each kind, if possible one without an exact match."""
    exact = experiment.generators[EXACT].candidates([query.mention for query in experiment.queries])
    unmatched = [
        query for query, answer in zip(experiment.queries, exact, strict=True) if not answer
    ]
    shuffled = sorted(
        unmatched or experiment.hidden, key=lambda query: _random_number(query[:2], seed)
    )
    kinds = {query.entity.partition(":")[0]: query for query in reversed(shuffled)}
    return [kinds[kind] for kind in KINDS if kind in kinds]


def _show_explanation(explanation: "Explanation") -> None:
    """Print the tokens with the highest scores, the share of each language, and the names."""
    shares = sorted(explanation.languages.items(), key=lambda share: -share[1])
    learned = ", ".join(f"{source.mention} ({source.language})" for source in explanation.sources)
    show(
        _title(f"Why {explanation.mention} may be {explanation.entity}: the tokens they share"),
        token_table(explanation.tokens, 6),
        f"score {explanation.score:.3f}, "
        f"by language: {', '.join(f'{code} {share:.0%}' for code, share in shares if share)}",
        f"names learned: {learned}",
    )


def _title(text: str) -> "Text":
    return _styled(f"\n{text}", "bold")


def _styled(text: str, style: str) -> "Text":
    from rich.text import Text  # noqa: PLC0415

    return Text(text, style=style)


def _serve(output: Path) -> None:
    """Serve the index until Ctrl-C; on a free port if the usual one is taken."""
    try:
        from candgen.service.server import is_free, serve  # noqa: PLC0415
        from candgen.service.settings import Settings, name_indexes  # noqa: PLC0415
    except ImportError:
        return  # the command `serve` above says which package to install
    settings = Settings(name_indexes([f"demo={output}"]), log=False)
    port = PORT if is_free(HOST, PORT) else 0
    show("", "Starting a web page to try the index ...")
    serve(settings, host=HOST, port=port, workers=1, on_ready=_tell)


def _tell(address: str) -> None:
    show(
        _styled(f"Open {address} in a browser", "bold"),
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
    """Return how the program was called; just its name if the shell finds it by that."""
    called = Path(sys.argv[0])
    if called.parts[-2:] == ("candgen", "__main__.py"):
        return [sys.executable, "-m", "candgen"]
    found = shutil.which("candgen")
    if called.stem != "candgen" or (found and called.exists() and called.samefile(found)):
        return ["candgen"]
    return [sys.argv[0]]


@contextlib.contextmanager
def _waiting(doing: str) -> Iterator[None]:
    """Print the current step to stderr: on a terminal at once, elsewhere after a while."""
    if is_terminal(sys.stderr):
        with progress_bar() as progress:
            progress(doing, 0.0)
            yield
        return
    timer = threading.Timer(SECONDS_BEFORE_NOTE, lambda: typer.echo(f"candgen: {doing}", err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
