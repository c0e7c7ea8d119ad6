"""A learned edit distance: how names change from language to language.

A name is copied symbol by symbol: each may become another or be left out, and others may be added,
with the probabilities of a table. The table is learned from names of the same entities in two
languages by expectation maximization (Ristad and Yianilos, 1998), which also estimates whether two
names are related at all. Without pairs to learn from, all changes are equally likely.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import shown
from candgen.kernels import edit_model as kernels
from candgen.kernels.skeleton import UNKNOWN
from candgen.storage.validation import check_array, check_range, check_text
from candgen.text.consonants import consonant_kinds

Floats = npt.NDArray[np.float64]

OTHER = "\N{REPLACEMENT CHARACTER}"
"""Stands for all symbols that are not in the alphabet."""
MAX_ALPHABET = 255
TEXTS_AT_ONCE = 100_000
MAX_LENGTH = 64
"""Longer names are not learned from."""
ROUNDS = 6
LOG_ODDS_RELATED = -3.0
"""Logarithm of the odds that two names of one entity are related: cautious, as many are not."""
PRIOR_STRENGTH = 2.0
"""Strength of the plain model as a prior, in observations of a symbol for each symbol of the
alphabet."""
UNIFORM_SHARE = 0.1
"""The part of the symbols' frequencies that is the same for all of them."""


class Edit(NamedTuple):
    """One step of copying: ``before`` is empty where a symbol is added, ``after`` where one goes.

    ``probability`` is that of the step, given the symbol before.
    """

    before: str
    after: str
    probability: float


@dataclass(frozen=True)
class EditModel:
    """The probabilities of changes, additions and omissions over an alphabet.

    ``alphabet[0]`` stands for all other symbols. ``common`` is how often each symbol occurs, a
    tenth of which is uniform: no symbol is so rare that it decides alone.

    >>> model = EditModel.learn([("vin", "wien"), ("rin", "rien")] * 9, ["vin", "wien", "rin"])
    >>> model.similarity("vin", "wien") > model.similarity("vin", "rin")
    True
    """

    alphabet: str
    change: Floats
    add: Floats
    drop: Floats
    common: Floats

    @classmethod
    def plain(cls, texts: Iterable[str]) -> "EditModel":
        """Return the model before anything is learned, over the symbols of these texts.

        Four symbols in five stay what they are; the rest change into any other, go, or come.
        """
        seen = np.zeros(0x110000, np.int64)
        for some in _large_pieces(texts):
            seen += np.bincount(_code_points(some), minlength=len(seen))
        seen[ord(OTHER)] = 0
        frequent = np.argsort(-seen, kind="stable")[: MAX_ALPHABET - 1]
        known = np.sort(frequent[seen[frequent] > 0])
        alphabet = OTHER + "".join(map(chr, known.tolist()))
        size = len(alphabet)
        counts = 1.0 + np.concatenate(([seen.sum() - seen[known].sum()], seen[known]))
        common = (1.0 - UNIFORM_SHARE) * counts / counts.sum() + UNIFORM_SHARE / size
        change = np.full((size, size), 0.08 / size)
        np.fill_diagonal(change, 0.8)
        return cls(alphabet, change, np.full(size, 0.06 / size), np.full(size, 0.06), common)

    @classmethod
    def learn(cls, pairs: Sequence[tuple[str, str]], texts: Iterable[str]) -> "EditModel":
        """Learn how the second name of each pair became the first, over the symbols of texts."""
        model = cls.plain(texts)
        short = [
            pair for pair in pairs if 0 < min(map(len, pair)) <= max(map(len, pair)) <= MAX_LENGTH
        ]
        if not short:
            return model
        queries, names = (model.encode([pair[side] for pair in short]) for side in (0, 1))
        plain = model
        for _ in range(ROUNDS):
            model = _reestimate(model, plain, names, queries)
        return model

    @cached_property
    def numbers(self) -> npt.NDArray[np.uint8]:
        """The number of each code point: 0 for those that are not in the alphabet."""
        numbers = np.zeros(0x110000, np.uint8)
        numbers[[ord(symbol) for symbol in self.alphabet]] = np.arange(len(self.alphabet))
        return numbers

    @property
    def space(self) -> int:
        """The number of the space, 0 if no text had one."""
        return max(self.alphabet.find(" "), 0)

    @cached_property
    def consonants(self) -> npt.NDArray[np.uint8]:
        """The kind of consonant of each symbol, 0 for those that are none.

        Unknown symbols are one more kind: a word that has one sounds like no word without it.
        """
        kinds = np.array(consonant_kinds(self.alphabet), np.uint8)
        kinds[0] = UNKNOWN
        kinds.setflags(write=False)
        return kinds

    @property
    def tables(self) -> tuple[Floats, Floats, Floats]:
        """Changes, additions and omissions, as kernels take them."""
        return self.change, self.add, self.drop

    @cached_property
    def ratios(self) -> tuple[Floats, Floats, Floats]:
        """The same, over how common the symbols are that are made: see ``likelihood``."""
        return self.change / self.common, self.add / self.common, np.array(self.drop)

    def encode(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return the numbers of the texts' symbols, concatenated, and where each text begins."""
        starts = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=starts[1:])
        return self.numbers[_code_points(texts)], starts

    def encode_column(
        self, texts: pa.ChunkedArray
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return the same for a column of texts, of which few are strings at a time."""
        starts = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(pc.utf8_length(texts).to_numpy(), out=starts[1:])
        symbols = np.empty(starts[-1], np.uint8)
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            some = texts.slice(first, TEXTS_AT_ONCE).to_pylist()
            symbols[starts[first] : starts[first + len(some)]] = self.numbers[_code_points(some)]
        return symbols, starts

    def decode(self, symbols: npt.NDArray[np.uint8]) -> str:
        """Return the text of these symbols."""
        return "".join(self.alphabet[number] for number in symbols.tolist())

    def similarity(self, query: str, name: str) -> float:
        """Return log (P(query | name) / P(query)) / length of the query, at least 0.

        P(query) is the probability of its symbols, as common as they are.
        """
        if not query:
            return 0.0
        (text, _), (symbols, _) = self.encode([query]), self.encode([name])
        room = np.empty(len(text) + 1)
        value = kernels.likelihood_of_name(symbols, text, self.ratios, room)
        return max(float(value), 0.0) / len(query)

    def edits(self, query: str, name: str) -> list[Edit]:
        """Return the likeliest edits that turned a name into the query, in order."""
        (text, _), (symbols, _) = self.encode([query]), self.encode([name])
        steps = np.empty((len(query) + len(name), 2), np.int64)
        number = kernels.best_edits(symbols, text, *self.tables, steps)

        def edit(i: int, j: int) -> Edit:
            if i < 0:
                return Edit("", query[j], float(self.add[text[j]]))
            if j < 0:
                return Edit(name[i], "", float(self.drop[symbols[i]]))
            return Edit(name[i], query[j], float(self.change[symbols[i], text[j]]))

        return [edit(i, j) for i, j in steps[:number][::-1].tolist()]

    def notable(self, most: int = 20) -> list[Edit]:
        """Return the likeliest changes of a symbol into another, or into nothing."""
        change = self.change.copy()
        np.fill_diagonal(change, 0.0)
        size = len(self.alphabet)
        every = np.concatenate([change.ravel(), self.drop])
        found = []
        for at in np.argsort(-every, kind="stable")[:most].tolist():
            before, after = (at // size, at % size) if at < size * size else (at - size * size, -1)
            shown = "" if after < 0 else self.alphabet[after]
            found.append(Edit(self.alphabet[before], shown, float(every[at])))
        return found

    def validate(self) -> None:
        """Raise ValueError unless there is a probability above 0 for every edit of every symbol."""
        size = len(check_text("alphabet", self.alphabet))
        if not 1 <= size == len(set(self.alphabet)) <= MAX_ALPHABET:
            raise ValueError(f"alphabet is {shown(self.alphabet)}")
        for name, array in self.arrays().items():
            shape = (size, size) if name == "change" else (size,)
            check_array(f"edits.{name}", array, np.float64, *shape)
            check_range(f"edits.{name}", array, np.finfo(np.float64).tiny, 1.0)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything but the alphabet, to be stored."""
        return {"change": self.change, "add": self.add, "drop": self.drop, "common": self.common}


def _large_pieces(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield texts, many at a time."""
    rest = iter(texts)
    while some := list(islice(rest, TEXTS_AT_ONCE)):
        yield some


def _code_points(texts: Iterable[str]) -> npt.NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)


def _reestimate(
    model: EditModel,
    plain: EditModel,
    names: tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]],
    queries: tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]],
) -> EditModel:
    """Return one round: count the edits that the model expects, and make a model of the counts."""
    belief = PRIOR_STRENGTH * len(model.alphabet)
    changes, adds, drops = (belief * table for table in plain.tables)
    kernels.expect_edits(
        names, queries, model.tables, model.common, LOG_ODDS_RELATED, changes, adds, drops
    )
    copied = changes.sum(axis=1) + drops
    added = adds.sum() / (adds.sum() + copied.sum())
    return EditModel(
        model.alphabet,
        (1 - added) * changes / copied[:, np.newaxis],
        added * adds / adds.sum(),
        (1 - added) * drops / copied,
        model.common,
    )
