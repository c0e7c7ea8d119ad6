"""The ranks of gold entities under many weights at once.

Choosing weights takes many evaluations, and each needs no more than the place of one entity. So no
index is laid out: the counts of all languages stand side by side, token by token, and one pass over
those of a mention's tokens scores, with all weights, the entities that can come before the gold.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.index.counts import Counts
from candgen.index.tie_order import tie_order
from candgen.kernels import gold_ranks as kernels

PARTS_OF_A_THREAD = 4


class Weights(NamedTuple):
    """One choice: the weight of each language, and lam."""

    alpha: Mapping[str, float]
    lam: float


@dataclass(frozen=True)
class CountGrid:
    """Token t has ``entity[start[t]:start[t + 1]]``, with a column of ``n`` for each language."""

    counts: Counts
    tie_order: npt.NDArray[np.uint32]
    start: npt.NDArray[np.int64]
    entity: npt.NDArray[np.uint32]
    n: npt.NDArray[Any]

    @classmethod
    def build(cls, counts: Counts, texts: Sequence[str] | None = None) -> "CountGrid":
        """Turn counts by entity into counts by token: of all tokens, or of those of the texts.

        With ``texts`` it is several times smaller, and good for these texts only.
        """
        parts = list(counts.languages.values())
        indptrs = tuple(part.indptr for part in parts)
        tokens = (counts.counted.tokens,) * len(parts)
        numbers = (counts.counted.counts(),) * len(parts)
        size = np.zeros(len(counts.vocabulary), np.int64)
        wanted = np.full(len(size), texts is None)
        if texts is not None:
            vocabulary = counts.vocabulary
            trie = vocabulary.child, vocabulary.symbol
            kernels.mark_tokens(trie, *vocabulary.symbols(texts), *vocabulary.shape, wanted)
        kernels.list_sizes(indptrs, tokens, wanted, np.full(len(size), -1, np.int64), size)
        start = np.concatenate(([0], np.cumsum(size)))
        entity = np.empty(start[-1], np.uint32)
        n = np.zeros((start[-1], len(parts)), numbers[0].dtype)
        last = np.full(len(size), -1, np.int64)
        kernels.fill_lists(indptrs, tokens, numbers, wanted, last, start[:-1].copy(), entity, n)
        return cls(counts, tie_order(counts.entities)[1], start, entity, n)

    def ranks(
        self,
        texts: Sequence[str],
        golds: Sequence[str],
        choices: Sequence[Weights],
        k: int,
        *,
        threads: int | None = None,
    ) -> list[npt.NDArray[np.int64]]:
        """Return, for each choice, the rank of each gold for its normalized text; 0 beyond k.

        They are what searching an index built with those weights, and no threshold, would give.
        """
        k = min(k, len(self.tie_order))
        vectors = [
            tuple(choice.alpha[name] for name in self.counts.languages) for choice in choices
        ]
        alphas = list(dict.fromkeys(vectors))
        lams_of: dict[Any, list[float]] = {alpha: [] for alpha in alphas}
        for alpha, choice in zip(vectors, choices, strict=True):
            lams_of[alpha] = sorted({*lams_of[alpha], choice.lam})
        widest = max(map(len, lams_of.values()))
        lams = np.array([(some + some[-1:] * widest)[:widest] for some in lams_of.values()])
        ranks = np.zeros((len(texts), *lams.shape), np.int64)
        self._fill(texts, golds, np.array(alphas), lams, k, threads, ranks)
        return [
            ranks[:, alphas.index(alpha), lams_of[alpha].index(choice.lam)]
            for alpha, choice in zip(vectors, choices, strict=True)
        ]

    def _fill(
        self,
        texts: Sequence[str],
        golds: Sequence[str],
        weights: npt.NDArray[np.float64],
        lams: npt.NDArray[np.float64],
        k: int,
        threads: int | None,
        ranks: npt.NDArray[np.int64],
    ) -> None:
        """Fill in the ranks, with the texts divided among threads."""
        vocabulary, parts = self.counts.vocabulary, list(self.counts.languages.values())
        symbols, start, end = vocabulary.symbols(texts)
        found = pc.index_in(pa.array(golds, pa.large_string()), value_set=self.counts.entities)
        gold = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        totals = tuple(
            weights @ np.stack([getattr(part, name) for part in parts])
            for name in ("token_total", "entity_total")
        )
        most = np.zeros((len(weights), len(vocabulary)), np.float64)
        kernels.most_priors(self.start, self.n, weights, totals[0], most)

        def one(part: slice) -> None:
            kernels.rank_rows(
                (vocabulary.child, vocabulary.symbol),
                symbols,
                start[part],
                end[part],
                *vocabulary.shape,
                gold[part],
                self.tie_order,
                (self.start, self.entity, self.n),
                weights,
                totals,
                most,
                lams,
                k,
                ranks[part],
            )

        threads = threads or os.cpu_count() or 1
        cuts = np.linspace(0, len(texts), threads * PARTS_OF_A_THREAD + 1).astype(np.int64)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, map(slice, cuts[:-1].tolist(), cuts[1:].tolist())))
