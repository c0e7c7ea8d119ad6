"""Limits of connections, around uvicorn's HTTP protocol: two timeouts and a maximum number."""

import asyncio
import json
import logging
import math
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from candgen.service.problems import MEDIA_TYPE, busy

log = logging.getLogger("candgen")

RESERVED_FILES = 64
"""File descriptors that are left for other things than connections, as a reload of indexes."""
WARNING_SECONDS = 60.0
"""Seconds between two warnings that there are too many connections."""
CHECKS_PER_TIMEOUT = 4
_current: ContextVar["Connection"] = ContextVar("connection")


class Connections:
    """Makes the protocol of each connection of a worker, as uvicorn's option ``http``."""

    def __init__(self, timeout: float, maximum: int) -> None:
        self.timeout, self.maximum = timeout, min(maximum, _files_left())
        self.number = 0
        self._next_warning = 0.0

    def __call__(self, **options: Any) -> "Connection":  # noqa: ANN401
        """Return the protocol of a new connection."""
        return Connection(self, H11Protocol(**options))

    def refuse(self, transport: asyncio.Transport, now: float) -> None:
        """Answer 503 to a connection that is one too many, and close it."""
        problem = busy(f"more than {self.maximum:,} connections: try again soon")
        if now >= self._next_warning:
            self._next_warning = now + WARNING_SECONDS
            log.warning(problem.detail)
        body = json.dumps(problem.body()).encode()
        transport.write(
            b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: %b\r\nContent-Length: %d\r\n"
            b"Retry-After: 1\r\nConnection: close\r\n\r\n%b"
            % (MEDIA_TYPE.encode(), len(body), body)
        )
        transport.close()


class Connection(asyncio.Protocol):
    """Passes all events on to an HTTP protocol, and aborts a connection whose client is too slow.

    A client is too slow if the head of a request has not arrived completely within the timeout, or
    if it has read nothing of an answer for that long. uvicorn has a timeout for idle connections
    only. The body of a request is the middleware's concern.
    """

    def __init__(self, limits: Connections, http: asyncio.Protocol) -> None:
        self._limits, self._http = limits, http
        self._loop = asyncio.get_running_loop()
        self._busy = False
        self._head_since: float | None = self._loop.time()
        self._unsent, self._read_at = 0, self._loop.time()

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401
        """Count the connection, and start its timeouts."""
        self._transport: asyncio.Transport = transport
        self._limits.number += 1
        if self._limits.number > self._limits.maximum:
            self._http = asyncio.Protocol()
            self._limits.refuse(transport, self._loop.time())
        self._http.connection_made(transport)
        self._check()

    def data_received(self, data: bytes) -> None:
        """Pass bytes on; unless a request is being answered, they begin the head of one."""
        if not self._busy and self._head_since is None:
            self._head_since = self._loop.time()
        _current.set(self)  # for the task that the HTTP protocol starts when a head is complete
        self._http.data_received(data)

    def begin_request(self) -> None:
        """Stop the timeout of the head: it has arrived."""
        self._busy, self._head_since = True, None

    def end_request(self) -> None:
        """Wait for the next request."""
        self._busy = False

    def eof_received(self) -> bool | None:
        """Pass the end of the client's bytes on."""
        return self._http.eof_received()

    def pause_writing(self) -> None:
        """Pass on that the write buffer is full."""
        self._http.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the write buffer has space again."""
        self._http.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeouts."""
        self._limits.number -= 1
        self._timer.cancel()
        self._http.connection_lost(exc)

    def _check(self) -> None:
        """Abort the connection if the client is too slow, else look again later."""
        now, timeout = self._loop.time(), self._limits.timeout
        unsent = self._transport.get_write_buffer_size()
        if not unsent or unsent < self._unsent:
            self._read_at = now
        self._unsent = unsent
        waiting_since = self._read_at if self._head_since is None else self._head_since
        if now - min(self._read_at, waiting_since) >= timeout:
            self._transport.abort()
        self._timer = self._loop.call_later(timeout / CHECKS_PER_TIMEOUT, self._check)


App = Callable[[Any, Any, Any], Awaitable[None]]


def track_requests(app: App) -> App:
    """Return an ASGI application that tells each connection when a request begins and ends."""

    async def tracked(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        connection = _current.get()
        connection.begin_request()
        try:
            await app(scope, receive, send)
        finally:
            connection.end_request()

    return tracked


def _files_left() -> float:
    """Return how many connections the limit of open files leaves space for, at least one."""
    try:
        import resource  # noqa: PLC0415

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        opened = len(list(Path("/dev/fd").iterdir()))
    except (ImportError, OSError):  # on Windows
        return math.inf
    return math.inf if soft == resource.RLIM_INFINITY else max(1, soft - opened - RESERVED_FILES)
