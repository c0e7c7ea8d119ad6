"""The folder in which every generator is saved: arrays, a manifest, checksums, atomic replacement.

``fo.candgen/`` holds ``manifest.json`` and one ``.npy`` file for each array, named after its
content::

    manifest.json                               format, kind, parameters, inputs, checksums
    postings.keys.3f2a90c41be07d55.npy          <array name>.<first 16 hex of its SHA-256>.npy

A save writes and syncs the new arrays beside the old ones, then replaces the manifest by a rename,
then deletes the files that the manifest does not name. At every moment, also after a power cut, the
manifest names a complete index. No time stamps: the same content gives byte-identical folders.
Nothing that is read here is ever executed: the arrays are plain numbers, the manifest is JSON.

A load compares every checksum, unless the record of verified indexes has these very files.
"""

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt

from candgen.errors import StorageError
from candgen.storage.array_file import (
    ArrayFile,
    check_array_file,
    check_sha256,
    is_array_file_name,
    map_array,
    open_regular_file,
    to_storable,
)
from candgen.storage.atomic import (
    is_still_at,
    lock_file,
    storage_error,
    storage_errors,
    sync_folder,
)
from candgen.storage.index_replacement import (
    MANIFEST,
    TEMPORARY,
    UNCHANGED,
    Arrays,
    names_in,
    replace_index,
)
from candgen.storage.manifest import FORMAT, Manifest, read_manifest
from candgen.storage.verification_record import fingerprint, is_recorded, record
from candgen.storage.versions import version

_LOCK = ".candgen-lock"
_MAX_ATTEMPTS = 100
_HASHING_THREADS = 2


@dataclass(frozen=True)
class StoredIndex:
    """An index that was loaded from its folder."""

    kind: str
    """The name of the generator in the registry."""
    parameters: dict[str, Any]
    arrays: Arrays
    """Read-only and memory-mapped: a page is read from the disk when it is used."""
    inputs: dict[str, Any]
    """The tables that it was built from, with hashes."""
    path: Path
    sizes: dict[str, int]
    """Bytes on the disk, by array name."""
    version: str
    """The version of candgen that wrote it."""
    format_version: int
    fingerprint: str
    """What the record of verified indexes knows it by."""
    is_verified: bool
    """Whether it was verified before: only then may its arrays be used without further checks."""


class Contents(NamedTuple):
    """Everything that a generator stores: what `save` takes, and `load` returns."""

    kind: str
    parameters: Mapping[str, Any]
    arrays: Arrays
    inputs: Mapping[str, Any]


def save(
    path: str | os.PathLike[str],
    *,
    kind: str,
    parameters: Mapping[str, Any],
    arrays: Arrays,
    inputs: Mapping[str, Any] | None = None,
) -> None:
    """Write an index into the folder `path`, replacing the one that is there, or nothing at all.

    Array names are dotted lower-case identifiers such as ``first.postings.keys``; arrays hold
    booleans, integers or floats of any shape. Parameters and inputs are JSON values, and the order
    of their keys is not kept. A failed or interrupted save leaves the old index as it was; other
    files in the folder are not touched. Raises StorageError.
    """
    folder = Path(path)
    checked = (
        _check_json(folder, "parameters", dict(parameters)),
        _check_json(folder, "inputs", dict(inputs or {})),
    )
    manifest = Manifest(kind, *checked, version(), files={})
    ready = {name: to_storable(folder, name, array) for name, array in arrays.items()}
    check_is_index_or_empty(folder)
    state = UNCHANGED if (folder / MANIFEST).exists() else ""
    with storage_errors(folder, "could not be written", state):
        is_new = _make_folder(folder)
        try:
            with _locked(folder):
                files = replace_index(folder, manifest, ready)
                _record(folder, files)
        except BaseException:
            if is_new:
                with contextlib.suppress(OSError):  # not empty: the save was complete, or others'
                    folder.rmdir()
            raise


def amend(path: str | os.PathLike[str], prefix: str, arrays: Arrays) -> None:
    """Add arrays, named ``prefix.name``, to the index in the folder `path`, or nothing at all.

    Arrays that were there under this prefix are replaced; all others stay, and are not read. A save
    of another index to the same path drops the added ones. Raises StorageError.
    """
    folder = Path(path)
    named = add_prefix(prefix, arrays)
    ready = {name: to_storable(folder, name, array) for name, array in named.items()}
    _open_manifest(folder).close()  # raises StorageError before anything is written
    with storage_errors(folder, "could not be written", UNCHANGED), _locked(folder):
        with _open_manifest(folder) as opened:
            manifest = read_manifest(folder / MANIFEST, opened)
        was_verified = is_recorded(_fingerprint(folder, manifest.files))
        kept = {n: file for n, file in manifest.files.items() if not n.startswith(f"{prefix}.")}
        files = replace_index(folder, replace(manifest, files=kept), ready)
        if was_verified:
            _record(folder, files)


def load(
    path: str | os.PathLike[str],
    *,
    verify: bool = False,
    on_progress: Callable[[float], None] = lambda _: None,
) -> StoredIndex:
    """Open the index in the folder `path`; its arrays are memory-mapped.

    The manifest, and the size and header of every file, are checked at once. The content is
    compared with its checksums too, unless this index was verified before and its files have not
    changed since; ``verify`` compares them in any case. ``on_progress`` is called with the fraction
    that was read. Raises StorageError naming the file that is missing, damaged or of another
    program. A save may replace the index meanwhile.
    """
    folder = Path(path)
    manifest_path = folder / MANIFEST
    for _ in range(_MAX_ATTEMPTS):
        with contextlib.ExitStack() as stack:
            opened = stack.enter_context(_open_manifest(folder))
            manifest = read_manifest(manifest_path, opened)
            try:
                files = {
                    name: stack.enter_context(open_regular_file(folder / file.name))
                    for name, file in manifest.files.items()
                }
            except FileNotFoundError as error:
                # A save deletes files only after it has replaced the manifest. Ours is still open,
                # so its inode cannot be used again, and the comparison cannot be wrong.
                if is_still_at(manifest_path, opened.fileno()):
                    lost = f"{error.filename} is missing: build the index again"
                    raise StorageError(lost) from None
                continue
            every = {MANIFEST: opened, **files}
            found = fingerprint({name: os.fstat(file.fileno()) for name, file in every.items()})
            is_verified = is_recorded(found) and not verify
            arrays = _map_arrays(folder, manifest, files, on_progress, hashed=not is_verified)
            return StoredIndex(
                kind=manifest.kind,
                parameters=manifest.parameters,
                arrays=arrays,
                inputs=manifest.inputs,
                path=folder,
                sizes={name: file.size for name, file in manifest.files.items()},
                version=manifest.version,
                format_version=manifest.format_version,
                fingerprint=found,
                is_verified=is_verified,
            )
    raise StorageError(f"{folder} is replaced faster than it can be read: try again later")


def add_prefix(prefix: str, arrays: Arrays) -> dict[str, npt.NDArray[Any]]:
    """Return the same arrays, named ``prefix.name``, to store them inside something else.

    >>> import numpy as np
    >>> sorted(add_prefix("first", {"keys": np.zeros(2), "counts": np.zeros(2)}))
    ['first.counts', 'first.keys']
    """
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def strip_prefix(prefix: str, arrays: Arrays) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays named ``prefix.name``, by name: the inverse of `add_prefix`."""
    start = f"{prefix}."
    return {name[len(start) :]: arrays[name] for name in arrays if name.startswith(start)}


def check_is_index_or_empty(folder: Path) -> None:
    """Raise StorageError if the folder holds anything but a candgen index."""
    try:
        names = names_in(folder)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise StorageError(
            f"{folder} is a file, and an index is a folder: remove it, or choose another path"
        ) from None
    except OSError as error:
        raise storage_error(folder, "could not be read", error) from error
    if not names or _is_index_manifest(folder / MANIFEST):
        return
    # A first save that was killed, or an index whose manifest is damaged: only candgen's files.
    others = names - {MANIFEST}
    if others and all(name in (_LOCK, TEMPORARY) or is_array_file_name(name) for name in others):
        return
    raise StorageError(
        f"{folder} is not empty and not a candgen index: remove it, or choose another path"
    )


def _is_index_manifest(manifest: Path) -> bool:
    try:
        with open_regular_file(manifest) as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


# ---------------------------------------------------------------- reading


def _map_arrays(
    folder: Path,
    manifest: Manifest,
    files: Mapping[str, io.BufferedReader],
    on_progress: Callable[[float], None],
    *,
    hashed: bool,
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays in open files, after comparing sizes, headers and, if asked, checksums."""
    expected = manifest.files
    for name, file in files.items():
        check_array_file(folder / expected[name].name, file, expected[name])
    if hashed:
        largest_first = sorted(files, key=lambda name: -expected[name].size)
        total, done = sum(file.size for file in expected.values()), 0
        with ThreadPoolExecutor(_HASHING_THREADS) as pool:
            checks = pool.map(
                lambda name: check_sha256(
                    folder / expected[name].name, files[name], expected[name]
                ),
                largest_first,
            )
            for name, _ in zip(largest_first, checks, strict=True):
                done += expected[name].size
                on_progress(done / total)
    return {
        name: map_array(folder / expected[name].name, files[name], expected[name]) for name in files
    }


def _record(folder: Path, files: Mapping[str, ArrayFile]) -> None:
    """Record the index in a locked folder as verified; a save does not fail if that does."""
    with contextlib.suppress(OSError):
        record(_fingerprint(folder, files))


def _fingerprint(folder: Path, files: Mapping[str, ArrayFile]) -> str:
    """Return the fingerprint of the index in a locked folder, as `load` computes it."""
    paths = {MANIFEST: folder / MANIFEST, **{n: folder / file.name for n, file in files.items()}}
    return fingerprint({name: path.stat() for name, path in paths.items()})


def _open_manifest(folder: Path) -> io.BufferedReader:
    path = folder / MANIFEST
    try:
        return open_regular_file(path)
    except FileNotFoundError:
        if not folder.exists():
            raise StorageError(f"{folder} does not exist: build it first") from None
        raise StorageError(
            f"{path} is missing: this is not a candgen index, or its save was interrupted; "
            "build it again"
        ) from None
    except NotADirectoryError:
        raise StorageError(f"{folder} is a file: a candgen index is a folder") from None


# ---------------------------------------------------------------- writing


def _check_json(folder: Path, what: str, value: dict[str, Any]) -> dict[str, Any]:
    """Return the value; raise StorageError if JSON would change it: tuples, other keys, NaN."""
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


def _make_folder(folder: Path) -> bool:
    """Make the folder if it does not exist; return whether it was made."""
    if not folder.parent.is_dir():
        raise StorageError(
            f"{folder} could not be written: there is no folder {folder.parent}, make it first"
        )
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    with contextlib.suppress(OSError):  # a parent that we may write into but not read
        sync_folder(folder.parent)
    return True


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder: two processes that save would delete each other's files."""
    path = folder / _LOCK
    lock = lock_file(path)
    if lock is None:
        raise StorageError(
            f"{folder} is being written by another process: wait until it has finished"
        )
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        lock.close()
