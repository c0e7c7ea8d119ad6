"""Cancelling a search from another thread: its deadline has passed, or its client has gone.

The cancellation is a context variable, not an argument: between the service, which knows the
deadline, and the kernel, which must end, stand generators that need not know of either.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np


class SearchCancelledError(Exception):
    """The search was cancelled; it has no result."""


class Cancellation:
    """A flag that the searches of a block look at, often enough to end within milliseconds.

    >>> cancellation = Cancellation()
    >>> cancellation.set()
    >>> with cancelled_by(cancellation):
    ...     check_cancellation()
    Traceback (most recent call last):
    ...
    candgen.index.cancellation.SearchCancelledError: the search was cancelled
    """

    def __init__(self) -> None:
        self.flag = np.zeros(1, np.uint8)
        """What kernels read: 1 from the moment it is set."""

    def set(self) -> None:
        """Cancel all searches that run under it, and those that begin later."""
        self.flag[0] = 1

    def check(self) -> None:
        """Raise SearchCancelledError if it is set."""
        if self.flag[0]:
            raise SearchCancelledError("the search was cancelled")


_NEVER = Cancellation()
_current: ContextVar[Cancellation] = ContextVar("cancellation", default=_NEVER)


@contextmanager
def cancelled_by(cancellation: Cancellation) -> Iterator[None]:
    """Run a block whose searches end with SearchCancelledError once the cancellation is set."""
    token = _current.set(cancellation)
    try:
        yield
    finally:
        _current.reset(token)


def current_cancellation() -> Cancellation:
    """Return the cancellation of the current block; outside of any, one that is never set."""
    return _current.get()


def check_cancellation() -> None:
    """Raise SearchCancelledError if the current block is cancelled."""
    _current.get().check()
