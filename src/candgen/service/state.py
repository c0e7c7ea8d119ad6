"""What the routes share: settings, indexes, thread pool and metrics."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from candgen.service.executor import Executor
from candgen.service.index_registry import IndexRegistry
from candgen.service.loaded_index import LoadedIndex
from candgen.service.metrics import Metrics
from candgen.service.schemas import ReloadResult
from candgen.service.settings import Settings


@dataclass(frozen=True)
class ServiceState:
    """The state of the service in one process."""

    settings: Settings
    registry: IndexRegistry
    executor: Executor
    metrics: Metrics
    on_start: Callable[[], None] | None = None
    """In a worker of a supervisor, which may have others: tells it that this one has started."""

    @staticmethod
    def of(request: Request) -> "ServiceState":
        """Return the state of the application that a request was sent to."""
        state: ServiceState = request.app.state.service
        return state

    def record(self, request: Request, loaded: LoadedIndex, mentions: int, candidates: int) -> None:
        """Record the size of a request for the access log and the metrics."""
        request.scope["candgen"].update(index=loaded.name, mentions=mentions, candidates=candidates)
        self.metrics.batch.labels(loaded.name).observe(mentions)
        self.metrics.candidates.labels(loaded.name).inc(candidates)

    def publish_indexes(self) -> None:
        """Tell the metrics which indexes answer."""
        self.metrics.set_indexes(loaded.facts() for loaded in self.registry.loaded)

    async def reload(self, *, tell_others: bool = False) -> list[ReloadResult]:
        """Load the indexes that were rebuilt, and tell the other workers to do so if asked to."""
        results = await asyncio.to_thread(self.registry.reload)
        if tell_others and self.on_start is not None and hasattr(signal, "SIGHUP"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(os.getppid(), signal.SIGHUP)
        return results
