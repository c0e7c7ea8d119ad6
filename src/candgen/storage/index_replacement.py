"""Replace the files of an index folder: the new ones are complete before the old ones go."""

import contextlib
import hashlib
import itertools
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.storage.array_file import ArrayFile, array_file_name, is_array_file_name, npy_header
from candgen.storage.atomic import storage_error, sync_folder
from candgen.storage.manifest import Manifest

Arrays = Mapping[str, npt.NDArray[Any]]

MANIFEST = "manifest.json"
TEMPORARY = "unfinished.candgen-tmp"
UNCHANGED = "the index that was there is unchanged"
CHUNK = 4 << 20  # bytes


def names_in(folder: Path) -> set[str]:
    """Return the names of all that is in a folder."""
    return {entry.name for entry in folder.iterdir()}


def replace_index(folder: Path, manifest: Manifest, arrays: Arrays) -> dict[str, ArrayFile]:
    """Write the arrays beside the files of the manifest, then a manifest of all; return them."""
    before = names_in(folder)
    text = b""
    try:
        (folder / TEMPORARY).unlink(missing_ok=True)  # of a save that was killed
        written = {name: _write_array(folder, name, array) for name, array in arrays.items()}
        files = {**manifest.files, **written}
        sync_folder(folder)
        text = replace(manifest, files=files).to_bytes()
        _write_temporary(folder, [text])
        (folder / TEMPORARY).replace(folder / MANIFEST)
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
    chunks = (raw[at : at + CHUNK].data for at in range(0, len(raw), CHUNK))
    digest = _write_temporary(folder, itertools.chain([header], chunks))
    file = array_file_name(name, digest)
    # Also over a file of that name, whose content may be damaged.
    (folder / TEMPORARY).replace(folder / file)
    return ArrayFile(file, len(header) + len(raw), digest, array.dtype.str, array.shape)


def _write_temporary(folder: Path, chunks: Iterable[bytes | memoryview]) -> str:
    """Write and sync the temporary file; return the SHA-256 of its content."""
    digest = hashlib.sha256()
    with (folder / TEMPORARY).open("xb") as file:
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
    return "nothing was left behind" if now is None else UNCHANGED


def _delete_files(folder: Path, *, keep: set[str]) -> None:
    """Delete the temporary file and the arrays that are not to be kept, as far as possible."""
    with contextlib.suppress(OSError):
        for name in names_in(folder):
            if name == TEMPORARY or (is_array_file_name(name) and name not in keep):
                with contextlib.suppress(OSError):
                    (folder / name).unlink()
