"""Kernels compile also where compiled code cannot be kept."""

import numba as nb

from candgen import kernels


def test_nothing_can_be_written(monkeypatch):
    real = nb.njit

    def njit(*args, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(nb, "njit", njit)

    @kernels.kernel
    def double(number):
        return 2 * number

    assert double(21) == 42
