"""HTTP for clients that are slow, or pretend to be."""

import asyncio
import json
import math
import re
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from candgen.service.middleware import LARGEST_HEAD
from candgen.service.problems import Problem

UPGRADE = re.compile(rb"\r\nupgrade:[^\r\n]*", re.IGNORECASE)


class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """HTTP for clients that are slow, or pretend to be: a request's head must come in time.

    uvicorn waits for ever once the first byte of a request is there.
    """

    _head = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401
        """A client is there: now it should say something."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what came; until it makes a request, the clock is ticking."""
        super().data_received(data if self._is_busy() else _without_upgrade(data))
        if self._is_busy():
            self._head = 0
            self._stop()
            return
        self._head += len(data)
        if self._head > LARGEST_HEAD:
            self.transport.abort()
        elif self._timer is None:
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is told so as a problem, like all else."""
        body = json.dumps(Problem(400, msg.rstrip(".")).body()).encode()
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\n"
            b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(body), body)
        )
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._stop()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """An answer is written; whether anybody reads it is another matter."""
        super().on_response_complete()
        self._watch_reader(math.inf)

    def _watch_reader(self, before: float) -> None:
        """Look, as long as something is left to be read, whether it gets less."""
        left = 0 if self.transport.is_closing() else self.transport.get_write_buffer_size()
        if left and left >= before:
            self.transport.abort()
        elif left:
            self.loop.call_later(self.app.limits.patience, self._watch_reader, left)

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.app.limits.patience, self._give_up)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if not self._is_busy():
            self.transport.abort()


def _without_upgrade(data: bytes) -> bytes:
    """A request without the wish for another protocol, as Java's client has it: nobody must grant
    that, and uvicorn, which does not either, would take no body from such a request.

    >>> _without_upgrade(b"POST / HTTP/1.1\\r\\nUpgrade: h2c\\r\\nHost: x\\r\\n\\r\\nupgrade: body")
    b'POST / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\nupgrade: body'
    """
    head, end, body = data.partition(b"\r\n\r\n")
    return UPGRADE.sub(b"", head) + end + body if b"pgrade" in head else data
