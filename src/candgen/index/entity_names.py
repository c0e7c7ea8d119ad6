"""The names of entities in several languages, those of an entity side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import TableError
from candgen.index.counts import MAX_TOTAL, NoTokenError
from candgen.index.vocabulary import Vocabulary, VocabularyBuilder
from candgen.protocols import Progress, no_progress
from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import normalize_joined
from candgen.text.tokenizers import BOUNDARY, Symbols, Tokenizer, number_symbols, split_codepoints

Integers = npt.NDArray[np.int64]

ROWS_AT_ONCE = 250_000


class NameRows(NamedTuple):
    """Names as kernels take them: rows ``first[e]`` to ``first[e + 1] - 1`` are those of entity e.

    A name is ``text[start:end]``, of symbols that an alphabet numbers.
    """

    first: Integers
    language: npt.NDArray[np.uint16]
    counts: Integers
    start: Integers
    end: Integers
    text: npt.NDArray[Any]


@dataclass(frozen=True)
class Alphabet:
    """Numbers for the symbols of some texts, in their order; all others share the highest one."""

    tokenizer: Tokenizer
    strings: Mapping[str, int]
    symbols: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, lines: str, tokenizer: Tokenizer) -> "Alphabet":
        """Number the symbols of texts, one a line."""
        cut = tokenizer.cutter
        every = sorted({each for line in lines.split("\n") for each in cut(line)}) if cut else ()
        strings = {string: number for number, string in enumerate(every)}
        return cls(tokenizer, strings, np.unique(_split(lines, tokenizer, strings).text))

    def encode(self, lines: str) -> Symbols:
        """Return texts, one a line, as rows of numbers; one without a token is an empty row."""
        text, start, end = _split(lines, self.tokenizer, self.strings)
        least = max(self.tokenizer.low, 3) if self.tokenizer.bounded else self.tokenizer.low
        end = np.where(end - start >= least, end, start)
        return Symbols(self._numbers[np.minimum(text, len(self._numbers) - 1)], start, end)

    @cached_property
    def _numbers(self) -> npt.NDArray[Any]:
        """The number of each code point, string and mark: faster than a search for it."""
        kind = np.uint16 if len(self.symbols) < 2**16 else np.uint32
        numbers = np.full(max(BOUNDARY + 2, len(self.strings) + 1), len(self.symbols), kind)
        numbers[self.symbols] = np.arange(len(self.symbols), dtype=kind)
        return numbers

    def vocabulary(self, rows: Symbols) -> Vocabulary:
        """Return the tokens of rows of this alphabet."""
        builder = VocabularyBuilder(self.tokenizer)
        text, start, end = rows
        there = end > start
        if there.any():
            builder.add(Symbols(text.astype(np.uint32), start[there], end[there]))
        return builder.finish(None)[0]


def join_lines(texts: Sequence[str]) -> str:
    """Return texts one a line; no mention in a table has a line break, nor \\r."""
    return "\n".join(text.replace("\n", "\r") for text in texts)


def _split(lines: str, tokenizer: Tokenizer, strings: Mapping[str, int]) -> Symbols:
    if (cut := tokenizer.cutter) is None:
        return split_codepoints(lines, bounded=tokenizer.bounded)
    return number_symbols(map(cut, lines.split("\n")), strings, bounded=tokenizer.bounded)


@dataclass(frozen=True)
class EntityNames:
    """The rows of several tables, grouped by entity, the languages of each in their order.

    ``row`` numbers the rows of all tables, one table after the other: those of entity e are
    ``row[first[e]:first[e + 1]]``.
    """

    tables: Mapping[str, MentionTable]
    entities: pa.LargeStringArray
    first: Integers
    row: npt.NDArray[np.uint32] | Integers
    language: npt.NDArray[np.uint16]
    count: Integers

    @classmethod
    def of(cls, tables: Mapping[str, MentionTable]) -> "EntityNames":
        """Group the rows of tables, given by language."""
        chunks = [chunk for each in tables.values() for chunk in each.arrow["entity"].chunks]
        encoded = pa.chunked_array(chunks, pa.large_string()).combine_chunks().dictionary_encode()
        entity = encoded.indices.to_numpy()
        row = np.argsort(entity, kind="stable")
        sizes = [len(table) for table in tables.values()]
        language = np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)
        count = np.concatenate([table.arrow["count"].to_numpy() for table in tables.values()])
        first = np.concatenate(([0], np.cumsum(np.bincount(entity))))
        narrow = row.astype(np.uint32) if len(row) < 2**32 else row
        return cls(tables, encoded.dictionary, first, narrow, language[row], count[row])

    def sample(self, most: int) -> "EntityNames":
        """Return at most ``most`` entities, evenly spaced among them."""
        step = -(-len(self.entities) // most)
        if step <= 1:
            return self
        chosen = np.arange(0, len(self.entities), step)
        sizes = np.diff(self.first)[chosen]
        first = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.repeat(self.first[chosen] - first[:-1], sizes) + np.arange(first[-1])
        return replace(
            self,
            entities=self.entities.take(pa.array(chosen)),
            first=first,
            row=self.row[rows],
            language=self.language[rows],
            count=self.count[rows],
        )

    def lines(self, normalizer: str) -> str:
        """Return the normalized names, one a line, in the order of ``row``."""
        chunks = [chunk for each in self.tables.values() for chunk in each.arrow["mention"].chunks]
        mentions = pa.chunked_array(chunks, pa.large_string()).take(pa.array(self.row))
        texts = np.empty(len(self.row), object)
        for number, language in enumerate(self.tables):
            mine = np.flatnonzero(self.language == number)
            if len(mine):
                lines = _normalize(mentions.take(pa.array(mine)), normalizer, language)
                texts[mine] = lines.split("\n")
        return "\n".join(texts)

    def encode(
        self, alphabet: Alphabet, normalizer: str, *, progress: Progress = no_progress
    ) -> NameRows:
        """Return all names, normalized, as rows of an alphabet's numbers."""
        parts: list[Symbols] = []
        offset = 0
        for lines in self._normalized(normalizer, progress):
            some = alphabet.encode(lines)
            parts.append(Symbols(some.text, some.start + offset, some.end + offset))
            offset += len(some.text)
        text = np.concatenate([part.text for part in parts])
        start = np.concatenate([part.start for part in parts])[self.row]
        end = np.concatenate([part.end for part in parts])[self.row]
        if not (end > start).any():
            raise NoTokenError("no mention has a token: there is nothing to build an index from")
        return NameRows(self.first, self.language, self.count, start, end, text)

    def _normalized(self, normalizer: str, progress: Progress) -> Iterator[str]:
        """Yield the normalized mentions of all tables, some rows at a time."""
        done, every = 0, sum(map(len, self.tables.values()))
        for language, table in self.tables.items():
            for first in range(0, len(table), ROWS_AT_ONCE):
                progress(f"reading {language}", done / every)
                some = table.arrow["mention"].slice(first, ROWS_AT_ONCE)
                yield _normalize(some, normalizer, language)
                done += len(some)

    def totals(self, rows: NameRows, tokenizer: Tokenizer) -> Integers:
        """Return N_l(e) in a row for each language; raise TableError if 64 bits may not hold it."""
        length = rows.end - rows.start
        of_row = np.zeros(len(length), np.int64)
        for n in VocabularyBuilder(tokenizer).lengths.tolist():
            of_row += np.maximum(length - n + 1, 0)
        totals = np.zeros((len(self.tables), len(self.entities)), np.int64)
        entity = np.repeat(np.arange(len(self.entities)), np.diff(self.first))
        for number, language in enumerate(self.tables):
            mine = self.language == number
            total = float(np.dot(of_row[mine].astype(np.float64), rows.counts[mine]))
            if total > MAX_TOTAL:
                raise TableError(
                    f"the counts of {language!r}, each times the tokens of its mention, add up to "
                    f"{total:.3g}, expected at most {MAX_TOTAL:.3g}: scale the counts down"
                )
            np.add.at(totals[number], entity[mine], of_row[mine] * rows.counts[mine])
        return totals


def _normalize(mentions: pa.ChunkedArray, normalizer: str, language: str) -> str:
    """Return normalized mentions, one a line."""
    column = mentions.combine_chunks()
    line = pa.ListArray.from_arrays([0, len(column)], column)
    joined = pc.binary_join(line, pa.scalar("\n", pa.large_string()))[0].as_py()
    return normalize_joined(joined, normalizer, language=language)
