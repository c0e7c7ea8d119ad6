"""PivotTokenIndex as methods: the paper's and its variants, and a fast choice on dev."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from candgen.generators.pivot.parameters import (
    Choice,
    count_languages,
    prepare_ranks,
    resolve_tokenizer,
    tables_of,
)
from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
from candgen.generators.pivot.weight_search import LAMS, search_weights
from candgen.index.entity_names import EntityNames
from candgen.index.fusion import build_index
from candgen.index.gold_ranks import Weights
from candgen.index.token_index import TokenIndex
from candgen.protocols import Method, Parameters, Ranks, SearchResult, Size, Training
from candgen.tables.queries import Query


def build(training: Training, parameters: Parameters) -> PivotTokenIndex:
    """Build an index from these tables, see `arguments`."""
    return PivotTokenIndex.build(**arguments(training, parameters))


def arguments(training: Training, parameters: Parameters) -> dict[str, Any]:
    """Return the arguments of ``PivotTokenIndex.build``.

    ``wildcards`` among the parameters makes a tokenizer with wildcards.
    """
    return {
        **{name: value for name, value in parameters.items() if name != "wildcards"},
        "pivots": training.pivots,
        "target": training.target,
        "language": training.language,
        "progress": training.progress,
        "tokenizer": resolve_tokenizer(parameters),
    }


def size(index: PivotTokenIndex) -> Size:
    """Return how many priors and posteriors are kept, and the fraction that was removed."""
    dropped = index.parameters["dropped"]
    every = 2 * (index.token_index.postings + dropped["postings"])
    removed = dropped["priors"] + dropped["posteriors"]
    return Size(every - removed, removed / every)


def ranks(
    training: Training, choices: Sequence[Parameters], queries: Sequence[Query], k: int
) -> list[Ranks]:
    """Return the ranks that ``build(training, choice)`` would give, for each choice.

    Names are read once for all choices that differ in weights only. Choices with fusion="counts"
    and no threshold need no index; for others one is built and searched with every lam.
    """
    every = [Choice.of(training, choice) for choice in choices]
    found: dict[int, Ranks] = {}
    plain = [i for i in range(len(every)) if every[i].is_plain]
    found.update(_rank_plain(training, {i: every[i] for i in plain}, queries, k))
    rest = sorted(set(range(len(every))) - set(plain), key=lambda i: repr(every[i].counted))
    for _, group in groupby(rest, key=lambda i: repr(every[i].counted)):
        members = sorted(group, key=lambda i: repr(every[i].index))
        counts, texts = count_languages(training, every[members[0]], queries)
        golds = [query.entity for query in queries]
        for _, same in groupby(members, key=lambda i: repr(every[i].index)):
            alike = list(same)
            first = every[alike[0]]
            index, _ = build_index(
                counts,
                first.alpha,
                pivots=training.pivots,
                lam=max(every[i].lam for i in alike),
                fusion=first.fusion,
                smoothing=first.smoothing,
                threshold=first.threshold,
            )
            for i in alike:
                found[i] = _rank_golds(index, texts, golds, every[i].lam, k)
    return [found[i] for i in range(len(choices))]


def _rank_plain(
    training: Training, choices: Mapping[int, Choice], queries: Sequence[Query], k: int
) -> dict[int, Ranks]:
    """Return the ranks of choices that need no index; names are grouped once."""
    found: dict[int, Ranks] = {}
    grouped: tuple[tuple[str, ...], EntityNames] | None = None
    numbers = sorted(choices, key=lambda i: repr(choices[i].counted))
    for _, group in groupby(numbers, key=lambda i: repr(choices[i].counted)):
        members = list(group)
        first = choices[members[0]]
        if grouped is None or grouped[0] != first.languages:
            grouped = first.languages, EntityNames.of(tables_of(training, first))
        training.progress(f"with normalizer {first.normalizer}", len(found) / len(choices))
        weights = [Weights(choices[i].alpha, choices[i].lam) for i in members]
        # Nothing keeps the counts of one group while those of the next are made.
        ranked = prepare_ranks(training, first, queries, names=grouped[1]).ranks(weights, k)
        found.update(zip(members, ranked, strict=True))
    return found


def search(
    training: Training,
    fixed: Parameters,
    queries: Sequence[Query],
    k: int,
    **options: Any,  # noqa: ANN401 (those of search_weights)
) -> SearchResult | None:
    """Search one alpha for each pivot, and lam; None if each choice needs an index of its own."""
    if not Choice.of(training, {**fixed, "alpha": 1.0}).is_plain:
        return None
    return search_weights(training, fixed, queries, k, **options)


def _rank_golds(
    index: TokenIndex, texts: Sequence[str], golds: Sequence[str], lam: float, k: int
) -> Ranks:
    """Return the rank of each gold for its normalized text; 0 where it is beyond k."""
    hits = index.search(texts, k, lam=lam)
    places = map(index.tie_order_of, golds)
    gold = np.array([-1 if place is None else place for place in places])
    columns = np.arange(hits.tie_order.shape[1])
    there = (hits.tie_order == gold[:, np.newaxis]) & (columns < hits.found[:, np.newaxis])
    return np.where(there.any(axis=1), there.argmax(axis=1) + 1, 0).astype(np.int64)


def _version(fixed: Parameters, defaults: Parameters | None = None) -> Method:
    """Return PTI with some parameters fixed, and others with another default."""

    def complete(parameters: Parameters) -> Parameters:
        return {**(defaults or {}), **parameters, **fixed}

    return replace(
        PTI,
        build=lambda training, parameters: build(training, complete(parameters)),
        ranks=lambda training, choices, queries, k: ranks(
            training, [complete(choice) for choice in choices], queries, k
        ),
        search=lambda training, given, queries, k, **options: search(
            training, complete(given), queries, k, **options
        ),
        options=PTI.options - set(fixed) - set(defaults or {}),
    )


PTI = Method(
    build=build,
    size=size,
    grid={"alpha": (0.1, 0.4, 1.0), "lam": LAMS},
    joint=frozenset({"alpha"}),
    options=frozenset(
        {"fusion", "normalizer", "smoothing", "threads", "threshold", "tokenizer", "wildcards"}
    ),
    ranks=ranks,
    search=search,
)
WILDCARDS = _version({"wildcards": True})
FUSION = _version({"fusion": "probabilities"})
SMOOTHING = _version({"fusion": "probabilities"}, {"smoothing": 1e-5})
SMOOTHING = replace(
    SMOOTHING,
    grid={**PTI.grid, "smoothing": (1e-6, 1e-5, 1e-4)},
    options=SMOOTHING.options - {"threshold"},
)
