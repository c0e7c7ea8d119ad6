"""Counts as logarithms in one byte: 1,000 and 1,050 occurrences need not be distinguished.

Counts from 3.8 * 10**9 on, for which a byte has no more steps, are stored as equal.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

STEPS_PER_DOUBLING = 8
"""Steps of a stored logarithm for each doubling of 1 + count."""


def encode_logarithm(counts: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the logarithms of 1 + count as they are stored."""
    steps: npt.NDArray[np.float64] = np.rint(STEPS_PER_DOUBLING * np.log2(1.0 + counts))
    return np.minimum(steps, 255).astype(np.uint8)


def decode_logarithm(stored: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return log(1 + count) of counts that are stored as logarithms.

    >>> stored = encode_logarithm(np.array([0, 1, 9, 1000]))
    >>> [round(float(x), 2) for x in np.expm1(decode_logarithm(stored))]
    [0.0, 1.0, 9.37, 1023.0]
    """
    return stored.astype(np.float64) * float(np.log(2.0) / STEPS_PER_DOUBLING)
