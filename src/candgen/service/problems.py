"""Errors as problem details (RFC 9457): one sentence for a person, in a form for programs."""

from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

MEDIA_TYPE = "application/problem+json"
TITLES = {413: "Request Entity Too Large", 422: "Unprocessable Entity"}
"""Reason phrases that Python 3.13 changed: the same title on every version."""


class Problem(Exception):  # noqa: N818
    """What a client is told instead of an answer."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        retry: int | None = None,
        **more: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry = retry
        self.more = more

    def body(self) -> dict[str, Any]:
        """The members of the problem; what kind it is, its status tells."""
        return {
            "type": "about:blank",
            "title": TITLES.get(self.status, HTTPStatus(self.status).phrase),
            "status": self.status,
            "detail": self.detail,
            **self.more,
        }

    def response(self) -> JSONResponse:
        """The answer; with Retry-After where trying again helps."""
        headers = {} if self.retry is None else {"Retry-After": str(self.retry)}
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = 'Bearer realm="candgen"'
        return JSONResponse(self.body(), self.status, headers, media_type=MEDIA_TYPE)


def busy(detail: str) -> Problem:
    """Try again in a second."""
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, retry=1)
