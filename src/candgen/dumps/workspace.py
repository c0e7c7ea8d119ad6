"""The folder beside an output in which it comes into being, and from which a run is resumed.

A part that is finished has a tally there, written after its tables. The output itself is made there
too and moved to its place last, so whatever ends a run, there is no half of an output.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from candgen.errors import StorageError
from candgen.storage.atomic import try_lock, write_text

_PLAN = "plan.json"
_LOCK = "lock"


class Workspace:
    """The work folder of an output, for one run at a time; who begins it finishes it."""

    def __init__(self, output: Path) -> None:
        self.folder = output.with_name(f".{output.name}.parts")
        self._lock: BinaryIO | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "_lock": None}  # workers write for the one that holds it

    def begin(self, plan: Mapping[str, Any], *, resume: bool) -> None:
        """Make the folder; what another run left there is kept only if this one resumes it."""
        wanted = json.dumps(plan, ensure_ascii=False, sort_keys=True)
        self._refuse_foreign()
        self._lock = self._locked()
        if resume and (self.folder / _PLAN).exists():
            self._check(wanted)
            return
        self._clear()
        write_text(self.folder / _PLAN, wanted)

    def _clear(self) -> None:
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != _LOCK:
                path.unlink()

    def _locked(self) -> BinaryIO:
        """Make the folder if need be, and see to it that no other process works in it."""
        try:
            while True:
                self.folder.mkdir(exist_ok=True)
                try:
                    file = (self.folder / _LOCK).open("ab")
                except FileNotFoundError:  # another run has just ended, with its folder
                    continue
                if not try_lock(file):
                    file.close()
                    raise StorageError(
                        f"another run is at work in {self.folder}: wait for it, or choose another "
                        "output"
                    )
                if _is_there(file, self.folder / _LOCK):
                    return file
                file.close()  # it was that of a run which has just ended
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(
                f"{self.folder} cannot be made: {error.strerror or error}; choose another output"
            ) from error

    def _check(self, wanted: str) -> None:
        try:
            found = (self.folder / _PLAN).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            found = ""
        if found != wanted:
            self.release()
            raise StorageError(
                f"what {self.folder} holds comes from other files or other options and cannot be "
                "resumed: leave out --resume to start over"
            )

    def discard(self) -> None:
        """Delete the folder with everything in it, and let others have its place."""
        self._refuse_foreign()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.release()

    def release(self) -> None:
        """Let other runs have the folder; what is finished stays there."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _refuse_foreign(self) -> None:
        if self.folder.is_symlink() or (self.folder.exists() and not self._is_ours()):
            raise StorageError(
                f"{self.folder} is where the parts of the output would go, and holds something "
                "else: move it away or choose another output"
            )

    def _is_ours(self) -> bool:
        if not self.folder.is_dir():
            return False
        # A run that was killed may have left the start of its plan.
        names = {path.name for path in self.folder.iterdir()}
        begun = all(name == _LOCK or name.startswith(".candgen-") for name in names)
        return begun or _PLAN in names

    def table(self, kind: str, part: int, number: int) -> Path:
        """Name a table of a part."""
        return self.folder / f"{part:06}-{number:04}.{kind}"

    def tables(self, kind: str) -> list[Path]:
        """Name all tables of a kind."""
        return sorted(self.folder.glob(f"*.{kind}"))

    def close_part(self, part: int, tally: str) -> None:
        """Record that all tables of a part are there, with its tally."""
        write_text(self._tally(part), tally)

    def finished(self, part: int) -> str | None:
        """Return the tally of a part if the part is finished."""
        try:
            return self._tally(part).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    @property
    def has_finished_parts(self) -> bool:
        """Whether there is anything to resume."""
        return any(self.folder.glob("*.tally"))

    def _tally(self, part: int) -> Path:
        return self.folder / f"{part:06}.tally"

    def finish(self, outputs: Iterable[Path]) -> None:
        """Move outputs, which were made here under their names, to their places, in order."""
        for output in outputs:
            made = self.folder / output.name
            try:
                with made.open("rb") as file:
                    os.fsync(file.fileno())
                made.replace(output)
            except OSError as error:
                raise StorageError(
                    f"{output} cannot be written: {error.strerror or error}; choose another place"
                ) from error
        self.discard()


def _is_there(file: BinaryIO, path: Path) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
