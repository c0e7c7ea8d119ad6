"""Asking a mirror over HTTP: politely, patiently, and never over a plain connection after all."""

import email.utils
import http.client
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import IO, Any, cast

from candgen.dumps.published import DownloadError

NO_SUCH_RANGE = 416
"""The status of an answer that has nothing from there on."""
_LARGEST_PAGE = 1 << 26  # bytes, of a listing or a dumpstatus.json
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_NOT_THERE = frozenset({404, 410})
_LONGEST_WAIT = 300.0  # seconds


class Stopped(Exception):  # noqa: N818
    """The download was asked to stop; what has come stays in the .part file."""


@dataclass(frozen=True)
class Network:
    """How patient to be with a server.

    ``attempts`` is how often in a row something may fail without a byte of progress. Waits double
    from one second on, unless the server says how long. ``sleep`` and ``clock`` are for tests.
    """

    timeout: float = 60.0
    attempts: int = 6
    sleep: Callable[[float], object] | None = None
    clock: Callable[[], float] = time.time


@dataclass(frozen=True)
class Client:
    """Asks a mirror; the user agent says who is asking."""

    user_agent: str
    network: Network = field(default_factory=Network)
    stop: Event = field(default_factory=Event)

    def page(self, url: str) -> str | None:
        """The text of a small page; None if there is no such page."""
        failures = 0
        while True:
            try:
                with self.open(url) as response:
                    data = response.read(_LARGEST_PAGE + 1)
                    missing = int(response.headers.get("Content-Length") or len(data)) > len(data)
                if len(data) > _LARGEST_PAGE:
                    raise DownloadError(f"{url} is larger than any listing: is this a mirror?")
                if not missing:
                    return cast("bytes", data).decode("utf-8", "replace")
                problem: Exception = ConnectionError("the connection ended early")
            except urllib.error.HTTPError as error:
                error.close()
                if error.code in _NOT_THERE:
                    return None
                problem = error
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem = error
            failures += 1
            self.wait(url, problem, failures)

    def open(self, url: str, headers: dict[str, str] | None = None) -> Any:  # noqa: ANN401
        """The answer of the server, to be closed."""
        headers = {"User-Agent": self.user_agent, **(headers or {})}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310
        return _OPENER.open(request, timeout=self.network.timeout)

    def wait(self, url: str, problem: Exception, failures: int) -> None:
        """Wait before another attempt, or say that there will be none."""
        if self.stop.is_set():
            raise Stopped
        if isinstance(problem, DownloadError):
            raise problem
        if failures >= self.network.attempts or not _may_pass(problem):
            raise DownloadError(
                f"{url} cannot be fetched: {reason_of(problem)}; try again later, "
                "which goes on where this ended, or another mirror (--mirror)"
            ) from problem
        seconds = self._asked_to_wait(problem) or min(2.0 ** (failures - 1), 60.0)
        (self.network.sleep or self.stop.wait)(seconds)
        if self.stop.is_set():
            raise Stopped

    def _asked_to_wait(self, problem: Exception) -> float:
        """The seconds of a Retry-After, which may be a number or a date; 0 if there is none."""
        headers = problem.headers if isinstance(problem, urllib.error.HTTPError) else None
        text = (headers.get("Retry-After") or "").strip() if headers else ""
        if re.fullmatch("[0-9]{1,9}", text):
            seconds = float(text)
        else:
            try:
                date = email.utils.parsedate_to_datetime(text)
            except (ValueError, TypeError):
                return 0.0
            seconds = date.timestamp() - self.network.clock()
        return min(max(seconds, 0.0), _LONGEST_WAIT)


def check_url(url: str) -> str | None:
    """What is wrong with a mirror's address, if anything is.

    >>> check_url("ftp://example.org/dumps")
    'it does not begin with https:// or http://'
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("https", "http"):
        return "it does not begin with https:// or http://"
    if not parts.hostname or re.search(r"[\s\x00-\x1f\x7f]", url):
        return "it names no server"
    return None


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from an encrypted connection to a plain one."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        old, new = (urllib.parse.urlsplit(url).scheme for url in (req.full_url, newurl))
        problem = "not encrypted" if old == "https" and new == "http" else ""
        if new not in ("https", "http"):
            problem = "neither https nor http"
        if problem:
            raise DownloadError(
                f"{req.full_url} redirects to {newurl}, which is {problem}: "
                "use another mirror (--mirror)"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)


def _may_pass(problem: Exception) -> bool:
    """Whether another attempt may go better."""
    if isinstance(problem, urllib.error.HTTPError):
        return problem.code in _BUSY or problem.code == NO_SUCH_RANGE
    cause = problem.reason if isinstance(problem, urllib.error.URLError) else problem
    return not isinstance(cause, ssl.SSLCertVerificationError | ValueError)


def reason_of(problem: Exception) -> str:
    """What went wrong, in a few words."""
    if isinstance(problem, urllib.error.HTTPError):
        phrase = str(problem.reason).split("\n", 1)[0].rstrip(".")
        return f"the server answers {problem.code} {phrase}"
    cause = problem.reason if isinstance(problem, urllib.error.URLError) else problem
    if isinstance(cause, TimeoutError):
        return "the server does not answer in time"
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return str(text).splitlines()[0].rstrip(".")
