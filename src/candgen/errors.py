"""CandgenError and its subclasses, checks of parameters, and how messages show values.

A message names the value, what was expected, and the way out.
"""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import NamedTuple


class CandgenError(Exception):
    """An error that the caller can fix; its message is one sentence that says how."""


class ParameterError(CandgenError, ValueError):
    """An argument has an invalid value."""


class TableError(CandgenError, ValueError):
    """A table cannot be read, or has an invalid row."""


class StorageError(CandgenError, OSError):
    """A file or folder cannot be written, or an index is missing, damaged or not candgen's."""


class MissingExtraError(CandgenError, ImportError):
    """An optional package that is needed is not installed."""


class Violation(NamedTuple):
    """A rule that a generator breaks, and the values that show it."""

    rule: str
    found: str


class ConformanceError(CandgenError, AssertionError):
    """A generator breaks rules; ``violations`` has all of them."""

    def __init__(self, name: str, violations: Sequence[Violation]) -> None:
        self.violations = tuple(violations)
        listed = "".join(f"\n- {each.rule}: {each.found}" for each in violations)
        times = "once" if len(violations) == 1 else f"{len(violations)} times"
        super().__init__(f"{name} breaks the rules for generators {times}:{listed}")


def shown(value: object) -> str:
    """Return a value as code for an error message, cut if it is long.

    >>> shown("Tórshavn"), shown("a" * 100) == "'" + "a" * 76 + "..."
    ("'Tórshavn'", True)
    """
    try:
        text = repr(value)
    except ValueError:  # Python does not write whole numbers of more than 4,300 digits
        text = "a number of more than 4,300 digits"
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_whole_number(name: str, value: object, *, minimum: int = 1) -> int:
    """Return an integer, NumPy's too, of at least ``minimum``; raise ParameterError otherwise."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise ParameterError(
            f"{name} is {shown(value)}: expected a whole number of at least {minimum}"
        )
    return int(value)


def check_number(name: str, value: object, *, minimum: float = 0.0) -> float:
    """Return a finite number of at least ``minimum``; raise ParameterError otherwise."""
    try:
        number = (
            math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
        )
    except OverflowError:  # a whole number beyond float64
        number = math.inf
    if not minimum <= number < math.inf:
        raise ParameterError(
            f"{name} is {shown(value)}: expected a finite number of at least {minimum:g}"
        )
    return number


def check_flag(name: str, value: object) -> bool:
    """Return True or False; raise ParameterError for anything else."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} is {shown(value)}: expected True or False")
    return value
