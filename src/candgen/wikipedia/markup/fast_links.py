"""Many plain links read at once by a kernel, without a Python object for each of them.

Most links are plain: `Titles` and the functions for anchors change nothing in them but the first
letter of the title. The other links are left to those.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from candgen.kernels.fast_links import ANCHOR, TARGET, find_blocks, read_plain
from candgen.wikipedia.markup.link_counter import Slices
from candgen.wikipedia.markup.titles import PLAIN, SAFE_LENGTH

_CHARACTERS = 1 << 16  # links with others are not plain
_BLOCK = 1 << 6
_is_plain = re.compile(PLAIN).fullmatch


class PlainLinks(NamedTuple):
    """The titles and mentions of the links that are plain."""

    plain: npt.NDArray[np.bool_]
    """Which of the links are plain."""
    titles: pa.LargeStringArray
    mentions: pa.LargeStringArray


class PlainLinkReader:
    """Reads plain links; properties of characters are looked up in blocks of 64."""

    def __init__(self, capitalize: Callable[[str], str]) -> None:
        self._capitalize = capitalize
        self._known = np.zeros(_CHARACTERS // _BLOCK, dtype=np.bool_)
        self._kinds = np.zeros(_CHARACTERS, dtype=np.uint8)
        self._combining = np.zeros(_CHARACTERS, dtype=np.uint8)
        self._capitals = np.zeros(_CHARACTERS, dtype=np.uint16)

    def read(self, raws: Slices) -> PlainLinks:
        """Read the plain ones of the links."""
        text, ends = raws
        self._look_up(text)
        # A capital letter may have one or two bytes more than the small one.
        titles = np.empty(len(text) + 2 * len(ends), dtype=np.uint8)
        mentions = np.empty(len(text), dtype=np.uint8)
        title_ends, mention_ends = np.empty_like(ends), np.empty_like(ends)
        plain = np.zeros(len(ends), dtype=np.bool_)
        read_plain(
            text,
            ends,
            SAFE_LENGTH,
            self._kinds,
            self._combining,
            self._capitals,
            titles,
            title_ends,
            mentions,
            mention_ends,
            plain,
        )
        chosen = pa.array(plain)
        return PlainLinks(
            plain,
            _make_strings(titles, title_ends).filter(chosen),
            _make_strings(mentions, mention_ends).filter(chosen),
        )

    def _look_up(self, text: npt.NDArray[np.uint8]) -> None:
        found = np.zeros_like(self._known)
        find_blocks(text, found)
        for block in np.flatnonzero(found & ~self._known).tolist():
            self._known[block] = True
            for point in range(block * _BLOCK, (block + 1) * _BLOCK):
                self._look_up_character(point)

    def _look_up_character(self, point: int) -> None:
        character = chr(point)
        capital = self._capitalize(character)
        self._capitals[point] = ord(capital) if len(capital) == 1 else point
        self._combining[point] = unicodedata.combining(character)
        if _is_plain(character):
            stays = unicodedata.is_normalized("NFC", character) and point not in _composing()
            large = len(capital) == 1 and ord(capital) < _CHARACTERS
            self._kinds[point] = (TARGET if stays and large else 0) | (
                ANCHOR if character != "'" else 0
            )


def _make_strings(text: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> pa.LargeStringArray:
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), len(ends), buffers)


@cache
def _composing() -> frozenset[int]:
    """Return the characters that NFC may combine with the one before them."""
    decompositions = (
        unicodedata.decomposition(chr(point)).split()
        for point in chain(range(0xC0, 0x3100), range(0xFB1D, 0xFB50))
    )
    pairs = (parts for parts in decompositions if len(parts) == 2 and parts[0][0] != "<")
    hangul = chain(range(0x1161, 0x1176), range(0x11A8, 0x11C3))
    return frozenset(chain((int(second, 16) for _, second in pairs), hangul))
