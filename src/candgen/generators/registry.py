"""All methods by name, and `load`, which opens any saved generator."""

import os
from collections.abc import Callable
from functools import partial

from candgen.errors import CandgenError, StorageError
from candgen.generators.cascade import Cascade
from candgen.generators.cascade_method import CASCADE, CASCADE_FILL
from candgen.generators.neural.charagram import Charagram
from candgen.generators.neural.method import CHAR_CNN, CHAR_LSTM, CHARAGRAM
from candgen.generators.pivot.method import FUSION, PTI, SMOOTHING, WILDCARDS
from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
from candgen.generators.rerank.method import RERANK
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.wikipriors import WikiPriors
from candgen.generators.wikipriors_method import WIKIPRIORS, WIKIPRIORS_RELEASED
from candgen.protocols import Index, Method
from candgen.storage import index_folder
from candgen.storage.index_folder import StoredIndex

METHODS: dict[str, Method] = {
    "wikipriors": WIKIPRIORS,
    "wikipriors-released": WIKIPRIORS_RELEASED,
    "charagram": CHARAGRAM,
    "char-lstm": CHAR_LSTM,
    "char-cnn": CHAR_CNN,
    "pti": PTI,
    "pti-wildcards": WILDCARDS,
    "pti-fusion": FUSION,
    "pti-smoothing": SMOOTHING,
    "cascade": CASCADE,
    "cascade-fill": CASCADE_FILL,
    "rerank": RERANK,
}
"""Every method, by the name that tables show: ``METHODS["pti"](training, parameters)`` builds."""


def load(path: str | os.PathLike[str], *, verify: bool = False) -> Index:
    """Open a generator that was saved, memory-mapped.

    Args:
        path: The folder that ``save`` or ``candgen build`` wrote.
        verify: Whether to read every byte and compare it with its checksum; without it, only
            small indexes are read in full.

    Returns:
        The generator: a PivotTokenIndex, WikiPriors, Charagram, Cascade or Rerank. What all of them
        can do is in ``candgen.protocols.Index``; ``isinstance(index, Explains)`` tells whether this
        one can explain its scores.

    Raises:
        StorageError: The folder is missing, damaged, or written by a newer version.
    """
    return open_stored(index_folder.load(path, verify=verify))


def open_stored(stored: StoredIndex) -> Index:
    """Return the generator that is stored, or one that is stored inside another."""
    if stored.kind not in LOADERS:
        raise StorageError(
            f"{stored.path} holds a generator of kind {stored.kind!r}, and this version of candgen "
            f"knows {', '.join(sorted(LOADERS))}: upgrade candgen, or build it again"
        )
    try:
        return LOADERS[stored.kind](stored)
    except CandgenError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise StorageError(
            f"{stored.path} does not describe a {stored.kind} as this version of candgen writes "
            f"one ({type(error).__name__}: {error}): build it again"
        ) from error


LOADERS: dict[str, Callable[[StoredIndex], Index]] = {
    "wikipriors": WikiPriors.from_stored,
    "charagram": Charagram.from_stored,
    "pti": PivotTokenIndex.from_stored,
    "cascade": partial(Cascade.from_stored, open_nested=open_stored),
    "rerank": partial(Rerank.from_stored, open_nested=open_stored),
}
"""How each kind of generator is made from what is stored."""
