"""Running the service: a process that watches, and workers that answer."""

import contextlib
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from uvicorn.supervisors.multiprocess import Multiprocess

from candgen.errors import CandgenError
from candgen.service.metrics import SHARED, forget
from candgen.service.patient import Patient
from candgen.service.settings import AGAIN, PARENT, Settings

log = logging.getLogger("candgen")

APP = "candgen.service.app:from_environment"
START = 120.0
"""Seconds in which a worker must have started: compiling kernels takes half a minute, once."""


def serve(
    settings: Settings, *, host: str, port: int, workers: int, tell: Callable[[str], None]
) -> None:
    """Answer until SIGINT or SIGTERM; requests in flight finish. SIGHUP reloads the indexes.

    ``tell`` is called with the address when the first worker is ready.
    """
    listening = _listen(host, port)
    config = uvicorn.Config(
        APP, factory=True, workers=workers, host=host, port=port, http=Patient,
        ws="none", log_config=None, access_log=False, proxy_headers=False, server_header=False,
        timeout_keep_alive=30, timeout_graceful_shutdown=int(settings.limits.seconds) + 5,
        timeout_worker_healthcheck=30, lifespan="on",
    )  # fmt: skip
    with _environment(settings), listening:
        Watch(config, listening, tell).run()


class Watch(Multiprocess):
    """Keeps workers alive, and passes SIGHUP on to them: they reload, and nobody has to wait."""

    def __init__(
        self, config: uvicorn.Config, listening: socket.socket, tell: Callable[[str], None]
    ) -> None:
        super().__init__(config, [listening])
        self.tell = tell

    def init_processes(self) -> None:
        """Start all workers, and tell the address as soon as one of them answers."""
        with _deaf_to_hup():
            super().init_processes()
        self._let_go()
        os.environ[AGAIN] = "1"
        if self.processes[0].wait_until_ready(START, self._asked_to_end()):
            self.tell(address(self.sockets[0]))

    def _asked_to_end(self) -> Any:  # noqa: ANN401 (what looks like an Event to uvicorn)
        """Whether Ctrl-C came while the workers were starting."""
        watch = self

        class Asked:
            def is_set(self) -> bool:
                watch.handle_signals()
                return watch.should_exit.is_set()

        return Asked()

    def keep_subprocess_alive(self) -> None:
        """Start a worker in the place of one that died; what that one was at is no longer so."""
        before = {process.pid for process in self.processes}
        with _deaf_to_hup():
            super().keep_subprocess_alive()
        self._let_go()
        for pid in before - {process.pid for process in self.processes}:
            log.warning("worker %s died: another one takes its place", pid)
            forget(pid)

    def _let_go(self) -> None:
        """Close the workers' ends of the pipes here: else one that died is waited for in vain."""
        for process in self.processes:
            process.child_conn.close()

    def handle_hup(self) -> None:
        """Let every worker look for rebuilt indexes."""
        for process in self.processes:
            if process.pid is not None and process.process.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGHUP)


def address(listening: socket.socket) -> str:
    """Where a socket listens, as a browser wants it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_free(host: str, port: int) -> bool:
    """Whether nobody listens there."""
    try:
        _listen(host, port).close()
    except CandgenError:
        return False
    return True


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(where[:2], family=family, backlog=2048)
    except OSError as error:
        raise CandgenError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; choose another with "
            "--port, or 0 for any that is free"
        ) from error
    listening.set_inheritable(True)
    return listening


@contextlib.contextmanager
def _deaf_to_hup() -> Iterator[None]:
    """Let workers that are started here wait with SIGHUP, which would end them, until they can."""
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])


@contextlib.contextmanager
def _environment(settings: Settings) -> Iterator[None]:
    """What workers find in their environment, and a folder in which they share their counts."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="candgen-metrics-") as folder:
        os.environ.update({SHARED: folder, PARENT: str(os.getpid())})
        settings.to_environment()
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
