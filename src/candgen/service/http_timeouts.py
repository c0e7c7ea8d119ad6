"""Timeouts of HTTP connections, which uvicorn does not have."""

import asyncio
import json
import math
import re
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from candgen.service.middleware import MAX_HEAD_BYTES
from candgen.service.problems import Problem

UPGRADE = re.compile(rb"\r\nupgrade:[^\r\n]*", re.IGNORECASE)


class TimeoutProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Closes connections of clients that send the head of a request, or read an answer, too slowly.

    uvicorn waits without a timeout once the first byte of a request has arrived.
    """

    _head_bytes = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401
        """Start the timeout of the first request."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Pass bytes on; the timeout runs until they are the head of a request."""
        super().data_received(data if self._is_busy() else _without_upgrade(data))
        if self._is_busy():
            self._head_bytes = 0
            self._stop_timer()
            return
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self.transport.abort()
        elif self._timer is None:
            self._start_timer()

    def send_400_response(self, msg: str) -> None:
        """Answer malformed HTTP with a 400 problem document."""
        body = json.dumps(Problem(400, msg.rstrip(".")).body()).encode()
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\n"
            b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(body), body)
        )
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
        self._stop_timer()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Watch whether the client reads the answer, which may still be in the write buffer."""
        super().on_response_complete()
        self._watch_reader(math.inf)

    def _watch_reader(self, before: float) -> None:
        """Abort if the write buffer has not shrunk since the last look."""
        left = 0 if self.transport.is_closing() else self.transport.get_write_buffer_size()
        if left and left >= before:
            self.transport.abort()
        elif left:
            self.loop.call_later(self.app.limits.request_timeout, self._watch_reader, left)

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.app.limits.request_timeout, self._abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _abort(self) -> None:
        self._timer = None
        if not self._is_busy():
            self.transport.abort()


def _without_upgrade(data: bytes) -> bytes:
    """Remove the header Upgrade, which Java's client sends, from the head of a request.

    A server may ignore it, but uvicorn would read no body from such a request.

    >>> _without_upgrade(b"POST / HTTP/1.1\\r\\nUpgrade: h2c\\r\\nHost: x\\r\\n\\r\\nupgrade: body")
    b'POST / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\nupgrade: body'
    """
    head, end, body = data.partition(b"\r\n\r\n")
    return UPGRADE.sub(b"", head) + end + body if b"pgrade" in head else data
