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
import hashlib
import io
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.errors import StorageError
from candgen.storage.array_file import (
    ArrayFile,
    array_file_name,
    check_array_file,
    check_sha256,
    is_array_file_name,
    map_array,
    npy_header,
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
from candgen.storage.manifest import FORMAT, Manifest, read_manifest
from candgen.storage.verification_record import fingerprint, is_recorded, record
from candgen.storage.versions import version

MANIFEST = "manifest.json"

_TEMPORARY = "unfinished.candgen-tmp"
_LOCK = ".candgen-lock"
_CHUNK = 4 << 20  # bytes
_MAX_ATTEMPTS = 100
_HASHING_THREADS = 2
_UNCHANGED = "the index that was there is unchanged"

Arrays = Mapping[str, npt.NDArray[Any]]


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
    state = _UNCHANGED if (folder / MANIFEST).exists() else ""
    with storage_errors(folder, "could not be written", state):
        is_new = _make_folder(folder)
        try:
            with _locked(folder):
                files = _replace_index(folder, manifest, ready)
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
    with storage_errors(folder, "could not be written", _UNCHANGED), _locked(folder):
        with _open_manifest(folder) as opened:
            manifest = read_manifest(folder / MANIFEST, opened)
        was_verified = is_recorded(_fingerprint(folder, manifest.files))
        kept = {n: file for n, file in manifest.files.items() if not n.startswith(f"{prefix}.")}
        files = _replace_index(folder, replace(manifest, files=kept), ready)
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
        names = _names(folder)
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
    if others and all(name in (_LOCK, _TEMPORARY) or is_array_file_name(name) for name in others):
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


def _names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


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


def _replace_index(folder: Path, manifest: Manifest, arrays: Arrays) -> dict[str, ArrayFile]:
    """Write the arrays beside the files of the manifest, then a manifest of all; return them."""
    before = _names(folder)
    text = b""
    try:
        (folder / _TEMPORARY).unlink(missing_ok=True)  # of a save that was killed
        written = {name: _write_array(folder, name, array) for name, array in arrays.items()}
        files = {**manifest.files, **written}
        sync_folder(folder)
        text = replace(manifest, files=files).to_bytes()
        _write_temporary(folder, [text])
        (folder / _TEMPORARY).replace(folder / MANIFEST)
        sync_folder(folder)
    except BaseException as error:
        state = _undo(folder, before, text)
        if isinstance(error, OSError):
            raise storage_error(folder, "could not be written", error, state) from error
        raise
    _delete_files(folder, keep={file.name for file in files.values()})
    return files


def _write_array(folder: Path, name: str, array: npt.NDArray[Any]) -> ArrayFile:
    """Write one array to its file; return its entry in the manifest."""
    header = npy_header(array.dtype.str, array.shape)
    raw = array.reshape(-1).view(np.uint8)
    chunks = (raw[at : at + _CHUNK].data for at in range(0, len(raw), _CHUNK))
    digest = _write_temporary(folder, itertools.chain([header], chunks))
    file = array_file_name(name, digest)
    # Also over a file of that name, whose content may be damaged.
    (folder / _TEMPORARY).replace(folder / file)
    return ArrayFile(file, len(header) + len(raw), digest, array.dtype.str, array.shape)


def _write_temporary(folder: Path, chunks: Iterable[bytes | memoryview]) -> str:
    """Write and sync the temporary file; return the SHA-256 of its content."""
    digest = hashlib.sha256()
    with (folder / _TEMPORARY).open("xb") as file:
        for chunk in chunks:
            file.write(chunk)
            digest.update(chunk)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _undo(folder: Path, before: set[str], text: bytes) -> str:
    """Delete the files of a failed save; return the state of the index, for the message."""
    try:
        now = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        now = None
    except OSError:
        return "the state of the index is not known: verify it"
    # The interruption may have come right after the rename: only the disk can tell.
    if now is not None and now == text:
        return "the new index is in place, but a power cut may lose it: save it again"
    _delete_files(folder, keep=before)
    return "nothing was left behind" if now is None else _UNCHANGED


def _delete_files(folder: Path, *, keep: set[str]) -> None:
    """Delete the temporary file and the arrays that are not to be kept, as far as possible."""
    with contextlib.suppress(OSError):
        for name in _names(folder):
            if name == _TEMPORARY or (is_array_file_name(name) and name not in keep):
                with contextlib.suppress(OSError):
                    (folder / name).unlink()
