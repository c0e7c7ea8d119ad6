"""Work that takes time, in threads of its own, with an end: the loop goes on answering."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from candgen.errors import CandgenError
from candgen.service.loaded_index import Late
from candgen.service.problems import Problem, busy

T = TypeVar("T")


class Work:
    """Threads that search; the kernels let go of the interpreter, so that they run side by side."""

    def __init__(self, seconds: float, threads: int) -> None:
        self.seconds = seconds
        self._waiting = 0
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="candgen")

    async def do(self, job: Callable[[float], T], *, quick: bool = False) -> T:
        """What ``job(deadline)`` returns, or a Problem: at the deadline nobody waits any longer.

        A job that has not begun by then never does; one that has is told its deadline, and keeps
        its thread until it notices. One that is said to be ``quick`` is done at once if nobody else
        has work: waking a thread would take nearly as long again.
        """
        deadline = time.monotonic() + self.seconds
        self._waiting += 1
        try:
            if quick and self._waiting == 1:
                return job(deadline)
            return await self._in_thread(job, deadline)
        except (TimeoutError, Late):
            raise busy(
                f"this took more than {self.seconds:g} seconds: ask for fewer or shorter mentions, "
                "or try again when the service is less busy"
            ) from None
        except CandgenError as error:
            raise Problem(422, str(error)) from error
        finally:
            self._waiting -= 1

    async def _in_thread(self, job: Callable[[float], T], deadline: float) -> T:
        future = self._pool.submit(job, deadline)
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.wrap_future(future)
        finally:
            future.cancel()

    def close(self) -> None:
        """Begin nothing new."""
        self._pool.shutdown(wait=False, cancel_futures=True)
