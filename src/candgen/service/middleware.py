"""The gate: every request passes here, in and out. Limits, key, log, counts and safe headers."""

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

from candgen.service.metrics import Metrics
from candgen.service.problems import Problem, busy
from candgen.service.settings import Limits, Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

access = logging.getLogger("candgen.access")
log = logging.getLogger("candgen")

PAGE_FILES = (
    "page.css",
    "icon.svg",
    "page.js",
    "bars.js",
    "compare.js",
    "elements.js",
    "explanation.js",
    "files.js",
    "list.js",
    "ngrams.js",
    "one.js",
    "programs.js",
    "service.js",
    "state.js",
)
"""What the page is made of, beside its HTML."""
DESCRIPTION = "/api/v1/openapi.json"
OPEN = {"/", "/healthz", "/readyz", DESCRIPTION, *(f"/{name}" for name in PAGE_FILES)}
"""What needs no key: nothing there tells of an index."""
PROBES = ("/healthz", "/readyz", "/metrics")
"""What is answered however busy the service is."""
CLOSED_WHILE_READING = 499
"""The status in log and counts where a client left before there was an answer."""
SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
NOTHING_ALLOWED = b"default-src 'none'; frame-ancestors 'none'"
LARGEST_HEAD = 1 << 16
"""Bytes that a request may have before its body."""
DRAIN_FACTOR = 16
"""How many times as large as allowed a request may be to be read to its end all the same."""
MISTAKE = Problem(500, "the service failed at this request, which is its own mistake")
PREFLIGHT = Response(
    status_code=204,
    headers={
        "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
        "Access-Control-Allow-Headers": "Content-Type, Authorization, X-API-Key, "
        "X-Requested-With, Accept-Language",
        "Access-Control-Max-Age": "86400",
    },
)
"""To pages that ask whether they may ask: those of OpenRefine may be anywhere."""


class Gate:
    """ASGI around ASGI. A request is read whole before the application sees it."""

    def __init__(self, app: App, *, settings: Settings, metrics: Metrics) -> None:
        self.app = app
        self.settings = settings
        self.metrics = metrics
        self.working = 0

    @property
    def limits(self) -> Limits:
        """What one request may cost."""
        return self.settings.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or say why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        noted: dict[str, Any] = {}
        scope["candgen"] = noted
        exit_ = _Exit(scope, send)
        start = time.perf_counter()
        self.metrics.running.inc()
        try:
            await self._pass(scope, receive, exit_)
        except Problem as problem:
            await self._say(problem, scope, receive, exit_)
        except _Gone:
            exit_.status = CLOSED_WHILE_READING
        except TimeoutError:
            await self._say(busy("the request took too long"), scope, receive, exit_)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            await self._say(MISTAKE, scope, receive, exit_)
        finally:
            self.metrics.running.dec()
            self._note(scope, exit_, time.perf_counter() - start, noted)

    async def _pass(self, scope: Scope, receive: Receive, send: "_Exit") -> None:
        headers = dict(scope["headers"])
        if _head_size(scope) > LARGEST_HEAD:
            raise Problem(431, f"address and headers have more than {LARGEST_HEAD:,} bytes")
        if scope["method"] == "OPTIONS" and is_reconciliation(scope):
            await PREFLIGHT(scope, receive, send)
            return
        # First of all: many clients do not look for an answer before they have sent everything.
        body = await self._read(headers, receive) if _has_body(headers) else b""
        self._check_key(scope, headers)
        _check_origin(scope, headers)
        # Only now: clients that send half a request must not keep others from being answered.
        if self.working >= self.limits.concurrency and scope["path"] not in PROBES:
            raise busy(f"more than {self.limits.concurrency} requests at once: try again soon")
        self.working += 1
        try:
            # Work is limited to `seconds` where it is done; this is for answers that nobody reads.
            async with asyncio.timeout(2 * self.limits.seconds + self.limits.patience):
                asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
                await self.app(asked, _replay(body, receive), send)
        finally:
            self.working -= 1

    def _check_key(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        key = self.settings.key
        if key is None or (scope["path"] in OPEN and not is_reconciliation(scope)):
            return
        given = headers.get(b"x-api-key", b"")
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer":
            given = token.strip()
        if not hmac.compare_digest(given, key.encode()):
            raise Problem(
                401, "this service wants a key: send it as 'Authorization: Bearer KEY' or X-API-Key"
            )

    async def _read(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        """The whole body of a request, if it is small enough and comes in time.

        One that is too large is read to its end, and forgotten, if that is not too far away: many
        clients do not look for an answer before they have sent all.
        """
        most = self.limits.body
        too_large = Problem(413, f"the request has more than {most:,} bytes: send several")
        said = headers.get(b"content-length", b"0")
        if said.isdigit() and int(said[:20]) > DRAIN_FACTOR * most:
            raise too_large
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.limits.patience):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    part = message.get("body", b"")
                    size += len(part)
                    if size > DRAIN_FACTOR * most:
                        raise too_large
                    if size <= most:
                        parts.append(part)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise Problem(
                408, f"the request did not arrive within {self.limits.patience:g} seconds"
            ) from None
        if size > most:
            raise too_large
        return b"".join(parts)

    async def _say(self, problem: Problem, scope: Scope, receive: Receive, send: "_Exit") -> None:
        if send.status:  # the answer has begun: all that is left is to end it
            return
        response = problem.response()
        if problem.status in (408, 413, 431):  # there may be more of it on its way
            response.headers["Connection"] = "close"
        await response(scope, receive, send)

    def _note(self, scope: Scope, exit_: "_Exit", seconds: float, noted: dict[str, Any]) -> None:
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.metrics.count(route, method, exit_.status, seconds)
        if not self.settings.log:
            return
        client = scope.get("client")
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": client[0] if client else None,
            "method": scope["method"],
            "path": scope["path"],
            "status": exit_.status,
            "ms": round(1000 * seconds, 2),
            "bytes": exit_.size,
            **noted,
        }
        access.info("%s", to_json(line).decode())


_METHODS = {"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"}


class _Gone(Exception):  # noqa: N818
    """The client left before its request was complete."""


class _Exit:
    """What is sent: counted, with headers that every answer has."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.scope = scope
        self.send = send
        self.status = 0
        self.size = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *SAFE_HEADERS]
            if b"content-security-policy" not in there:
                message["headers"].append((b"content-security-policy", NOTHING_ALLOWED))
            if b"cache-control" not in there:
                message["headers"].append((b"cache-control", b"no-store"))
            if is_reconciliation(self.scope):
                message["headers"].append((b"access-control-allow-origin", b"*"))
        elif message["type"] == "http.response.body":
            self.size += len(message.get("body", b""))
        await self.send(message)


def is_reconciliation(scope: Scope) -> bool:
    """Whether other sites' pages may read the answer: OpenRefine's must, nobody else's need.

    At / is the page, and the Reconciliation API for those who do not look like a browser there.
    """
    path: str = scope["path"]
    if path != "/":
        return path == "/reconcile" or path.startswith("/reconcile/")
    if scope["method"] not in ("GET", "HEAD"):
        return True
    wanted = dict(scope["headers"]).get(b"accept", b"")
    as_json = b"application/json" in wanted and b"text/html" not in wanted
    asked = scope["query_string"]
    return as_json or b"callback=" in asked or b"queries=" in asked


def _has_body(headers: dict[bytes, bytes]) -> bool:
    return b"content-length" in headers or b"transfer-encoding" in headers


def _head_size(scope: Scope) -> int:
    headers = sum(len(name) + len(value) for name, value in scope["headers"])
    return headers + len(scope.get("raw_path") or b"") + len(scope["query_string"])


def _check_origin(scope: Scope, headers: dict[bytes, bytes]) -> None:
    """Refuse what a page of another site would have done in a visitor's name."""
    origin = headers.get(b"origin")
    if origin is None or scope["method"] in ("GET", "HEAD", "OPTIONS") or is_reconciliation(scope):
        return
    _, _, site = origin.partition(b"://")
    if site != headers.get(b"host", b""):
        raise Problem(403, "pages of other sites may not do this")


def _replay(body: bytes, receive: Receive) -> Receive:
    """A receive that gives the body that was read, and then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again
