"""Files that are written whole or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from candgen.errors import StorageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """A file to write beside the path, which takes its place if nothing goes wrong."""
    final = Path(os.path.realpath(path))  # a symbolic link stays one
    if final.exists() and not (final.is_file() or final.is_dir()):
        raise FileExistsError(f"{final} is not a regular file")
    if not final.parent.is_dir():
        raise NotADirectoryError(f"{final.parent} is not a folder")
    temporary = final.with_name(f".candgen-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(final)
        _sync_folder(final.parent)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a whole text file in UTF-8, or nothing."""
    try:
        with atomic_write(path) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror or error}; choose another place"
        ) from error


def try_lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed or the process ends; False if another holds it.

    Where the system has no such locks nobody is refused.
    """
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every system can
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
