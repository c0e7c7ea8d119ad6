"""Counting tokens x entities: the integers n_l(t, e) of each language l."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import TableError
from candgen.index.vocabulary import Vocabulary, VocabularyBuilder
from candgen.kernels import counting as kernels
from candgen.protocols import Progress, no_progress
from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import normalize_joined
from candgen.text.tokenizers import Symbols, Tokenizer, number_symbols, split_codepoints

log = logging.getLogger("candgen")

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ROWS_AT_ONCE = 250_000
SYMBOLS_AT_ONCE = 250_000

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


@dataclass(frozen=True)
class LanguageCounts:
    """n_l(t, e): entity e has ``tokens[indptr[e]:indptr[e + 1]]``, in no order, with ``counts``."""

    indptr: Integers
    tokens: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.int32] | Integers
    token_total: Integers
    entity_total: Integers


@dataclass(frozen=True)
class Counts:
    """The counts of several languages over the same tokens and entities.

    Entities stand in the order of their names (each one's most frequent mention), so that
    neighbours look alike; ``entities`` are their ids in that order. ``entity_of_row`` has, for each
    row of a table, the number of its entity, or -1 if no mention of it has a token.
    """

    vocabulary: Vocabulary
    entities: pa.LargeStringArray
    languages: Mapping[str, LanguageCounts]
    entity_of_row: Mapping[str, Integers]


@dataclass(frozen=True)
class _Rows:
    """The rows of one table: a mention's symbols, the number of its entity, its count."""

    symbols: Symbols
    entity: Integers
    count: Integers

    def __getitem__(self, chosen: npt.NDArray[np.int64] | npt.NDArray[np.bool_] | slice) -> "_Rows":
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
) -> Counts:
    """Count the tokens of every entity in every language.

    Mentions without a token (those that are empty after normalizing) are left out; ``warn`` logs
    how many.
    """
    texts = {
        language: _normalized(table, normalizer, language, progress)
        for language, table in tables.items()
    }
    strings = _symbol_strings(texts, tokenizer)
    ids, numbers = _number_entities(tables)
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
    place = np.full(len(ids), -1, np.int64)
    place[order] = np.arange(len(order))
    builder = VocabularyBuilder(tokenizer)
    entity_totals = {
        language: _entity_totals(part, place, len(order), builder, language)
        for language, part in rows.items()
    }
    counted = {}
    width = _width(entity_totals.values())
    for language in tables:
        mine = _by_entity(rows.pop(language), place)
        show = partial(progress, f"counting {language}")
        counted[language] = _count_rows(mine, entity_totals[language], builder, width, show)
    vocabulary, final = builder.finish(strings)
    totals = {language: _renumber(part, final) for language, part in counted.items()}
    entity_of_row = {language: place[number] for language, number in numbers.items()}
    return Counts(vocabulary, ids.take(pa.array(order)), totals, entity_of_row)


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
) -> tuple[pa.LargeStringArray, dict[str, Integers]]:
    """Return all entity ids, and for each table the number of each row's entity among them."""
    columns = [table.arrow["entity"] for table in tables.values()]
    chunks = [chunk for column in columns for chunk in column.chunks]
    encoded = pa.chunked_array(chunks, pa.large_string()).combine_chunks().dictionary_encode()
    numbers = encoded.indices.to_numpy().astype(np.int64)
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


def _by_entity(rows: _Rows, place: Integers) -> _Rows:
    """Return rows in the order of their entities' final numbers, their text moved along."""
    entity = place[rows.entity]
    order = np.argsort(entity, kind="stable")
    text, start, end = rows.symbols
    start, end = start[order], end[order]
    ends = np.cumsum(end - start)
    moved = np.empty(ends[-1] if len(ends) else 0, np.uint32)
    kernels.gather_rows(text, start, end, moved)
    return _Rows(Symbols(moved, ends - (end - start), ends), entity[order], rows.count[order])


def _tokens_of_rows(rows: _Rows, builder: VocabularyBuilder) -> Integers:
    """Return how many tokens each row has."""
    length = rows.symbols.end - rows.symbols.start
    number = np.zeros(len(length), np.int64)
    for n in builder.lengths:
        number += np.maximum(length - n + 1, 0)
    return number


def _entity_totals(
    rows: _Rows, place: Integers, entities: int, builder: VocabularyBuilder, language: str
) -> Integers:
    """Return N_l(e); raise TableError if 64 bits may not hold all totals of the language."""
    of_row = _tokens_of_rows(rows, builder)
    total = float(np.dot(of_row.astype(np.float64), rows.count.astype(np.float64)))
    if total > MAX_TOTAL:
        raise TableError(
            f"the counts of {language!r}, each times the tokens of its mention, add up to "
            f"{total:.3g}, expected at most {MAX_TOTAL:.3g}: scale the counts down"
        )
    entity_total = np.zeros(entities, np.int64)
    np.add.at(entity_total, place[rows.entity], of_row * rows.count)
    return entity_total


def _width(entity_totals: Collection[Integers]) -> type[np.int32] | type[np.int64]:
    """Return the narrowest type for the counts of all languages: kernels take them together.

    No count can exceed its entity's total.
    """
    most = max(int(total.max(initial=0)) for total in entity_totals)
    return np.int32 if most <= np.iinfo(np.int32).max else np.int64


def _count_rows(
    rows: _Rows,
    entity_total: Integers,
    builder: VocabularyBuilder,
    width: type[np.int32] | type[np.int64],
    progress: Callable[[float], None],
) -> LanguageCounts:
    """Return n_l(t, e) with the builder's token numbers; rows are sorted by entity."""
    # Memory that is never written is never taken.
    tokens = np.empty(int(_tokens_of_rows(rows, builder).sum()), np.uint32)
    counts: npt.NDArray[Any] = np.empty(len(tokens), width)
    indptr = np.zeros(len(entity_total) + 1, np.int64)
    filled = 0
    for chunk in _chunks(rows.symbols.end, rows.entity):
        progress(chunk.start / len(rows.entity))
        part = rows[chunk]
        nodes = builder.add(part.symbols)
        filled = kernels.count_rows(
            part.symbols.start,
            part.symbols.end,
            part.count,
            part.entity,
            builder.lengths,
            nodes,
            builder.scratch(),
            indptr,
            tokens,
            counts,
            filled,
        )
    np.maximum.accumulate(indptr, out=indptr)
    return LanguageCounts(
        indptr, tokens[:filled], counts[:filled], np.zeros(0, np.int64), entity_total
    )


def _chunks(end: Integers, entity: Integers) -> Iterator[slice]:
    """Yield slices of rows of about SYMBOLS_AT_ONCE symbols that do not cut an entity in two."""
    last_rows = np.flatnonzero(np.diff(entity, append=-1))
    last_ends = end[last_rows]
    first, taken = 0, 0
    while first < len(entity):
        chosen = np.searchsorted(last_ends, taken + SYMBOLS_AT_ONCE, side="right") - 1
        at_least = np.searchsorted(last_rows, first)
        last = int(last_rows[max(chosen, at_least)])
        yield slice(first, last + 1)
        first, taken = last + 1, int(end[last])


def _renumber(part: LanguageCounts, number: npt.NDArray[np.uint32]) -> LanguageCounts:
    """Return the same counts with final token numbers (in place), and N_l(t)."""
    token_total = np.zeros(len(number), np.int64)
    kernels.renumber(part.tokens, part.counts, number, token_total)
    return replace(part, token_total=token_total)
