"""What was seen in a dump: counts that add up, whatever the parts and their order."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SHOWN = 10
"""So many bad lines are shown, the first of the dump."""


class BadLine(NamedTuple):
    """A line that could not be read."""

    part: int
    line: int
    """From 1, in the part."""
    reason: str
    begins: str


@dataclass
class Tally:
    """What was seen in some parts of a dump."""

    lines: dict[int, int] = field(default_factory=dict)
    """From the number of a part to its lines."""
    items: int = 0
    kept: int = 0
    illegal: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    bad: list[BadLine] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What of the file is damaged; the first few."""
    damaged: int = 0
    """How many faults there are."""
    truncated: bool = False
    opened: int = 0
    closed: int = 0
    newest: str = ""

    def add(self, other: "Tally") -> None:
        """Add what was seen in other parts."""
        self.lines |= other.lines
        for name in ("items", "kept", "illegal", "damaged", "opened", "closed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.skipped.update(other.skipped)
        self.bad = sorted([*self.bad, *other.bad])[:SHOWN]
        self.faults = sorted([*self.faults, *other.faults])[:SHOWN]
        self.truncated = self.truncated or other.truncated
        self.newest = max(self.newest, other.newest)

    @property
    def cut_short(self) -> bool:
        """Whether the end of the dump is missing: of the file, or of the array in it."""
        return self.truncated or self.opened > self.closed

    def bad_lines(self) -> list[dict[str, Any]]:
        """Give the first bad lines, numbered from 1 in the dump, once all parts are here."""
        before = {
            bad.part: sum(n for part, n in self.lines.items() if part < bad.part)
            for bad in self.bad
        }
        return [
            {"line": before[bad.part] + bad.line, "reason": bad.reason, "begins": bad.begins}
            for bad in self.bad
        ]

    def as_json(self) -> dict[str, Any]:
        """Give what `from_json` takes."""
        return {**vars(self), "lines": sorted(self.lines.items())}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "Tally":
        """Make a tally of what `as_json` gave."""
        made = {
            "lines": dict(found["lines"]),
            "skipped": Counter(found["skipped"]),
            "bad": [BadLine(*each) for each in found["bad"]],
        }
        return cls(**{**found, **made})
