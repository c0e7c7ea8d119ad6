"""TokenIndex: one count matrix, its two normalizations, and exact search over them.

    A(e) = sum over tokens t of m, with their multiplicity c_t,  c_t * n(t,e) / N(t)
    B(e) = sum over tokens t of m                               c_t * n(t,e) / N(e)
    score(e | m) = A(e) + lam * B(e)

It knows nothing of languages and weights: these were pooled into one matrix.
"""

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from candgen.index.cancellation import current_cancellation
from candgen.index.counts import Counts
from candgen.index.layout import Background, block_bits, bound_background, lay_out
from candgen.index.layout_validation import validate_blocks
from candgen.index.pooling import PooledCounts, smallest_kept
from candgen.index.tie_order import tie_order, tie_order_of
from candgen.index.vocabulary import Vocabulary
from candgen.kernels import search as kernels
from candgen.kernels import trie
from candgen.kernels.blocks import KEY_BITS, KEY_MASK
from candgen.kernels.score_breakdown import counts_of_entities
from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_finite, check_range
from candgen.tables.string_table import StringTable
from candgen.text.tokenizers import Tokenizer

Floats = npt.NDArray[np.float64]

ROWS_AT_ONCE = 64
"""Mentions that one thread takes at a time."""

STORED_AS = {"tie_order": "rank"}
"""Names of arrays in the files, where they differ from those of ``Blocks``."""


class Hits(NamedTuple):
    """The results of a search: row i has ``found[i]`` candidates, best first.

    ``tie_order`` has their places among the entities of the index.
    """

    score: npt.NDArray[np.float32]
    tie_order: npt.NDArray[np.uint32]
    found: npt.NDArray[np.int64]
    work: npt.NDArray[np.int64]  # groups, blocks and postings looked at

    def flat(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
        """Return the places and the scores of all candidates, row after row."""
        if len(self.found) == 1:  # a mask would take longer than the rest of a short call
            (found,) = self.found.tolist()
            return self.tie_order[0, :found], self.score[0, :found]
        there = np.arange(self.score.shape[1]) < self.found[:, np.newaxis]
        return self.tie_order[there], self.score[there]


@dataclass(frozen=True)
class TokenIndex:
    """Search for entities by the tokens that they share with a mention.

    ``entities`` are in tie order (see `tie_order`); a candidate is a place in it. ``sums`` has, for
    each token, the sums of the kept priors and of the kept posteriors over all entities. Inside,
    entities have other numbers, by which those with similar names are neighbours.
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
        lam: float,
        threshold: float = 0.0,
        threads: int = 1,
        background: Background | None = None,
        in_place: bool = False,
    ) -> "TokenIndex":
        """Lay the pooled counts out for search, which is fastest with ``lam``.

        ``in_place`` saves memory: it clears the counts, which cannot be used afterwards.
        """
        ids, order = tie_order(counts.entities)
        if in_place:
            counts.clear()
        blocks, sums = lay_out(
            pooled, counts.vocabulary, order, lam=lam, threshold=threshold, threads=threads
        )
        if background is not None:
            blocks = bound_background(blocks, background)
        return cls(counts.vocabulary, _frozen(blocks), ids, sums, threshold)

    @property
    def known(self) -> int:
        """How many tokens have a total, in any layer; inner nodes of the trie have none."""
        total = self.blocks.token_total
        return int(np.count_nonzero(((total > 0) & (total < np.inf)).any(axis=0)))

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
        """Return the k best entities for each normalized text.

        Raises SearchCancelledError if the search runs in a block that is cancelled.
        """
        k = min(k, len(self.entities))
        number = len(texts)
        hits = Hits(
            np.zeros((number, k), np.float32),
            np.empty((number, k), np.uint32),
            np.zeros(number, np.int64),
            np.zeros((number, 3), np.int64),
        )
        cancellation = current_cancellation()
        shape, least = self.vocabulary.shape, smallest_kept(self.threshold)

        def search_rows(texts: Sequence[str], hits: Iterable[npt.NDArray[Any]]) -> None:
            kernels.search_rows(
                self.blocks,
                *self.vocabulary.symbols(texts),
                *shape,
                float(lam),
                least,
                prune,
                cancellation.flag,
                self._scratch(),
                *hits,
            )

        if number <= ROWS_AT_ONCE:  # how many cores there are takes as long as a short search
            search_rows(texts, hits)
        else:
            parts = [slice(i, i + ROWS_AT_ONCE) for i in range(0, number, ROWS_AT_ONCE)]
            with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
                rows = ([array[part] for array in hits] for part in parts)
                list(pool.map(search_rows, (texts[part] for part in parts), rows))
        cancellation.check()
        return hits

    def total(self, text: str, *, lam: float) -> float:
        """Return the sum of the scores of all entities for a normalized text."""
        tokens, times = self.tokens(text)
        return float(np.dot(times, self.sums[0, tokens] + lam * self.sums[1, tokens]))

    def tokens(self, text: str) -> tuple[npt.NDArray[np.int64], Floats]:
        """Return the known tokens of a normalized text, sorted, and how often each occurs."""
        symbols, start, end = self.vocabulary.symbols([text])
        shape = self.vocabulary.shape
        found = np.empty(trie.token_room(end[0] - start[0], *shape), np.int64)
        number = trie.find_tokens(
            self.blocks.child, self.blocks.symbol, symbols, start[0], end[0], *shape, found
        )
        tokens, times = np.unique(found[:number], return_counts=True)
        return tokens, times.astype(np.float64)

    def tie_order_of(self, entity: str) -> int | None:
        """Return the place of an entity among the entities; None if it is not there."""
        return tie_order_of(entity, self.entities)

    def number(self, place: int) -> int:
        """Return the inner number of the entity at a place."""
        return int(self._numbers[place])

    @cached_property
    def _numbers(self) -> npt.NDArray[np.uint32]:
        """The inner numbers by place; computed on first use, in a pass over all entities."""
        numbers = np.empty(len(self.blocks.tie_order), np.uint32)
        numbers[self.blocks.tie_order] = np.arange(len(numbers), dtype=np.uint32)
        return numbers

    def reachable(self, place: int, *, lam: float) -> bool:
        """Return whether the threshold kept anything that gives the entity at a place a score."""
        if self.threshold == 0.0:
            return True
        number = self.number(place)
        block = number >> block_bits(self.blocks)
        keys = self.blocks.key[slice(*self.blocks.block_start[block : block + 2].tolist())]
        tokens = keys[keys & KEY_MASK == number & KEY_MASK].astype(np.int64) >> KEY_BITS
        kept = self.contributions([number], tokens, np.ones(len(tokens)))
        prior, posterior = kept.sum(axis=(1, 2, 3)).tolist()
        return bool(prior > 0 or (lam > 0 and posterior > 0))

    def ids(self, places: npt.NDArray[np.uint32]) -> list[str]:
        """Return the entities at these places."""
        return self.entities.take(places)

    def all_ids(self) -> pa.LargeStringArray:
        """Return the entities by their inner numbers."""
        return self.entities.to_arrow().take(pa.array(self.blocks.tie_order))

    def contributions(
        self, numbers: Sequence[int], tokens: npt.NDArray[np.int64], times: Floats
    ) -> Floats:
        """Return what tokens bring to the scores of entities, given by their inner numbers.

        The result has the axes [c * P(e|t) or c * P(t|e), layer, entity, token], where c are the
        ``times`` of each token; it is 0 where the threshold dropped the probability.
        """
        inside = np.array(numbers, np.int64)
        n = np.zeros((len(self.blocks.token_total), len(inside), len(tokens)))
        counts_of_entities(self.blocks, inside, tokens, n)
        totals = (
            self.blocks.token_total[:, np.newaxis, tokens],
            self.blocks.entity_total[:, inside, np.newaxis],
        )
        shares = np.stack([n / total for total in totals])
        kept = shares.sum(axis=1, keepdims=True) >= smallest_kept(self.threshold)
        return np.where(kept, shares * times, 0.0)

    def background(self, text: str, number: int, *, lam: float) -> float:
        """Return what smoothing adds to the score of an entity that shares a token with a text."""
        if len(self.blocks.background) == 0:
            return 0.0
        tokens, times = self.tokens(text)
        of_tokens = float(np.dot(times, self.blocks.token_background[tokens]))
        return of_tokens + lam * float(times.sum()) * float(self.blocks.background[number])

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all arrays to store; the threshold and the tokenizer are stored elsewhere."""
        strings = self.vocabulary.strings
        blocks = {STORED_AS.get(name, name): a for name, a in self.blocks._asdict().items()}
        return {
            **add_prefix("blocks", blocks),
            **add_prefix("entities", self.entities.arrays()),
            **({} if strings is None else add_prefix("symbols", StringTable.pack(strings))),
            "sums": self.sums,
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], *, tokenizer: Tokenizer, threshold: float
    ) -> "TokenIndex":
        """Return the index that ``arrays`` describe."""
        stored = dict(strip_prefix("blocks", arrays))
        for name, old in STORED_AS.items():
            stored[name] = stored.pop(old)
        blocks = kernels.Blocks(**stored)
        strings = StringTable(**strip_prefix("symbols", arrays)) if tokenizer.cutter else None
        vocabulary = Vocabulary(tokenizer, blocks.child, blocks.symbol, strings)
        entities = StringTable(**strip_prefix("entities", arrays))
        return cls(vocabulary, blocks, entities, arrays["sums"], threshold)

    def validate(self, *, partial: bool = False) -> None:
        """Raise ValueError unless search stays inside the arrays, whatever it is asked.

        Only a ``partial`` index may have entities without tokens.
        """
        self.vocabulary.validate("blocks")
        self.entities.validate("entities")
        validate_blocks(self.blocks)
        check_range("blocks.rank", self.blocks.tie_order, 0, len(self.entities) - 1)
        if not partial and len(self.blocks.tie_order) != len(self.entities):
            raise ValueError("the array blocks.rank has another length than entities")
        taken = np.zeros(len(self.entities), np.bool_)
        taken[self.blocks.tie_order] = True
        if np.count_nonzero(taken) < len(self.blocks.tie_order):
            raise ValueError("the array blocks.rank has the same place twice")
        check_array("sums", self.sums, np.float32, 2, len(self.vocabulary))
        check_finite("sums", self.sums)

    def _scratch(self) -> kernels.Scratch:
        """Return working memory for a search, kept for each thread because fresh memory is slow."""
        if not hasattr(self._local, "scratch"):
            blocks = len(self.blocks.block_start) - 1
            self._local.scratch = kernels.Scratch(
                bound=np.empty(blocks, np.uint16),
                group_bound=np.empty(self.blocks.group.shape[1], np.uint16),
                span=np.empty(-(-blocks // kernels.SPAN), np.uint16),
                chosen=np.empty(self.blocks.group.shape[1], np.uint32),
                after=np.empty(blocks, np.uint32),
                bucket=np.empty(kernels.BUCKETS, np.uint32),
                brought=np.empty(256, np.uint32),
            )
        return self._local.scratch  # type: ignore[no-any-return]


def _frozen(blocks: kernels.Blocks) -> kernels.Blocks:
    """Make the arrays read-only, like those of a stored index, so that kernels compile once."""
    for array in blocks:
        array.setflags(write=False)
    return blocks
