"""PivotTokenIndex as a method: what is chosen on dev, and quickly."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from candgen.counts import count
from candgen.generators.candidate import check_weight
from candgen.generators.pivot import ALPHA, LAM, TARGET, PivotTokenIndex, tables_of, weights_of
from candgen.grid import CountGrid, Weights
from candgen.methods import Method, Parameters, Ranks, Size, Training, rank_golds
from candgen.queries import Query
from candgen.text import normalize_many
from candgen.tokenizers import CharNgrams, to_parameters


def build(training: Training, parameters: Parameters) -> PivotTokenIndex:
    """The index of these tables; parameters are those of ``PivotTokenIndex.build``."""
    return PivotTokenIndex.build(
        training.pivots, training.target, language=training.language, **parameters
    )


def size(index: PivotTokenIndex) -> Size:
    """How many priors and posteriors are kept, and which share of all the threshold removed."""
    dropped = index.parameters["dropped"]
    every = 2 * (index.tokens.postings + dropped["postings"])
    removed = dropped["priors"] + dropped["posteriors"]
    return Size(every - removed, removed / every)


def ranks(
    training: Training, choices: Sequence[Parameters], queries: Sequence[Query], k: int
) -> list[Ranks]:
    """The ranks that ``build(training, choice)`` would give, for each choice.

    Choices that differ in alpha and lam only are counted once. With a threshold, an index is built
    for each alpha, on which depends what it drops.
    """
    groups: dict[Any, list[int]] = {}
    for number, choice in enumerate(choices):
        weights = weights_of(dict(training.pivots), choice.get("alpha", ALPHA))
        languages = tuple(tables_of(training.pivots, training.target, training.language, weights))
        rest = {name: choice[name] for name in sorted(choice) if name not in ("alpha", "lam")}
        groups.setdefault((languages, repr(rest)), []).append(number)
    found: dict[int, Ranks] = {}
    for (languages, _), members in groups.items():
        some = [choices[number] for number in members]
        if some[0].get("threshold"):
            ranked = _thresholded(training, some, queries, k)
        else:
            ranked = _ranks(training, languages, some, queries, k)
        found.update(zip(members, ranked, strict=True))
    return [found[number] for number in range(len(choices))]


def _ranks(
    training: Training, languages: Sequence[str], choices: Sequence[Parameters],
    queries: Sequence[Query], k: int,
) -> list[Ranks]:  # fmt: skip
    """The same for choices that use the same languages and differ in alpha and lam only."""
    common = choices[0]
    normalizer = common.get("normalizer", "default")
    name = training.language or TARGET
    tables = {name: training.target, **training.pivots}
    tokenizer = common.get("tokenizer") or CharNgrams()
    to_parameters(tokenizer)  # refuses what is no tokenizer
    counts = count(
        {language: table for language in languages if (table := tables[language]) is not None},
        tokenizer=tokenizer, normalizer=normalizer,
    )  # fmt: skip
    texts = normalize_many(
        [query.mention for query in queries], normalizer, language=training.language
    )
    weights = [
        Weights(
            {name: 1.0, **weights_of(dict(training.pivots), choice.get("alpha", ALPHA))},
            check_weight("lam", choice.get("lam", LAM)),
        )
        for choice in choices
    ]
    return CountGrid.build(counts).ranks(texts, [query.entity for query in queries], weights, k)


def _thresholded(
    training: Training, choices: Sequence[Parameters], queries: Sequence[Query], k: int
) -> list[Ranks]:
    """The same for choices that differ in alpha and lam only, by asking an index for each alpha."""
    built: dict[str, PivotTokenIndex] = {}
    found = []
    for choice in choices:
        key = repr(choice.get("alpha"))
        if key not in built:
            built[key] = build(training, choice)
        lam = check_weight("lam", choice.get("lam", LAM))
        index = replace(built[key], parameters={**built[key].parameters, "lam": lam})
        found.append(rank_golds(index, queries, k))
    return found


PTI = Method(
    build=build,
    size=size,
    grid={"alpha": (0.1, 0.4, 1.0), "lam": (0.2, 0.4, 1.0)},
    joint=frozenset({"alpha"}),
    options=frozenset({"normalizer", "threshold", "tokenizer"}),
    ranks=ranks,
)
