"""Run the service: a supervisor process, and worker processes that answer."""

import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn

from candgen.errors import CandgenError
from candgen.kernels import compile_listeners
from candgen.service.access_log import log_to_stderr
from candgen.service.connections import Connections, track_requests
from candgen.service.metrics import FOLDER_VARIABLE, mark_worker_dead
from candgen.service.settings import MAX_HEAD_BYTES, Settings

log = logging.getLogger("candgen")
spawn = multiprocessing.get_context("spawn")

USAGE_ERROR = 2
MAX_EARLY_DEATHS = 5
"""Workers that may die before one has answered."""
METRICS_BYTES = 1 << 20
"""Bytes for the metrics of a worker; on a full file system, writing them would end the worker."""
KEEP_ALIVE_SECONDS = 30
COMPILE_SECONDS = 25
"""How long a worker may compile kernels, by ``benchmarks/startup.py --compile``."""
GRACE_SECONDS = 5
"""Seconds for a worker to end, beyond the longest work on a request."""
POLL_SECONDS = 0.2
DEFERRED_SIGNALS = [
    getattr(signal, name) for name in ("SIGHUP", "SIGINT", "SIGTERM") if hasattr(signal, name)
]
"""Signals that the supervisor handles, and that a worker blocks until it has started."""
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    workers: int,
    on_ready: Callable[[str], None],
    warnings: Sequence[str] = (),
) -> None:
    """Answer until SIGINT or SIGTERM; requests in progress finish. SIGHUP reloads the indexes.

    ``on_ready`` is called with the address when the first worker is ready. ``warnings`` are logged
    as soon as nothing can be invalid any more: a usage error is one line.
    """
    listening = _listen(host, port)
    names = [host, socket.gethostname()] if host in WILDCARDS else [host]
    settings = replace(settings, allowed_hosts=(*settings.allowed_hosts, *names))
    with _metrics_folder(workers), listening:
        log_to_stderr()
        for each in warnings:
            log.warning(each)
        try:
            Supervisor(settings, listening, workers, on_ready).run()
        except CandgenError as error:
            log.error(str(error))
            sys.exit(USAGE_ERROR)


class Worker:
    """A worker process, and whether it has started to answer."""

    def __init__(self, settings: Settings, listening: socket.socket) -> None:
        self._pipe, sender = spawn.Pipe(duplex=False)
        self._started = False
        self.process = spawn.Process(target=run_worker, args=(settings, listening, sender))
        with _deferred_signals():
            self.process.start()
        sender.close()

    def has_started(self) -> bool:
        """Return whether the process has said that it answers."""
        with contextlib.suppress(EOFError):  # it died before
            self._started = self._started or (self._pipe.poll() and self._pipe.recv())
        return self._started


class Supervisor:
    """Keeps the workers alive, and passes SIGHUP on: they reload, and no request is lost."""

    def __init__(
        self,
        settings: Settings,
        listening: socket.socket,
        workers: int,
        on_ready: Callable[[str], None],
    ) -> None:
        self.settings, self.listening, self.on_ready = settings, listening, on_ready
        self.number = workers
        self.workers: list[Worker] = []
        self.is_ready = self.should_exit = False
        self.early_deaths = 0

    def run(self) -> None:
        """Start the workers and replace those that die, until SIGINT or SIGTERM."""
        before = {each: signal.signal(each, self._handle) for each in DEFERRED_SIGNALS}
        try:
            self._start_workers()
            while not self.should_exit:
                self._report_ready()
                self._remove_dead()
                self._start_workers()
                time.sleep(POLL_SECONDS)
        finally:
            self._stop()
            for each, handler in before.items():
                signal.signal(each, handler)

    def _handle(self, number: int, _: object) -> None:
        """Reload or exit; a worker that is starting finds the signal when it has started."""
        if number != getattr(signal, "SIGHUP", None):
            self.should_exit = True
            return
        for worker in self.workers:
            if worker.process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.process.pid, number)

    def _start_workers(self) -> None:
        # Something may have cleaned up the temporary files.
        Path(os.environ[FOLDER_VARIABLE]).mkdir(exist_ok=True)
        for _ in range(self.number - len(self.workers)):
            self.workers.append(Worker(self.settings, self.listening))

    def _report_ready(self) -> None:
        if not self.is_ready and any(each.has_started() for each in self.workers):
            self.is_ready = True
            self.on_ready(address(self.listening))

    def _remove_dead(self) -> None:
        for worker in [each for each in self.workers if not each.process.is_alive()]:
            self.workers.remove(worker)
            how = _describe_exit(worker.process.exitcode)
            log.warning("worker %s died, %s: it is replaced", worker.process.pid, how)
            mark_worker_dead(worker.process.pid)
            self.early_deaths += not self.is_ready
            if self.early_deaths == MAX_EARLY_DEATHS:
                raise CandgenError(
                    f"{MAX_EARLY_DEATHS} workers died before they could answer, the last one "
                    f"{how}: is there enough memory, and space for temporary files?"
                )

    def _stop(self) -> None:
        """Let the workers finish; new connections are refused at once."""
        self.listening.close()
        end = time.monotonic() + self.settings.limits.work_timeout + GRACE_SECONDS
        for worker in self.workers:
            # One that has not started has no request to finish, and does not handle SIGTERM yet.
            worker.process.terminate() if worker.has_started() else worker.process.kill()
        for worker in self.workers:
            worker.process.join(max(0.0, end - time.monotonic()))
            worker.process.kill()
            worker.process.join()


def run_worker(
    settings: Settings, listening: socket.socket, started: "Connection[bool, Any]"
) -> None:
    """Answer requests in this process, a worker, until SIGTERM."""
    # When uvicorn has shut down, it sends its signal again, to whom it was for before.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    log_to_stderr()
    compile_listeners.append(_log_compilation)
    from candgen.service.app import create_app  # noqa: PLC0415

    app = create_app(settings, on_start=lambda: started.send(True))  # noqa: FBT003
    gc.freeze()  # the indexes stay in memory: garbage collection need not look at them again
    limits = settings.limits
    http: Any = Connections(limits.request_timeout, limits.connections)
    config = uvicorn.Config(
        track_requests(app),
        interface="asgi3",
        http=http,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(limits.work_timeout) + GRACE_SECONDS - 1,
        lifespan="on",
    )
    uvicorn.Server(config).run([listening])


def _log_compilation(_kernel: str) -> None:
    """Log the first kernel that has to be compiled, for the worker answers only after it."""
    compile_listeners.remove(_log_compilation)
    log.warning(
        "compiling kernels, up to about %s s: candgen warm does it before the service starts",
        COMPILE_SECONDS,
    )


def address(listening: socket.socket) -> str:
    """Return the URL of a listening socket, for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    host = WILDCARDS.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_free(host: str, port: int) -> bool:
    """Return whether a port is free."""
    try:
        _listen(host, port).close()
    except CandgenError:
        return False
    return True


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(where[:2], family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "invalid address"
        raise CandgenError(
            f"cannot listen at {host}, port {port}: {reason}; choose another with --host and "
            "--port, or port 0 for any free one"
        ) from error
    listening.set_inheritable(True)
    return listening


def _describe_exit(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        return f"killed by {signal.Signals(-exitcode).name}"
    return f"with exit status {exitcode}"


@contextlib.contextmanager
def _deferred_signals() -> Iterator[None]:
    """Block signals in the workers that are started here, until they can handle them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would unblock them if it were started inside
    signal.pthread_sigmask(signal.SIG_BLOCK, DEFERRED_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, DEFERRED_SIGNALS)


@contextlib.contextmanager
def _metrics_folder(workers: int) -> Iterator[None]:
    """Name a temporary folder to the workers, and check that there is space for their metrics."""
    try:
        folder = TemporaryDirectory(prefix="candgen-metrics-", ignore_cleanup_errors=True)
        file = Path(folder.name) / "space"
        file.write_bytes(bytes(METRICS_BYTES * workers))
        file.unlink()
    except OSError as error:
        raise CandgenError(
            f"no space for temporary files: {error.strerror}; free some, or set the environment "
            "variable TMPDIR to another folder"
        ) from error
    before = os.environ.get(FOLDER_VARIABLE)
    os.environ[FOLDER_VARIABLE] = folder.name
    try:
        with folder:
            yield
    finally:
        del os.environ[FOLDER_VARIABLE]
        if before is not None:
            os.environ[FOLDER_VARIABLE] = before
