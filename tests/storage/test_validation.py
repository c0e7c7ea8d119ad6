"""Each check refuses what is just beyond its limits, and accepts what is just within."""

import numpy as np
import pytest

from candgen.storage import validation

NAN = float("nan")


@pytest.mark.parametrize(
    ("array", "fits"),
    [
        (np.zeros((2, 3), np.uint32), True),
        (np.zeros((0, 3), np.uint32), True),
        (np.zeros((2, 3), np.int64), False),
        (np.zeros((2, 4), np.uint32), False),
        (np.zeros((2, 3, 1), np.uint32), False),
        (np.zeros((), np.uint32), False),
    ],
)
def test_type_and_shape(array, fits):
    if fits:
        validation.check_array("a", array, np.uint32, -1, 3)
    else:
        with pytest.raises(ValueError, match="the array a"):
            validation.check_array("a", array, np.uint32, -1, 3)


@pytest.mark.parametrize("offsets", [[0, 0, 5], [0, 5, 5], [0, 2, 5]])
def test_offsets(offsets):
    validation.check_offsets("a", np.array(offsets, np.int64), 2, 5)
    validation.check_offsets("a", np.array(offsets, np.uint32), 2, 5)


@pytest.mark.parametrize("offsets", [[0, 6, 5], [1, 2, 5], [0, 2, 4], [0, 5], [0, -1, 5], []])
def test_offsets_that_do_not_rise_to_the_end(offsets):
    with pytest.raises(ValueError, match="the array a"):
        validation.check_offsets("a", np.array(offsets, np.int64), 2, 5)


@pytest.mark.parametrize(("value", "fits"), [(0, True), (7, True), (-1, False), (8, False)])
def test_ranges(value, fits):
    array = np.array([3, value, 4])
    if fits:
        validation.check_range("a", array, 0, 7)
    else:
        with pytest.raises(ValueError, match="outside 0 to 7"):
            validation.check_range("a", array, 0, 7)


def test_an_empty_array_has_every_range():
    validation.check_range("a", np.zeros(0), 1, 0)


@pytest.mark.parametrize("value", [NAN, np.inf, -np.inf, -5e-324])
def test_what_is_not_finite_or_below_zero(value):
    validation.check_finite("a", np.array([0.0, 1e308]))
    with pytest.raises(ValueError, match="the array a"):
        validation.check_finite("a", np.array([0.0, value, 1.0]))


@pytest.mark.parametrize("value", [None, 1, b"a", "\ud800", ["a"]])
def test_texts(value):
    assert validation.check_text("x", "𝔸") == "𝔸"
    assert validation.check_texts("x", ["a", "b"]) == ["a", "b"]
    assert validation.check_mapping("x", {"a": 1}) == {"a": 1}
    for check in (
        lambda: validation.check_text("x", value),
        lambda: validation.check_texts("x", value if value != ["a"] else ["a", "a"]),
        lambda: validation.check_mapping("x", value),
    ):
        with pytest.raises(ValueError, match="x is"):
            check()
