"""Texts as rows of token numbers: what encoders read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.index.vocabulary import Vocabulary, VocabularyBuilder
from candgen.kernels.trie import find_tokens, token_room
from candgen.text.tokenizers import CharNgrams

TEXTS_AT_ONCE = 8192


class Rows(NamedTuple):
    """Row i is ``tokens[start[i]:start[i + 1]]``."""

    tokens: npt.NDArray[np.int32]
    start: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Spelling:
    """Numbers the tokens of the texts that it has learned, from 0; other tokens have none.

    With n-grams of one character, a row spells the text: its known characters between two marks.
    """

    vocabulary: Vocabulary

    @classmethod
    def learn(cls, texts: Sequence[str], tokenizer: CharNgrams) -> "Spelling":
        """Return the tokens of these texts, none of which is empty."""
        builder = VocabularyBuilder(tokenizer)
        empty = Vocabulary(tokenizer, np.zeros(2, np.uint32), np.zeros(1, np.uint32), None)
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            builder.add(empty.symbols(texts[first : first + TEXTS_AT_ONCE]))
        vocabulary, _ = builder.finish(None)
        return cls(_frozen(vocabulary))

    def __len__(self) -> int:
        return len(self.vocabulary) - self._first

    @property
    def _first(self) -> int:
        """The first node that is a token: those before it are shorter n-grams."""
        node = 0
        for _ in range(self.vocabulary.tokenizer.low):
            node = int(self.vocabulary.child[node])
        return node

    def rows(self, texts: Sequence[str]) -> Rows:
        """Return the known tokens of each text, with repetition, in the order of their places."""
        pieces, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            tokens, length = self._some(texts[first : first + TEXTS_AT_ONCE])
            pieces.append(tokens)
            lengths.append(length)
        return Rows(np.concatenate(pieces), np.cumsum(np.concatenate(lengths)))

    def _some(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        vocabulary, shape = self.vocabulary, self.vocabulary.shape
        symbols, start, end = vocabulary.symbols(texts)
        found = np.empty(token_room(int((end - start).sum()), *shape), np.int64)
        length = np.zeros(len(texts), np.int64)
        filled = 0
        for row, (a, b) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
            length[row] = find_tokens(
                vocabulary.child, vocabulary.symbol, symbols, a, b, *shape, found[filled:]
            )
            filled += int(length[row])
        return (found[:filled] - self._first).astype(np.int32), length

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything but the tokenizer, to be stored."""
        return {"child": self.vocabulary.child, "symbol": self.vocabulary.symbol}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], tokenizer: CharNgrams
    ) -> "Spelling":
        """Return the spelling that ``arrays`` describe."""
        return cls(_frozen(Vocabulary(tokenizer, arrays["child"], arrays["symbol"], None)))


def _frozen(vocabulary: Vocabulary) -> Vocabulary:
    """Return the same, read-only like what is stored, so that the kernel is compiled once."""
    vocabulary.child.setflags(write=False)
    vocabulary.symbol.setflags(write=False)
    return vocabulary
