"""What the routes share: settings, indexes, threads and counts."""

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass

from starlette.requests import Request

from candgen.service.executor import Work
from candgen.service.index_registry import Reloaded, Shelf, facts
from candgen.service.loaded_index import Opened
from candgen.service.metrics import Metrics
from candgen.service.settings import Settings


@dataclass(frozen=True)
class Service:
    """One service, in one process."""

    settings: Settings
    shelf: Shelf
    work: Work
    metrics: Metrics
    supervised: bool = False
    """Whether another process started this one, and others like it."""

    @staticmethod
    def of(request: Request) -> "Service":
        """The service that a request is for."""
        service: Service = request.app.state.service
        return service

    def note(self, request: Request, opened: Opened, mentions: int, candidates: int) -> None:
        """Remember, for the log and for the counts, what a request was about."""
        request.scope["candgen"].update(index=opened.name, mentions=mentions, candidates=candidates)
        self.metrics.batch.labels(opened.name).observe(mentions)
        self.metrics.candidates.labels(opened.name).inc(candidates)

    def show_indexes(self) -> None:
        """Tell the metrics which indexes answer."""
        known = map(facts, self.shelf.opened)
        self.metrics.show_indexes(
            (each["name"], each["kind"], each["language"], each["entities"]) for each in known
        )

    async def reload(self, *, tell_others: bool = False) -> list[Reloaded]:
        """Exchange indexes that were built again, here and, if told so, in the other workers."""
        reloaded = await asyncio.to_thread(self.shelf.reload)
        if tell_others and self.supervised and hasattr(signal, "SIGHUP"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(os.getppid(), signal.SIGHUP)
        return reloaded
