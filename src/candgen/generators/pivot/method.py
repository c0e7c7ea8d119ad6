"""PivotTokenIndex as methods: the paper's, its other versions, and how dev chooses, quickly."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from candgen.generators.pivot.parameters import Choice, counted, tokenizer_of
from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
from candgen.generators.pivot.weight_search import search_weights
from candgen.index.counts import Counts
from candgen.index.fusion import build_index
from candgen.index.gold_ranks import CountGrid, Weights
from candgen.index.token_index import TokenIndex
from candgen.protocols import (
    MIN_POINTS_PER_TENTH,
    Method,
    Parameters,
    Progress,
    Ranks,
    Searched,
    Size,
    Training,
)
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query


def build(training: Training, parameters: Parameters) -> PivotTokenIndex:
    """The index of these tables; parameters are those of ``PivotTokenIndex.build``.

    ``wildcards`` may be given in place of a tokenizer that has them.
    """
    rest = {name: value for name, value in parameters.items() if name != "wildcards"}
    rest["tokenizer"] = tokenizer_of(parameters)
    return PivotTokenIndex.build(
        training.pivots,
        training.target,
        language=training.language,
        progress=training.progress,
        **rest,
    )


def size(index: PivotTokenIndex) -> Size:
    """How many priors and posteriors are kept, and which share of all the threshold removed."""
    dropped = index.parameters["dropped"]
    every = 2 * (index.token_index.postings + dropped["postings"])
    removed = dropped["priors"] + dropped["posteriors"]
    return Size(every - removed, removed / every)


def ranks(
    training: Training, choices: Sequence[Parameters], queries: Sequence[Query], k: int
) -> list[Ranks]:
    """The ranks that ``build(training, choice)`` would give, for each choice.

    Tables are counted once for all choices that differ in weights only. Count-level choices without
    a threshold need no index; for others one is laid out, and asked with every lam.
    """
    every = [Choice.of(training, choice) for choice in choices]
    found: dict[int, Ranks] = {}
    numbers = sorted(range(len(every)), key=lambda i: repr(every[i].counted))
    for _, group in groupby(numbers, key=lambda i: repr(every[i].counted)):
        members = list(group)
        counts, texts = counted(training, every[members[0]], queries)
        golds = [query.entity for query in queries]
        plain = [i for i in members if every[i].is_plain]
        if plain:
            weights = [Weights(every[i].alpha, every[i].lam) for i in plain]
            ranked = CountGrid.build(counts, texts).ranks(texts, golds, weights, k)
            found.update(zip(plain, ranked, strict=True))
        rest = sorted((i for i in members if i not in plain), key=lambda i: repr(every[i].index))
        for _, same in groupby(rest, key=lambda i: repr(every[i].index)):
            alike = list(same)
            index = _index(counts, every[alike[0]], training.pivots)
            for i in alike:
                found[i] = _ranked(index, texts, golds, every[i].lam, k)
    return [found[i] for i in range(len(choices))]


def search(
    training: Training,
    fixed: Parameters,
    queries: Sequence[Query],
    k: int,
    *,
    lams: Sequence[float] | None = None,
    worth: float = MIN_POINTS_PER_TENTH,
    progress: Progress | None = None,
) -> Searched | None:
    """One alpha for each pivot, and lam; None where other parameters need an index for each."""
    if not Choice.of(training, {**fixed, "alpha": 1.0}).is_plain:
        return None
    return search_weights(
        training,
        fixed,
        queries,
        k,
        lams=PTI.grid["lam"] if lams is None else lams,
        worth=worth,
        progress=progress,
    )


def _index(counts: Counts, choice: Choice, pivots: Mapping[str, MentionTable]) -> TokenIndex:
    index, _ = build_index(
        counts,
        choice.alpha,
        pivots=pivots,
        fusion=choice.fusion,
        smoothing=choice.smoothing,
        threshold=choice.threshold,
    )
    return index


def _ranked(
    index: TokenIndex, texts: Sequence[str], golds: Sequence[str], lam: float, k: int
) -> Ranks:
    """The rank of each gold for its normalised text; 0 where it is beyond k."""
    hits = index.search(texts, k, lam=lam)
    gold = np.array([-1 if (place := index.place(gold)) is None else place for gold in golds])
    columns = np.arange(hits.rank.shape[1])
    there = (hits.rank == gold[:, np.newaxis]) & (columns < hits.found[:, np.newaxis])
    return np.where(there.any(axis=1), there.argmax(axis=1) + 1, 0).astype(np.int64)


def _version(fixed: Parameters, defaults: Parameters | None = None) -> Method:
    """PTI with some parameters fixed, and others with another default."""

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
    grid={"alpha": (0.1, 0.4, 1.0), "lam": (0.2, 0.4, 1.0)},
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
