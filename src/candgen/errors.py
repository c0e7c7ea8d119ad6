"""What can go wrong because of what the user gave us; each message says the way out."""

from collections.abc import Sequence
from typing import NamedTuple


class CandgenError(Exception):
    """Any mistake that the caller can mend. Its text is one sentence for a person."""


class ParameterError(CandgenError, ValueError):
    """An argument has a value that makes no sense."""


class TableError(CandgenError, ValueError):
    """A mention table cannot be read, or holds something that it may not."""


class StorageError(CandgenError, OSError):
    """An index folder is missing, damaged, foreign, or cannot be written."""


class MissingExtraError(CandgenError, ImportError):
    """An optional package is needed for this and is not installed."""


class Violation(NamedTuple):
    """A rule that was broken, and by which values."""

    rule: str
    found: str


class ConformanceError(CandgenError, AssertionError):
    """A generator breaks rules; ``violations`` has all of them."""

    def __init__(self, name: str, violations: Sequence[Violation]) -> None:
        self.violations = tuple(violations)
        listed = "".join(f"\n- {each.rule}: {each.found}" for each in violations)
        times = "once" if len(violations) == 1 else f"{len(violations)} times"
        super().__init__(f"{name} breaks the rules for generators {times}:{listed}")
