"""Interrupting a search from another thread: its deadline has passed, or its client has gone.

The interruption is a context variable, not an argument: between the service, which knows the
deadline, and the kernel, which must end, stand generators that need not know of either.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np


class SearchInterruptedError(Exception):
    """The search was interrupted; it has no result."""


class Interruption:
    """A flag that the searches of a block look at, often enough to end within milliseconds.

    >>> interruption = Interruption()
    >>> interruption.set()
    >>> with interruptible(interruption):
    ...     check_interruption()
    Traceback (most recent call last):
    ...
    candgen.index.interruption.SearchInterruptedError: the search was interrupted
    """

    def __init__(self) -> None:
        self.flag = np.zeros(1, np.uint8)
        """What kernels read: 1 from the moment it is set."""

    def set(self) -> None:
        """Interrupt all searches that run under it, and those that begin later."""
        self.flag[0] = 1

    def check(self) -> None:
        """Raise SearchInterruptedError if it is set."""
        if self.flag[0]:
            raise SearchInterruptedError("the search was interrupted")


_NEVER = Interruption()
_current: ContextVar[Interruption] = ContextVar("interruption", default=_NEVER)


@contextmanager
def interruptible(interruption: Interruption) -> Iterator[None]:
    """Run a block whose searches end with SearchInterruptedError once the interruption is set."""
    token = _current.set(interruption)
    try:
        yield
    finally:
        _current.reset(token)


def current_interruption() -> Interruption:
    """Return the interruption of the current block; outside of any, one that is never set."""
    return _current.get()


def check_interruption() -> None:
    """Raise SearchInterruptedError if the current block is interrupted."""
    _current.get().check()
