"""The work folder beside an output: a run is made there, and resumed from there.

A part that is finished has its statistics there, written after its tables. The output itself is
made there too and moved to its place last, so an interrupted run leaves no incomplete output.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from candgen.dumps.file_errors import explain_write_errors
from candgen.errors import StorageError
from candgen.storage.atomic import lock_file, write_text

_PLAN = "plan.json"
_LOCK = "lock"
_STATISTICS = ".tally"


class Workspace:
    """The work folder of an output, locked by one run at a time."""

    def __init__(self, output: Path) -> None:
        self.folder = output.with_name(f".{output.name}.parts")
        self._lock: BinaryIO | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "_lock": None}  # the parent of the workers holds the lock

    def begin(self, plan: Mapping[str, Any], *, resume: bool) -> None:
        """Make the folder and lock it; keep the files of an earlier run only to resume it."""
        wanted = json.dumps(plan, ensure_ascii=False, sort_keys=True)
        self._check_is_workspace()
        self._lock = self._make_and_lock()
        if resume and (self.folder / _PLAN).exists():
            self._check_plan(wanted)
            return
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != _LOCK:
                path.unlink()
        write_text(self.folder / _PLAN, wanted)

    def _make_and_lock(self) -> BinaryIO:
        """Make the folder if need be, and lock it against other runs."""
        try:
            while True:
                self.folder.mkdir(exist_ok=True)
                try:
                    file = lock_file(self.folder / _LOCK)
                except FileNotFoundError:  # another run has just removed the folder
                    continue
                if file is not None:
                    return file
                raise StorageError(
                    f"another run is at work in {self.folder}: wait for it, or choose another "
                    "output"
                )
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(
                f"{self.folder} cannot be made: {error.strerror or error}; choose another output"
            ) from error

    def _check_plan(self, wanted: str) -> None:
        try:
            found = (self.folder / _PLAN).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            found = ""
        if found != wanted:
            self.release()
            raise StorageError(
                f"the work in {self.folder} was begun with other files or other options and cannot "
                "be resumed: leave out --resume to start over"
            )

    def discard(self) -> None:
        """Delete the folder with all its files, and unlock it."""
        self._check_is_workspace()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.release()

    def release(self) -> None:
        """Unlock the folder and keep its files."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _check_is_workspace(self) -> None:
        """Raise StorageError if something else than a work folder is at its path."""
        if self.folder.is_symlink() or (self.folder.exists() and not self._is_workspace()):
            raise StorageError(
                f"{self.folder} is where the parts of the output would go, and holds something "
                "else: move it away or choose another output"
            )

    def _is_workspace(self) -> bool:
        if not self.folder.is_dir():
            return False
        # A run that was killed may have left the beginning of its plan.
        names = {path.name for path in self.folder.iterdir()}
        begun = all(name == _LOCK or name.startswith(".candgen-") for name in names)
        return begun or _PLAN in names

    def table(self, kind: str, part: int, number: int = 0) -> Path:
        """Return the path of a table of a part."""
        return self.folder / f"{part:06}-{number:04}.{kind}"

    def tables(self, kind: str) -> list[Path]:
        """Return the paths of all tables of a kind."""
        return sorted(self.folder.glob(f"*.{kind}"))

    def finish_part(self, part: int, statistics: str) -> None:
        """Record that all tables of a part are there, with its statistics."""
        write_text(self.folder / f"{part:06}{_STATISTICS}", statistics)

    def finished_parts(self) -> dict[int, str]:
        """Return the statistics of the finished parts by number."""
        paths = sorted(self.folder.glob(f"*{_STATISTICS}"))
        return {int(path.stem): path.read_text(encoding="utf-8") for path in paths}

    def finish(self, outputs: Iterable[Path]) -> None:
        """Move outputs, made here under their names, to their places in order; then discard."""
        for output in outputs:
            made = self.folder / output.name
            with explain_write_errors(output):
                with made.open("rb") as file:
                    os.fsync(file.fileno())
                made.replace(output)
        self.discard()

    def finish_folder(self, made: Path, output: Path) -> None:
        """Put a folder that was made here in place of the output, then discard."""
        with explain_write_errors(output):
            if output.exists():
                output.rename(self.folder / "replaced")
            made.rename(output)
        self.discard()

    def merge_folder(self, made: Path, output: Path, *, last: str) -> None:
        """Put the files of a folder that was made here into the output folder, then discard.

        An output that does not exist appears whole. The file that describes the others is removed
        first and comes last.
        """
        with explain_write_errors(output):
            if not output.exists():
                made.rename(output)
            else:
                (output / last).unlink(missing_ok=True)
                for path in sorted(made.iterdir(), key=lambda path: (path.name == last, path.name)):
                    path.replace(output / path.name)
        self.discard()
