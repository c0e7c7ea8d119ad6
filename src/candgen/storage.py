"""The folder in which every generator is saved: arrays, a manifest, checksums, atomic replacement.

``fo.candgen/`` holds ``manifest.json`` and one ``.npy`` file an array, named after its content::

    manifest.json                               format, kind, parameters, inputs, checksums
    postings.keys.3f2a90c41be07d55.npy          <array name>.<first 16 hex of its SHA-256>.npy

A save writes and syncs the arrays beside those that are there, then replaces the manifest by a
rename, then deletes what the manifest does not name. At every moment, also after a power cut, the
manifest names a complete index. No time stamps: the same content gives byte-identical folders.
Nothing that is read here is ever executed: the arrays are plain numbers, the manifest is JSON.
"""

import contextlib
import errno
import hashlib
import importlib.metadata
import io
import itertools
import json
import math
import mmap
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.errors import StorageError

if sys.platform != "win32":
    import fcntl

FORMAT = "candgen"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
SMALL = 16 << 20  # an index of at most so many bytes is hashed in full whenever it is loaded

_FIELDS = {"candgen_version", "files", "format", "format_version", "inputs", "kind", "parameters"}
_DTYPES = {"|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8))}
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_LONGEST_NAME = 200  # a file name may have 255 bytes, of which the hash takes 21
_ARRAY_FILE = re.compile(_NAME.pattern + r"\.[0-9a-f]{16}\.npy")
_TEMPORARY = "unfinished.candgen-tmp"
_LOCK = ".candgen-lock"
_CHUNK = 4 << 20
_TRIES = 100
_UNCHANGED = "the index that was there is unchanged"


@dataclass(frozen=True)
class Stored:
    """What `load` found in a folder."""

    kind: str
    """Which generator this is, by its name in the registry."""
    parameters: dict[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    """Read-only and memory-mapped: a page is read from the disk when it is touched."""
    inputs: dict[str, Any]
    """What it was built from, with hashes."""
    path: Path
    sizes: dict[str, int]
    """Bytes on the disk, by array name."""
    version: str
    """Of the candgen that wrote it."""


def save(
    path: str | os.PathLike[str],
    *,
    kind: str,
    parameters: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    inputs: Mapping[str, Any] | None = None,
) -> None:
    """Writes an index into the folder `path`, replacing the one that is there, or nothing at all.

    Array names are dotted lower-case identifiers such as ``first.postings.keys``; arrays hold
    booleans, integers or floats of any shape. Parameters and inputs are JSON values, and the order
    of their keys is not kept. A failed or interrupted save leaves the old index as it was; files in
    the folder that are not candgen's are left alone. Raises StorageError.
    """
    folder = Path(path)
    content = {
        "candgen_version": _candgen_version(),
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "inputs": _json_value(folder, "inputs", dict(inputs or {})),
        "kind": kind,
        "parameters": _json_value(folder, "parameters", dict(parameters)),
    }
    ready = {name: _storable(folder, name, array) for name, array in arrays.items()}
    refuse_foreign(folder)
    try:
        is_new = _make_folder(folder)
        try:
            with _only_saver(folder):
                _replace(folder, content, ready)
        except BaseException:
            if is_new:
                with contextlib.suppress(OSError):  # not empty: it was finished, or somebody's
                    folder.rmdir()
            raise
    except StorageError:
        raise
    except OSError as error:
        state = _UNCHANGED if (folder / MANIFEST).exists() else ""
        raise _refusal(folder, "could not be written", error, state) from error


def load(path: str | os.PathLike[str], *, verify: bool = False) -> Stored:
    """Opens the index in the folder `path`; its arrays are memory-mapped, not read.

    The manifest, and the size and header of every file, are checked at once. The content is
    hashed too if the whole index has at most 16 MiB (10 ms), or with `verify`. Raises StorageError
    naming the file that is missing, damaged or foreign. A save may replace the index meanwhile.
    """
    manifest, arrays = _open_index(Path(path), verify=verify)
    return Stored(
        kind=manifest.kind,
        parameters=manifest.parameters,
        arrays=arrays,
        inputs=manifest.inputs,
        path=Path(path),
        sizes={name: file.size for name, file in manifest.files.items()},
        version=manifest.version,
    )


def verify(path: str | os.PathLike[str]) -> list[str]:
    """Hashes every file of the index; their names, or a StorageError naming the first bad one."""
    manifest, _ = _open_index(Path(path), verify=True)
    return [MANIFEST, *(file.name for file in manifest.files.values())]


def prefixed(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The same arrays, named ``prefix.name``: how one thing is stored inside another.

    >>> sorted(prefixed("first", {"keys": np.zeros(2), "counts": np.zeros(2)}))
    ['first.counts', 'first.keys']
    """
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def under(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The arrays named ``prefix.name``, by name: the inverse of `prefixed`."""
    start = f"{prefix}."
    return {name[len(start) :]: arrays[name] for name in arrays if name.startswith(start)}


# ---------------------------------------------------------------- the manifest


@dataclass(frozen=True)
class _File:
    name: str
    size: int
    sha256: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _Manifest:
    kind: str
    parameters: dict[str, Any]
    inputs: dict[str, Any]
    version: str
    files: dict[str, _File]


def _render(content: Mapping[str, Any]) -> bytes:
    """The one way to write this content, with its own checksum in it."""
    compact = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    checksum = hashlib.sha256(compact.encode("ascii")).hexdigest()
    whole = {**content, "checksum": checksum}
    return (json.dumps(whole, sort_keys=True, indent=2, allow_nan=False) + "\n").encode("ascii")


def _read_manifest(path: Path, file: io.BufferedReader) -> _Manifest:
    try:
        content = _parse(path, file.read())
    except StorageError:
        raise
    except OSError as error:
        raise _refusal(path, "could not be read", error) from error
    try:
        files = {name: _file_entry(name, entry) for name, entry in content["files"].items()}
        kind, version = content["kind"], content["candgen_version"]
        parameters, inputs = content["parameters"], content["inputs"]
        _require(isinstance(kind, str), isinstance(version, str))
        _require(isinstance(parameters, dict), isinstance(inputs, dict))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise StorageError(f"{path} is damaged: build the index again") from None
    return _Manifest(kind, parameters, inputs, version, files)


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
            f"{FORMAT_VERSION}): upgrade candgen, or build the index again"
        )
    content.pop("checksum", None)
    try:
        # Comparing the whole text finds a changed checksum, white space and doubled keys as well.
        intact = _render(content) == text
    except (ValueError, RecursionError):
        raise damaged from None
    if not intact or version != FORMAT_VERSION or set(content) != _FIELDS:
        raise damaged
    return content


def _file_entry(name: str, entry: dict[str, Any]) -> _File:
    _require(set(entry) == {"file", "bytes", "sha256", "dtype", "shape"})
    _require(_is_array_name(name))
    digest, dtype, shape, size = entry["sha256"], entry["dtype"], entry["shape"], entry["bytes"]
    _require(re.fullmatch("[0-9a-f]{64}", digest) is not None)
    _require(entry["file"] == _file_name(name, digest))  # so it cannot lead out of the folder
    _require(dtype in _DTYPES and isinstance(shape, list) and len(shape) <= 32)
    _require(all(type(n) is int and n >= 0 for n in shape))
    _require(math.prod(max(n, 1) for n in shape) < 1 << 59)  # NumPy's limit, also of empty arrays
    header = len(_header(dtype, tuple(shape)))
    _require(type(size) is int and size == header + math.prod(shape) * np.dtype(dtype).itemsize)
    return _File(entry["file"], size, digest, dtype, tuple(shape))


def _require(*conditions: bool) -> None:
    if not all(conditions):
        raise ValueError


def _is_array_name(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


def _file_name(name: str, digest: str) -> str:
    return f"{name}.{digest[:16]}.npy"


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """What a .npy file of version 1.0 begins with.

    Written here because NumPy pads it differently from version to version, and so that a reader
    compares bytes instead of evaluating the literal in it.
    """
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii")


# ---------------------------------------------------------------- reading


def _open_index(folder: Path, *, verify: bool) -> tuple[_Manifest, dict[str, npt.NDArray[Any]]]:
    path = folder / MANIFEST
    for _ in range(_TRIES):
        with _open_manifest(folder) as opened:
            manifest = _read_manifest(path, opened)
            in_full = verify or sum(file.size for file in manifest.files.values()) <= SMALL
            try:
                return manifest, {
                    name: _open_array(folder / file.name, file, in_full=in_full)
                    for name, file in manifest.files.items()
                }
            except FileNotFoundError as error:
                # A save deletes files only after it has replaced the manifest. That we hold ours
                # open keeps its inode from being used again, so the comparison cannot be fooled.
                if _is_still_at(path, opened.fileno()):
                    lost = f"{error.filename} is missing: build the index again"
                    raise StorageError(lost) from None
    raise StorageError(f"{folder} is replaced faster than it can be read: try again later")


def _open_manifest(folder: Path) -> io.BufferedReader:
    path = folder / MANIFEST
    try:
        return _open_file(path)
    except FileNotFoundError:
        if not folder.exists():
            raise StorageError(f"{folder} does not exist: build it first") from None
        raise StorageError(
            f"{path} is missing: this is not a candgen index, or its save was interrupted; "
            "build it again"
        ) from None
    except NotADirectoryError:
        raise StorageError(f"{folder} is a file: a candgen index is a folder") from None
    except StorageError:
        raise
    except OSError as error:
        raise _refusal(path, "could not be read", error) from error


def _open_file(path: Path) -> io.BufferedReader:
    """A regular file: a link could lead anywhere, and a pipe would hang the reader."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags))  # noqa: SIM115
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StorageError(f"{path} is a symbolic link: put the file itself there") from None
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise StorageError(f"{path} is not a regular file: build the index again")
    return file


def _is_still_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _open_array(path: Path, expected: _File, *, in_full: bool) -> npt.NDArray[Any]:
    """The array in this file, memory-mapped; FileNotFoundError if there is no such file.

    The mapping outlives the file: when a save deletes it, POSIX keeps the content until the last
    reader lets go. So a reader never sees a mixture of two indexes.
    """
    header = _header(expected.dtype, expected.shape)
    try:
        with _open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size != expected.size:
                raise StorageError(
                    f"{path} is damaged: it has {size} bytes, expected {expected.size}; "
                    "build the index again"
                )
            if file.read(len(header)) != header:
                raise StorageError(f"{path} is damaged in its header: build the index again")
            if in_full:
                file.seek(0)
                if hashlib.file_digest(file, "sha256").hexdigest() != expected.sha256:
                    raise StorageError(f"{path} is damaged: build the index again")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (StorageError, FileNotFoundError):
        raise
    except OSError as error:
        raise _refusal(path, "could not be read", error) from error
    return np.ndarray(expected.shape, expected.dtype, mapped, len(header))


# ---------------------------------------------------------------- writing


def _candgen_version() -> str:
    try:
        return importlib.metadata.version("candgen")
    except importlib.metadata.PackageNotFoundError:
        return "0+unknown"


def _json_value(folder: Path, what: str, value: dict[str, Any]) -> dict[str, Any]:
    """The value, if it reads back as it is: no tuples, no keys but strings, no NaN."""
    try:
        faithful = json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError) as error:
        raise StorageError(f"{folder}: the {what} are not JSON: {error}") from None
    if not faithful:
        raise StorageError(
            f"{folder}: the {what} would not read back the same from JSON "
            f"(use lists, and strings as keys): {value!r}"
        )
    return value


def _storable(folder: Path, name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, little-endian and C-contiguous; a copy only if it was not."""
    if not _is_array_name(name):
        raise StorageError(
            f"{folder}: {name!r} cannot name an array, expected a dotted lower-case identifier "
            f"of at most {_LONGEST_NAME} characters such as 'postings.keys'"
        )
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in _DTYPES:
        raise StorageError(
            f"{folder}: array {name} has dtype {array.dtype}, "
            "expected booleans, integers or floats of at most 8 bytes"
        )
    return np.asarray(array, dtype=dtype, order="C")


def refuse_foreign(folder: Path) -> None:
    """Says no to a path at which something else than an index would be overwritten."""
    try:
        names = _names(folder)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise StorageError(
            f"{folder} is a file, and an index is a folder: remove it, or choose another path"
        ) from None
    except OSError as error:
        raise _refusal(folder, "could not be read", error) from error
    if not names or _says_candgen(folder / MANIFEST):
        return
    # A first save that was killed, or an index whose manifest is damaged: nothing but our files.
    others = [name for name in names if name != MANIFEST]
    if others and all(_is_ours(name) for name in others):
        return
    raise StorageError(
        f"{folder} is not empty and not a candgen index: remove it, or choose another path"
    )


def _says_candgen(manifest: Path) -> bool:
    try:
        with _open_file(manifest) as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


def _names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def _is_ours(name: str) -> bool:
    return name in (_LOCK, _TEMPORARY) or _ARRAY_FILE.fullmatch(name) is not None


def _make_folder(folder: Path) -> bool:
    """Makes the folder if it is not there; whether it was made."""
    if not folder.parent.is_dir():
        raise StorageError(
            f"{folder} could not be written: there is no folder {folder.parent}, make it first"
        )
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    with contextlib.suppress(OSError):  # a parent that we may write into but not read
        _sync_folder(folder.parent)
    return True


@contextlib.contextmanager
def _only_saver(folder: Path) -> Iterator[None]:
    """Holds the lock of the folder: two savers would delete each other's files.

    The system lets go of the lock when the process dies, however it dies; the lock file that then
    stays behind locks nothing. It is a file, not the folder itself, because NFS locks only what is
    open for writing.
    """
    path = folder / _LOCK
    descriptor = _locked(path, folder)
    while not _is_still_at(path, descriptor):
        # The saver before us deleted its lock file after we had opened it.
        os.close(descriptor)
        descriptor = _locked(path, folder)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _locked(path: Path, folder: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise StorageError(
                f"{folder} is being written by another process: wait until it has finished"
            ) from None
        except OSError:
            pass  # a file system without locks
    return descriptor


def _replace(
    folder: Path, content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    """The save itself, under the lock."""
    before = _names(folder)
    text = b""
    try:
        (folder / _TEMPORARY).unlink(missing_ok=True)  # of a save that was killed
        files = {name: _write_array(folder, name, array) for name, array in arrays.items()}
        _sync_folder(folder)
        text = _render({**content, "files": files})
        _write_temporary(folder, [text])
        (folder / _TEMPORARY).replace(folder / MANIFEST)
        _sync_folder(folder)
    except BaseException as error:
        state = _undo(folder, before, text)
        if isinstance(error, OSError):
            raise _refusal(folder, "could not be written", error, state) from error
        raise
    _sweep(folder, keep={entry["file"] for entry in files.values()})


def _write_array(folder: Path, name: str, array: npt.NDArray[Any]) -> dict[str, Any]:
    """Writes one array to its place; what the manifest says about it."""
    header = _header(array.dtype.str, array.shape)
    raw = array.reshape(-1).view(np.uint8)
    chunks = (raw[at : at + _CHUNK].data for at in range(0, len(raw), _CHUNK))
    digest = _write_temporary(folder, itertools.chain([header], chunks))
    file = _file_name(name, digest)
    # Also over a file of that name: what is in it may be damaged.
    (folder / _TEMPORARY).replace(folder / file)
    return {
        "file": file,
        "bytes": len(header) + len(raw),
        "sha256": digest,
        "dtype": array.dtype.str,
        "shape": list(array.shape),
    }


def _write_temporary(folder: Path, chunks: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    with (folder / _TEMPORARY).open("xb") as file:
        for chunk in chunks:
            file.write(chunk)
            digest.update(chunk)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    """Makes the renames in it survive a power cut."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that cannot
            raise
    finally:
        os.close(descriptor)


def _undo(folder: Path, before: set[str], text: bytes) -> str:
    """Deletes what a failed save wrote; what has become of the index, for the message."""
    try:
        now = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        now = None
    except OSError:
        return "the state of the index is not known: verify it"
    # The interruption may have come right after the rename: only the disk knows.
    if now is not None and now == text:
        return "the new index is in place, but a power cut may lose it: save it again"
    _sweep(folder, keep=before)
    return "nothing was left behind" if now is None else _UNCHANGED


def _sweep(folder: Path, *, keep: set[str]) -> None:
    """Deletes the files of ours that are not to be kept, as far as it can."""
    with contextlib.suppress(OSError):
        for name in _names(folder):
            if name == _TEMPORARY or (_ARRAY_FILE.fullmatch(name) and name not in keep):
                with contextlib.suppress(OSError):
                    (folder / name).unlink()


def _refusal(path: Path, action: str, error: OSError, state: str = "") -> StorageError:
    ending = f"; {state}" if state else ""
    return StorageError(f"{path} {action}: {error.strerror or error}{ending}")
