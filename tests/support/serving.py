"""Run ``candgen serve`` in a process of its own, on a free port, and send requests to it."""

import contextlib
import http.client
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import psutil

from candgen import CharNgrams, MentionTable, PivotTokenIndex
from tests.support import toy

START = 90
"""Seconds in which a service must have begun to answer."""
PATIENCE = 30
"""Seconds after which something that should have happened has not; mostly it takes a moment."""
OLD = [("Q282", 2.674999952316284), ("Q1741", 2.5113637447357178), ("Q584", 0.949999988079071)]
"""What ``build`` answers to Vín."""
ASKED = "/api/v1/candidates?mention=V%C3%ADn"


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def candidates(self):
        return [(each["entity"], each["score"]) for each in self.json["candidates"]]


def build(folder, *, alpha=toy.ALPHA):
    """Store the toy world's index; another alpha gives other scores."""
    made = PivotTokenIndex.build(
        pivots={"is": MentionTable.from_pairs(toy.ICELANDIC)},
        target=MentionTable.from_pairs(toy.FAROESE),
        language="fo",
        alpha=alpha,
        lam=1.0,
        tokenizer=CharNgrams(*toy.NGRAMS),
    )
    made.save(folder)
    return folder


class Service:
    """A running service, and ways to talk to it."""

    def __init__(self, process, address, log):
        self.process, self.address, self.log = process, address, log
        self.port = int(address.rstrip("/").rpartition(":")[2])

    def ask(self, path, body=None, *, method=None, headers=None, timeout=PATIENCE):
        """What one request on a connection of its own gets."""
        with contextlib.closing(self.connection(timeout)) as connection:
            return exchange(connection, path, body, method=method, headers=headers)

    def connection(self, timeout=PATIENCE):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def post(self, value, path="/api/v1/candidates", **options):
        """What a JSON body gets; bytes are sent as they are."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        headers = {"Content-Type": "application/json", **options.pop("headers", {})}
        return self.ask(path, body, headers=headers, **options)

    def socket(self, timeout=PATIENCE):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def send(self, data, *, end=False, timeout=PATIENCE):
        """Return the answer to these bytes; ``end`` closes the sending side after them."""
        with self.socket(timeout) as connection:
            with contextlib.suppress(OSError):  # it may have heard enough
                connection.sendall(data)
                if end:
                    connection.shutdown(socket.SHUT_WR)
            return everything(connection)

    def workers(self):
        """The ids of the processes that answer."""
        with contextlib.suppress(psutil.NoSuchProcess):
            children = psutil.Process(self.process.pid).children()
            return sorted(each.pid for each in children if is_worker(each))
        return []

    def lines(self):
        """The log; every line is a JSON object."""
        lines = self.log.read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def requests(self):
        """The lines of the log that tell of requests."""
        return [line for line in self.lines() if "method" in line]

    def errors(self):
        """The messages of the other lines."""
        return [line["message"] for line in self.lines() if "method" not in line]

    def mistakes(self):
        """Lines that should never be there."""
        return [line for line in self.lines() if "traceback" in line or "failed" in str(line)]

    def answering(self):
        """The ids of those workers that take connections now, as far as ten of them show it."""
        with contextlib.ExitStack() as stack:
            made = [stack.enter_context(self.socket()) for _ in range(10)]
            for connection in made:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                connection.recv(1)
            ports = {connection.getsockname()[1] for connection in made}
            return {pid for pid in self.workers() if ports & clients(pid)}


def clients(pid):
    """The ports of those who are connected to a process."""
    with contextlib.suppress(psutil.NoSuchProcess):
        there = psutil.Process(pid).net_connections("tcp")
        return {each.raddr.port for each in there if each.raddr}
    return set()


def is_answered(service):
    return service.ask(ASKED).status == 200


def assert_problem(answer, *statuses):
    """Assert that an answer is a problem document (RFC 9457) that reveals nothing internal."""
    assert answer.status in statuses, (answer.status, answer.body)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    said = answer.json
    assert said["status"] == answer.status
    assert all(isinstance(said[name], str) and said[name] for name in ("title", "detail"))
    assert "Traceback" not in said["detail"]
    assert ".candgen" not in said["detail"]


def assert_raw_problem(data, status):
    """Assert that the bytes of an answer are a problem document."""
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), data
    assert b"content-type: application/problem+json" in head.lower()
    assert json.loads(body)["status"] == status


def exchange(connection, path, body=None, *, method=None, headers=None):
    """One request on a connection that may be used again."""
    method = method or ("GET" if body is None else "POST")
    connection.request(method, path, body=body, headers=headers or {})
    response = connection.getresponse()
    return Answer(response.status, response.headers, response.read())


def everything(connection):
    """All bytes until the other side ends; what was cut off by it is what came before."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def is_worker(process):
    with contextlib.suppress(psutil.Error):
        return any("spawn_main" in each for each in process.cmdline())
    return False


def is_alive(pid):
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def eventually(happens, *, seconds=PATIENCE, every=0.05):
    """Wait until a function returns something true, and return it."""
    end = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < end, f"not within {seconds} seconds: {happens}"
        time.sleep(every)
    return found


@contextlib.contextmanager
def serving(folder, *arguments, key=None):
    """``candgen serve`` with these arguments; its log goes into the folder."""
    environment = {name: value for name, value in os.environ.items() if "CANDGEN" not in name}
    environment |= {"CANDGEN_API_KEY": key} if key else {}
    environment["TMPDIR"] = str(folder)  # what a service that is killed leaves behind
    command = [sys.executable, "-m", "candgen", "serve", *map(str, arguments), "--port", "0"]
    log = folder / f"log-{time.monotonic_ns()}"
    with (
        log.open("wb") as file,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=file,
            env=environment,
            start_new_session=True,
        ) as process,
    ):
        started = []
        try:
            ready, _, _ = select.select([process.stdout], [], [], START)
            address = process.stdout.readline().decode().strip() if ready else ""
            assert address, log.read_text(encoding="utf-8")
            service = Service(process, address, log)
            started = service.workers()
            yield service
            started += service.workers()
        finally:
            end(process, started)


def end(process, workers):
    """Terminate a service, and kill the processes that are left."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
    if process.poll() is None:
        process.kill()
        process.wait()
    for pid in workers:
        with contextlib.suppress(psutil.NoSuchProcess):
            left = psutil.Process(pid)
            if is_worker(left):
                left.kill()


class Asking:
    """Threads that repeat a request until the block ends."""

    def __init__(self, work, threads):
        self.failures, self._stop = [], threading.Event()
        self.done = 0
        self._threads = [threading.Thread(target=self._run, args=(work,)) for _ in range(threads)]

    def _run(self, work):
        try:
            for _ in work():
                self.done += 1
                if self._stop.is_set():
                    return
        except Exception as error:  # the test shows it
            self.failures.append(repr(error))

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()
