"""The indexes of a service: opened, checked, and exchanged for rebuilt ones while it runs."""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from candgen.errors import CandgenError
from candgen.protocols import Explains, TokenIndexed
from candgen.service.loaded_index import Opened
from candgen.service.problems import Problem, busy

log = logging.getLogger("candgen")


class Reloaded(NamedTuple):
    """What became of one index: ``changed``, ``unchanged`` or ``failed``, and why."""

    index: str  # type: ignore[assignment]  # the word of the API, not the method of tuples
    state: str
    detail: str = ""


class Shelf:
    """Indexes by name. Whoever has taken one keeps it, also when another takes its place."""

    def __init__(self, folders: Mapping[str, str], *, verify: bool = False) -> None:
        self.folders = dict(folders)
        self._open: dict[str, Opened] = {}
        self._broken: dict[str, str] = {}
        self._lock = threading.Lock()
        self.changed: Callable[[], None] = lambda: None
        """Called when an index is put into service, or taken out of it."""
        for name in self.folders:
            self._try(name, verify=verify)

    @property
    def default(self) -> str:
        """The index that is asked where none is named."""
        return next(iter(self.folders))

    @property
    def opened(self) -> list[Opened]:
        """Those that answer."""
        return [self._open[name] for name in self.folders if name in self._open]

    @property
    def broken(self) -> dict[str, str]:
        """Why the others do not."""
        return dict(self._broken)

    def take(self, name: str | None) -> Opened:
        """The index of this name, or the default one; a Problem if it cannot answer."""
        name = self.default if name is None else name
        if name not in self.folders:
            known = ", ".join(self.folders)
            raise Problem(404, f"there is no index {name[:64]!r}: there are {known}")
        self._look_at(name)
        opened = self._open.get(name)
        if opened is None:
            raise busy(f"the index {name!r} is damaged: it must be built again")
        return opened

    def look(self) -> None:
        """Take out of service what was damaged, though nobody has asked for it."""
        for name in self.folders:
            self._look_at(name)

    def _look_at(self, name: str) -> None:
        opened = self._open.get(name)
        if opened is not None and not opened.is_sound():
            self._open.pop(name, None)
            self._broken[name] = "its files were changed"
            log.error("the index %s is out of service: %s", name, self._broken[name])
            self.changed()
            threading.Thread(target=self._mend, args=(name,), daemon=True).start()

    def reload(self) -> list[Reloaded]:
        """Open what was built since, and let it answer from now on; what fails stays as it was."""
        with self._lock:
            return [self._reload(name) for name in self.folders]

    def _reload(self, name: str) -> Reloaded:
        old = self._open.get(name)
        sound = old is not None and old.is_sound(at_once=True)
        if old is not None and sound and old.is_current():
            return Reloaded(name, "unchanged")
        # One that is damaged must not end the process in which the old one still answers.
        if (reason := self._try(name, verify=True)) is None:
            return Reloaded(name, "changed")
        kept = "; the index that was there keeps answering" if old is not None else ""
        log.warning("the index %s was not reloaded: %s%s", name, reason, kept)
        # Where files are is nobody's business on the other side.
        return Reloaded(name, "failed", f"it must be built again, the log says why{kept}")

    def _mend(self, name: str) -> None:
        """Somebody wrote into the files of an index: it answers again if they are as they were."""
        with self._lock:
            if name not in self._open:
                self._try(name, verify=True)

    def _try(self, name: str, *, verify: bool = False) -> str | None:
        """Open an index and put it in its place; or what is wrong with it."""
        try:
            self._open[name] = Opened.open(name, self.folders[name], verify=verify)
        except Exception as error:
            # What is damaged inside may fail in any way; by its checksums it does in a clear one.
            if not verify and not isinstance(error, CandgenError | OSError):
                return self._try(name, verify=True)
            reason = str(error) or type(error).__name__
            if name not in self._open:
                self._broken[name] = reason
                log.error("the index %s cannot be opened: %s", name, reason)
            return reason
        self._broken.pop(name, None)
        self.changed()
        return None


def facts(opened: Opened) -> dict[str, Any]:
    """What a client may know of an index."""
    first = opened.first
    return {
        "name": opened.name,
        "kind": opened.stored.kind,
        "language": opened.language,
        "languages": opened.languages,
        "entities": len(first.token_index.entities) if isinstance(first, TokenIndexed) else None,
        "stages": 1 if first is opened.generator else 2,
        "wikidata": opened.wikidata,
        "examples": list(opened.examples),
        "lam": opened.lam,
        "explains": isinstance(opened.generator, Explains),
        "calibrated_on": opened.calibration.queries,
        "types": 0 if opened.descriptions is None else len(opened.descriptions.types),
        "described": 0 if opened.descriptions is None else len(opened.descriptions.entities),
        "bytes": sum(opened.stored.sizes.values()),
    }
