"""One array of a stored index as a ``.npy`` file: its name, its header, and how it is opened."""

import errno
import hashlib
import io
import math
import mmap
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.errors import StorageError
from candgen.storage.atomic import storage_error, storage_errors

DTYPES = {"|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8))}
MAX_NAME_LENGTH = 200  # a file name may have 255 bytes, of which the hash takes 21

_ARRAY_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_FILE_NAME = re.compile(_ARRAY_NAME.pattern + r"\.[0-9a-f]{16}\.npy")


@dataclass(frozen=True)
class ArrayFile:
    """What the manifest says about the file of an array."""

    name: str
    size: int
    sha256: str
    dtype: str
    shape: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the manifest."""
        return {
            "file": self.name,
            "bytes": self.size,
            "sha256": self.sha256,
            "dtype": self.dtype,
            "shape": list(self.shape),
        }

    @classmethod
    def from_json(cls, array_name: str, entry: Mapping[str, Any]) -> "ArrayFile":
        """Return the file that an entry of a manifest names; raise ValueError if it is invalid."""
        digest, dtype, shape, size = (entry[key] for key in ("sha256", "dtype", "shape", "bytes"))
        valid = (
            set(entry) == {"file", "bytes", "sha256", "dtype", "shape"}
            and is_array_name(array_name)
            and re.fullmatch("[0-9a-f]{64}", digest) is not None
            # So the file cannot be outside the folder.
            and entry["file"] == array_file_name(array_name, digest)
            and dtype in DTYPES
            and isinstance(shape, list)
            and len(shape) <= 32
            and all(type(n) is int and n >= 0 for n in shape)
            # NumPy's limit, also for empty arrays.
            and math.prod(max(n, 1) for n in shape) < 1 << 59
            and type(size) is int
            and size == len(npy_header(dtype, tuple(shape))) + _data_size(dtype, shape)
        )
        if not valid:
            raise ValueError(f"an invalid entry for {array_name}")
        return cls(entry["file"], size, digest, dtype, tuple(shape))


def _data_size(dtype: str, shape: list[int]) -> int:
    return math.prod(shape) * np.dtype(dtype).itemsize


def is_array_name(name: str) -> bool:
    """Return whether an array may have this name, which becomes a part of a file name."""
    return len(name) <= MAX_NAME_LENGTH and _ARRAY_NAME.fullmatch(name) is not None


def array_file_name(array_name: str, digest: str) -> str:
    """Return the name of the file of an array with this SHA-256."""
    return f"{array_name}.{digest[:16]}.npy"


def is_array_file_name(name: str) -> bool:
    """Return whether a file name is one that `array_file_name` returns."""
    return _FILE_NAME.fullmatch(name) is not None


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of a .npy file of version 1.0.

    Written here because NumPy pads it differently from version to version, and so that a reader
    compares bytes instead of evaluating the literal in it.
    """
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii")


def to_storable(folder: Path, name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array, little-endian and C-contiguous; raise StorageError if it is invalid."""
    if not is_array_name(name):
        raise StorageError(
            f"{folder}: {name!r} cannot name an array, expected a dotted lower-case identifier "
            f"of at most {MAX_NAME_LENGTH} characters such as 'postings.keys'"
        )
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in DTYPES:
        raise StorageError(
            f"{folder}: array {name} has dtype {array.dtype}, "
            "expected booleans, integers or floats of at most 8 bytes"
        )
    return np.asarray(array, dtype=dtype, order="C")


def open_regular_file(path: Path) -> io.BufferedReader:
    """Open a file to read; raise StorageError for a link, or for a pipe, which would block.

    If there is no such file, the FileNotFoundError or NotADirectoryError is raised as it is.
    """
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags))  # noqa: SIM115
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StorageError(f"{path} is a symbolic link: put the file itself there") from None
        raise storage_error(path, "could not be read", error) from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise StorageError(f"{path} is not a regular file: build the index again")
    return file


def check_array_file(path: Path, file: io.BufferedReader, expected: ArrayFile) -> None:
    """Raise StorageError if an open file has another size or header than the manifest says."""
    header = npy_header(expected.dtype, expected.shape)
    with storage_errors(path, "could not be read"):
        size = os.fstat(file.fileno()).st_size
        if size != expected.size:
            raise StorageError(
                f"{path} is damaged: it has {size} bytes, expected {expected.size}; "
                "build the index again"
            )
        file.seek(0)
        if file.read(len(header)) != header:
            raise StorageError(f"{path} is damaged at its beginning: build the index again")


def check_sha256(path: Path, file: io.BufferedReader, expected: ArrayFile) -> None:
    """Read an open file in full; raise StorageError if its checksum is not the manifest's."""
    with storage_errors(path, "could not be read"):
        file.seek(0)
        if hashlib.file_digest(file, "sha256").hexdigest() != expected.sha256:
            raise StorageError(f"{path} is damaged: build the index again")


def map_array(path: Path, file: io.BufferedReader, expected: ArrayFile) -> npt.NDArray[Any]:
    """Return the array in an open file, memory-mapped.

    The mapping outlives the file: when a save deletes it, POSIX keeps the content until the last
    reader closes it. So a reader never sees a mixture of two indexes.
    """
    with storage_errors(path, "could not be read"):
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if hasattr(mmap, "MADV_RANDOM"):  # a query reads pages in no particular order
            mapped.madvise(mmap.MADV_RANDOM)
    header = npy_header(expected.dtype, expected.shape)
    return np.ndarray(expected.shape, expected.dtype, mapped, len(header))
