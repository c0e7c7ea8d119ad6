"""The ASGI application: routes, web page, probes and middleware."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from importlib import resources
from multiprocessing import parent_process
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException

from candgen.service import api, reconcile
from candgen.service.executor import Executor
from candgen.service.index_registry import IndexRegistry
from candgen.service.metrics import CONTENT_TYPE, Metrics
from candgen.service.middleware import (
    INTERNAL_ERROR,
    OPENAPI_PATH,
    PAGE_FILES,
    Middleware,
    is_reconciliation,
)
from candgen.service.problems import Problem, busy
from candgen.service.schemas import CandidatesRequest
from candgen.service.settings import Limits, Settings
from candgen.service.state import ServiceState
from candgen.storage.versions import version

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def create_app(settings: Settings, *, on_start: Callable[[], None] | None = None) -> Middleware:
    """Load the indexes and return the service as an ASGI application.

    A worker process of a supervisor calls ``on_start`` when it has started.
    """
    state = ServiceState(
        settings,
        IndexRegistry(settings.indexes),
        Executor(settings.limits.work_timeout, max(2, os.cpu_count() or 2)),
        Metrics(),
        on_start,
    )
    state.registry.on_change = state.publish_indexes
    state.publish_indexes()
    app = FastAPI(
        title="candgen",
        version=version(),
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=OPENAPI_PATH,
        redirect_slashes=False,
        description="Finds the entities that a name may mean, in languages with little data.",
    )
    app.state.service = state
    app.add_exception_handler(Problem, _handle_problem)
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_http_error)
    app.add_exception_handler(Exception, _handle_internal_error)
    app.include_router(api.router)
    app.include_router(reconcile.router)
    _add_probes(app)
    _add_page(app)
    _add_openapi(app, settings.limits)
    return Middleware(app, settings=settings, metrics=state.metrics)


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """In a worker process, reload on SIGHUP, and exit when the supervisor is gone."""
    state: ServiceState = app.state.service
    tasks: set[asyncio.Task[Any]] = set()
    loop = asyncio.get_running_loop()

    def start(work: Coroutine[Any, Any, Any]) -> None:
        task = loop.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    if state.on_start is not None:
        if hasattr(signal, "SIGHUP"):
            loop.add_signal_handler(signal.SIGHUP, lambda: start(state.reload()))
            # Blocked by the supervisor until now: see server._deferred_signals.
            signals = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]
            signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        start(_exit_with_parent())
        state.on_start()
    yield
    for task in tasks:
        task.cancel()
    state.executor.close()


async def _exit_with_parent() -> None:
    parent = parent_process()
    while parent is not None and parent.is_alive():
        await asyncio.sleep(1.0)
    signal.raise_signal(signal.SIGTERM)


async def _handle_problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)  # noqa: S101
    return problem.response()


async def _handle_invalid(_: Request, error: Exception) -> Response:
    """List everything that is invalid in a request, each with its place."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    errors = [
        f"{'.'.join(map(str, each['loc'][1:])) or each['loc'][0]}: {each['msg']}"
        for each in error.errors()[:10]
    ]
    return Problem(422, "; ".join(errors).encode("utf-8", "replace").decode()).response()


async def _handle_internal_error(*_: object) -> Response:
    return INTERNAL_ERROR.response()  # the middleware logs the error


async def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404:
        return Problem(404, f"not found: {OPENAPI_PATH} lists all addresses").response()
    response = Problem(error.status_code, str(error.detail)).response()
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        # Starlette names the methods of one route, but two may have the same path.
        routes = request.app.openapi()["paths"].get(request.url.path, {})
        allowed = {*response.headers.get("allow", "").split(", "), *map(str.upper, routes)}
        response.headers["Allow"] = ", ".join(sorted(filter(None, allowed)))
    return response


def _add_probes(app: FastAPI) -> None:
    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> dict[str, str]:
        """Answer while the process is alive."""
        return {"status": "ok"}

    @app.get("/readyz", include_in_schema=False)
    async def readyz(request: Request) -> Response:
        """Answer 503 if any index cannot answer."""
        registry = ServiceState.of(request).registry
        registry.check()
        if broken := len(registry.broken):
            raise busy(f"{broken} of {len(registry.folders)} indexes cannot answer")
        return api.as_json({"status": "ok", "indexes": len(registry.loaded)})

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        """Return the metrics for Prometheus."""
        state = ServiceState.of(request)
        state.registry.check()
        return Response(state.metrics.text(), headers={"Content-Type": CONTENT_TYPE})


def _add_page(app: FastAPI) -> None:
    """Add the web page; its files are read once, so that no request reaches the file system."""
    folder = resources.files("candgen.service") / "page"
    page = (folder / "index.html").read_bytes()

    @app.api_route("/", methods=["GET", "POST"], include_in_schema=False)
    async def home(request: Request) -> Response:
        """Return the page, or act as /reconcile for clients that want JSON or send queries."""
        if is_reconciliation(request.scope):
            return await reconcile.reconcile(request)
        headers = {"Content-Security-Policy": PAGE_POLICY, "Vary": "Accept"}
        return Response(page, media_type="text/html", headers=headers)

    for name in PAGE_FILES:
        content = (folder / name).read_bytes()
        media_type = MEDIA_TYPES[name.rpartition(".")[2]]

        async def file(content: bytes = content, media_type: str = media_type) -> Response:
            return Response(content, media_type=media_type)

        app.add_api_route(f"/{name}", file, include_in_schema=False, response_model=None)


def _add_openapi(app: FastAPI, limits: Limits) -> None:
    """Add the OpenAPI description, with the limits of this service."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            asked = CandidatesRequest.model_json_schema()  # FastAPI does not parse this body
            made["components"]["schemas"]["CandidatesRequest"] = asked
            properties = asked["properties"]
            properties["mentions"]["description"] += (
                f" All together may have {limits.characters:,} characters."
            )
            properties["mentions"]["maxItems"] = limits.batch
            properties["mentions"]["items"]["maxLength"] = limits.mention
            properties["k"]["maximum"] = limits.k
            for path in made["paths"].values():
                for each in path.get("get", {}).get("parameters", []):
                    if each["name"] == "mention":
                        each["schema"]["maxLength"] = limits.mention
                    elif each["name"] == "k":
                        each["schema"]["maximum"] = limits.k
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]
