"""Folders that are written whole or not at all."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from candgen.errors import StorageError, TableError


@contextlib.contextmanager
def atomic_folder(path: Path, may_replace: Callable[[Path], bool]) -> Iterator[Path]:
    """A new folder beside the path, which takes its place if nothing goes wrong.

    What is there already may be an empty folder, or one that `may_replace` agrees to lose;
    anything else is refused and left alone.
    """
    final = Path(os.path.realpath(path))  # a symbolic link stays one
    try:
        _refuse_others(path, final, may_replace)
        fresh = final.with_name(f".candgen-{secrets.token_hex(8)}.tmp")
        try:
            fresh.mkdir()
            yield fresh
            _take_place(fresh, final)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except (OSError, TableError) as error:
        if isinstance(error, StorageError) and error.__cause__ is None:
            raise  # already a sentence about the path
        raise StorageError(f"{path} cannot be written: {_reason(error)}") from error


def _refuse_others(path: Path, final: Path, may_replace: Callable[[Path], bool]) -> None:
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


def _take_place(fresh: Path, final: Path) -> None:
    """Between the two renames nothing is at the path: never a part, nor a mixture."""
    if not final.exists():
        fresh.rename(final)
        return
    old = fresh.with_suffix(".old")
    try:
        final.rename(old)
        fresh.rename(final)
    finally:
        if old.exists() and not final.exists():
            _put_back(old, final)
        shutil.rmtree(old, ignore_errors=True)


def _put_back(old: Path, final: Path) -> None:
    try:
        old.rename(final)
    except OSError:
        raise StorageError(
            f"{final} could not be replaced, nor put back: it is now {old}, rename it"
        ) from None


def _reason(error: BaseException) -> str:
    """What the system said: sentences about files in the new folder would name a strange path."""
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return str(getattr(cause, "strerror", None) or cause)
