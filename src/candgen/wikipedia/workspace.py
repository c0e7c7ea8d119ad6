"""The folder beside an output in which it comes into being, and from which a run is resumed.

A part that is finished has a tally there, written after its tables. The output itself is made there
too and moved to its place last, so whatever ends a run, there is no half of an output.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from candgen.errors import StorageError
from candgen.files import write_text
from candgen.wikipedia.tally import Tally

_PLAN = "plan.json"


class Workspace:
    """The work folder of an output; whoever opens it ends it with `finish`."""

    def __init__(self, output: Path) -> None:
        self.folder = output.with_name(f".{output.name}.parts")

    def begin(self, plan: Mapping[str, Any], *, resume: bool) -> None:
        """Make the folder; what another run left there is kept only if this one resumes it."""
        wanted = json.dumps(plan, ensure_ascii=False, sort_keys=True)
        if resume and (self.folder / _PLAN).exists():
            self._check(wanted)
            return
        self.discard()
        try:
            self.folder.mkdir()
        except OSError as error:
            raise StorageError(
                f"{self.folder} cannot be made: {error.strerror or error}; choose another output"
            ) from error
        write_text(self.folder / _PLAN, wanted)

    def _check(self, wanted: str) -> None:
        try:
            found = (self.folder / _PLAN).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            found = ""
        if found != wanted:
            raise StorageError(
                f"what {self.folder} holds comes from other files or other options and cannot be "
                "resumed: leave out --resume to start over"
            )

    def discard(self) -> None:
        """Delete the folder with everything in it."""
        if self.folder.is_symlink() or (self.folder.exists() and not self._is_ours()):
            raise StorageError(
                f"{self.folder} is where the parts of the output would go, and holds something "
                "else: move it away or choose another output"
            )
        shutil.rmtree(self.folder, ignore_errors=True)

    def _is_ours(self) -> bool:
        if not self.folder.is_dir():
            return False
        # A run that was killed may have left the start of its plan.
        begun = all(path.name.startswith(".candgen-") for path in self.folder.iterdir())
        return begun or (self.folder / _PLAN).is_file()

    def table(self, kind: str, part: int, number: int) -> Path:
        """Name a table of a part."""
        return self.folder / f"{part:06}-{number:04}.{kind}"

    def tables(self, kind: str) -> list[Path]:
        """Name all tables of a kind."""
        return sorted(self.folder.glob(f"*.{kind}"))

    def close_part(self, part: int, tally: Tally) -> None:
        """Tell that all tables of a part are there."""
        write_text(self._tally(part), tally.to_json())

    def finished(self, part: int) -> Tally | None:
        """Give the tally of a part if it is finished."""
        try:
            return Tally.from_json(self._tally(part).read_text(encoding="utf-8"))
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
