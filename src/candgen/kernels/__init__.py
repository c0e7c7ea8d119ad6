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


def inner_kernel(function):
    """Compile a kernel that allocates nothing, and that only other kernels call.

    Numba counts references to arrays, also to those of a tuple, at every call: a tuple of twenty
    arrays costs as much as scoring a block. Without its runtime, a function counts none.
    """
    return nb.njit(nogil=True, cache=True, _nrt=False)(function)
