"""Run the service: a supervisor process, and worker processes that answer."""

import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import uvicorn
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from candgen.errors import CandgenError
from candgen.service.http_timeouts import TimeoutProtocol
from candgen.service.metrics import FOLDER_VARIABLE, mark_worker_dead
from candgen.service.settings import PARENT_VARIABLE, RESTART_VARIABLE, Settings

log = logging.getLogger("candgen")

APP = "candgen.service.app:from_environment"
START_TIMEOUT = 120.0
"""Seconds in which a worker must have started: compiling kernels takes half a minute, once."""
MAX_EARLY_DEATHS = 5
"""Workers that may die before one has answered."""
METRICS_BYTES = 1 << 20
"""Bytes for the metrics of a worker; on a full file system, writing them would end the worker."""
DEFERRED_SIGNALS = [getattr(signal, name) for name in ("SIGHUP", "SIGINT") if hasattr(signal, name)]
"""Signals that a worker blocks until it has started."""


def serve(
    settings: Settings, *, host: str, port: int, workers: int, on_ready: Callable[[str], None]
) -> None:
    """Answer until SIGINT or SIGTERM; requests in progress finish. SIGHUP reloads the indexes.

    ``on_ready`` is called with the address when the first worker is ready.
    """
    listening = _listen(host, port)
    config = uvicorn.Config(
        APP,
        factory=True,
        workers=workers,
        host=host,
        port=port,
        http=TimeoutProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=int(settings.limits.work_timeout) + 5,
        timeout_worker_healthcheck=30,
        lifespan="on",
    )
    with _environment(settings, workers), listening:
        Supervisor(config, listening, on_ready).run()


class Supervisor(Multiprocess):
    """Keeps the workers alive, and passes SIGHUP on: they reload, and no request is lost."""

    def __init__(
        self, config: uvicorn.Config, listening: socket.socket, on_ready: Callable[[str], None]
    ) -> None:
        super().__init__(config, [listening])
        self.on_ready = on_ready
        self.is_ready = False
        self.early_deaths = 0

    def run(self) -> None:
        """Start and supervise the workers; if that fails, end all of them."""
        try:
            super().run()
        except BaseException:
            self.terminate_all()
            self.join_all()
            raise

    def init_processes(self) -> None:
        """Start all workers, and report the address as soon as one of them answers."""
        with _defer_signals():
            super().init_processes()
        self._close_child_pipes()
        os.environ[RESTART_VARIABLE] = "1"
        exit_requested: Any = SimpleNamespace(is_set=self._is_exit_requested)
        self.processes[0].wait_until_ready(START_TIMEOUT, exit_requested)
        self._report_ready()

    def _is_exit_requested(self) -> bool:
        """Return whether Ctrl-C came while the workers were starting."""
        self.handle_signals()
        return self.should_exit.is_set()

    def _report_ready(self) -> None:
        if not self.is_ready and any(process.is_ready(timeout=1) for process in self.processes):
            self.is_ready = True
            self.on_ready(address(self.sockets[0]))

    def terminate_all(self) -> None:
        """Let the workers finish; new connections are refused at once."""
        for each in self.sockets:
            each.close()
        super().terminate_all()

    def keep_subprocess_alive(self) -> None:
        """Replace workers that died."""
        before = list(self.processes)
        # Something may have cleaned up the temporary files.
        Path(os.environ[FOLDER_VARIABLE]).mkdir(exist_ok=True)
        with _defer_signals():
            super().keep_subprocess_alive()
        self._close_child_pipes()
        for process in before:
            if process not in self.processes:
                self._record_death(process)
        self._report_ready()

    def _record_death(self, process: Process) -> None:
        how = _describe_exit(process.exitcode)
        log.warning("worker %s died, %s: it is replaced", process.pid, how)
        mark_worker_dead(process.pid)
        self.early_deaths += not self.is_ready
        if self.early_deaths == MAX_EARLY_DEATHS:
            raise CandgenError(
                f"{MAX_EARLY_DEATHS} workers died before they could answer, the last one {how}: is "
                "there enough memory, and space for temporary files?"
            )

    def _close_child_pipes(self) -> None:
        """Close the workers' ends of the pipes: otherwise a dead worker is waited for."""
        for process in self.processes:
            process.child_conn.close()

    def handle_hup(self) -> None:
        """Let every worker load the indexes that were rebuilt."""
        for process in self.processes:
            if process.pid is not None and process.process.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGHUP)


def address(listening: socket.socket) -> str:
    """Return the URL of a listening socket, for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
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
def _defer_signals() -> Iterator[None]:
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
def _environment(settings: Settings, workers: int) -> Iterator[None]:
    """Set the environment variables of the workers, and make the folder of their metrics."""
    before = dict(os.environ)
    with _metrics_folder(workers) as folder:
        os.environ.update({FOLDER_VARIABLE: folder, PARENT_VARIABLE: str(os.getpid())})
        settings.to_environment()
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _metrics_folder(workers: int) -> "TemporaryDirectory[str]":
    """Make a temporary folder, and check that the file system has space for the metrics."""
    try:
        folder = TemporaryDirectory(prefix="candgen-metrics-")
        file = Path(folder.name) / "space"
        file.write_bytes(bytes(METRICS_BYTES * workers))
        file.unlink()
    except OSError as error:
        raise CandgenError(
            f"no space for temporary files: {error.strerror}; free some, or set the environment "
            "variable TMPDIR to another folder"
        ) from error
    return folder
