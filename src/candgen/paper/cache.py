"""Results that are kept, so that a run that was interrupted goes on where it stopped."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from candgen.storage.atomic import write_text

Result = dict[str, Any]


@dataclass(frozen=True)
class Records:
    """A folder of JSON files, one for each thing that was measured.

    A file says what it depends on: the inputs, the parameters, the version. If any of that has
    changed, so has its name, and the result is measured again.
    """

    folder: Path

    def get(
        self, name: str, depends_on: Mapping[str, Any], measure: Callable[[], Result]
    ) -> Result:
        """The result of this name, measured now unless it is there already."""
        described = json.loads(json.dumps(depends_on, sort_keys=True))
        key = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:12]
        path = self.folder / f"{name}-{key}.json"
        kept = _read(path)
        if kept is not None and kept.get("depends_on") == described:
            return kept["result"]  # type: ignore[no-any-return]
        result: Result = json.loads(json.dumps(measure()))
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"name": name, "depends_on": described, "result": result}
        write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        return result


def _read(path: Path) -> dict[str, Any] | None:
    """What a file holds; a missing or damaged one is no result."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) and isinstance(kept.get("result"), dict) else None
