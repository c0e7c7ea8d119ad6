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
import io
import itertools
import json
import mmap
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.errors import StorageError
from candgen.storage.manifest import (
    DTYPES,
    FORMAT,
    FORMAT_VERSION,
    LONGEST_NAME,
    NAME,
    File,
    Manifest,
    file_name,
    header,
    is_array_name,
    read_manifest,
    refusal,
    render,
)
from candgen.storage.versions import version

if sys.platform != "win32":
    import fcntl

MANIFEST = "manifest.json"
SMALL = 16 << 20  # an index of at most so many bytes is hashed in full whenever it is loaded

_ARRAY_FILE = re.compile(NAME.pattern + r"\.[0-9a-f]{16}\.npy")
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
    format_version: int


class Contents(NamedTuple):
    """All that a generator stores: what `save` takes, and `load` gives back."""

    kind: str
    parameters: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    inputs: Mapping[str, Any]


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
        "candgen_version": version(),
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "inputs": _json_value(folder, "inputs", dict(inputs or {})),
        "kind": kind,
        "parameters": _json_value(folder, "parameters", dict(parameters)),
    }
    ready = {name: _storable(folder, name, array) for name, array in arrays.items()}
    check_is_index_or_empty(folder)
    try:
        is_new = _make_folder(folder)
        try:
            with _only_saver(folder):
                _replace(folder, content, ready, {})
        except BaseException:
            if is_new:
                with contextlib.suppress(OSError):  # not empty: it was finished, or somebody's
                    folder.rmdir()
            raise
    except StorageError:
        raise
    except OSError as error:
        state = _UNCHANGED if (folder / MANIFEST).exists() else ""
        raise refusal(folder, "could not be written", error, state) from error


def amend(
    path: str | os.PathLike[str], prefix: str, arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Adds arrays, named ``prefix.name``, to the index in the folder `path`, or nothing at all.

    Those that were there under this prefix are replaced; all else stays as it is, and is not read.
    A save of another index to the same path drops them. Raises StorageError.
    """
    folder = Path(path)
    named = add_prefix(prefix, arrays)
    ready = {name: _storable(folder, name, array) for name, array in named.items()}
    with _open_manifest(folder):  # refuses what is no index before anything is written
        pass
    try:
        with _only_saver(folder):
            with _open_manifest(folder) as opened:
                manifest = read_manifest(folder / MANIFEST, opened)
            content = {
                "candgen_version": manifest.version,
                "format": FORMAT,
                "format_version": manifest.format_version,
                "inputs": manifest.inputs,
                "kind": manifest.kind,
                "parameters": manifest.parameters,
            }
            kept = {
                name: file
                for name, file in manifest.files.items()
                if not name.startswith(f"{prefix}.")
            }
            _replace(folder, content, ready, kept)
    except StorageError:
        raise
    except OSError as error:
        raise refusal(folder, "could not be written", error, _UNCHANGED) from error


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
        format_version=manifest.format_version,
    )


def verify(path: str | os.PathLike[str]) -> list[str]:
    """Hashes every file of the index; their names, or a StorageError naming the first bad one."""
    manifest, _ = _open_index(Path(path), verify=True)
    return [MANIFEST, *(file.name for file in manifest.files.values())]


def add_prefix(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The same arrays, named ``prefix.name``: how one thing is stored inside another.

    >>> sorted(add_prefix("first", {"keys": np.zeros(2), "counts": np.zeros(2)}))
    ['first.counts', 'first.keys']
    """
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def strip_prefix(
    prefix: str, arrays: Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """The arrays named ``prefix.name``, by name: the inverse of `prefixed`."""
    start = f"{prefix}."
    return {name[len(start) :]: arrays[name] for name in arrays if name.startswith(start)}


# ---------------------------------------------------------------- reading


def _open_index(folder: Path, *, verify: bool) -> tuple[Manifest, dict[str, npt.NDArray[Any]]]:
    path = folder / MANIFEST
    for _ in range(_TRIES):
        with _open_manifest(folder) as opened:
            manifest = read_manifest(path, opened)
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
        raise refusal(path, "could not be read", error) from error


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


def _open_array(path: Path, expected: File, *, in_full: bool) -> npt.NDArray[Any]:
    """The array in this file, memory-mapped; FileNotFoundError if there is no such file.

    The mapping outlives the file: when a save deletes it, POSIX keeps the content until the last
    reader lets go. So a reader never sees a mixture of two indexes.
    """
    begins = header(expected.dtype, expected.shape)
    try:
        with _open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size != expected.size:
                raise StorageError(
                    f"{path} is damaged: it has {size} bytes, expected {expected.size}; "
                    "build the index again"
                )
            if file.read(len(begins)) != begins:
                raise StorageError(f"{path} is damaged at its beginning: build the index again")
            if in_full:
                file.seek(0)
                if hashlib.file_digest(file, "sha256").hexdigest() != expected.sha256:
                    raise StorageError(f"{path} is damaged: build the index again")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if hasattr(mmap, "MADV_RANDOM"):  # a query needs pages here and there
                mapped.madvise(mmap.MADV_RANDOM)
    except (StorageError, FileNotFoundError):
        raise
    except OSError as error:
        raise refusal(path, "could not be read", error) from error
    return np.ndarray(expected.shape, expected.dtype, mapped, len(begins))


# ---------------------------------------------------------------- writing


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
    if not is_array_name(name):
        raise StorageError(
            f"{folder}: {name!r} cannot name an array, expected a dotted lower-case identifier "
            f"of at most {LONGEST_NAME} characters such as 'postings.keys'"
        )
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in DTYPES:
        raise StorageError(
            f"{folder}: array {name} has dtype {array.dtype}, "
            "expected booleans, integers or floats of at most 8 bytes"
        )
    return np.asarray(array, dtype=dtype, order="C")


def check_is_index_or_empty(folder: Path) -> None:
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
        raise refusal(folder, "could not be read", error) from error
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
    folder: Path,
    content: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    kept: Mapping[str, File],
) -> None:
    """The save itself, under the lock; ``kept`` are files of the folder that stay."""
    before = _names(folder)
    text = b""
    try:
        (folder / _TEMPORARY).unlink(missing_ok=True)  # of a save that was killed
        written = {name: _write_array(folder, name, array) for name, array in arrays.items()}
        files = {**kept, **written}
        _sync_folder(folder)
        listed = {name: file.entry() for name, file in files.items()}
        text = render({**content, "files": listed})
        _write_temporary(folder, [text])
        (folder / _TEMPORARY).replace(folder / MANIFEST)
        _sync_folder(folder)
    except BaseException as error:
        state = _undo(folder, before, text)
        if isinstance(error, OSError):
            raise refusal(folder, "could not be written", error, state) from error
        raise
    _sweep(folder, keep={file.name for file in files.values()})


def _write_array(folder: Path, name: str, array: npt.NDArray[Any]) -> File:
    """Writes one array to its place; what the manifest says about it."""
    begins = header(array.dtype.str, array.shape)
    raw = array.reshape(-1).view(np.uint8)
    chunks = (raw[at : at + _CHUNK].data for at in range(0, len(raw), _CHUNK))
    digest = _write_temporary(folder, itertools.chain([begins], chunks))
    file = file_name(name, digest)
    # Also over a file of that name: what is in it may be damaged.
    (folder / _TEMPORARY).replace(folder / file)
    return File(file, len(begins) + len(raw), digest, array.dtype.str, array.shape)


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
