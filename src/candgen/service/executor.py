"""Jobs in threads, in pieces that take turns, with a timeout: long ones do not delay short ones.

A job is a generator: it yields where another may take its turn, and returns its result.
"""

import asyncio
import contextlib
import itertools
import threading
import time
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from candgen.errors import CandgenError
from candgen.index.cancellation import Cancellation, cancelled_by
from candgen.service.problems import Problem, busy

T = TypeVar("T")
Job = Generator[None, None, T]

TURN = 0.02
"""Seconds that a long job has a thread before the next one gets it, at the end of a piece."""


@dataclass(eq=False)
class LongJob:
    """A long job that is not finished."""

    pieces: Job[Any]
    client: str
    deadline: float
    cancellation: Cancellation
    place: tuple[bool, int]
    """Its place among the jobs of the client: before those that had a turn, then in order."""
    waits: bool = True
    future: "Future[Any]" = field(default_factory=Future)


class Executor:
    """Runs jobs in two thread pools: a short job to its end, a long one in turns.

    The next turn is that of the client that has had the least time, and of its job that waits
    longest; a new job goes before those that had a turn. The threads use several processors where
    the kernels release the GIL.
    """

    def __init__(self, timeout: float, threads: int) -> None:
        self.timeout = timeout
        self._unfinished_short = 0
        self._short = ThreadPoolExecutor(threads, thread_name_prefix="candgen-short")
        self._long = ThreadPoolExecutor(threads, thread_name_prefix="candgen-long")
        self._lock = threading.Lock()
        self._unfinished: list[LongJob] = []
        self._seconds: dict[str, float] = {}
        """The time that each client has had, since all were last idle."""
        self._number = itertools.count()

    async def run(
        self, job: Job[T], *, short: bool = False, quick: bool = False, client: str = ""
    ) -> T:
        """Return what a job returns; raise a Problem at the timeout.

        After the timeout, or if the caller is cancelled, the search in progress is cancelled and
        the job ends. A ``quick`` job runs in the event loop if no short job is unfinished: waking a
        thread would take nearly as long again.
        """
        deadline = time.monotonic() + self.timeout
        cancellation = Cancellation()
        self._unfinished_short += short
        try:
            if quick and self._unfinished_short == short:
                return _run_to_end(job, deadline, cancellation)
            async with asyncio.timeout(self.timeout):
                if short:
                    return await self._run_short(job, deadline, cancellation)
                return await self._run_long(job, deadline, cancellation, client)
        except TimeoutError:
            raise busy(
                f"timeout after {self.timeout:g} seconds: send fewer or shorter mentions, or retry "
                "when the service is less busy"
            ) from None
        except CandgenError as error:
            raise Problem(422, str(error)) from error
        finally:
            cancellation.set()
            self._unfinished_short -= short

    async def _run_short(self, job: Job[T], deadline: float, cancellation: Cancellation) -> T:
        future = self._short.submit(_run_to_end, job, deadline, cancellation)
        try:
            return await asyncio.wrap_future(future)
        finally:
            future.cancel()

    async def _run_long(
        self, pieces: Job[T], deadline: float, cancellation: Cancellation, client: str
    ) -> T:
        job = LongJob(pieces, client, deadline, cancellation, (False, next(self._number)))
        with self._lock:
            self._admit(job)
        self._long.submit(self._give_turn)
        try:
            result: T = await asyncio.wrap_future(job.future)
            return result
        finally:
            job.future.cancel()
            with self._lock:
                if job.waits:
                    self._remove(job)
                    job.pieces.close()

    def _admit(self, job: LongJob) -> None:
        """Add a job. A client that was away has had as little time as any other, not less."""
        least = min((self._seconds[each.client] for each in self._unfinished), default=0.0)
        self._seconds = {name: had for name, had in self._seconds.items() if had >= least}
        self._seconds[job.client] = max(self._seconds.get(job.client, 0.0), least)
        self._unfinished.append(job)

    def _remove(self, job: LongJob) -> None:
        job.waits = False
        self._unfinished.remove(job)
        if not self._unfinished:
            self._seconds.clear()

    def _next(self) -> LongJob | None:
        """Return the job whose turn it is; None if those that waited were given up."""
        waiting = (each for each in self._unfinished if each.waits)
        return min(waiting, key=lambda each: (self._seconds[each.client], each.place), default=None)

    def _give_turn(self) -> None:
        with self._lock:
            job = self._next()
            if job is None:
                return
            job.waits = False
        start = time.monotonic()
        is_over = _run_for_a_turn(job, start + TURN)
        with self._lock:
            self._seconds[job.client] += time.monotonic() - start
            if is_over:
                self._remove(job)
                return
            job.waits, job.place = True, (True, next(self._number))
        with contextlib.suppress(RuntimeError):  # the pool was closed
            self._long.submit(self._give_turn)

    def close(self) -> None:
        """Start no more jobs, and end those in progress with their current piece."""
        self._short.shutdown(wait=False, cancel_futures=True)
        self._long.shutdown(wait=False, cancel_futures=True)


def _run_for_a_turn(job: LongJob, end: float) -> bool:
    """Run at least one piece of a job, and more until a time; return whether the job is over."""
    try:
        while not job.future.cancelled():
            if time.monotonic() > job.deadline:
                raise TimeoutError
            with cancelled_by(job.cancellation):
                next(job.pieces)
            if time.monotonic() >= end:
                return False
    except StopIteration as stop:
        if job.future.set_running_or_notify_cancel():
            job.future.set_result(stop.value)
    except BaseException as error:
        if job.future.set_running_or_notify_cancel():
            job.future.set_exception(error)
    job.pieces.close()
    return True


def _run_to_end(job: Job[T], deadline: float, cancellation: Cancellation) -> T:
    """Return what a job returns; raise TimeoutError if the deadline passes before its end."""
    with contextlib.closing(job), cancelled_by(cancellation):
        while time.monotonic() <= deadline:
            try:
                next(job)
            except StopIteration as stop:
                result: T = stop.value
                return result
    raise TimeoutError
