"""Files and folders that are written whole or not at all, and locks between processes."""

import contextlib
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from candgen.errors import StorageError, TableError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file beside the path, which replaces the path unless an error is raised."""
    final = Path(os.path.realpath(path))  # a symbolic link stays one
    if final.exists() and not (final.is_file() or final.is_dir()):
        raise FileExistsError(f"{final} is not a regular file")
    if not final.parent.is_dir():
        raise NotADirectoryError(f"{final.parent} is not a folder")
    temporary = _temporary_beside(final)
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(final)
        with contextlib.suppress(OSError):
            sync_folder(final.parent)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a whole text file in UTF-8, or nothing; raise StorageError."""
    with storage_errors(path, "cannot be written", "choose another place"), atomic_write(path) as f:
        f.write(text.encode("utf-8"))


@contextlib.contextmanager
def atomic_folder(path: Path, may_replace: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield a new folder beside the path, which replaces the path unless an error is raised.

    The path may be an empty folder, or one that ``may_replace`` accepts; anything else stays as it
    is, with a StorageError.
    """
    final = Path(os.path.realpath(path))  # a symbolic link stays one
    try:
        _check_replaceable(path, final, may_replace)
        fresh = _temporary_beside(final)
        try:
            fresh.mkdir()
            yield fresh
            _replace_folder(fresh, final)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except (OSError, TableError) as error:
        if isinstance(error, StorageError) and error.__cause__ is None:
            raise  # its message is about the path already
        # Messages about files in the new folder would name a path that the user does not know.
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        reason = getattr(cause, "strerror", None) or cause
        raise StorageError(f"{path} cannot be written: {reason}") from error


def _temporary_beside(final: Path) -> Path:
    return final.with_name(f".candgen-{secrets.token_hex(8)}.tmp")


def _check_replaceable(path: Path, final: Path, may_replace: Callable[[Path], bool]) -> None:
    if not final.parent.is_dir():
        raise StorageError(
            f"{path} cannot be written: there is no folder {final.parent}, make it first"
        )
    if not final.exists():
        return
    if not final.is_dir():
        raise StorageError(f"{path} is a file: remove it, or choose another folder")
    if any(final.iterdir()) and not may_replace(final):
        raise StorageError(
            f"{path} is a folder with something else in it: remove it, or choose another folder"
        )


def _replace_folder(fresh: Path, final: Path) -> None:
    """Rename twice; in between there is nothing at the path, never a part or a mixture."""
    if not final.exists():
        fresh.rename(final)
        return
    old = fresh.with_suffix(".old")
    try:
        final.rename(old)
        fresh.rename(final)
    finally:
        if old.exists() and not final.exists():
            try:
                old.rename(final)
            except OSError:
                raise StorageError(
                    f"{final} could not be replaced, nor put back: it is now {old}, rename it"
                ) from None
        shutil.rmtree(old, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Make the renames in a folder survive a power cut, where the file system can do that."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def lock_file(path: Path) -> BinaryIO | None:
    """Open and lock a file until it is closed; return None if another process has locked it.

    The system releases the lock when the process dies, and a file that stays behind locks nothing.
    The process that holds the lock may delete the file before it closes it. Lock a file and not
    its folder: NFS locks only what is open for writing.
    """
    flags = getattr(os, "O_NOFOLLOW", 0)
    while True:
        file = open(path, "ab", opener=lambda name, mode: os.open(name, mode | flags, 0o666))  # noqa: SIM115
        if not try_lock(file):
            file.close()
            return None
        if is_still_at(path, file.fileno()):
            return file
        file.close()  # the process before us deleted the file after we had opened it


def try_lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed or the process ends; False if another holds the lock.

    On systems and file systems without locks this is always True.
    """
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks
    return True


def is_still_at(path: Path, descriptor: int) -> bool:
    """Return whether the path still names this open file, and not another one or none."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def storage_error(path: Path, action: str, error: OSError, state: str = "") -> StorageError:
    """Return an error of the system as a StorageError: "PATH ACTION: reason; STATE"."""
    ending = f"; {state}" if state else ""
    return StorageError(f"{path} {action}: {error.strerror or error}{ending}")


@contextlib.contextmanager
def storage_errors(path: Path, action: str, state: str = "") -> Iterator[None]:
    """Raise an OSError of the block as a `storage_error`."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise storage_error(path, action, error, state) from error
