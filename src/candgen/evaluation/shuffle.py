"""Random order that is the same for ever: no library's generator, only SplitMix64.

Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
"""

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def shuffle_keys(numbers: Integers, seed: int, stream: int) -> Keys:
    """A key for each number: sorting by keys puts numbers in random order.

    Keys of different numbers are different, as every step can be undone. Each seed and stream
    has its own order, and the key of a number does not depend on the others.
    """
    state = _mixed(_mixed(np.array([seed], np.uint64)) + np.array([stream], np.uint64))
    return splitmix(state, numbers.astype(np.uint64))


def splitmix(state: Keys, places: Keys) -> Keys:
    """The outputs at these places, from 0, of SplitMix64 with this state."""
    return _mixed(state + (places + np.uint64(1)) * _GOLDEN)


def _mixed(keys: Keys) -> Keys:
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
