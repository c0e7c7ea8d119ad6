"""Ctrl-C, whatever it looks like by the time it arrives."""

from collections.abc import Iterator
from contextlib import contextmanager

from candgen.cli.output import note


@contextmanager
def interruptible(advice: str = "") -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt, and say what to do next.

    Numba makes a SystemError of it if it was just loading a kernel, sometimes by way of another.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemError) as error:
        if not any(isinstance(each, KeyboardInterrupt) for each in _behind(error)):
            raise
        if advice:
            note(f"candgen: interrupted; {advice}")
        raise KeyboardInterrupt from error


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
