"""Generators: whatever turns mentions into candidates. One file a method."""

import os
from collections.abc import Callable
from typing import Any

from candgen import storage
from candgen.errors import StorageError
from candgen.generators.pivot import PivotTokenIndex
from candgen.generators.pivot_method import PTI
from candgen.methods import Method
from candgen.storage import Stored

METHODS: dict[str, Method] = {"pti": PTI}
"""Every method, by the name that tables show: ``METHODS["pti"](training, parameters)`` builds."""

LOADERS: dict[str, Callable[[Stored], Any]] = {"pti": PivotTokenIndex.from_stored}
"""How each kind of generator is made from what is stored."""


def load(path: str | os.PathLike[str], *, verify: bool = False) -> Any:  # noqa: ANN401
    """Open whatever generator was saved at a path, memory-mapped.

    ``verify`` reads every byte and compares it with its checksum; without it, only small indexes
    are read in full.
    """
    stored = storage.load(path, verify=verify)
    if stored.kind not in LOADERS:
        raise StorageError(
            f"{path} holds a generator of kind {stored.kind!r}, and this version of candgen knows "
            f"{', '.join(sorted(LOADERS))}: upgrade candgen, or build it again"
        )
    return LOADERS[stored.kind](stored)
