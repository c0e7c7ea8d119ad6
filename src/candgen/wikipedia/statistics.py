"""What was seen in a dump, counted: tallies of its parts add up to that of the whole."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Self

from candgen.dumps.compressed_streams import DAMAGED, TRUNCATED, Fault

DAMAGED_STREAMS = "damaged streams"
FAULTS = 20
"""So many faults are told in full; all are counted."""


@dataclass
class Tally:
    """What was seen; tallies of parts add up to that of the whole."""

    pages: Counter[str] = field(default_factory=Counter)
    """read, redirects, articles, not wikitext, mended, bad."""
    seen: Counter[str] = field(default_factory=Counter)
    """links, page titles, redirect titles."""
    dropped: Counter[str] = field(default_factory=Counter)
    newest: str = ""
    """The time of the newest revision."""
    truncated: bool = False
    faults: list[Fault] = field(default_factory=list)
    """The first few; ``pages`` counts all."""

    def add(self, other: "Tally") -> None:
        """Add what another one has seen."""
        self.pages.update(other.pages)
        self.seen.update(other.seen)
        self.dropped.update(other.dropped)
        self.newest = max(self.newest, other.newest)
        self.truncated |= other.truncated
        self.faults = (self.faults + other.faults)[:FAULTS]

    def note(self, fault: Fault) -> None:
        """Count something that could not be read."""
        if fault.kind == TRUNCATED:
            self.truncated = True
        else:
            self.pages[DAMAGED_STREAMS if fault.kind == DAMAGED else "bad"] += 1
        if len(self.faults) < FAULTS:
            self.faults.append(fault)

    def to_json(self) -> str:
        """Write it so that `from_json` reads it."""
        return json.dumps(vars(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        found: dict[str, Any] = json.loads(text)
        counters = {name: Counter(found[name]) for name in ("pages", "seen", "dropped")}
        faults = [Fault(*fault) for fault in found["faults"]]
        return cls(**counters, newest=found["newest"], truncated=found["truncated"], faults=faults)
