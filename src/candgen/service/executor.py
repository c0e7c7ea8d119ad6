"""Searches in a thread pool with a timeout, so that the event loop goes on answering."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from candgen.errors import CandgenError
from candgen.service.problems import Problem, busy

T = TypeVar("T")


def check_deadline(deadline: float) -> None:
    """Raise TimeoutError if a deadline, of ``time.monotonic``, has passed."""
    if time.monotonic() > deadline:
        raise TimeoutError


class Executor:
    """A thread pool for searches. They run in parallel, because the kernels release the GIL."""

    def __init__(self, timeout: float, threads: int) -> None:
        self.timeout = timeout
        self._unfinished = 0
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="candgen")

    async def run(self, job: Callable[[float], T], *, quick: bool = False) -> T:
        """Return what ``job(deadline)`` returns; raise a Problem at the timeout.

        A job that has not begun by then never runs. One that has begun keeps its thread until it
        checks its deadline. A ``quick`` job runs in the event loop if no other job is unfinished:
        waking a thread would take nearly as long again.
        """
        deadline = time.monotonic() + self.timeout
        self._unfinished += 1
        try:
            if quick and self._unfinished == 1:
                return job(deadline)
            return await self._run_in_thread(job, deadline)
        except TimeoutError:
            raise busy(
                f"timeout after {self.timeout:g} seconds: send fewer or shorter mentions, or retry "
                "when the service is less busy"
            ) from None
        except CandgenError as error:
            raise Problem(422, str(error)) from error
        finally:
            self._unfinished -= 1

    async def _run_in_thread(self, job: Callable[[float], T], deadline: float) -> T:
        future = self._pool.submit(job, deadline)
        try:
            async with asyncio.timeout(self.timeout):
                return await asyncio.wrap_future(future)
        finally:
            future.cancel()

    def close(self) -> None:
        """Start no more jobs."""
        self._pool.shutdown(wait=False, cancel_futures=True)
