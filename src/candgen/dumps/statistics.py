"""Counts of what was read in a dump: those of its parts add up to those of the whole."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self


@dataclass
class Statistics:
    """A base for dataclasses whose fields add up, and go to JSON and back.

    Numbers and counters are summed, of texts the greatest is kept, of flags whether one is set, and
    of lists the first ``MAX_LISTED`` entries.
    """

    MAX_LISTED: ClassVar[int]
    ENTRIES: ClassVar[Mapping[str, type[tuple[Any, ...]]]]
    """For each list, the NamedTuple of its entries."""

    def add(self, other: Self) -> None:
        """Add what was counted in other parts."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            match mine:
                case Counter():
                    mine.update(theirs)
                    continue
                case list():
                    total: object = self.select_listed([*mine, *theirs])
                case str():
                    total = max(mine, theirs)
                case bool() | dict():
                    total = mine | theirs
                case _:
                    total = mine + theirs
            setattr(self, each.name, total)

    def select_listed(self, entries: list[Any]) -> list[Any]:
        """Return the entries of a list that are kept."""
        return entries[: self.MAX_LISTED]

    def to_json(self) -> str:
        """Return text that `from_json` reads."""
        return json.dumps(vars(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what `to_json` was called on."""
        read = cls()
        for name, found in json.loads(text).items():
            value = found
            match getattr(read, name):
                case Counter():
                    value = Counter(found)
                case dict():
                    value = {int(key): number for key, number in found.items()}
                case list() if name in cls.ENTRIES:
                    value = [cls.ENTRIES[name](*entry) for entry in found]
            setattr(read, name, value)
        return read
