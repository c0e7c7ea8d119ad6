"""Tokenizers: a mention is a sequence of symbols, and its tokens are n-grams of symbols.

Tokenizers differ in the symbols (code points, grapheme clusters, words, the whole mention), in the
length of the n-grams, in boundary marks before and after the sequence, and in wildcards for one
symbol of an n-gram. All other modules see symbols as numbers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError, check_flag

BOUNDARY = 0x110000
"""The mark before and after a mention: the first number that is not a code point."""

WILDCARD = 0x110001
"""Any symbol, inside an n-gram: not a code point either."""

UNKNOWN = 0xFFFFFFFF
"""A symbol that is not in the index."""

Unit = Literal["codepoint", "grapheme"]
WordUnit = Literal["letters", "spaced"]
Cutter = Callable[[str], list[str]]
S = TypeVar("S")


class Symbols(NamedTuple):
    """Rows of symbols, one after the other: row i is ``text[start[i]:end[i]]``."""

    text: npt.NDArray[np.uint32]
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]


@dataclass(frozen=True)
class CharNgrams:
    """Every character n-gram of the mention between two boundary marks, with repetition.

    ``low`` and ``high`` are the smallest and the largest n. A character is a code point, or with
    ``unit="grapheme"`` a grapheme cluster.

    >>> CharNgrams(2, 3).tokens("ab")
    ['^a', 'ab', 'b$', '^ab', 'ab$']

    With ``wildcards``, an n-gram is also a token with any one of its inner characters hidden, so
    that names share tokens where they differ by one letter.

    >>> CharNgrams(4, 4, wildcards=True).tokens("abc")
    ['^abc', 'abc$', '^*bc', '^a*c', 'a*c$', 'ab*$']
    """

    low: int = 2
    high: int = 5
    unit: Unit = "codepoint"
    _: KW_ONLY
    wildcards: bool = False

    def __post_init__(self) -> None:
        if not (_is_whole(self.low) and _is_whole(self.high) and 1 <= self.low <= self.high <= 32):
            raise ParameterError(
                f"CharNgrams({self.low!r}, {self.high!r}): expected whole numbers with "
                "1 <= low <= high <= 32, such as CharNgrams(2, 5)"
            )
        if self.unit not in ("codepoint", "grapheme"):
            raise ParameterError(
                f"CharNgrams unit is {self.unit!r}: choose 'codepoint' or 'grapheme'"
            )
        check_flag("CharNgrams wildcards", self.wildcards)

    @property
    def cutter(self) -> Cutter | None:
        """The function that cuts a text into symbols; None for code points."""
        return _findall(r"\X") if self.unit == "grapheme" else None

    @property
    def bounded(self) -> bool:
        """Whether rows stand between boundary marks."""
        return True

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text in readable form, in the order of ``ngrams``.

        ``^`` and ``$`` stand for the marks, ``*`` for a wildcard.
        """
        if not text:
            return []
        symbols = ["^", *(self.cutter or list)(text), "$"]
        return ["".join(token) for token in ngrams(symbols, self, wildcard="*")]


@dataclass(frozen=True)
class Words:
    """Maximal runs of letters, marks and digits, or with ``unit="spaced"`` of non-spaces.

    >>> Words().tokens("Saint-Pierre, 2nd")
    ['Saint', 'Pierre', '2nd']
    >>> Words("spaced").tokens("Saint-Pierre, 2nd")
    ['Saint-Pierre,', '2nd']
    """

    unit: WordUnit = "letters"
    low = high = 1
    bounded = wildcards = False

    def __post_init__(self) -> None:
        if self.unit not in ("letters", "spaced"):
            raise ParameterError(f"Words unit is {self.unit!r}: choose 'letters' or 'spaced'")

    @property
    def cutter(self) -> Cutter:
        """The function that cuts a text into symbols."""
        return _findall(r"[\p{L}\p{M}\p{Nd}]+") if self.unit == "letters" else str.split

    def tokens(self, text: str) -> list[str]:
        """Return the words of a text."""
        return self.cutter(text)


@dataclass(frozen=True)
class WholeMention:
    """The mention itself, as one token.

    >>> WholeMention().tokens("Saint-Pierre")
    ['Saint-Pierre']
    """

    low = high = 1
    bounded = wildcards = False

    @property
    def cutter(self) -> Cutter:
        """The function that cuts a text into symbols."""
        return _whole

    def tokens(self, text: str) -> list[str]:
        """Return the mention, or nothing if it is empty."""
        return _whole(text)


Tokenizer = CharNgrams | Words | WholeMention
_KINDS: dict[str, type[Tokenizer]] = {
    "char_ngrams": CharNgrams,
    "words": Words,
    "whole_mention": WholeMention,
}


def ngrams(symbols: Sequence[S], tokenizer: Tokenizer, *, wildcard: S) -> list[tuple[S, ...]]:
    """Return the tokens of a row of symbols: n-grams by length and place, then wildcard forms.

    A form hides one symbol that is neither the first nor the last, and so never a boundary mark:
    an n-gram has n - 2 forms. They are in the order of their n-grams, and then from left to right.
    """
    whole = [
        tuple(symbols[p : p + n])
        for n in range(tokenizer.low, tokenizer.high + 1)
        for p in range(len(symbols) - n + 1)
    ]
    if not tokenizer.wildcards:
        return whole
    return whole + [
        (*ngram[:hidden], wildcard, *ngram[hidden + 1 :])
        for ngram in whole
        for hidden in range(1, len(ngram) - 1)
    ]


def to_parameters(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return a tokenizer as data, to store it with an index."""
    for kind, cls in _KINDS.items():
        if type(tokenizer) is cls:
            return {"kind": kind, **vars(tokenizer)}
    raise ParameterError(
        f"tokenizer is {tokenizer!r}: choose CharNgrams(low, high), Words() or WholeMention()"
    )


def from_parameters(parameters: Mapping[str, Any]) -> Tokenizer:
    """Return the tokenizer that ``to_parameters`` described."""
    options = dict(parameters)
    kind = options.pop("kind", None)
    if kind not in _KINDS:
        raise ParameterError(f"unknown tokenizer {kind!r}: this version knows {', '.join(_KINDS)}")
    try:
        return _KINDS[kind](**options)
    except TypeError:
        raise ParameterError(f"tokenizer {kind!r} does not take {options!r}") from None


def split_codepoints(joined: str, *, bounded: bool = True) -> Symbols:
    """Return the code points of many texts, one a line, as rows of symbols.

    Neighbours share the mark between them, so that no text is copied twice.
    """
    raw = f"\n{joined}\n".encode("utf-32-le", "surrogatepass")
    text = np.frombuffer(raw, np.uint32).copy()
    (breaks,) = (text == ord("\n")).nonzero()
    text[breaks] = BOUNDARY
    return _between(text, breaks, bounded=bounded)


def number_symbols(
    rows: Iterable[Sequence[str]], number: Mapping[str, int], *, bounded: bool
) -> Symbols:
    """Return rows of strings as rows of symbols: the number of each string, or UNKNOWN."""
    if bounded and len(number) > BOUNDARY:
        raise ParameterError(
            f"there are {len(number)} different grapheme clusters, and numbers for {BOUNDARY}: "
            "cut by code points, with unit='codepoint'"
        )
    pieces: list[int] = [BOUNDARY]
    breaks = [0]
    for row in rows:
        pieces.extend(number.get(piece, UNKNOWN) for piece in row)
        breaks.append(len(pieces))
        pieces.append(BOUNDARY)
    text, marks = np.array(pieces, np.uint32), np.array(breaks, np.int64)
    return _between(text, marks, bounded=bounded)


def _between(
    text: npt.NDArray[np.uint32], marks: npt.NDArray[np.int64], *, bounded: bool
) -> Symbols:
    start, end = marks[:-1], marks[1:]
    return Symbols(text, start, end + 1) if bounded else Symbols(text, start + 1, end)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _whole(text: str) -> list[str]:
    return [text] if text else []


@cache
def _findall(pattern: str) -> Cutter:
    import regex  # noqa: PLC0415

    return regex.compile(pattern).findall  # type: ignore[no-any-return]
