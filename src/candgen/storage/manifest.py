"""The manifest of a stored generator: what its files are, with checksums, as JSON.

It has one way to be written, and carries a checksum of itself, so that any change is noticed.
"""

import hashlib
import io
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from candgen.errors import StorageError

FORMAT = "candgen"
FORMAT_VERSION = 2
READABLE = (1, 2)
"""Versions that can be read; the first had one layer of counts, and did not say so."""
DTYPES = {"|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8))}
NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")

_FIELDS = {"candgen_version", "files", "format", "format_version", "inputs", "kind", "parameters"}
LONGEST_NAME = 200  # a file name may have 255 bytes, of which the hash takes 21


@dataclass(frozen=True)
class File:
    """One array of a stored generator, as the manifest has it."""

    name: str
    size: int
    sha256: str
    dtype: str
    shape: tuple[int, ...]

    def entry(self) -> dict[str, Any]:
        """How the manifest has it."""
        return {
            "file": self.name,
            "bytes": self.size,
            "sha256": self.sha256,
            "dtype": self.dtype,
            "shape": list(self.shape),
        }


@dataclass(frozen=True)
class Manifest:
    """What a manifest says, checked."""

    kind: str
    parameters: dict[str, Any]
    inputs: dict[str, Any]
    version: str
    files: dict[str, File]
    format_version: int


def render(content: Mapping[str, Any]) -> bytes:
    """The one way to write this content, with its own checksum in it."""
    compact = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    checksum = hashlib.sha256(compact.encode("ascii")).hexdigest()
    whole = {**content, "checksum": checksum}
    return (json.dumps(whole, sort_keys=True, indent=2, allow_nan=False) + "\n").encode("ascii")


def read_manifest(path: Path, file: io.BufferedReader) -> Manifest:
    """The manifest in a file; whatever is wrong with it is one sentence that names the path."""
    try:
        content = _parse(path, file.read())
    except StorageError:
        raise
    except OSError as error:
        raise refusal(path, "could not be read", error) from error
    try:
        files = {name: _file_entry(name, entry) for name, entry in content["files"].items()}
        kind, version = content["kind"], content["candgen_version"]
        parameters, inputs = content["parameters"], content["inputs"]
        _require(isinstance(kind, str), isinstance(version, str))
        _require(isinstance(parameters, dict), isinstance(inputs, dict))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise StorageError(f"{path} is damaged: build the index again") from None
    return Manifest(kind, parameters, inputs, version, files, content["format_version"])


def _parse(path: Path, text: bytes) -> dict[str, Any]:
    """The content of a manifest, sure to be ours, readable by us, and as it was written."""
    damaged = StorageError(f"{path} is damaged: build the index again")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise damaged from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StorageError(f"{path} is not the manifest of a candgen index")
    version = content.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise StorageError(
            f"{path} was written by a newer candgen (format {version}, this one reads "
            f"up to {FORMAT_VERSION}): upgrade candgen, or build the index again"
        )
    content.pop("checksum", None)
    try:
        # Comparing the whole text finds a changed checksum, white space and doubled keys as well.
        intact = render(content) == text
    except (ValueError, RecursionError):
        raise damaged from None
    if not intact or version not in READABLE or set(content) != _FIELDS:
        raise damaged
    return content


def _file_entry(name: str, entry: dict[str, Any]) -> File:
    _require(set(entry) == {"file", "bytes", "sha256", "dtype", "shape"})
    _require(is_array_name(name))
    digest, dtype, shape, size = entry["sha256"], entry["dtype"], entry["shape"], entry["bytes"]
    _require(re.fullmatch("[0-9a-f]{64}", digest) is not None)
    _require(entry["file"] == file_name(name, digest))  # so it cannot lead out of the folder
    _require(dtype in DTYPES and isinstance(shape, list) and len(shape) <= 32)
    _require(all(type(n) is int and n >= 0 for n in shape))
    _require(math.prod(max(n, 1) for n in shape) < 1 << 59)  # NumPy's limit, also of empty arrays
    begins = len(header(dtype, tuple(shape)))
    _require(type(size) is int and size == begins + math.prod(shape) * np.dtype(dtype).itemsize)
    return File(entry["file"], size, digest, dtype, tuple(shape))


def _require(*conditions: bool) -> None:
    if not all(conditions):
        raise ValueError


def is_array_name(name: str) -> bool:
    """Whether an array may be called so: it becomes a part of a file name."""
    return len(name) <= LONGEST_NAME and NAME.fullmatch(name) is not None


def file_name(name: str, digest: str) -> str:
    """The file of an array with this content."""
    return f"{name}.{digest[:16]}.npy"


def header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """What a .npy file of version 1.0 begins with.

    Written here because NumPy pads it differently from version to version, and so that a reader
    compares bytes instead of evaluating the literal in it.
    """
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii")


def refusal(path: Path, action: str, error: OSError, state: str = "") -> StorageError:
    """What the system would not do with a path, in one sentence."""
    ending = f"; {state}" if state else ""
    return StorageError(f"{path} {action}: {error.strerror or error}{ending}")
