"""Ctrl-C is Ctrl-C, whatever a library made of it."""

import pytest

from candgen.cli.interrupts import interruptible


def broken_by(error):
    """What Numba raises when Ctrl-C, or another error, comes while it loads a kernel."""
    try:
        try:
            raise error
        except BaseException:
            raise ValueError("while a kernel was read") from None
    except ValueError as between:
        raise SystemError("returned a result with an exception set") from between


def test_ctrl_c_behind_other_exceptions():
    with pytest.raises(KeyboardInterrupt), interruptible():
        broken_by(KeyboardInterrupt())


def test_other_errors_stay_what_they_are():
    with pytest.raises(SystemError), interruptible():
        broken_by(OSError())
