"""Compiled kernels: plain functions of arrays. Nothing here knows what is outside.

Numba is imported with the first kernel, so that the command line can listen without waiting for it.
"""

import contextlib
from collections.abc import Callable

compile_listeners: list[Callable[[str], None]] = []
"""Called with the name of a kernel before it is compiled, which takes up to some seconds."""


def tell_compiling(name: str) -> None:
    """Call the listeners with the name of a kernel that is compiled here or in a worker process."""
    for listener in compile_listeners.copy():  # one may remove itself
        listener(name)


def kernel(function):
    """Compile a function on first use, without holding the interpreter's lock, and keep the code.

    It is kept in a folder of ``kernel_cache``. Where none can be written, every process compiles.
    """
    return _compile_on_first_use(function)


def inner_kernel(function):
    """Compile a kernel that allocates nothing, and that only other kernels call.

    Numba counts references to arrays, also to those of a tuple, at every call: a tuple of twenty
    arrays costs as much as scoring a block. Without its runtime, a function counts none.
    """
    return _compile_on_first_use(function, _nrt=False)


def _compile_on_first_use(function, **options):
    import numba  # noqa: PLC0415

    compiled = numba.njit(nogil=True, **options)(function)
    if numba.config.DISABLE_JIT:
        return compiled
    try:
        from candgen.kernels.kernel_cache import KernelCache  # noqa: PLC0415
    except ImportError:  # another version of Numba, with other internals: its own cache
        with contextlib.suppress(RuntimeError):  # it has no folder that can be written
            compiled.enable_caching()
        return compiled
    compiled._cache = KernelCache(function)  # noqa: SLF001
    return compiled
