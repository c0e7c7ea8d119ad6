"""The vocabulary: tokens and their numbers, as a trie of n-grams in two arrays.

Nodes are numbered level by level, and within a level in the order of their symbols, so that the
children of a node stand side by side, in order. The number of a node is the number of its token;
node 0 is the root. Numbers depend on the set of tokens alone, not on the order they came in.
A wildcard is one more symbol: ``a*c`` is a child of ``a*``, which is a child of ``a`` and not a
token itself.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.errors import TableError
from candgen.kernels import counting as kernels
from candgen.kernels.blocks import KEY_BITS
from candgen.storage.validation import check_array
from candgen.tables.string_table import StringTable
from candgen.text.tokenizers import (
    WILDCARD,
    Symbols,
    Tokenizer,
    ngrams,
    number_symbols,
    split_codepoints,
)

Array = npt.NDArray[np.uint32]

MAX_NODES = (1 << 32 - KEY_BITS) - 1
"""The largest number of tokens: shifted by KEY_BITS, the number of each fits 32 bits."""


@dataclass(frozen=True)
class Vocabulary:
    """The children of node i are ``child[i]`` to ``child[i + 1] - 1``; ``symbol`` is their last."""

    tokenizer: Tokenizer
    child: Array
    symbol: Array
    strings: Sequence[str] | None  # in code point order; None where symbols are code points

    def __len__(self) -> int:
        return len(self.symbol)

    @property
    def shape(self) -> tuple[int, int, int]:
        """What search knows of the tokenizer: low, high, and the wildcard, or -1 without any."""
        tokenizer = self.tokenizer
        return tokenizer.low, tokenizer.high, WILDCARD if tokenizer.wildcards else -1

    def validate(self, name: str) -> None:
        """Raise ValueError unless the children of every node are nodes after it, in order."""
        nodes = len(self.symbol)
        check_array(f"{name}.symbol", self.symbol, np.uint32, -1)
        check_array(f"{name}.child", self.child, np.uint32, nodes + 1)
        first, last = self.child[:-1], self.child[1:]
        forwards = first > np.arange(nodes, dtype=np.uint32)
        if nodes == 0 or self.child[-1] != nodes or not (forwards & (first <= last)).all():
            raise ValueError(f"the array {name}.child does not describe a tree")
        rising = self.symbol[:-1] < self.symbol[1:]
        rising[first[first < nodes] - 1] = (
            True  # from the last child of one node to the next's first
        )
        if not rising.all():
            raise ValueError(f"the array {name}.symbol is not in order")
        if isinstance(self.strings, StringTable):
            self.strings.validate("symbols", is_sorted=True)

    def symbols(self, texts: Sequence[str]) -> Symbols:
        """Return normalized texts as rows of symbols; an empty text has none, not even marks."""
        bounded = self.tokenizer.bounded
        if (cut := self.tokenizer.cutter) is None:
            # No mention in a table has a line break, nor \r: one is as unknown as the other.
            rows = split_codepoints(
                "\n".join(text.replace("\n", "\r") for text in texts), bounded=bounded
            )
            if all(texts):
                return rows
        else:
            numbers = _Numbers(self.strings or ())
            rows = number_symbols([cut(text) for text in texts], numbers, bounded=bounded)
        if not bounded:
            return rows
        return rows._replace(end=np.where(rows.end - rows.start > 2, rows.end, rows.start))

    def spell(self, text: str) -> list[tuple[str, int | None]]:
        """Return each token of a normalized text as readable text, and its number or None."""
        symbols, start, end = self.symbols([text])
        row = symbols[start[0] : end[0]].tolist()
        known: dict[tuple[int, ...], int | None] = {(): 0}
        numbers = [
            self._node(path, known) for path in ngrams(row, self.tokenizer, wildcard=WILDCARD)
        ]
        return list(zip(self.tokenizer.tokens(text), numbers, strict=True))

    def _node(self, path: tuple[int, ...], known: dict[tuple[int, ...], int | None]) -> int | None:
        """Return the node at the end of a path, if there is one; nodes on the way are cached."""
        if path not in known:
            known[path] = self._child(self._node(path[:-1], known), path[-1])
        return known[path]

    def _child(self, node: int | None, symbol: int) -> int | None:
        if node is None:
            return None
        first, last = int(self.child[node]), int(self.child[node + 1])
        place = first + int(np.searchsorted(self.symbol[first:last], symbol))
        return place if place < last and self.symbol[place] == symbol else None


class _Numbers(Mapping[str, int]):
    """Sorted strings as a mapping to their places, without making a dictionary of millions."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings

    def __getitem__(self, string: str) -> int:
        place = bisect_left(self._strings, string)
        if place == len(self._strings) or self._strings[place] != string:
            raise KeyError(string)
        return place

    def __len__(self) -> int:
        return len(self._strings)

    def __iter__(self) -> Iterator[str]:
        return iter(self._strings)


class _Form(NamedTuple):
    """N-grams of n symbols, of which the one at place ``hidden`` is a wildcard; 0: none is."""

    n: int
    hidden: int

    @property
    def ends_hidden(self) -> bool:
        """Whether the wildcard is the last symbol: this is then only the start of a token."""
        return 0 < self.hidden == self.n - 1

    @property
    def parent(self) -> "_Form":
        """The form without its last symbol."""
        return _Form(self.n - 1, 0 if self.ends_hidden else self.hidden)


def _forms(tokenizer: Tokenizer) -> list[_Form]:
    """Return all forms of n-grams, each after its parent, without the empty one."""
    high = tokenizer.high
    forms = [_Form(n, 0) for n in range(1, high + 1)]
    if tokenizer.wildcards:
        forms += [_Form(n, at) for at in range(1, high - 1) for n in range(at + 1, high + 1)]
    return forms


def _hidden(symbols: Symbols) -> Symbols:
    """Return rows of wildcards; they end one earlier, as a wildcard needs a symbol after it."""
    base = symbols.start[0]
    text = np.full(symbols.end[-1] - base, WILDCARD, np.uint32)
    return Symbols(text, symbols.start - base, symbols.end - base - 1)


class VocabularyBuilder:
    """Numbers n-grams in the order in which they are met, then puts them in their final order.

    ``lengths`` has the n of each row of tokens that ``add`` gives.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._forms = _forms(tokenizer)
        tokens = [form for form in self._forms if form.n >= tokenizer.low and not form.ends_hidden]
        self.lengths = np.array([form.n for form in tokens], np.int64)
        # Nodes that are not tokens come first, so that the rows of tokens are a slice.
        inner = [_Form(0, 0), *(form for form in self._forms if form not in tokens)]
        self._inner = len(inner)
        self._row = {form: row for row, form in enumerate([*inner, *tokens])}
        self._levels = [_Level() for _ in range(tokenizer.high)]
        self._parent = np.zeros(1024, np.uint32)
        self._symbol = np.zeros(1024, np.uint32)
        self._level = np.zeros(1024, np.uint8)
        self._next = 1

    def __len__(self) -> int:
        return self._next

    def add(self, symbols: Symbols) -> npt.NDArray[np.uint32]:
        """Return the nodes of all tokens: in row i those of ``lengths[i]`` symbols, by start."""
        span = int(symbols.end[-1] - symbols.start[0])
        nodes = np.empty((len(self._row), span), np.uint32)
        nodes[0] = 0  # the root
        hidden = _hidden(symbols) if self._tokenizer.wildcards else symbols
        for form in self._forms:
            read = hidden if form.ends_hidden else symbols
            self._number(read, form.n, nodes[self._row[form.parent]], nodes[self._row[form]])
        return nodes[self._inner :]

    def _number(self, symbols: Symbols, n: int, parents: Array, nodes: Array) -> None:
        """Number n-grams whose last symbols are these, given the nodes of all before them."""
        level = self._levels[n - 1]
        self._reserve(len(nodes))
        level.reserve(len(nodes))
        after = kernels.add_level(
            *symbols, n, parents, nodes, level.table, self._next, self._parent, self._symbol
        )
        self._level[self._next : after] = n
        level.used += after - self._next
        self._next = after
        if after > MAX_NODES:
            raise TableError(
                f"the tables have more than {MAX_NODES} different tokens: give fewer or smaller "
                "tables, or shorter n-grams"
            )

    def finish(self, strings: Sequence[str] | None) -> tuple[Vocabulary, npt.NDArray[np.uint32]]:
        """Return the vocabulary, and the final number of each node that ``add`` gave out."""
        size = self._next
        number = np.zeros(size, np.uint32)
        parent = np.zeros(size, np.uint32)
        symbol = np.zeros(size, np.uint32)
        first = 1
        for n in range(1, len(self._levels) + 1):
            nodes = np.flatnonzero(self._level[:size] == n)
            key = number[self._parent[nodes]].astype(np.uint64) << np.uint64(32)
            key |= self._symbol[nodes]
            nodes = nodes[np.argsort(key)]
            here = slice(first, first + len(nodes))
            number[nodes] = np.arange(here.start, here.stop, dtype=np.uint32)
            parent[here] = number[self._parent[nodes]]
            symbol[here] = self._symbol[nodes]
            first = here.stop
        # Parents never decrease along the numbers, so a node's children are found by counting.
        children = np.bincount(parent[1:], minlength=size)
        child = np.cumsum(np.concatenate(([1], children))).astype(np.uint32)
        return Vocabulary(self._tokenizer, child, symbol, strings), number

    def _reserve(self, more: int) -> None:
        if self._next + more > len(self._parent):
            size = 2 * (self._next + more)
            self._parent = longer(self._parent, size)
            self._symbol = longer(self._symbol, size)
            self._level = longer(self._level, size)


class _Level:
    """The hash table of one n: open addressing, at most half full."""

    def __init__(self) -> None:
        self.used = 0
        self.table = empty_table(1024)

    def reserve(self, more: int) -> None:
        need = (self.used + more) * 2
        if need > len(self.table):
            larger = empty_table(1 << need.bit_length())
            kernels.rehash(self.table, larger)
            self.table = larger


def empty_table(size: int) -> npt.NDArray[np.uint64]:
    """Return a hash table of (key, number), side by side to cost one cache line."""
    table = np.zeros((size, 2), np.uint64)
    table[:, 0] = kernels.EMPTY
    return table


def longer(array: npt.NDArray[Any], size: int, fill: int = 0) -> npt.NDArray[Any]:
    """Return a longer copy, with a number in the new places."""
    made = np.full(size, fill, array.dtype)
    made[: len(array)] = array
    return made
