"""PivotTokenIndex as methods: the paper's, its other versions, and how dev chooses, quickly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from candgen.counts import Counts, count
from candgen.errors import ParameterError
from candgen.fusion import build_index, check_fusion
from candgen.generators.candidate import check_weight
from candgen.generators.languages import TARGET, tables_of, weights_of
from candgen.generators.pivot import ALPHA, LAM, PivotTokenIndex
from candgen.grid import CountGrid, Weights
from candgen.index import TokenIndex
from candgen.mentions import MentionTable
from candgen.methods import Method, Parameters, Ranks, Size, Training
from candgen.queries import Query
from candgen.text import normalize_many
from candgen.tokenizers import CharNgrams, Tokenizer, to_parameters


def build(training: Training, parameters: Parameters) -> PivotTokenIndex:
    """The index of these tables; parameters are those of ``PivotTokenIndex.build``.

    ``wildcards`` may be given in place of a tokenizer that has them.
    """
    rest = {name: value for name, value in parameters.items() if name != "wildcards"}
    rest["tokenizer"] = _tokenizer(parameters)
    return PivotTokenIndex.build(
        training.pivots, training.target, language=training.language, progress=training.progress,
        **rest,
    )  # fmt: skip


def size(index: PivotTokenIndex) -> Size:
    """How many priors and posteriors are kept, and which share of all the threshold removed."""
    dropped = index.parameters["dropped"]
    every = 2 * (index.tokens.postings + dropped["postings"])
    removed = dropped["priors"] + dropped["posteriors"]
    return Size(every - removed, removed / every)


@dataclass(frozen=True)
class Choice:
    """One choice of parameters, checked, with defaults for those that are not given."""

    languages: tuple[str, ...]
    tokenizer: Tokenizer
    normalizer: str
    alpha: Mapping[str, float]
    fusion: Any
    smoothing: float
    threshold: float
    lam: float

    @classmethod
    def of(cls, training: Training, parameters: Parameters) -> "Choice":
        """What parameters mean for this training data."""
        name = training.language or TARGET
        weights = weights_of(dict(training.pivots), parameters.get("alpha", ALPHA))
        tables = tables_of(training.pivots, training.target, training.language, weights)
        smoothing, threshold, lam = (
            check_weight(name, parameters.get(name, default))
            for name, default in (("smoothing", 0.0), ("threshold", 0.0), ("lam", LAM))
        )
        fusion = parameters.get("fusion", "counts")
        check_fusion(fusion, smoothing, threshold)
        return cls(
            tuple(tables), _tokenizer(parameters), parameters.get("normalizer", "default"),
            {name: 1.0, **weights}, fusion, smoothing, threshold, lam,
        )  # fmt: skip

    @property
    def counted(self) -> Any:  # noqa: ANN401
        """What has to be counted anew if it differs."""
        return self.languages, to_parameters(self.tokenizer), self.normalizer

    @property
    def is_plain(self) -> bool:
        """Whether a count grid can rank it, without an index."""
        return self.fusion == "counts" and not self.threshold

    @property
    def index(self) -> "Choice":
        """What needs an index of its own: the same whatever lam."""
        return replace(self, lam=0.0)


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
        counts, texts = _counted(training, every[members[0]], queries)
        golds = [query.entity for query in queries]
        plain = [i for i in members if every[i].is_plain]
        if plain:
            weights = [Weights(every[i].alpha, every[i].lam) for i in plain]
            ranked = CountGrid.build(counts).ranks(texts, golds, weights, k)
            found.update(zip(plain, ranked, strict=True))
        rest = sorted((i for i in members if i not in plain), key=lambda i: repr(every[i].index))
        for _, same in groupby(rest, key=lambda i: repr(every[i].index)):
            alike = list(same)
            index = _index(counts, every[alike[0]], training.pivots)
            for i in alike:
                found[i] = _ranked(index, texts, golds, every[i].lam, k)
    return [found[i] for i in range(len(choices))]


def _tokenizer(parameters: Parameters) -> Tokenizer:
    given, wildcards = parameters.get("tokenizer"), parameters.get("wildcards", False)
    tokenizer: Tokenizer = CharNgrams() if given is None else given
    to_parameters(tokenizer)  # refuses what is no tokenizer
    if not isinstance(wildcards, bool):
        raise ParameterError(f"wildcards is {wildcards!r}: expected True or False")
    if wildcards:
        if not isinstance(tokenizer, CharNgrams):
            raise ParameterError(f"{tokenizer!r} has no wildcards: choose CharNgrams(low, high)")
        return replace(tokenizer, wildcards=True)
    return tokenizer


def _counted(
    training: Training, choice: Choice, queries: Sequence[Query]
) -> tuple[Counts, list[str]]:
    """The counts of the languages, and the queries as the index sees them."""
    tables = {training.language or TARGET: training.target, **training.pivots}
    counts = count(
        {name: table for name in choice.languages if (table := tables[name]) is not None},
        tokenizer=choice.tokenizer, normalizer=choice.normalizer,
    )  # fmt: skip
    mentions = [query.mention for query in queries]
    return counts, normalize_many(mentions, choice.normalizer, language=training.language)


def _index(counts: Counts, choice: Choice, pivots: Mapping[str, MentionTable]) -> TokenIndex:
    index, _ = build_index(
        counts, choice.alpha, pivots=pivots, fusion=choice.fusion,
        smoothing=choice.smoothing, threshold=choice.threshold,
    )  # fmt: skip
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
)
WILDCARDS = _version({"wildcards": True})
FUSION = _version({"fusion": "probabilities"})
SMOOTHING = _version({"fusion": "probabilities"}, {"smoothing": 1e-5})
SMOOTHING = replace(
    SMOOTHING,
    grid={**PTI.grid, "smoothing": (1e-6, 1e-5, 1e-4)},
    options=SMOOTHING.options - {"threshold"},
)
