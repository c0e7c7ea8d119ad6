"""Compiled kernels on the disk: compiled once, then loaded by every process.

Numba's own cache does the same, but not all that candgen needs:

- It uses one folder, which must be writable. Here all folders are read and the first that can be
  written is written, so a read-only image can hold kernels. Without any, each process compiles.
- It compares the source of a kernel's own file only, and keeps code of kernels that it calls.
- It prepares the compiler before it loads, which takes longer than the rest of a short query.
"""

import contextlib
import functools
import hashlib
import importlib.resources
import io
import os
import pickle
import sys
import tempfile
from pathlib import Path

from numba.core import config
from numba.core.caching import Cache, IndexDataCacheFile
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime import rtsys

from candgen.cache_folder import CACHE_VARIABLE, cache_folder, is_private
from candgen.kernels import tell_compiling

ROOT = 0
"""The id of the user whose kernels all others may load, as in an image."""


class KernelCache(Cache):  # type: ignore[misc]
    """The compiled versions of one kernel; a version is for certain types of arguments."""

    def __init__(self, function):
        self._py_func = function
        module = function.__module__.rpartition(".")[2]
        line, python = function.__code__.co_firstlineno, sys.implementation.cache_tag
        name = f"{module}.{function.__qualname__}-{line}.{python}"
        self._files = [_File(str(folder), name, _hash_sources()) for folder in cache_folders()]
        self.enable()

    def load_overload(self, sig, target_context):
        """Return a version that was compiled before, or None, and then Numba compiles it."""
        rtsys.initialize(target_context)
        key = self._index_key(sig, target_context.codegen())
        for file in self._files:
            # A file that is damaged or unreadable is as good as none.
            with contextlib.suppress(Exception):
                if (found := file.load(key)) is not None:
                    return CompileResult._rebuild(target_context, *found)  # noqa: SLF001
        tell_compiling(self._py_func.__name__)
        return None

    def save_overload(self, sig, data):
        """Save a version in the first folder that can be written; do nothing if none can."""
        key = self._index_key(sig, data.codegen)
        for file in self._files:
            with contextlib.suppress(OSError):
                file.make_folder()
                file.save(key, data._reduce())  # noqa: SLF001
                return


class _File(IndexDataCacheFile):  # type: ignore[misc]
    """The versions of a kernel in one folder: an index, and a file for each version."""

    def make_folder(self):
        Path(self._cache_path).mkdir(mode=0o700, parents=True, exist_ok=True)

    def _load_index(self):
        try:
            return super()._load_index()
        except Exception:  # damaged: it is replaced at the next save
            return {}

    def _load_data(self, name):
        return _Unpickler(io.BytesIO(Path(self._data_path(name)).read_bytes())).load()


class _Unpickler(pickle.Unpickler):
    """Loads a version without importing the modules of Numba that it was compiled from."""

    def find_class(self, module, name):
        return _make_environment if name == "_rebuild_env" else super().find_class(module, name)


def _make_environment(module, constants, name):
    """Return the constants of a compiled function. Such a function looks up no globals."""
    if (made := lookup_environment(name)) is None:
        made = Environment({"__name__": module})
        made.consts[:] = constants
        made.env_name = name
        Environment._memo[name] = made  # noqa: SLF001
    return made


@functools.cache
def cache_folders() -> list[Path]:
    """Return the folders of compiled kernels that can be trusted, in the order of use.

    NUMBA_CACHE_DIR or CANDGEN_CACHE_DIR names the first. Without them, kernels are beside their
    source, or in the user's cache. What several installations share has a folder for each.
    """
    here = Path(__file__).resolve().parent
    beside, own = here / "__pycache__", f"kernels-{hashlib.sha256(bytes(here)).hexdigest()[:16]}"
    named = config.CACHE_DIR or os.environ.get(CACHE_VARIABLE)
    shared = Path(named).absolute() if named else cache_folder()
    if shared is None:
        return [beside]
    trusted = [shared / own] if _is_trusted(shared / own) else []
    return [*trusted, beside] if named else [beside, *trusted]


def _is_trusted(folder: Path) -> bool:
    """Return whether no other user can put code there; a folder that is missing will be ours."""
    return not os.path.lexists(folder) or is_private(folder, ROOT)


def writable_folder() -> Path | None:
    """Return the folder that newly compiled kernels are saved in; None if none can be written."""
    for folder in cache_folders():
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


@functools.cache
def _hash_sources() -> str:
    """Return a hash of all kernels: Numba puts the code of one into that of another."""
    sources = [each for each in importlib.resources.files(__package__).iterdir() if each.is_file()]
    digest = hashlib.sha256()
    for each in sorted(sources, key=lambda each: each.name):
        digest.update(each.read_bytes())
    return digest.hexdigest()
