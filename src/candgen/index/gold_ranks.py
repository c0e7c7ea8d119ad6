"""The ranks of gold entities under many weights at once.

Choosing weights takes many evaluations, and each needs no more than the place of one entity. So no
index is built, and only the tokens of the queries are counted. One pass over the counts scores each
entity for the queries whose gold it may stand before, with all weights: what that takes is small
enough for the fastest memory.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.index.entity_names import Alphabet, EntityNames, NameRows, join_lines
from candgen.index.tie_order import tie_order
from candgen.index.vocabulary import Vocabulary
from candgen.kernels import gold_ranks as kernels
from candgen.kernels.entity_pass import Floats, Integers, Lists, Scores, Wanted, WeightArrays
from candgen.kernels.trie import token_room
from candgen.protocols import Progress, no_progress
from candgen.text.tokenizers import Symbols, Tokenizer

ROUNDS = 4
"""How often a pass leaves out queries whose golds have fallen too far behind."""
MAX_SAMPLE = 20_000
"""Postings are counted on that many entities, if there are more."""


class Weights(NamedTuple):
    """One choice: the weight of each language, and lam."""

    alpha: Mapping[str, float]
    lam: float


class Part(NamedTuple):
    """Entries ``first[e]`` to ``first[e + 1] - 1`` are n_l(t, e) of entity ``begin + e``.

    Entries of the same token stand side by side, in the order of the languages.
    """

    begin: int
    first: Integers
    token: npt.NDArray[np.uint32]
    language: npt.NDArray[Any]
    n: npt.NDArray[Any]

    @property
    def stop(self) -> int:
        """The number after the last entity's."""
        return self.begin + len(self.first) - 1

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What kernels take."""
        return self[1:]


@dataclass(frozen=True)
class Postings:
    """n_l(t, e) of all entities with the tokens of a vocabulary, in some parts.

    For each language and token, ``total`` is N_l(t) and ``most`` the largest n_l(t, e);
    ``entities`` is how many entities have a token.
    """

    parts: Sequence[Part]
    total: Integers
    most: Integers
    entities: Integers

    @classmethod
    def of(
        cls, rows: NameRows, vocabulary: Vocabulary, languages: int, width: type, threads: int
    ) -> "Postings":
        """Count the tokens of names; ``width`` is the type of counts."""
        shape = vocabulary.shape
        room = token_room(int((rows.end - rows.start).max()), *shape)
        size = len(rows.first) - 1
        # A round has ``threads`` parts, and ends at the same entity however many they are.
        parts = ROUNDS * threads
        cuts = np.searchsorted(rows.first, np.arange(parts + 1) * int(rows.first[-1]) // parts)
        cuts[0], cuts[-1] = 0, size
        most_tokens = np.cumsum(_most_tokens(rows, shape))

        def fill(begin: int, stop: int) -> tuple[Part, Integers, Integers, Integers]:
            low, high = rows.first[begin], rows.first[stop]
            before = most_tokens[low - 1] if low else 0
            entries = int(most_tokens[high - 1] - before) if high > low else 0
            first = np.zeros(stop - begin + 1, np.int64)
            # Memory that is never written is never taken.
            token = np.empty(entries, np.uint32)
            language = np.empty(entries, np.uint8 if languages <= 256 else np.uint16)
            n: npt.NDArray[Any] = np.empty(entries, width)
            total, most = (np.zeros((languages, len(vocabulary)), np.int64) for _ in range(2))
            entities = np.zeros(len(vocabulary), np.int64)
            trie = vocabulary.child, vocabulary.symbol
            filled = kernels.fill_postings(
                rows,
                begin,
                stop,
                trie,
                shape,
                room,
                first,
                token,
                language,
                n,
                total,
                most,
                entities,
            )
            part = Part(begin, first, token[:filled], language[:filled], n[:filled])
            return part, total, most, entities

        with ThreadPoolExecutor(threads) as pool:
            made = list(pool.map(fill, cuts[:-1].tolist(), cuts[1:].tolist()))
        made_parts, totals, mosts, entities = zip(*made, strict=True)
        return cls(
            made_parts, np.sum(totals, axis=0), np.max(mosts, axis=0), np.sum(entities, axis=0)
        )


def _most_tokens(rows: NameRows, shape: tuple[int, int, int]) -> Integers:
    """Return how many tokens each row has at most."""
    most: Integers = (rows.end - rows.start) * token_room(1, *shape)
    return most


@dataclass(frozen=True)
class GoldRanks:
    """Queries with their golds, and the counts of all entities, ready to rank the golds.

    ``queries`` has the tokens of each query. ``entity_total`` is N_l(e), a row for each language.
    """

    names: EntityNames
    vocabulary: Vocabulary
    queries: Lists
    gold: Integers
    tie: npt.NDArray[np.uint32]
    postings: Postings
    entity_total: Integers
    normalizer: str
    threads: int

    @classmethod
    def of(
        cls,
        names: EntityNames,
        texts: Sequence[str],
        golds: Sequence[str],
        *,
        tokenizer: Tokenizer,
        normalizer: str,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> "GoldRanks":
        """Prepare the ranking of these golds for normalized texts."""
        lines = join_lines(texts)
        alphabet = Alphabet.of(lines, tokenizer)
        symbols = alphabet.encode(lines)
        vocabulary = alphabet.vocabulary(symbols)
        rows = names.encode(alphabet, normalizer, progress=progress)
        found = pc.index_in(pa.array(golds, pa.large_string()), value_set=names.entities)
        gold = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        threads = threads or os.cpu_count() or 1
        totals = names.totals(rows, tokenizer)
        return cls(
            names,
            vocabulary,
            _tokens_of(symbols, vocabulary),
            gold,
            tie_order(names.entities)[1],
            Postings.of(rows, vocabulary, len(totals), narrowest(totals), threads),
            totals,
            normalizer,
            threads,
        )

    def ranks(self, choices: Sequence[Weights], k: int) -> list[Integers]:
        """Return, for each choice, the rank of each gold; 0 beyond k.

        They are what searching an index built with those weights, and no threshold, would give.
        """
        table = WeightTable.of(choices, list(self.names.tables))
        entities = EntityPass.of(self, table, 1.0)
        scores = entities.scores
        better = np.zeros((len(self.postings.parts), *scores.shape), np.int64)
        gold_tie = self.tie[np.maximum(self.gold, 0)]

        def count(number: int, part: Part) -> None:
            tie = self.tie[part.begin : part.stop]
            kernels.count_better(*entities.arguments(part), tie, gold_tie, scores, better[number])

        entities.run(count, lambda: (better.sum(axis=0) < k) & (scores > 0))
        before = better.sum(axis=0)
        return table.unpack(np.where((scores > 0) & (before < k), before + 1, 0))

    def count_postings(self, alpha: Mapping[str, float]) -> tuple[int, dict[str, int]]:
        """Return how many postings an index of the languages with a weight has.

        Beside it, how many of them would go with each language. Where there are many entities, both
        are estimated from some of them.
        """
        languages = list(self.names.tables)
        kept = np.array([alpha.get(name, 1.0) > 0 for name in languages])
        alone = np.zeros(len(kept), np.int64)
        entities, postings = self._sample
        total = sum(kernels.count_postings(part.arrays, kept, alone) for part in postings.parts)
        scale = len(self.names.entities) / entities
        each = (round(scale * many) for many in alone.tolist())
        return round(scale * total), dict(zip(languages, each, strict=True))

    @cached_property
    def _sample(self) -> tuple[int, Postings]:
        """How many entities are in the sample, and their counts with all tokens."""
        names = self.names.sample(MAX_SAMPLE)
        lines = names.lines(self.normalizer)
        alphabet = Alphabet.of(lines, self.vocabulary.tokenizer)
        symbols = alphabet.encode(lines)
        rows = NameRows(names.first, names.language, names.count, *symbols[1:], symbols.text)
        width = narrowest(self.entity_total)
        vocabulary = alphabet.vocabulary(symbols)
        languages = len(names.tables)
        return len(names.entities), Postings.of(rows, vocabulary, languages, width, self.threads)


def narrowest(totals: Integers) -> type[np.int32] | type[np.int64]:
    """Return the type that all counts fit, none of which exceeds its entity's total."""
    return np.int32 if totals.max(initial=0) < 2**31 else np.int64


@dataclass(frozen=True)
class EntityPass:
    """A pass over all entities, which scores each for the queries whose least score it may reach.

    ``scores`` are those of the golds, and ``least`` a fraction of them.
    """

    golds: GoldRanks
    weights: WeightArrays
    wanted: Wanted
    scores: Scores

    @classmethod
    def of(cls, golds: GoldRanks, table: "WeightTable", fraction: float) -> "EntityPass":
        """Prepare a pass in which an entity needs that fraction of the gold's score."""
        weights = table.arrays(golds.postings)
        scores = np.zeros((len(golds.gold), *table.lams.shape), np.float32)
        totals = table.alphas @ golds.entity_total[:, np.maximum(golds.gold, 0)]
        for part in golds.postings.parts:
            kernels.score_golds(
                part.arrays,
                part.begin,
                part.stop,
                golds.queries,
                golds.gold,
                weights,
                totals,
                scores,
            )
        wanted = _want(golds.queries, golds.postings, weights, np.float32(fraction) * scores)
        return cls(golds, weights, wanted, scores)

    def arguments(self, part: Part) -> tuple[Any, ...]:
        """Return what kernels take first, for the entities of a part."""
        totals = self.weights.alphas @ self.golds.entity_total[:, part.begin : part.stop]
        return part.arrays, totals, self.wanted, self.weights

    def run(
        self, work: Callable[[int, Part], None], is_open: Callable[[], npt.NDArray[np.bool_]]
    ) -> None:
        """Call ``work(number, part)`` for all parts, in some rounds.

        After each, a query stays active if ``is_open()``, by query and weights, says so of any.
        """
        parts = list(enumerate(self.golds.postings.parts))
        with ThreadPoolExecutor(self.golds.threads) as pool:
            for begin in range(0, len(parts), self.golds.threads):
                some = parts[begin : begin + self.golds.threads]
                list(pool.map(lambda each: work(*each), some))
                self.wanted.active[:] = is_open().any(axis=(1, 2))


def _want(queries: Lists, postings: Postings, weights: WeightArrays, least: Scores) -> Wanted:
    """Find the tokens of which an entity needs one to reach the least score of a query."""
    first, token, times = queries
    # The largest prior of a token is at most the sum of the languages' largest.
    counts, totals = weights.alphas @ postings.most, weights.token_total
    most = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    needed = np.zeros(len(token), np.bool_)
    spare = np.zeros((len(least), len(weights.alphas)), np.float64)
    spare_times = np.zeros(len(least), np.float64)
    kernels.mark_needed(
        queries, most, postings.entities, weights.lams, least, needed, spare, spare_times
    )
    query = np.repeat(np.arange(len(first) - 1), np.diff(first))[needed]
    order = np.argsort(token[needed], kind="stable")
    sizes = np.bincount(token[needed], minlength=len(postings.entities))
    inverse = np.concatenate(([0], np.cumsum(sizes))), query[order], times[needed][order]
    active = np.asarray(least.any(axis=(1, 2)))
    return Wanted(queries, inverse, active, spare, spare_times, least)


@dataclass(frozen=True)
class WeightTable:
    """Choices as arrays: rows of alphas, and the lams of each, the last one repeated."""

    alphas: Floats
    lams: Floats
    places: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, choices: Sequence[Weights], languages: Sequence[str]) -> "WeightTable":
        """Group choices by alphas."""
        vectors = [tuple(choice.alpha[name] for name in languages) for choice in choices]
        lams_of: dict[Any, list[float]] = {}
        for alpha, choice in zip(vectors, choices, strict=True):
            lams_of[alpha] = sorted({*lams_of.get(alpha, ()), choice.lam})
        alphas = list(lams_of)
        widest = max(map(len, lams_of.values()))
        lams = np.array([(some + some[-1:] * widest)[:widest] for some in lams_of.values()])
        places = [
            (alphas.index(alpha), lams_of[alpha].index(choice.lam))
            for alpha, choice in zip(vectors, choices, strict=True)
        ]
        return cls(np.array(alphas), lams, places)

    def arrays(self, postings: Postings) -> WeightArrays:
        """Return what kernels take."""
        return WeightArrays(self.alphas, self.lams, self.alphas @ postings.total)

    def unpack(self, ranks: Integers) -> list[Integers]:
        """Return the ranks of each choice, from those by query, row of alphas and lam."""
        return [np.ascontiguousarray(ranks[:, g, m]) for g, m in self.places]


def _tokens_of(symbols: Symbols, vocabulary: Vocabulary) -> Lists:
    """Return the tokens of each query, sorted."""
    lengths = (symbols.end - symbols.start).tolist()
    room = sum(token_room(length, *vocabulary.shape) for length in lengths)
    first = np.zeros(len(lengths) + 1, np.int64)
    token, times = np.empty(room, np.int64), np.empty(room, np.float64)
    trie = vocabulary.child, vocabulary.symbol
    kernels.list_tokens(trie, vocabulary.shape, *symbols, first, token, times)
    return first, token[: first[-1]].copy(), times[: first[-1]].copy()
