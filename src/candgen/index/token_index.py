"""TokenIndex: one count matrix, its two normalisations, and exact search over them.

    A(e) = sum over tokens t of m, with their multiplicity c_t,  c_t * n(t,e) / N(t)
    B(e) = sum over tokens t of m                               c_t * n(t,e) / N(e)
    score(e | m) = A(e) + lam * B(e)

It knows nothing of languages and weights: whatever was pooled is one matrix here.
"""

import os
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.index.counts import Counts, PooledCounts
from candgen.index.layout import Background, bound_background, lay_out
from candgen.index.vocabulary import Vocabulary
from candgen.kernels import search as kernels
from candgen.kernels import trie
from candgen.kernels.blocks import BLOCK, BLOCK_BITS, GROUP_BITS
from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.tables.string_table import StringTable
from candgen.text.tokenizers import Tokenizer

Floats = npt.NDArray[np.float64]

ROWS_AT_ONCE = 64
"""Mentions that one thread takes at a time."""


class Hits(NamedTuple):
    """What a search found: row i has ``found[i]`` candidates, the best first."""

    score: npt.NDArray[np.float32]
    rank: npt.NDArray[np.uint32]
    found: npt.NDArray[np.int64]
    work: npt.NDArray[np.int64]  # groups, blocks and postings looked at

    def rows(self, part: slice) -> "Hits":
        """Some of the rows, to be filled or read."""
        return Hits(self.score[part], self.rank[part], self.found[part], self.work[part])


class Match(NamedTuple):
    """A token of a mention, and c * P(e|t) and c * P(t|e) of one entity; no number: unknown.

    ``layers`` has the two parts that each layer of counts makes of them.
    """

    shown: str
    token: int | None
    times: int
    prior: float
    posterior: float
    layers: Floats


@dataclass(frozen=True)
class TokenIndex:
    """Candidates by the tokens that mention and entity share.

    ``entities`` stand in the order that breaks ties (shorter ids first, then by code point); a
    candidate is a place in it. ``sums`` are, of each token, the sums of the kept priors and of the
    kept posteriors over all entities.
    """

    vocabulary: Vocabulary
    blocks: kernels.Blocks
    entities: StringTable
    sums: npt.NDArray[np.float32]
    threshold: float
    _local: threading.local = field(default_factory=threading.local, compare=False, repr=False)

    @classmethod
    def build(
        cls,
        counts: Counts,
        pooled: PooledCounts,
        *,
        threshold: float = 0.0,
        threads: int = 1,
        background: Background | None = None,
    ) -> "TokenIndex":
        """Lay the pooled counts out for search."""
        ids, rank = ranked(counts.entities)
        blocks, sums = lay_out(
            pooled, counts.vocabulary, rank, threshold=threshold, threads=threads
        )
        if background is not None:
            blocks = bound_background(blocks, background)
        return cls(counts.vocabulary, _frozen(blocks), ids, sums, threshold)

    @property
    def known(self) -> int:
        """How many tokens there are."""
        return known_tokens(self.blocks.token_total)

    @property
    def postings(self) -> int:
        """How many n(t, e) are stored."""
        return len(self.blocks.key)

    def search(
        self,
        texts: Sequence[str],
        k: int,
        *,
        lam: float,
        threads: int | None = None,
        prune: bool = True,
    ) -> Hits:
        """The k best entities for each normalised text."""
        k = min(k, len(self.entities))
        number = len(texts)
        hits = Hits(
            np.zeros((number, k), np.float32),
            np.empty((number, k), np.uint32),
            np.zeros(number, np.int64),
            np.zeros((number, 3), np.int64),
        )
        parts = [slice(i, i + ROWS_AT_ONCE) for i in range(0, number, ROWS_AT_ONCE)]

        def one(part: slice) -> None:
            self._search_part(texts[part], lam, prune, hits.rows(part))

        threads = min(threads or os.cpu_count() or 1, len(parts))
        if threads <= 1:
            for part in parts:
                one(part)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(one, parts))
        return hits

    def total(self, text: str, *, lam: float) -> float:
        """The sum of the scores of all entities for a normalised text."""
        tokens, times = self.tokens(text)
        return float(np.dot(times, self.sums[0, tokens] + lam * self.sums[1, tokens]))

    def tokens(self, text: str) -> tuple[npt.NDArray[np.int64], Floats]:
        """The known tokens of a normalised text, in order, and how often each occurs."""
        symbols, start, end = self.vocabulary.symbols([text])
        shape = self.vocabulary.shape
        found = np.empty(trie.token_room(end[0] - start[0], *shape), np.int64)
        number = trie.find_tokens(
            self.blocks.child, self.blocks.symbol, symbols, start[0], end[0], *shape, found
        )
        tokens, times = np.unique(found[:number], return_counts=True)
        return tokens, times.astype(np.float64)

    def place(self, entity: str) -> int | None:
        """Where an entity stands among the entities, if it does."""
        return place_of(entity, self.entities)

    def number(self, place: int) -> int:
        """The inner number of the entity at a place."""
        return int(self._numbers[place])

    @cached_property
    def _numbers(self) -> npt.NDArray[np.uint32]:
        """The inner numbers by place: made when first asked for, in a pass over all entities."""
        numbers = np.empty(len(self.blocks.rank), np.uint32)
        numbers[self.blocks.rank] = np.arange(len(numbers), dtype=np.uint32)
        return numbers

    def reachable(self, place: int, *, lam: float) -> bool:
        """Whether the threshold has left anything that gives the entity at a place a score."""
        if self.threshold == 0.0:
            return True
        number, least = self.number(place), self.threshold * (1 - 1e-9)
        parts = (self._shares(token, number, n) for token, n in self._counts_of(number).items())
        return any(
            prior >= least or (lam > 0 and posterior >= least)
            for prior, posterior in (part.sum(axis=1) for part in parts)
        )

    def ids(self, places: npt.NDArray[np.uint32]) -> list[str]:
        """The entities at these places."""
        return self.entities.take(places)

    def all_ids(self) -> pa.LargeStringArray:
        """The entities by their inner numbers."""
        return self.entities.to_arrow().take(pa.array(self.blocks.rank))

    def matches(self, text: str, number: int) -> list[Match]:
        """Each token of a normalised text, once, and what it says of an entity."""
        n = self._counts_of(number)
        spelled = self.vocabulary.spell(text)
        times = Counter(shown if token is None else token for shown, token in spelled)
        least = self.threshold * (1 - 1e-9)
        found = []
        for shown, token in {token or shown: (shown, token) for shown, token in spelled}.values():
            c = times[shown if token is None else token]
            shares = np.zeros((2, len(self.blocks.token_total)))
            if token is not None and token in n:
                shares = self._shares(token, number, n[token])
            layers = np.where(shares.sum(axis=1, keepdims=True) >= least, c * shares, 0.0)
            prior, posterior = layers.sum(axis=1).tolist()
            found.append(Match(shown, token, c, prior, posterior, layers))
        return found

    def background(self, text: str, number: int, *, lam: float) -> float:
        """What smoothing adds to the score of an entity that shares a token with a text."""
        if len(self.blocks.background) == 0:
            return 0.0
        tokens, times = self.tokens(text)
        of_tokens = float(np.dot(times, self.blocks.token_background[tokens]))
        return of_tokens + lam * float(times.sum()) * float(self.blocks.background[number])

    def _shares(self, token: int, number: int, n: Floats) -> Floats:
        """P(e|t) and P(t|e), a row each, as each layer makes them."""
        totals = self.blocks.token_total[:, token], self.blocks.entity_total[:, number]
        shares: Floats = n / np.stack(totals)
        return shares

    def _counts_of(self, number: int) -> dict[int, Floats]:
        """The tokens of an entity and its n(t, e) in each layer."""
        block, inside = number >> BLOCK_BITS, number & (BLOCK - 1)
        start, end = self.blocks.block_start[block : block + 2].tolist()
        mine = start + np.flatnonzero(self.blocks.key[start:end] & (BLOCK - 1) == inside)
        tokens = (self.blocks.key[mine] >> BLOCK_BITS).tolist()
        layers = range(len(self.blocks.token_total))
        return {
            token: np.array([kernels.posting(self.blocks, layer, at) for layer in layers])
            for token, at in zip(tokens, mine.tolist(), strict=True)
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything but the threshold and the tokenizer, to be stored."""
        strings = self.vocabulary.strings
        return {
            **add_prefix("blocks", self.blocks._asdict()),
            **add_prefix("entities", self.entities.arrays()),
            **({} if strings is None else add_prefix("symbols", StringTable.pack(strings))),
            "sums": self.sums,
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], *, tokenizer: Tokenizer, threshold: float
    ) -> "TokenIndex":
        """The index that ``arrays`` describe."""
        blocks = kernels.Blocks(**strip_prefix("blocks", arrays))
        blocks = blocks._replace(  # one layer was once written without saying so
            token_total=np.atleast_2d(blocks.token_total),
            entity_total=np.atleast_2d(blocks.entity_total),
        )
        strings = StringTable(**strip_prefix("symbols", arrays)) if tokenizer.cutter else None
        vocabulary = Vocabulary(tokenizer, blocks.child, blocks.symbol, strings)
        entities = StringTable(**strip_prefix("entities", arrays))
        return cls(vocabulary, blocks, entities, arrays["sums"], threshold)

    def _search_part(self, texts: Sequence[str], lam: float, prune: bool, hits: Hits) -> None:  # noqa: FBT001
        symbols, start, end = self.vocabulary.symbols(texts)
        kernels.search_rows(
            self.blocks,
            symbols,
            start,
            end,
            *self.vocabulary.shape,
            float(lam),
            self.threshold * (1 - 1e-9),
            prune,
            *self._scratch(),
            *hits,
        )

    def _scratch(self) -> tuple[npt.NDArray[np.uint32], ...]:
        """Room for bounds, one for each thread, kept because fresh memory is slow."""
        if not hasattr(self._local, "arrays"):
            blocks = len(self.blocks.block_start) - 1
            groups = blocks >> GROUP_BITS
            self._local.arrays = tuple(np.empty(n, np.uint32) for n in (blocks, groups, groups))
        return self._local.arrays  # type: ignore[no-any-return]


def known_tokens(token_total: Floats) -> int:
    """How many tokens have a total, in whatever layer; nodes that are no tokens have none."""
    return int(np.count_nonzero(((token_total > 0) & (token_total < np.inf)).any(axis=0)))


def place_of(entity: str, entities: StringTable) -> int | None:
    """Where an entity stands among entities in the order that breaks ties, if it does."""
    at = bisect_left(entities, _tie_key(entity), key=_tie_key)
    return at if at < len(entities) and entities[at] == entity else None


def _tie_key(entity: str) -> tuple[int, str]:
    return len(entity), entity


def ranked(entities: pa.LargeStringArray) -> tuple[StringTable, npt.NDArray[np.uint32]]:
    """Entity ids in the order that breaks ties, and the place of each in it."""
    keys = pa.table({"length": pc.utf8_length(entities), "id": entities})
    order = pc.sort_indices(keys, [("length", "ascending"), ("id", "ascending")])
    rank = np.empty(len(entities), np.uint32)
    rank[order.to_numpy()] = np.arange(len(entities), dtype=np.uint32)
    return StringTable.from_arrow(entities.take(order)), rank


def _frozen(blocks: kernels.Blocks) -> kernels.Blocks:
    """The same arrays, read-only like those of a stored index, so that kernels compile once."""
    for array in blocks:
        array.setflags(write=False)
    return blocks
