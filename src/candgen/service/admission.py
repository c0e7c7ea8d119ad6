"""Which requests are let in: large ones may take half of the places, and their work is limited."""

from dataclasses import dataclass

from candgen.service.problems import busy
from candgen.service.settings import Limits

MAX_WORK, MAX_CLIENT_WORK = 6.0, 4.0
"""The work of all large requests in progress, and of those of one client; that of a request is at
most 1."""


class Admission:
    """The requests in progress. A client is an address; behind a proxy all have the same one."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.places: set[Place] = set()

    def enter(self, client: str) -> "Place":
        """Give a request a place; raise a Problem if there is none."""
        if len(self.places) >= self.limits.concurrency:
            raise busy(f"more than {self.limits.concurrency} concurrent requests: try again soon")
        place = Place(self, client)
        self.places.add(place)
        return place


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
