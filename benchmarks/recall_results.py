"""The measured results, one JSON file for each case, setting and method."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from folders import RESULTS

from candgen.storage.atomic import atomic_write

FOLDER = RESULTS / "recall"


@dataclass(frozen=True)
class Cell:
    """The ranks of the gold entities of all test queries, 0 beyond 30, and the costs.

    ``seconds`` is CPU time for tuning on dev, building, and one query. ``queries`` is the digest of
    the queries, ``first`` has the first candidate of each. ``note`` says how a cell differs from
    the others, ``more`` has the ceiling in percent where it is known.
    """

    case: str
    setting: str
    method: str
    queries: str
    ranks: list[int]
    parameters: dict[str, Any]
    pivots: list[str]
    seconds: dict[str, float]
    bytes: int
    source: str
    note: str = ""
    first: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The file of this cell."""
        return path_of(self.case, self.setting, self.method)

    def write(self) -> None:
        """Write the file of this cell."""
        write_json(self.path, asdict(self))


def path_of(case: str, setting: str, what: str) -> Path:
    """Return the file for something about a case in a setting."""
    return FOLDER / f"{case}.{setting}.{what}.json"


def write_json(path: Path, content: object) -> None:
    """Write atomically, since another run may be reading."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, ensure_ascii=False)
    with atomic_write(path) as file:
        file.write(text.encode() + b"\n")


def read_json(path: Path) -> Any:  # noqa: ANN401
    """Return the content of a file, or None if there is no such file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def cells(case: str, setting: str, methods: tuple[str, ...]) -> Iterator[Cell]:
    """Yield the existing cells, in the order of the methods."""
    for method in methods:
        if (found := read_json(path_of(case, setting, method))) is not None:
            yield Cell(**found)
