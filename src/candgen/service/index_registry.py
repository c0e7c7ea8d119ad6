"""The indexes of a service: loaded, checked, and exchanged for rebuilt ones while it runs."""

import logging
import threading
from collections.abc import Callable, Mapping

from candgen.errors import CandgenError
from candgen.service.loaded_index import LoadedIndex
from candgen.service.problems import Problem, busy
from candgen.service.schemas import ReloadResult

log = logging.getLogger("candgen")


class IndexRegistry:
    """Indexes by name. A request keeps the index it got, also if a reload replaces it."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self.folders = dict(folders)
        self._loaded: dict[str, LoadedIndex] = {}
        self._broken: dict[str, str] = {}
        self._lock = threading.Lock()
        self.on_change: Callable[[], None] = lambda: None
        """Called after an index was put into service or taken out of service."""
        for name in self.folders:
            self._load(name)

    @property
    def default(self) -> str:
        """The name of the index for requests that name none."""
        return next(iter(self.folders))

    @property
    def loaded(self) -> list[LoadedIndex]:
        """The indexes that answer."""
        return [self._loaded[name] for name in self.folders if name in self._loaded]

    @property
    def broken(self) -> dict[str, str]:
        """Why the other indexes do not answer, by name."""
        return dict(self._broken)

    def get(self, name: str | None) -> LoadedIndex:
        """Return the index of a name, or the default one; raise a Problem if it cannot answer."""
        name = self.default if name is None else name
        if name not in self.folders:
            known = ", ".join(self.folders)
            raise Problem(404, f"unknown index {name[:64]!r}: expected one of {known}")
        self._check(name)
        if (loaded := self._loaded.get(name)) is None:
            raise busy(f"the index {name!r} is damaged: build it again")
        return loaded

    def confirm(self, loaded: LoadedIndex) -> None:
        """Raise a Problem if the files of an index were overwritten while it was asked."""
        if not loaded.is_unchanged(now=True):
            self._check(loaded.name, now=True)
            raise busy(f"the index {loaded.name!r} was changed meanwhile: try again")

    def check(self) -> None:
        """Take indexes whose files were changed out of service."""
        for name in self.folders:
            self._check(name)

    def _check(self, name: str, *, now: bool = False) -> None:
        loaded = self._loaded.get(name)
        if loaded is not None and not loaded.is_unchanged(now=now):
            self._loaded.pop(name, None)
            self._broken[name] = "its files were changed"
            log.error("the index %s is out of service: %s", name, self._broken[name])
            self.on_change()
            threading.Thread(target=self._recover, args=(name,), daemon=True).start()

    def reload(self) -> list[ReloadResult]:
        """Load the indexes that were rebuilt; where that fails, the old one stays in service."""
        with self._lock:
            return [self._reload(name) for name in self.folders]

    def _reload(self, name: str) -> ReloadResult:
        old = self._loaded.get(name)
        if old is not None and old.is_unchanged(now=True) and old.is_current():
            return ReloadResult(index=name, state="unchanged", detail="")
        if (reason := self._load(name)) is None:
            return ReloadResult(index=name, state="changed", detail="")
        kept = "; the previous index keeps answering" if old is not None else ""
        log.warning("the index %s was not reloaded: %s%s", name, reason, kept)
        # The reason may contain paths, which are not for clients.
        detail = f"build it again, the log of the service has the reason{kept}"
        return ReloadResult(index=name, state="failed", detail=detail)

    def _recover(self, name: str) -> None:
        """Put an index back into service if its files, after a change, have valid checksums."""
        with self._lock:
            if name not in self._loaded:
                self._load(name)

    def _load(self, name: str) -> str | None:
        """Load an index and put it into service; return the reason if that fails.

        Files that are new or were changed are verified, so that no damaged index can end the
        process in which others answer.
        """
        try:
            self._loaded[name] = LoadedIndex.load(name, self.folders[name])
        except (CandgenError, OSError) as error:
            reason = str(error) or type(error).__name__
            if name not in self._loaded:
                self._broken[name] = reason
                log.error("the index %s cannot be loaded: %s", name, reason)
            return reason
        self._broken.pop(name, None)
        self.on_change()
        return None
