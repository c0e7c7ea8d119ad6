"""Results kept in files, so that a run that was interrupted continues where it stopped."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from candgen.storage.atomic import write_text

Result = dict[str, Any]


@dataclass(frozen=True)
class ResultCache:
    """A folder of JSON files, one for each measurement.

    A file states what its result depends on: inputs, parameters, version. If any of that changes,
    the name of the file changes too, and the result is measured again.
    """

    folder: Path

    def get(
        self, name: str, depends_on: Mapping[str, Any], measure: Callable[[], Result]
    ) -> Result:
        """Return the result of this name; measure it if it is not in the cache."""
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
    """Return the content of a file, None if it is missing or damaged."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) and isinstance(kept.get("result"), dict) else None
