"""Ctrl-C as a KeyboardInterrupt, also when another exception hides it."""

from collections.abc import Iterator
from contextlib import contextmanager

from candgen.cli.output import note


@contextmanager
def interruptible(advice: str = "") -> Iterator[None]:
    """Raise KeyboardInterrupt for Ctrl-C, and print what to do next.

    If Numba is loading a kernel, it raises a SystemError instead, sometimes through another one.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemError) as error:
        if not any(isinstance(each, KeyboardInterrupt) for each in _causes(error)):
            raise
        if advice:
            note(f"candgen: interrupted; {advice}")
        raise KeyboardInterrupt from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, and those that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
