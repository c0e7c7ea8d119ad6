"""Counting tokens x entities: the integers n_l(t, e) of each language l."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import TableError
from candgen.index.vocabulary import Vocabulary, VocabularyBuilder, longer
from candgen.kernels import counting as kernels
from candgen.protocols import Progress, no_progress
from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import normalize_joined
from candgen.text.tokenizers import Symbols, Tokenizer, number_symbols, split_codepoints

log = logging.getLogger("candgen")

Integers = npt.NDArray[np.int64]
EntityNumbers = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
In = TypeVar("In")
Out = TypeVar("Out")

ROWS_AT_ONCE = 250_000
SYMBOLS_AT_ONCE = 64_000

MAX_TOTAL = 4 * 10**18
"""The largest number of tokens in a table: the sum over its rows of count times tokens.

Every n_l(t, e), N_l(t) and N_l(e) is part of that sum, so that 64 bits (about 9.2 * 10**18) hold
them all, and float64 holds all that pooling and scoring make of them: weights are from 1e-30 to
1e30, so that the weighted totals of 1,000 languages are from 1e-30 to 1e52, and quotients of two of
them from 1e-82 to 1. A table whose counts add up to MAX_COUNT reaches it if its mentions have 4,000
tokens on average, with the default tokenizer 1,000 characters.
"""


class NoTokenError(TableError):
    """No mention of the tables has a token."""


@dataclass
class CountedTokens:
    """The postings of all languages, one language after the other: tokens and counts n_l(t, e).

    Most counts are small, so they stand in a byte, ``low``. Where that is 0 the count is large: the
    places of large ones are ``at``, and they themselves ``high``.
    """

    tokens: npt.NDArray[np.uint32]
    low: npt.NDArray[np.uint8]
    at: Integers
    high: Integers

    def counts(self) -> npt.NDArray[np.int32] | Integers:
        """Return all counts in the narrowest type of four or eight bytes."""
        is_narrow = self.high.max(initial=0) <= np.iinfo(np.int32).max
        counts: npt.NDArray[Any] = self.low.astype(np.int32 if is_narrow else np.int64)
        counts[self.at] = self.high
        return counts

    def clear(self) -> None:
        """Free the memory; nothing can be read afterwards."""
        self.tokens, self.low = self.tokens[:0].copy(), self.low[:0].copy()


@dataclass(frozen=True)
class LanguageCounts:
    """Where entity e has its postings, ``indptr[e]`` to ``indptr[e + 1] - 1``, and the totals.

    The tokens of an entity are in no order.
    """

    indptr: Integers
    token_total: Integers
    entity_total: Integers


@dataclass
class Counts:
    """The counts of several languages over the same tokens and entities.

    Entities stand in the order of their names (each one's most frequent mention), so that
    neighbours look alike; ``entities`` are their ids in that order. ``entity_of_row`` has, for each
    row of a table, the number of its entity, or -1 if no mention of it has a token.
    """

    vocabulary: Vocabulary
    entities: pa.LargeStringArray
    counted: CountedTokens
    languages: Mapping[str, LanguageCounts]
    entity_of_row: Mapping[str, EntityNumbers]

    def clear(self) -> None:
        """Free all memory but that of the vocabulary."""
        self.entities = pa.array([], pa.large_string())
        self.counted.clear()
        self.languages, self.entity_of_row = {}, {}


@dataclass(frozen=True)
class _Rows:
    """The rows of one table: a mention's symbols, the number of its entity, its count."""

    symbols: Symbols
    entity: EntityNumbers
    count: Integers

    def __getitem__(self, chosen: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> "_Rows":
        text, start, end = self.symbols
        return _Rows(
            Symbols(text, start[chosen], end[chosen]), self.entity[chosen], self.count[chosen]
        )


def count(
    tables: Mapping[str, MentionTable],
    *,
    tokenizer: Tokenizer,
    normalizer: str,
    progress: Progress = no_progress,
    warn: bool = True,
    threads: int = 1,
) -> Counts:
    """Count the tokens of every entity in every language.

    Mentions without a token (those that are empty after normalizing) are left out; ``warn`` logs
    how many. More than two ``threads`` are of no use.
    """
    texts = {
        language: _normalized(table, normalizer, language, progress)
        for language, table in tables.items()
    }
    strings = _symbol_strings(texts, tokenizer)
    ids, numbers = _number_entities(tables)
    release_unused()
    rows = {}
    for language, table in tables.items():
        symbols = _symbols(texts.pop(language), tokenizer, strings)
        counts = table.arrow["count"].to_numpy()
        rows[language] = _with_tokens(
            _Rows(symbols, numbers[language], counts), tokenizer, language, warn=warn
        )
    order = _order_by_name(list(rows.values()), len(ids))
    if len(order) == 0:
        raise NoTokenError("no mention has a token: there is nothing to build an index from")
    place = np.full(len(ids), -1, np.int32)
    place[order] = np.arange(len(order))
    counter = _Counter(tokenizer, len(order), threads)
    entity_totals = {
        language: _entity_totals(part, place, len(order), counter, language)
        for language, part in rows.items()
    }
    counter.reserve(sum(int(counter.tokens_of(part).sum()) for part in rows.values()))
    indptrs = {}
    for language in tables:
        show = partial(progress, f"counting {language}")
        indptrs[language] = counter.add(rows.pop(language), place, show)
    vocabulary, counted, token_totals = counter.finish(strings, indptrs.values())
    languages = {
        language: LanguageCounts(indptr, token_total, entity_totals[language])
        for (language, indptr), token_total in zip(indptrs.items(), token_totals, strict=True)
    }
    entity_of_row = {language: place[number] for language, number in numbers.items()}
    return Counts(vocabulary, ids.take(pa.array(order)), counted, languages, entity_of_row)


def release_unused() -> None:
    """Give back memory that nothing uses, but that Arrow and the C library keep."""
    for pool in (pa.default_memory_pool(), pa.system_memory_pool()):
        pool.release_unused()


def _normalized(
    table: MentionTable, normalizer: str, language: str, progress: Progress
) -> list[str]:
    """Return the mentions of a table, normalized, one a line, in a few large pieces."""
    pieces = []
    mentions = table.arrow["mention"].combine_chunks()
    for first in range(0, len(mentions), ROWS_AT_ONCE):
        progress(f"reading {language}", first / len(mentions))
        some = mentions.slice(first, ROWS_AT_ONCE)
        line = pa.ListArray.from_arrays([0, len(some)], some)
        joined = pc.binary_join(line, pa.scalar("\n", pa.large_string()))[0].as_py()
        pieces.append(normalize_joined(joined, normalizer, language=language))
    return pieces


def _symbol_strings(texts: Mapping[str, list[str]], tokenizer: Tokenizer) -> list[str] | None:
    """Return all strings that are symbols, sorted; None where symbols are code points."""
    if (cut := tokenizer.cutter) is None:
        return None
    lines = (line for pieces in texts.values() for piece in pieces for line in piece.split("\n"))
    return sorted({symbol for line in lines for symbol in cut(line)})


def _symbols(pieces: list[str], tokenizer: Tokenizer, strings: list[str] | None) -> Symbols:
    """Return the rows of all pieces, one after the other."""
    if (cut := tokenizer.cutter) is None:
        return split_codepoints("\n".join(pieces), bounded=tokenizer.bounded)
    lines = (cut(line) for piece in pieces for line in piece.split("\n"))
    numbers = {string: number for number, string in enumerate(strings or ())}
    return number_symbols(lines, numbers, bounded=tokenizer.bounded)


def _number_entities(
    tables: Mapping[str, MentionTable],
) -> tuple[pa.LargeStringArray, dict[str, EntityNumbers]]:
    """Return all entity ids, and for each table the number of each row's entity among them."""
    columns = [table.arrow["entity"] for table in tables.values()]
    chunks = [chunk for column in columns for chunk in column.chunks]
    encoded = pa.chunked_array(chunks, pa.large_string()).dictionary_encode().combine_chunks()
    numbers = encoded.indices.to_numpy()
    ends = np.cumsum([len(column) for column in columns])
    return encoded.dictionary, dict(zip(tables, np.split(numbers, ends[:-1]), strict=True))


def _with_tokens(rows: _Rows, tokenizer: Tokenizer, language: str, *, warn: bool) -> _Rows:
    """Return the rows that have a token. A text with nothing between the two marks is dropped."""
    _, start, end = rows.symbols
    least = max(tokenizer.low, 3) if tokenizer.bounded else tokenizer.low
    present = end - start >= least
    if missing := int(np.count_nonzero(~present)):
        if warn:
            log.warning(
                "%s: left out %d without a token, of %d mentions", language, missing, len(start)
            )
        return rows[present]
    return rows


def _order_by_name(parts: list[_Rows], size: int) -> Integers:
    """Return the entities that have a row, in the order of their most frequent mention's beginning.

    An inner order only: names that begin alike share blocks, which makes bounds tight. The last
    byte of each of eight symbols is enough for that.
    """
    most = np.zeros(size, np.int64)
    name = np.zeros(size, np.uint64)
    for part in parts:
        kernels.name_entities(*part.symbols, part.entity, part.count, most, name)
    named = np.flatnonzero(most)
    return named[np.argsort(name[named], kind="stable")]


def _side_by_side(symbols: Symbols) -> Symbols:
    """Return the same rows with their texts one after the other."""
    length = symbols.end - symbols.start
    ends = np.cumsum(length)
    text = np.empty(ends[-1], np.uint32)
    kernels.gather_rows(*symbols, text)
    return Symbols(text, ends - length, ends)


def _entity_totals(
    rows: _Rows, place: EntityNumbers, entities: int, counter: "_Counter", language: str
) -> Integers:
    """Return N_l(e); raise TableError if 64 bits may not hold all totals of the language."""
    of_row = counter.tokens_of(rows)
    total = float(np.dot(of_row.astype(np.float64), rows.count.astype(np.float64)))
    if total > MAX_TOTAL:
        raise TableError(
            f"the counts of {language!r}, each times the tokens of its mention, add up to "
            f"{total:.3g}, expected at most {MAX_TOTAL:.3g}: scale the counts down"
        )
    entity_total = np.zeros(entities, np.int64)
    np.add.at(entity_total, place[rows.entity], of_row * rows.count)
    return entity_total


class _Counter:
    """Counts the rows of one language after the other."""

    def __init__(self, tokenizer: Tokenizer, entities: int, threads: int) -> None:
        self._builder = VocabularyBuilder(tokenizer)
        self._entities = entities
        self._threads = threads
        self._place = np.zeros(0, np.int64)
        self._scratch = np.empty((3, 0), np.int64)
        self._filled = 0
        self._large: list[tuple[Integers, Integers]] = []
        self.reserve(0)

    def reserve(self, tokens: int) -> None:
        """Make room for so many tokens; memory that is never written is never taken."""
        self._tokens = np.empty(tokens, np.uint32)
        self._low = np.empty(tokens, np.uint8)

    def tokens_of(self, rows: _Rows) -> Integers:
        """Return how many tokens each row has."""
        length = rows.symbols.end - rows.symbols.start
        number = np.zeros(len(length), np.int64)
        for n in self._builder.lengths:
            number += np.maximum(length - n + 1, 0)
        return number

    def add(self, rows: _Rows, place: EntityNumbers, progress: Callable[[float], None]) -> Integers:
        """Count rows; return where the postings of each entity begin.

        ``place`` has the final number of each entity.
        """
        indptr = np.zeros(self._entities + 1, np.int64)
        indptr[0] = self._filled
        done = 0
        chunks = _chunks(rows, place)
        for part, nodes, known in _ahead(
            partial(self._nodes, rows, place), chunks, threads=self._threads
        ):
            progress(done / len(rows.entity))
            if known > len(self._place):
                self._place = longer(self._place, 2 * known, fill=-1)
            if nodes.size > self._scratch.shape[1]:
                self._scratch = np.empty((3, 2 * nodes.size), np.int64)
            sums, at, high = self._scratch
            self._filled, larges = kernels.count_rows(
                part.symbols.start,
                part.symbols.end,
                part.count,
                part.entity,
                self._builder.lengths,
                nodes,
                self._place,
                sums,
                indptr,
                self._tokens,
                self._low,
                self._filled,
                at,
                high,
            )
            self._large.append((at[:larges].copy(), high[:larges].copy()))
            done += len(part.entity)
        np.maximum.accumulate(indptr, out=indptr)
        return indptr

    def _nodes(
        self, rows: _Rows, place: EntityNumbers, chunk: Integers
    ) -> tuple[_Rows, npt.NDArray[np.uint32], int]:
        """Return the rows of a chunk, the nodes of their tokens, and how many are known so far."""
        part = rows[chunk]
        part = _Rows(_side_by_side(part.symbols), place[part.entity], part.count)
        return part, self._builder.add(part.symbols), len(self._builder)

    def finish(
        self, strings: list[str] | None, indptrs: Iterable[Integers]
    ) -> tuple[Vocabulary, CountedTokens, list[Integers]]:
        """Return the vocabulary, the counts with its numbers, and N_l(t) of each language."""
        vocabulary, number = self._builder.finish(strings)
        at, high = (np.concatenate(arrays) for arrays in zip(*self._large, strict=True))
        counted = CountedTokens(self._tokens[: self._filled], self._low[: self._filled], at, high)
        totals = []
        for indptr in indptrs:
            mine = slice(indptr[0], indptr[-1])
            large = slice(*np.searchsorted(at, indptr[[0, -1]]).tolist())
            token_total = np.zeros(len(number), np.int64)
            kernels.renumber(
                counted.tokens[mine], counted.low[mine], high[large], number, token_total
            )
            totals.append(token_total)
        return vocabulary, counted, totals


def _chunks(rows: _Rows, place: EntityNumbers) -> list[Integers]:
    """Return which rows to take at a time, in the order of their entities' final numbers.

    They have about SYMBOLS_AT_ONCE symbols, and all rows of an entity are in the same chunk.
    """
    entity = place[rows.entity]
    order = np.argsort(entity, kind="stable")
    after = np.flatnonzero(np.diff(entity[order], append=-1)) + 1  # where each entity ends
    ends = np.cumsum((rows.symbols.end - rows.symbols.start)[order])[after - 1]
    if len(ends) == 0:
        return []
    number = int(ends[-1]) // SYMBOLS_AT_ONCE + 1
    last = np.searchsorted(ends, np.linspace(0, ends[-1], number + 1)[1:])
    return np.split(order, np.unique(after[last])[:-1])


def _ahead(work: Callable[[In], Out], items: Iterable[In], *, threads: int) -> Iterator[Out]:
    """Yield the results of work, in order; a second thread makes the next while one is used."""
    if threads == 1:
        yield from map(work, items)
        return
    made: deque[Future[Out]] = deque()
    with ThreadPoolExecutor(1) as pool:
        for item in items:
            made.append(pool.submit(work, item))
            if len(made) > 1:
                yield made.popleft().result()
        while made:
            yield made.popleft().result()
