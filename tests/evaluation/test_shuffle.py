"""Deterministic random order."""

import numpy as np

from candgen.evaluation.shuffle import splitmix


def test_random_numbers_are_those_of_splitmix64():
    """The values that published implementations give for the state 1234567."""
    found = splitmix(np.array([1234567], np.uint64), np.arange(3, dtype=np.uint64))
    assert found.tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]
