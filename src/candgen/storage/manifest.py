"""The manifest of a stored generator: what its files are, with checksums, as JSON.

Equal content is always written as the same bytes, with a checksum of itself, so that any change to
the file is detected.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from candgen.errors import StorageError
from candgen.storage.array_file import ArrayFile
from candgen.storage.atomic import storage_errors

FORMAT = "candgen"
FORMAT_VERSION = 4
"""Version 2 had other bounds. Only the newest version is read: to build an index again is simpler
than to read two versions."""

_FIELDS = {"candgen_version", "files", "format", "format_version", "inputs", "kind", "parameters"}


@dataclass(frozen=True)
class Manifest:
    """The content of a manifest."""

    kind: str
    parameters: dict[str, Any]
    inputs: dict[str, Any]
    version: str
    files: dict[str, ArrayFile]
    format_version: int = FORMAT_VERSION

    def to_bytes(self) -> bytes:
        """Return the manifest as it is written to the disk."""
        return render(
            {
                "candgen_version": self.version,
                "files": {name: file.to_json() for name, file in self.files.items()},
                "format": FORMAT,
                "format_version": self.format_version,
                "inputs": self.inputs,
                "kind": self.kind,
                "parameters": self.parameters,
            }
        )


def render(content: Mapping[str, Any]) -> bytes:
    """Return JSON, the same bytes for the same content, with a checksum of it added."""
    compact = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    checksum = hashlib.sha256(compact.encode("ascii")).hexdigest()
    whole = {**content, "checksum": checksum}
    return (json.dumps(whole, sort_keys=True, indent=2, allow_nan=False) + "\n").encode("ascii")


def read_manifest(path: Path, file: io.BufferedReader) -> Manifest:
    """Return the manifest in an open file; raise StorageError if it is damaged or foreign."""
    with storage_errors(path, "could not be read"):
        text = file.read()
    content = _parse(path, text)
    kind, version = content["kind"], content["candgen_version"]
    parameters, inputs = content["parameters"], content["inputs"]
    try:
        files = {name: ArrayFile.from_json(name, e) for name, e in content["files"].items()}
        valid = isinstance(kind, str) and isinstance(version, str)
    except (ValueError, TypeError, KeyError, AttributeError):
        valid = False
    if not (valid and isinstance(parameters, dict) and isinstance(inputs, dict)):
        raise _damaged(path)
    return Manifest(kind, parameters, inputs, version, files, content["format_version"])


def _damaged(path: Path) -> StorageError:
    return StorageError(f"{path} is damaged: build the index again")


def _parse(path: Path, text: bytes) -> dict[str, Any]:
    """Return the content of a manifest of candgen, of a readable version, as it was written."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise _damaged(path) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StorageError(f"{path} is not the manifest of a candgen index")
    version = content.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise StorageError(
            f"{path} was written by a newer candgen (format {version}, this one reads "
            f"{FORMAT_VERSION}): upgrade candgen, or build the index again"
        )
    if isinstance(version, int) and 0 < version < FORMAT_VERSION:
        raise StorageError(
            f"{path} was written by an older candgen (format {version}, this one reads "
            f"{FORMAT_VERSION}): build the index again"
        )
    content.pop("checksum", None)
    try:
        # Comparing the whole text finds a changed checksum, white space and doubled keys as well.
        intact = render(content) == text
    except (ValueError, RecursionError):
        intact = False
    if not intact or version != FORMAT_VERSION or set(content) != _FIELDS:
        raise _damaged(path)
    return content
