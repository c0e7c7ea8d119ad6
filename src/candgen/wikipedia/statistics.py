"""What was counted in a Wikipedia dump."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from candgen.dumps.compressed_streams import DAMAGED, TRUNCATED, Fault
from candgen.dumps.statistics import Statistics

DAMAGED_STREAMS = "damaged streams"


@dataclass
class PageStatistics(Statistics):
    """What was counted in some parts of a dump."""

    MAX_LISTED: ClassVar[int] = 20
    ENTRIES: ClassVar[Mapping[str, type[tuple[Any, ...]]]] = {"faults": Fault}

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

    def count_fault(self, fault: Fault) -> None:
        """Count something that could not be read."""
        if fault.kind == TRUNCATED:
            self.truncated = True
        else:
            self.pages[DAMAGED_STREAMS if fault.kind == DAMAGED else "bad"] += 1
        self.faults = self.select_listed([*self.faults, fault])
