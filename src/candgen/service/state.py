"""What the routes share: settings, indexes, thread pool and metrics."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request

from candgen.service.admission import Place
from candgen.service.executor import Executor, Job
from candgen.service.index_registry import IndexRegistry
from candgen.service.loaded_index import LoadedIndex
from candgen.service.metrics import Metrics
from candgen.service.problems import CLIENT_CLOSED_REQUEST, Problem
from candgen.service.schemas import ReloadResult
from candgen.service.settings import Settings

T = TypeVar("T")

MAX_SHORT_BODY = 1 << 14
"""Bytes of a body that is parsed in the event loop."""


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

    async def run(
        self,
        request: Request,
        loaded: LoadedIndex,
        job: Job[T],
        work: float,
        *,
        short: bool = False,
        quick: bool = False,
    ) -> T:
        """Return what a job finds in an index: a short one at once, a long one in turns.

        ``work`` is that of `Limits.work`. A long job ends early if its client disconnects. Raises a
        Problem if a file of the index was overwritten meanwhile.
        """
        if short:
            result = await self.executor.run(job, short=True, quick=quick)
        else:
            result = await self._run_in_turns(request, job, work)
        self.registry.confirm(loaded)
        return result

    async def _run_in_turns(self, request: Request, job: Job[T], work: float) -> T:
        place: Place = request.scope["candgen_place"]
        try:
            place.claim(work)
        except Problem:
            place.leave()
            await place.admission.delay_refusal()
            raise
        running = asyncio.ensure_future(self.executor.run(job, client=place.client))
        gone = asyncio.ensure_future(_wait_for_disconnect(request))
        try:
            await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                raise Problem(CLIENT_CLOSED_REQUEST, "the client disconnected")
            return running.result()
        finally:
            running.cancel()
            gone.cancel()

    async def parse(self, request: Request, parse: Callable[[bytes], T]) -> T:
        """Return what a function reads in the body of a request; a large one is read in a thread.

        It then counts as a large request, so that any number of them cannot occupy the service.
        """
        body = await request.body()
        if len(body) <= MAX_SHORT_BODY:
            return parse(body)

        def job() -> Job[T]:
            yield from ()
            return parse(body)

        return await self._run_in_turns(request, job(), 0.0)

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


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
