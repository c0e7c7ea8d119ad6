"""The application: routes, the page, and the gate around them."""

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import AsyncIterator
from importlib import resources
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException

from candgen.service import api, reconcile
from candgen.service.access_log import log_to_stderr
from candgen.service.executor import Work
from candgen.service.index_registry import Shelf
from candgen.service.metrics import CONTENT_TYPE, Metrics
from candgen.service.middleware import DESCRIPTION, MISTAKE, PAGE_FILES, Gate, is_reconciliation
from candgen.service.problems import Problem
from candgen.service.settings import AGAIN, PARENT, Settings
from candgen.service.state import Service
from candgen.storage.versions import version

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
FILES = {f"/{name}": (name, MEDIA_TYPES[name.rpartition(".")[2]]) for name in PAGE_FILES}


def create_app(settings: Settings, *, verify: bool = False, supervised: bool = False) -> Gate:
    """The service as an ASGI application; its indexes are open when this returns."""
    service = Service(
        settings,
        Shelf(settings.indexes, verify=verify),
        Work(settings.limits.seconds, max(2, os.cpu_count() or 2)),
        Metrics(),
        supervised,
    )
    service.shelf.changed = service.show_indexes
    service.show_indexes()
    app = FastAPI(
        title="candgen",
        version=version(),
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=DESCRIPTION,
        redirect_slashes=False,
        description="Finds the entities that a name may mean, in languages with almost no data.",
    )
    app.state.service = service
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _mistake)
    app.include_router(api.router)
    app.include_router(reconcile.router)
    _add_probes(app)
    _add_page(app)
    _describe_limits(app, settings)
    return Gate(app, settings=settings, metrics=service.metrics)


def from_environment() -> Gate:
    """The application of a worker process."""
    log_to_stderr()
    app = create_app(Settings.from_environment(), verify=AGAIN in os.environ, supervised=True)
    gc.freeze()  # what is there now stays: looking through it again and again would take time
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """SIGHUP reloads, also one that came too early; a worker whose parent is gone ends."""
    service: Service = app.state.service
    tasks: set[asyncio.Task[Any]] = set()

    def start(work: Any) -> None:  # noqa: ANN401
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    if service.supervised:
        if hasattr(signal, "SIGHUP"):
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, lambda: start(service.reload()))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP, signal.SIGINT])
        start(_end_with(int(os.environ[PARENT])))
    yield
    for task in tasks:
        task.cancel()
    service.work.close()


async def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(1.0)
    signal.raise_signal(signal.SIGTERM)


async def _problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)  # noqa: S101
    return problem.response()


async def _not_valid(_: Request, error: Exception) -> Response:
    """All that is wrong with a request at once, each with its place."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    said = [
        f"{'.'.join(str(each) for each in one['loc'][1:]) or one['loc'][0]}: {one['msg']}"
        for one in error.errors()[:10]
    ]
    text = "; ".join(said).encode("utf-8", "replace").decode()
    return Problem(422, text).response()


async def _mistake(*_: object) -> Response:
    """What the gate says of its own mistakes; it also logs them."""
    return MISTAKE.response()


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404:
        said = f"there is nothing at this address: {DESCRIPTION} says what there is"
        return Problem(404, said).response()
    response = Problem(error.status_code, str(error.detail)).response()
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        # Starlette names the methods of one route; two may share an address.
        known = request.app.openapi()["paths"].get(request.url.path, {})
        allowed = {*response.headers.get("allow", "").split(", "), *map(str.upper, known)}
        response.headers["Allow"] = ", ".join(sorted(filter(None, allowed)))
    return response


def _add_probes(app: FastAPI) -> None:
    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> dict[str, str]:
        """The process is alive."""
        return {"status": "ok"}

    @app.get("/readyz", include_in_schema=False)
    async def readyz(request: Request) -> Response:
        """Every index answers."""
        shelf = Service.of(request).shelf
        shelf.look()
        if broken := len(shelf.broken):
            raise Problem(503, f"{broken} of {len(shelf.folders)} indexes cannot answer", retry=1)
        return api.as_json({"status": "ok", "indexes": len(shelf.opened)})

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        """For Prometheus."""
        service = Service.of(request)
        service.shelf.look()
        return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})


def _add_page(app: FastAPI) -> None:
    """The page and its files, read once: no request reaches the file system."""
    folder = resources.files("candgen.service") / "page"
    page = (folder / "index.html").read_bytes()

    @app.api_route("/", methods=["GET", "POST"], include_in_schema=False)
    async def home(request: Request) -> Response:
        """The page; for clients that want JSON, and those that send queries, what /reconcile is."""
        if is_reconciliation(request.scope):
            return await reconcile.reconcile(request)
        headers = {"Content-Security-Policy": PAGE_POLICY, "Vary": "Accept"}
        return Response(page, media_type="text/html", headers=headers)

    for path, (name, media_type) in FILES.items():
        content = (folder / name).read_bytes()

        async def file(content: bytes = content, media_type: str = media_type) -> Response:
            return Response(content, media_type=media_type)

        app.add_api_route(path, file, methods=["GET"], include_in_schema=False, response_model=None)


def _describe_limits(app: FastAPI, settings: Settings) -> None:
    """The OpenAPI description, with the limits of this very service."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            limits = settings.limits
            asked = made["components"]["schemas"]["Asked"]["properties"]
            asked["mentions"]["maxItems"] = limits.batch
            asked["mentions"]["items"]["maxLength"] = limits.mention
            asked["k"]["maximum"] = limits.k
            for path in made["paths"].values():
                for each in path.get("get", {}).get("parameters", []):
                    if each["name"] == "mention":
                        each["schema"]["maxLength"] = limits.mention
                    elif each["name"] == "k":
                        each["schema"]["maximum"] = limits.k
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]
