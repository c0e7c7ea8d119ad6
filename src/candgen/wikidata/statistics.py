"""What was counted in Wikidata's dump."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from candgen.dumps.statistics import Statistics

MAX_LISTED = 10
"""The number of bad lines, and of faults, that are listed: the first of the dump."""


class BadLine(NamedTuple):
    """A line that could not be read."""

    part: int
    line: int
    """From 1, in the part."""
    reason: str
    begins: str


@dataclass
class ItemStatistics(Statistics):
    """What was counted in some parts of a dump."""

    MAX_LISTED: ClassVar[int] = MAX_LISTED
    ENTRIES: ClassVar[Mapping[str, type[tuple[Any, ...]]]] = {"bad": BadLine}

    lines: dict[int, int] = field(default_factory=dict)
    """From the number of a part to its lines."""
    items: int = 0
    kept: int = 0
    invalid: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    bad: list[BadLine] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """Damage of the file; the first few."""
    damaged: int = 0
    """The number of all faults."""
    truncated: bool = False
    opened: int = 0
    closed: int = 0
    newest: str = ""

    def select_listed(self, entries: list[Any]) -> list[Any]:
        """Return the first entries in the order of the dump: parts end in any order."""
        return sorted(entries)[:MAX_LISTED]

    @property
    def is_cut_short(self) -> bool:
        """Whether the end of the dump is missing: of the file, or of the array in it."""
        return self.truncated or self.opened > self.closed

    def bad_lines(self) -> list[dict[str, Any]]:
        """Return the first bad lines, numbered from 1 in the dump; all parts must be here."""
        before = {
            bad.part: sum(n for part, n in self.lines.items() if part < bad.part)
            for bad in self.bad
        }
        return [
            {"line": before[bad.part] + bad.line, "reason": bad.reason, "begins": bad.begins}
            for bad in self.bad
        ]
