"""An HTTP client that identifies itself, retries, and never follows a redirect away from HTTPS."""

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
from http import HTTPStatus
from threading import Event
from typing import IO, Any, TypeVar, cast

from candgen.dumps.published import DownloadError
from candgen.errors import StorageError

Result = TypeVar("Result")

_MAX_PAGE = 1 << 24  # bytes, of a listing or a dumpstatus.json
_TEMPORARY = frozenset({408, 416, 425, 429, 500, 502, 503, 504})
_MISSING = frozenset({404, 410})
_MAX_RETRY_AFTER = 300.0  # seconds


class DownloadStopped(Exception):  # noqa: N818
    """The download was asked to stop; the bytes received so far stay in the .part file."""


@dataclass(frozen=True)
class Network:
    """Timeout and retries.

    ``timeout`` is in seconds. ``attempts`` is how often in a row a request may fail without a new
    byte. Pauses double from one second on, unless the server sends Retry-After. ``sleep`` and
    ``clock`` are for tests.
    """

    timeout: float = 60.0
    attempts: int = 6
    sleep: Callable[[float], object] | None = None
    clock: Callable[[], float] = time.time


@dataclass(frozen=True)
class Client:
    """Sends requests to a mirror, with a user agent that names the user's contact."""

    user_agent: str
    network: Network = field(default_factory=Network)
    stop: Event = field(default_factory=Event)

    def get_page(self, url: str) -> str | None:
        """Return the text of a small page; None if there is no such page."""

        def get() -> str | None:
            try:
                with self.open(url) as response:
                    data = cast("bytes", response.read(_MAX_PAGE + 1))
                    length = int(response.headers.get("Content-Length") or len(data))
            except urllib.error.HTTPError as error:
                if error.code not in _MISSING:
                    raise
                error.close()
                return None
            if len(data) > _MAX_PAGE:
                raise DownloadError(f"{url} is larger than any listing: is this a mirror?")
            if length > len(data):
                raise ConnectionError("the connection ended early")
            return data.decode("utf-8", "replace")

        return self.retry(url, get)

    def open(self, url: str, headers: dict[str, str] | None = None) -> Any:  # noqa: ANN401
        """Return the response of the server, to be closed by the caller."""
        headers = {"User-Agent": self.user_agent, **(headers or {})}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310
        return _OPENER.open(request, timeout=self.network.timeout)

    def retry(
        self,
        url: str,
        request: Callable[[], Result],
        has_progressed: Callable[[Exception], bool] = lambda _problem: False,
    ) -> Result:
        """Return the result of a request, after pauses if it fails.

        ``has_progressed`` is called after each failure: if it returns True, failures are counted
        from the start again.
        """
        failures = 0
        while True:
            problem: Exception
            try:
                return request()
            except StorageError:
                raise
            except urllib.error.HTTPError as error:
                error.close()
                problem = error
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem = error
            failures = 1 if has_progressed(problem) else failures + 1
            self._pause(url, problem, failures)

    def _pause(self, url: str, problem: Exception, failures: int) -> None:
        """Wait before another attempt; raise DownloadError if there should be none."""
        if self.stop.is_set():
            raise DownloadStopped
        if isinstance(problem, DownloadError):
            raise problem
        if failures >= self.network.attempts or not _is_temporary(problem):
            raise DownloadError(
                f"{url} cannot be fetched: {describe_problem(problem)}; try again later, "
                "which resumes the download, or another mirror (--mirror)"
            ) from problem
        seconds = self._read_retry_after(problem) or min(2.0 ** (failures - 1), 60.0)
        (self.network.sleep or self.stop.wait)(seconds)
        if self.stop.is_set():
            raise DownloadStopped

    def _read_retry_after(self, problem: Exception) -> float:
        """Return the seconds of a Retry-After, a number or a date; 0 if there is none."""
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
        return min(max(seconds, 0.0), _MAX_RETRY_AFTER)


def find_url_problem(url: str) -> str | None:
    """Return what is wrong with a mirror's URL; None if it is valid.

    >>> find_url_problem("ftp://example.org/dumps")
    'it does not begin with https:// or http://'
    """
    parsed = urllib.parse.urlsplit(url)
    if parsed.scheme not in ("https", "http"):
        return "it does not begin with https:// or http://"
    if not parsed.hostname or re.search(r"[\s\x00-\x1f\x7f]", url):
        return "it names no server"
    return None


class _RedirectHandler(urllib.request.HTTPRedirectHandler):
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


_OPENER = urllib.request.build_opener(_RedirectHandler)


def is_range_error(problem: Exception) -> bool:
    """Return whether the server has no bytes in the requested range."""
    return getattr(problem, "code", 0) == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE


def _is_temporary(problem: Exception) -> bool:
    """Return whether another attempt may succeed."""
    if isinstance(problem, urllib.error.HTTPError):
        return problem.code in _TEMPORARY
    cause = problem.reason if isinstance(problem, urllib.error.URLError) else problem
    return not isinstance(cause, ssl.SSLCertVerificationError | ValueError)


def describe_problem(problem: Exception) -> str:
    """Return in a few words what went wrong."""
    if isinstance(problem, urllib.error.HTTPError):
        phrase = str(problem.reason).split("\n", 1)[0].rstrip(".")
        return f"the server answers {problem.code} {phrase}"
    cause = problem.reason if isinstance(problem, urllib.error.URLError) else problem
    if isinstance(cause, TimeoutError):
        return "the server does not answer in time (timeout)"
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return str(text).splitlines()[0].rstrip(".")
