"""All methods by name, and `load`, which opens any saved generator."""

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial

from candgen.errors import StorageError
from candgen.generators.cascade import Cascade
from candgen.generators.cascade_method import CASCADE, CASCADE_FILL
from candgen.generators.neural.charagram import Charagram
from candgen.generators.neural.method import CHAR_CNN, CHAR_LSTM, CHARAGRAM
from candgen.generators.pivot.method import FUSION, PTI, SMOOTHING, WILDCARDS
from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
from candgen.generators.promise import Promise
from candgen.generators.rerank.method import RERANK
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.translation.method import TRANSLATION
from candgen.generators.translation.translation import Translation
from candgen.generators.wikipriors import WikiPriors
from candgen.generators.wikipriors_method import WIKIPRIORS, WIKIPRIORS_RELEASED
from candgen.protocols import Index, Method, Progress, no_progress
from candgen.storage import index_folder
from candgen.storage.index_folder import StoredIndex
from candgen.storage.verification_record import record
from candgen.tables.entities import EntityTable

METHODS: dict[str, Method] = {
    "wikipriors": WIKIPRIORS,
    "wikipriors-released": WIKIPRIORS_RELEASED,
    "translation": TRANSLATION,
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


def load(
    path: str | os.PathLike[str], *, verify: bool = False, progress: Progress = no_progress
) -> Index:
    """Open a generator that was saved, memory-mapped.

    Args:
        path: The folder that ``save`` or ``candgen build`` wrote.
        verify: Whether to read every byte and check it. Without it, that is done only if this user
            has not opened the index before, or if one of its files was written to since.
        progress: Called with the name of the step and the fraction of it that is done.

    Returns:
        The generator: a PivotTokenIndex, WikiPriors, Translation, Charagram, Cascade or Rerank.
        What all of them can do is in ``candgen.protocols.Index``; ``isinstance(index, Explains)``
        tells whether this one can explain its scores.

    Raises:
        StorageError: The folder is missing, damaged, invalid, or written by a newer version.
    """
    reading = partial(progress, "verifying the index")
    return open_stored(index_folder.load(path, verify=verify, on_progress=reading))


def open_stored(stored: StoredIndex) -> Index:
    """Return the generator that is stored in a folder.

    If the index was not verified before, everything in it is validated, and it is recorded as
    verified: it may come from a stranger.
    """
    index = _open(stored)
    Promise.from_stored(stored)  # raises StorageError if it is damaged
    if not stored.is_verified:
        with _errors_of(stored):
            if (table := EntityTable.from_stored(stored)) is not None:
                table.validate()
        record(stored.fingerprint)
    return index


def _open(stored: StoredIndex) -> Index:
    """Return the generator that is stored, or one that is stored inside another."""
    if stored.kind not in LOADERS:
        raise StorageError(
            f"{stored.path} holds a generator of kind {stored.kind!r}, and this version of candgen "
            f"knows {', '.join(sorted(LOADERS))}: upgrade candgen, or build it again"
        )
    with _errors_of(stored):
        index = LOADERS[stored.kind](stored)
        if not stored.is_verified:
            index.validate()
    return index


@contextlib.contextmanager
def _errors_of(stored: StoredIndex) -> Iterator[None]:
    """Raise whatever invalid arrays and parameters lead to as a StorageError."""
    try:
        yield
    except StorageError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise StorageError(
            f"{stored.path} does not describe a {stored.kind} as this version of candgen writes "
            f"one ({type(error).__name__}: {error}): build it again"
        ) from error


LOADERS: dict[str, Callable[[StoredIndex], Index]] = {
    "wikipriors": WikiPriors.from_stored,
    "translation": Translation.from_stored,
    "charagram": Charagram.from_stored,
    "pti": PivotTokenIndex.from_stored,
    "cascade": partial(Cascade.from_stored, open_nested=_open),
    "rerank": partial(Rerank.from_stored, open_nested=_open),
}
"""How each kind of generator is made from what is stored."""
