"""Running the service: a process that watches, and workers that answer."""

import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from candgen.errors import CandgenError
from candgen.service.http_timeouts import Patient
from candgen.service.metrics import SHARED, forget
from candgen.service.settings import AGAIN, PARENT, Settings

log = logging.getLogger("candgen")

APP = "candgen.service.app:from_environment"
START = 120.0
"""Seconds in which a worker must have started: compiling kernels takes half a minute, once."""
TRIES = 5
"""Workers that may die before one has answered."""
ROOM = 1 << 20
"""Bytes for the counts of a worker: written into a full file system, they would end it."""
LATER = [getattr(signal, name) for name in ("SIGHUP", "SIGINT") if hasattr(signal, name)]
"""Signals that a worker is deaf to until it can do what they ask for."""


def serve(
    settings: Settings, *, host: str, port: int, workers: int, tell: Callable[[str], None]
) -> None:
    """Answer until SIGINT or SIGTERM; requests in flight finish. SIGHUP reloads the indexes.

    ``tell`` is called with the address when the first worker is ready.
    """
    listening = _listen(host, port)
    config = uvicorn.Config(
        APP,
        factory=True,
        workers=workers,
        host=host,
        port=port,
        http=Patient,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=int(settings.limits.seconds) + 5,
        timeout_worker_healthcheck=30,
        lifespan="on",
    )
    with _environment(settings, workers), listening:
        Watch(config, listening, tell).run()


class Watch(Multiprocess):
    """Keeps workers alive, and passes SIGHUP on to them: they reload, and nobody has to wait."""

    def __init__(
        self, config: uvicorn.Config, listening: socket.socket, tell: Callable[[str], None]
    ) -> None:
        super().__init__(config, [listening])
        self.tell = tell
        self.told = False
        self.died = 0

    def run(self) -> None:
        """Start and watch; if that goes wrong, no worker is left behind."""
        try:
            super().run()
        except BaseException:
            self.terminate_all()
            self.join_all()
            raise

    def init_processes(self) -> None:
        """Start all workers, and tell the address as soon as one of them answers."""
        with _deaf():
            super().init_processes()
        self._let_go()
        os.environ[AGAIN] = "1"
        self.processes[0].wait_until_ready(START, self._asked_to_end())
        self._tell_once()

    def _tell_once(self) -> None:
        if not self.told and any(process.is_ready(timeout=1) for process in self.processes):
            self.told = True
            self.tell(address(self.sockets[0]))

    def terminate_all(self) -> None:
        """Let the workers finish; who comes now is refused at once, and not left waiting."""
        for each in self.sockets:
            each.close()
        super().terminate_all()

    def _asked_to_end(self) -> Any:  # noqa: ANN401
        """Whether Ctrl-C came while the workers were starting."""
        watch = self

        class Asked:
            def is_set(self) -> bool:
                watch.handle_signals()
                return watch.should_exit.is_set()

        return Asked()

    def keep_subprocess_alive(self) -> None:
        """Start a worker in the place of one that died; what that one was at is no longer so."""
        before = list(self.processes)
        Path(os.environ[SHARED]).mkdir(exist_ok=True)  # somebody may tidy up temporary files
        with _deaf():
            super().keep_subprocess_alive()
        self._let_go()
        for process in before:
            if process not in self.processes:
                self._note_death(process)
        self._tell_once()

    def _note_death(self, process: Process) -> None:
        how = _ending(process.exitcode)
        log.warning("worker %s died, %s: another one takes its place", process.pid, how)
        forget(process.pid)
        self.died += 1
        if not self.told and self.died == TRIES:
            raise CandgenError(
                f"{TRIES} workers have died before they could answer, the last one {how}: is there "
                "enough memory, and room for temporary files?"
            )

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
    """Where a socket listens, as a browser on this machine wants it."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
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
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or "that is no address"
        raise CandgenError(
            f"cannot listen at {host}, port {port}: {said}; choose another with --host and --port, "
            "or 0 for any port that is free"
        ) from error
    listening.set_inheritable(True)
    return listening


def _ending(exitcode: int | None) -> str:
    """How a process has ended, in words."""
    if exitcode is not None and exitcode < 0:
        return f"by {signal.Signals(-exitcode).name}"
    return f"with status {exitcode}"


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Let workers that are started here wait with signals that would end them, until they can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would be started now, and hear them again
    signal.pthread_sigmask(signal.SIG_BLOCK, LATER)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, LATER)


@contextlib.contextmanager
def _environment(settings: Settings, workers: int) -> Iterator[None]:
    """What workers find in their environment, and a folder in which they share their counts."""
    before = dict(os.environ)
    with _shared_folder(workers) as folder:
        os.environ.update({SHARED: folder, PARENT: str(os.getpid())})
        settings.to_environment()
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _shared_folder(workers: int) -> "TemporaryDirectory[str]":
    """A folder for temporary files, with room for what the workers will write there."""
    try:
        folder = TemporaryDirectory(prefix="candgen-metrics-")
        room = Path(folder.name) / "room"
        room.write_bytes(bytes(ROOM * workers))
        room.unlink()
    except OSError as error:
        raise CandgenError(
            f"there is no room for temporary files: {error.strerror}; make some, or name another "
            "folder by the environment variable TMPDIR"
        ) from error
    return folder
