"""The record of verified indexes: each is read in full once, and again only if it has changed.

The record is a folder of empty files in the user's cache. The name of a file is a hash of what the
file system knows about the files of an index (device, inode, size, time stamps): every write to
one of them changes that, and an index that is copied to another place is another one.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from candgen.cache_folder import cache_folder, is_private

CHECKS = 1
"""Goes up when more is checked: indexes that were verified before are then verified again."""
MAX_RECORDS = 1000


def fingerprint(files: Mapping[str, os.stat_result]) -> str:
    """Return the hash by which an index is recognized, from its manifest and its arrays by name."""
    known = {
        name: (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns)
        for name, file in files.items()
    }
    return hashlib.sha256(json.dumps([CHECKS, known], sort_keys=True).encode()).hexdigest()


def is_recorded(index: str) -> bool:
    """Return whether the index with this fingerprint was verified before, by this user."""
    folder = _folder()
    return folder is not None and is_private(folder) and (folder / index).is_file()


def record(index: str) -> None:
    """Remember that the index with this fingerprint is valid, if the cache can be written."""
    folder = _folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / index).touch()
        _forget_oldest(folder)


def _folder() -> Path | None:
    """Return the folder of the record; None for a user without a home."""
    cache = cache_folder()
    return None if cache is None else cache / "verified"


def _forget_oldest(folder: Path) -> None:
    """Delete half of the records if there are too many."""
    records = list(folder.iterdir())
    if len(records) > MAX_RECORDS:
        records.sort(key=lambda path: path.stat().st_mtime_ns)
        for path in records[: MAX_RECORDS // 2]:
            path.unlink(missing_ok=True)
