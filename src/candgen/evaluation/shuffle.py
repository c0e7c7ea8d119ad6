"""Deterministic random order by SplitMix64, which no version of a library changes.

Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
"""

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def shuffle_keys(numbers: Integers, seed: int, stream: int) -> Keys:
    """Return a key for each number: sorting by keys puts the numbers in random order.

    Different numbers have different keys, because every step is invertible. Each seed and stream
    has its own order, and the key of a number does not depend on the other numbers.
    """
    state = _mix(_mix(np.array([seed], np.uint64)) + np.array([stream], np.uint64))
    return splitmix(state, numbers.astype(np.uint64))


def splitmix(state: Keys, places: Keys) -> Keys:
    """Return the outputs of SplitMix64 with this state at these places, from 0."""
    return _mix(state + (places + np.uint64(1)) * _GOLDEN)


def _mix(keys: Keys) -> Keys:
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
