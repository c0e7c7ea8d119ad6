"""Errors as problem documents (RFC 9457)."""

from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

MEDIA_TYPE = "application/problem+json"
CLIENT_CLOSED_REQUEST = 499
"""The status, in access log and metrics, of a request whose client disconnected."""
TITLES = {
    413: "Request Entity Too Large",
    422: "Unprocessable Entity",
    CLIENT_CLOSED_REQUEST: "Client Closed Request",
}
"""Reason phrases that Python does not have, or that Python 3.13 changed."""


class Problem(Exception):  # noqa: N818
    """An error answer: the HTTP status, and one sentence that explains it."""

    def __init__(self, status: int, detail: str, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.retry_after = status, detail, retry_after

    def body(self) -> dict[str, Any]:
        """Return the members of the problem document."""
        return {
            "type": "about:blank",
            "title": TITLES.get(self.status) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }

    def response(self) -> JSONResponse:
        """Return the HTTP response; it has Retry-After if a retry may succeed."""
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = 'Bearer realm="candgen"'
        return JSONResponse(self.body(), self.status, headers, media_type=MEDIA_TYPE)


def busy(detail: str) -> Problem:
    """Return a 503 problem that tells the client to retry after a second."""
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, retry_after=1)


def check_limit(name: str, value: int, maximum: int) -> None:
    """Raise a 422 Problem if a value of a request is beyond a limit of the service."""
    if value > maximum:
        raise Problem(422, f"{name} is {value:,}: this service allows at most {maximum:,}")
