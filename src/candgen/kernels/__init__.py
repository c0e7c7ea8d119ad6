"""Compiled kernels: plain functions of arrays. Nothing here knows what is outside."""

import numba as nb


def kernel(function):
    """Compile a function on first use, without holding the interpreter's lock, and keep the code.

    Numba keeps it beside the source, or in the user's cache where the source is read-only. Where
    neither can be written, every process compiles anew.
    """
    try:
        return nb.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        return nb.njit(nogil=True)(function)
