"""The folder of what can be made again: compiled kernels, and the record of verified indexes."""

import os
import stat
from pathlib import Path

CACHE_VARIABLE = "CANDGEN_CACHE_DIR"
"""Environment variable that names another cache folder than ~/.cache/candgen."""


def cache_folder() -> Path | None:
    """Return the folder that the variable names, or the user's own; None without a home."""
    if (named := os.environ.get(CACHE_VARIABLE)) is not None:
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "candgen"
    except RuntimeError:
        return None


def is_private(folder: Path, *owners: int) -> bool:
    """Return whether no user can write to a folder but this one, and those with these ids."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        found = folder.stat()
    except OSError:
        return False
    owned = found.st_uid in (os.geteuid(), *owners)
    return owned and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
