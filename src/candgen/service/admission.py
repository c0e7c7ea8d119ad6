"""Which requests are let in: large ones may take half of the places, and their work is limited."""

import asyncio
from dataclasses import dataclass

from candgen.service.problems import busy
from candgen.service.settings import Limits

MAX_WORK, MAX_CLIENT_WORK = 6.0, 4.0
"""The work of all large requests in progress, and of those of one client; that of a request is at
most 1."""

REFUSALS_PER_SECOND, MIN_REFUSAL_DELAY = 32, 1.0
"""Large requests that are refused in a second, and the seconds after which one is at the least."""


class Admission:
    """The requests in progress. A client is an address; behind a proxy all have the same one."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.places: set[Place] = set()
        self._refusals = 0

    def enter(self, client: str) -> "Place":
        """Give a request a place; raise a Problem if there is none."""
        if len(self.places) >= self.limits.concurrency:
            raise busy(f"more than {self.limits.concurrency} concurrent requests: try again soon")
        place = Place(self, client)
        self.places.add(place)
        return place

    async def delay_refusal(self) -> None:
        """Wait before a large request is refused, the longer the more of them wait.

        Clients that ignore Retry-After send the next large request at once. To read and refuse it
        takes time of the event loop, which must not grow with the number of such clients.
        """
        self._refusals += 1
        try:
            delay = min(self._refusals / REFUSALS_PER_SECOND, self.limits.work_timeout)
            await asyncio.sleep(max(delay, MIN_REFUSAL_DELAY))
        finally:
            self._refusals -= 1


@dataclass(eq=False)
class Place:
    """The place of a request in progress."""

    admission: Admission
    client: str
    large: bool = False
    work: float = 0.0

    def claim(self, work: float) -> None:
        """Mark the request as large, with this much work; raise a Problem if that is too much."""
        large = [each for each in self.admission.places if each.large and each is not self]
        own = [each for each in large if each.client == self.client]
        places = max(1, self.admission.limits.concurrency // 2)
        if len(large) >= places or len(own) >= max(1, 3 * places // 4):
            raise busy(f"{len(large)} large requests are in progress: try again soon")
        # Equal to the limits is allowed, whatever the rounding; one request alone always is.
        for others, most in ((large, MAX_WORK), (own, MAX_CLIENT_WORK)):
            if others and sum(each.work for each in others) + work > most + 1e-9:
                raise busy("too much work is waiting: try again soon, or send fewer mentions")
        self.large, self.work = True, work

    def leave(self) -> None:
        """Give the place to another request."""
        self.admission.places.discard(self)
