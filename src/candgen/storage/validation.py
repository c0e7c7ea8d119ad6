"""Checks of what an index folder holds, before anything is indexed with it.

Checksums find damage. An index that was made to do harm has the right checksums; kernels stay
inside their arrays because every shape, type, range and order they rely on is checked here. Each
check raises ValueError naming the array or parameter; ``generators.registry`` adds the folder.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.errors import shown

Array = npt.NDArray[Any]


def check_array(name: str, array: Array, dtype: type | tuple[type, ...], *shape: int) -> None:
    """Raise ValueError unless an array has this type, or one of these, and this shape.

    A length of -1 stands for any.
    """
    types = dtype if isinstance(dtype, tuple) else (dtype,)
    fits = array.ndim == len(shape) and all(
        wanted in (-1, length) for length, wanted in zip(array.shape, shape, strict=True)
    )
    if array.dtype not in types or not fits:
        raise ValueError(f"the array {name} has type {array.dtype} and shape {array.shape}")


def check_offsets(name: str, offsets: Array, items: int, end: int) -> None:
    """Raise ValueError unless offsets of this many items run from 0 to ``end`` and never fall."""
    check_array(name, offsets, (np.int64, np.uint32), items + 1)
    rising = bool(np.all(offsets[:-1] <= offsets[1:]))
    if offsets[0] != 0 or offsets[-1] != end or not rising:
        raise ValueError(f"the array {name} does not rise from 0 to {end}")


def check_range(name: str, array: Array, low: float, high: float) -> None:
    """Raise ValueError unless ``low <= value <= high`` for all values; NaN is outside."""
    if array.size and not (low <= array.min() and array.max() <= high):
        raise ValueError(f"the array {name} has values outside {low:g} to {high:g}")


def check_finite(name: str, array: Array) -> None:
    """Raise ValueError unless all values are finite and at least 0."""
    check_range(name, array, 0.0, np.finfo(np.float64).max)


def check_count(name: str, value: object, *, minimum: int = 0) -> int:
    """Return an integer of at most 64 bits; raise ValueError for anything else."""
    if type(value) is not int or not minimum <= value < 1 << 63:
        raise ValueError(f"{name} is {shown(value)}")
    return value


def check_text(name: str, value: object) -> str:
    """Return a string that can be encoded; raise ValueError for anything else."""
    if not isinstance(value, str) or any("\ud800" <= each <= "\udfff" for each in value):
        raise ValueError(f"{name} is {shown(value)}")
    return value


def check_texts(name: str, values: object) -> Sequence[str]:
    """Return a list of distinct strings; raise ValueError for anything else."""
    if not isinstance(values, list) or len({check_text(name, each) for each in values}) < len(
        values
    ):
        raise ValueError(f"{name} is {shown(values)}")
    return values


def check_mapping(name: str, value: object) -> Mapping[str, Any]:
    """Return a mapping; raise ValueError for anything else."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {shown(value)}")
    return value
