"""Checks of parameters: what they return, and what they say of a bad value."""

import math

import numpy as np
import pytest

from candgen.errors import ParameterError, check_flag, check_number, check_whole_number, shown


@pytest.mark.parametrize("value", [1, 7, np.int32(3), np.uint64(2**63)])
def test_whole_numbers(value):
    found = check_whole_number("k", value)
    assert (found, type(found)) == (int(value), int)


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "1", None, np.float64(2), [1]])
def test_what_is_not_a_whole_number(value):
    with pytest.raises(ParameterError) as caught:
        check_whole_number("k", value)
    assert str(caught.value) == f"k is {value!r}: expected a whole number of at least 1"


def test_the_minimum_is_included():
    assert check_whole_number("seed", 0, minimum=0) == 0
    with pytest.raises(ParameterError, match=r"expected a whole number of at least 0$"):
        check_whole_number("seed", -1, minimum=0)
    assert check_number("lam", 0.5, minimum=0.5) == 0.5


@pytest.mark.parametrize("value", [0, 2, 0.5, np.float32(0.25), np.int64(3)])
def test_numbers(value):
    found = check_number("lam", value)
    assert (found, type(found)) == (float(value), float)


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, True, "1", None, 1j, 10**400])
def test_what_is_not_a_number(value):
    with pytest.raises(
        ParameterError, match=r"^lam is .*: expected a finite number of at least 0$"
    ):
        check_number("lam", value)


def test_flags():
    assert check_flag("fill", True) and not check_flag("fill", False)
    for value in (0, 1, None, "yes"):
        with pytest.raises(ParameterError, match=r"expected True or False$"):
            check_flag("fill", value)


def test_long_values_are_cut():
    assert shown("a" * 78) == repr("a" * 78)
    assert len(shown("a" * 79)) == 80 and shown("a" * 79).endswith("...")
    assert shown(10**5000) == "a number of more than 4,300 digits"
