"""ASGI middleware around all routes: limits, API key, access log, metrics, security headers."""

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.responses import Response

from candgen.service.admission import Admission
from candgen.service.hosts import Hosts
from candgen.service.metrics import Metrics
from candgen.service.problems import CLIENT_CLOSED_REQUEST, Problem, busy
from candgen.service.settings import MAX_HEAD_BYTES, Limits, Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

access = logging.getLogger("candgen.access")
log = logging.getLogger("candgen")

_SCRIPTS = (
    *("page", "bars", "compare", "elements", "explanation", "files", "list", "ngrams", "one"),
    *("programs", "service", "state"),
)
PAGE_FILES = ("page.css", "icon.svg", *(f"{name}.js" for name in _SCRIPTS))
"""The files of the web page, beside its HTML."""
OPENAPI_PATH = "/api/v1/openapi.json"
PATHS_WITHOUT_KEY = {"/", "/healthz", "/readyz", OPENAPI_PATH, *(f"/{name}" for name in PAGE_FILES)}
"""Paths that need no API key: they tell nothing about the indexes."""
PATHS_FOR_ANY_HOST = ("/healthz", "/readyz")
"""Paths that container platforms ask by any address; they repeat nothing of the request."""
PROBES = ("/healthz", "/readyz", "/metrics")
"""Paths that are answered however busy the service is."""
MAX_LOGGED_PATH = 500
"""Characters of a path in the access log."""
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
DEFAULT_POLICY = b"default-src 'none'; frame-ancestors 'none'"
DRAIN_FACTOR = 16
"""A body up to this many times the limit is read to its end before it is rejected."""
INTERNAL_ERROR = Problem(500, "internal error")
PREFLIGHT = Response(
    status_code=204,
    headers={
        "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
        "Access-Control-Allow-Headers": "Content-Type, Authorization, X-API-Key, "
        "X-Requested-With, Accept-Language",
        "Access-Control-Max-Age": "86400",
    },
)
"""Answer to a CORS preflight; OpenRefine may run on any origin."""


class Middleware:
    """The outermost ASGI application. It reads a whole request before it calls the inner one."""

    def __init__(self, app: App, *, settings: Settings, metrics: Metrics) -> None:
        self.app, self.settings, self.metrics = app, settings, metrics
        self.hosts = Hosts(settings.allowed_hosts, settings.url)
        self.admission = Admission(settings.limits)

    @property
    def limits(self) -> Limits:
        """The limits of a request."""
        return self.settings.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with a problem document if anything fails."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope["candgen"] = {}
        sender = _Sender(scope, send)
        start = time.perf_counter()
        self.metrics.running.inc()
        try:
            await self._handle(scope, receive, sender)
        except Problem as problem:
            await _send_problem(problem, scope, receive, sender)
        except _ClientDisconnectedError:
            sender.status = CLIENT_CLOSED_REQUEST
        except TimeoutError:
            await _send_problem(busy("timeout: the request took too long"), scope, receive, sender)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            await _send_problem(INTERNAL_ERROR, scope, receive, sender)
        finally:
            self.metrics.running.dec()
            self._record(scope, sender, time.perf_counter() - start)

    async def _handle(self, scope: Scope, receive: Receive, send: "_Sender") -> None:
        headers = dict(scope["headers"])
        if _head_size(scope) > MAX_HEAD_BYTES:
            raise Problem(431, f"request line and headers have more than {MAX_HEAD_BYTES:,} bytes")
        if b"content-length" in headers and b"transfer-encoding" in headers:
            raise Problem(400, "Content-Length and Transfer-Encoding exclude each other")
        # Before any check: many clients read no answer before they have sent the whole body.
        has_body = b"content-length" in headers or b"transfer-encoding" in headers
        body = await self._read_body(headers, receive) if has_body else b""
        self._check_host(scope)
        if scope["method"] == "OPTIONS" and is_reconciliation(scope):
            await PREFLIGHT(scope, receive, send)
            return
        self._check_key(scope, headers)
        _check_origin(scope, headers)
        # Only now: clients that send half a request must not block others.
        place = None
        if scope["path"] not in PROBES:
            place = scope["candgen_place"] = self.admission.enter((scope.get("client") or [""])[0])
        try:
            # The executor has its own timeout; this one is for clients that do not read answers.
            async with asyncio.timeout(2 * self.limits.work_timeout + self.limits.request_timeout):
                inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
                await self.app(inner, _replay(body, receive), send)
        finally:
            if place is not None:
                place.leave()

    def _check_host(self, scope: Scope) -> None:
        """Raise a Problem for a host that is not this service's, except from liveness probes."""
        if scope["path"] not in PATHS_FOR_ANY_HOST:
            values = [value for name, value in scope["headers"] if name == b"host"]
            server = scope.get("server")
            self.hosts.check(values, server[0] if server else None)

    def _check_key(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        key = self.settings.key
        if key is None or (scope["path"] in PATHS_WITHOUT_KEY and not is_reconciliation(scope)):
            return
        given = headers.get(b"x-api-key", b"")
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer":
            given = token.strip()
        if not hmac.compare_digest(given, key.encode()):
            raise Problem(
                401, "an API key is required: send it as 'Authorization: Bearer KEY' or X-API-Key"
            )

    async def _read_body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        """Return the body of a request; raise a Problem if it is too large or too slow.

        A body that is not far beyond the limit is read to its end before the Problem: many clients
        read no answer before they have sent everything.
        """
        maximum = self.limits.body
        too_large = Problem(413, f"the request has more than {maximum:,} bytes: split it")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > DRAIN_FACTOR * maximum:
            raise too_large
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.limits.request_timeout):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _ClientDisconnectedError
                    part = message.get("body", b"")
                    size += len(part)
                    if size > DRAIN_FACTOR * maximum:
                        raise too_large
                    if size <= maximum:
                        parts.append(part)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            seconds = self.limits.request_timeout
            raise Problem(
                408, f"timeout: the request did not arrive within {seconds:g} seconds"
            ) from None
        if size > maximum:
            raise too_large
        return b"".join(parts)

    def _record(self, scope: Scope, sender: "_Sender", seconds: float) -> None:
        """Count a request in the metrics and write it to the access log."""
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.metrics.count(route, method, sender.status, seconds)
        if not self.settings.log:
            return
        client = scope.get("client")
        line = {
            "client": client[0] if client else None,
            "method": scope["method"],
            "path": scope["path"][:MAX_LOGGED_PATH],
            "status": sender.status,
            "ms": round(1000 * seconds, 2),
            "bytes": sender.size,
            **scope["candgen"],
        }
        access.info(line)


_METHODS = {"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"}


class _ClientDisconnectedError(Exception):
    """The client disconnected before its request was complete."""


class _Sender:
    """Sends answers: adds the headers that all have, and records status and size."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.scope, self.send = scope, send
        self.status = self.size = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            present = {name.lower() for name, _ in message["headers"]}
            headers = message["headers"] = [*message["headers"], *SECURITY_HEADERS]
            if b"content-security-policy" not in present:
                headers.append((b"content-security-policy", DEFAULT_POLICY))
            if b"cache-control" not in present:
                headers.append((b"cache-control", b"no-store"))
            if is_reconciliation(self.scope):
                headers.append((b"access-control-allow-origin", b"*"))
        elif message["type"] == "http.response.body":
            self.size += len(message.get("body", b""))
        await self.send(message)


async def _send_problem(problem: Problem, scope: Scope, receive: Receive, send: _Sender) -> None:
    if send.status:  # the answer has begun, so that it can only end early
        return
    response = problem.response()
    if problem.status in (400, 408, 413, 431):  # the rest of the request may still arrive
        response.headers["Connection"] = "close"
    await response(scope, receive, send)


def is_reconciliation(scope: Scope) -> bool:
    """Return whether a request is for the Reconciliation API, which pages of any origin may read.

    At / is the web page, and the Reconciliation API for clients that do not look like a browser.
    """
    path: str = scope["path"]
    if path != "/":
        return path == "/reconcile" or path.startswith("/reconcile/")
    if scope["method"] not in ("GET", "HEAD"):
        return True
    accept, query = dict(scope["headers"]).get(b"accept", b""), scope["query_string"]
    wants_json = b"application/json" in accept and b"text/html" not in accept
    return wants_json or b"callback=" in query or b"queries=" in query


def _head_size(scope: Scope) -> int:
    """Return the bytes of the request line and of all headers, with separators and line ends."""
    headers = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    target = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    return headers + target + len(scope["method"]) + len("  HTTP/1.1\r\n\r\n")


def _check_origin(scope: Scope, headers: dict[bytes, bytes]) -> None:
    """Raise a Problem if a page of another origin sends more than a GET."""
    origin = headers.get(b"origin")
    if origin is None or scope["method"] in ("GET", "HEAD", "OPTIONS") or is_reconciliation(scope):
        return
    _, _, site = origin.partition(b"://")
    if site != headers.get(b"host", b""):
        raise Problem(403, "cross-origin requests are not allowed here")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receive that gives the body that was read, and then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
