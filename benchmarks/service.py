"""What does HTTP cost over calling the library, and does the service handle 64 clients at once?

    python benchmarks/service.py --size 500000 --seconds 60 --workers 1 --method pti

Everything runs on this machine: `candgen serve` in its own processes, as users start it, and a
client in another process, which sends prepared requests over connections that stay open. Each
connection sends the next request as soon as it has received a response. Two peers get the same
requests: a route of plain FastAPI that calls the library, without limits, access log, metrics or
timeout; and an ASGI application with a constant response, which shows what uvicorn and the client
cost.
"""

import argparse
import asyncio
import contextlib
import importlib.metadata
import itertools
import json
import multiprocessing
import socket
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import psutil
import uvicorn
from fastapi import FastAPI
from measure import Report, add_queries, add_repeats, add_size, in_turn
from serving import Served, serving
from synthetic_index import index_path
from world import load_world, make_queries

import candgen

K = 30
QUERIES = 2000
BATCH = 100
CONNECTIONS = (1, 8, 64)
REPEATS = 5
ROUND = 600
"""Requests to a server before the next server gets its turn."""
PATH = "/api/v1/candidates"
SPAWN = multiprocessing.get_context("spawn")


# -- the client -----------------------------------------------------------------------------------


class Load(NamedTuple):
    """What a client measured: seconds of each request, failed requests, and seconds in all.

    ``cpu`` is the CPU seconds of the server's processes.
    """

    seconds: list[float]
    errors: int
    wall: float
    cpu: float = 0.0


class Caller(asyncio.Protocol):
    """A connection on which requests follow one another."""

    def __init__(self, load: "Calls") -> None:
        self.load = load
        self.head = b""
        self.left = -1
        """Bytes of the response body still to come; -1 before the headers are complete."""
        self.sent = 0.0
        self.waits = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        """Send the next request, or close the connection."""
        request = self.load.next()
        self.waits = request is not None
        if request is None:
            self.transport.close()
            return
        self.sent = time.perf_counter()
        self.transport.write(request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Count the bytes received; send the next request when the response is complete."""
        if self.left < 0:
            self.head += data
            head, end, body = self.head.partition(b"\r\n\r\n")
            if not end:
                return
            self.load.ok(head.startswith(b"HTTP/1.1 200 "))
            self.left = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]) - len(body)
        else:
            self.left -= len(data)
        if self.left == 0:
            self.load.seconds.append(time.perf_counter() - self.sent)
            self.head, self.left = b"", -1
            self.ask()

    def connection_lost(self, _: Exception | None) -> None:
        """Report whether a response was still expected."""
        self.load.lost(self.waits)


class Calls:
    """The state that the connections of a client share."""

    def __init__(self, requests: Sequence[bytes], connections: int, most: int, end: float) -> None:
        self.requests = itertools.islice(itertools.cycle(requests), most)
        self.connections, self.end = connections, end
        self.seconds: list[float] = []
        self.errors = 0
        self.over = asyncio.Event()

    def next(self) -> bytes | None:
        """The next request, if there is time for one."""
        return next(self.requests, None) if time.perf_counter() < self.end else None

    def ok(self, well: bool) -> None:  # noqa: FBT001
        """Count a response with an error status."""
        self.errors += not well

    def lost(self, waited: bool) -> None:  # noqa: FBT001
        """Count a closed connection, as an error if a response was expected."""
        self.errors += waited
        self.connections -= 1
        if not self.connections:
            self.over.set()


def ask(port: int, requests: Sequence[bytes], connections: int, most: int, seconds: float) -> Load:
    """Send at most ``most`` requests for at most ``seconds`` over several connections."""

    async def run() -> Load:
        loop = asyncio.get_running_loop()
        begin = time.perf_counter()
        calls = Calls(requests, connections, most, begin + seconds)
        for _ in range(connections):
            await loop.create_connection(partial(Caller, calls), "127.0.0.1", port)
        await calls.over.wait()
        return Load(calls.seconds, calls.errors, time.perf_counter() - begin)

    return asyncio.run(run())


def single(mention: str) -> bytes:
    """The request for one mention."""
    query = urlencode({"mention": mention, "k": K})
    return f"GET {PATH}?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def batch(mentions: Sequence[str]) -> bytes:
    """The request for several."""
    body = json.dumps({"mentions": mentions, "k": K}).encode()
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


# -- the servers ----------------------------------------------------------------------------------


@contextlib.contextmanager
def peer(make: Callable[[str], Any], path: Path) -> Iterator[Served]:
    """Run an application with uvicorn in its own process."""
    here, there = multiprocessing.Pipe()
    process = SPAWN.Process(target=run_peer, args=(make, str(path), there), daemon=True)
    process.start()
    try:
        yield Served(here.recv(), [psutil.Process(process.pid)])
    finally:
        process.terminate()
        process.join()


def run_peer(make: Callable[[str], Any], path: str, told: Connection) -> None:
    """Serve until the process is terminated."""
    app = make(path)
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        told.send(listening.getsockname()[1])
        uvicorn.Server(config).run([listening])


def constant(path: str) -> Callable[..., Awaitable[None]]:
    """Return an application with a constant response of the size of a real one."""
    answer = [{"entity": each.entity, "score": each.score} for each in known(path)]
    body = json.dumps({"index": "bench", "mention": "a", "candidates": answer}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]

    async def app(_: object, __: object, send: Callable[[object], Awaitable[None]]) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def plain(path: str) -> FastAPI:
    """Return the shortest possible service."""
    index = candgen.load(path)
    app = FastAPI()

    @app.get(PATH)
    def candidates(mention: str, k: int = 10) -> dict[str, Any]:
        (found,) = index.candidates([mention], k)
        answer = [{"entity": each.entity, "score": float(each.score)} for each in found]
        return {"index": "bench", "mention": mention, "candidates": answer}

    return app


def known(path: str) -> list[candgen.Candidate]:
    """Some candidates."""
    found: list[candgen.Candidate] = candgen.load(path).candidates(["a"], K)[0]
    return found


# -- tables ---------------------------------------------------------------------------------------


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99, in milliseconds."""
    values = 1e3 * np.quantile(seconds, [0.5, 0.95, 0.99])
    return dict(zip(("p50 ms", "p95 ms", "p99 ms"), values.tolist(), strict=True))


def cpu(processes: Sequence[psutil.Process]) -> float:
    """The CPU seconds that processes have taken."""
    return sum(sum(each.cpu_times()[:2]) for each in processes)


def load(
    pool: ProcessPoolExecutor,
    asked: Served,
    requests: Sequence[bytes],
    connections: int,
    most: int,
    seconds: float,
) -> Load:
    """Return what the client measured, with the CPU seconds of the server's processes."""
    before = cpu(asked.processes)
    made = pool.submit(ask, asked.port, requests, connections, most, seconds).result()
    return made._replace(cpu=cpu(asked.processes) - before)


def calls(index: Any, mentions: Sequence[str]) -> Load:  # noqa: ANN401
    """Call the library with the same mentions, one after the other, without HTTP."""
    seconds = []
    begin, worked = time.perf_counter(), time.process_time()
    for mention in mentions:
        before = time.perf_counter()
        index.candidates([mention], K)
        seconds.append(time.perf_counter() - before)
    return Load(seconds, 0, time.perf_counter() - begin, time.process_time() - worked)


def one_connection(
    pool: ProcessPoolExecutor,
    path: Path,
    mentions: Sequence[str],
    asked: dict[str, Served],
    repeats: int,
) -> list[dict[str, Any]]:
    """What a single mention costs a single client, the servers in turn."""
    index = candgen.load(path)
    requests = [single(mention) for mention in mentions]
    some = itertools.cycle(range(0, len(mentions), ROUND))

    def http(asked: Served) -> Load:
        first = next(some)
        return load(pool, asked, requests[first : first + ROUND], 1, ROUND, 60.0)

    runs: dict[str, Callable[[], Load]] = {
        "Python call": lambda: calls(index, mentions[:ROUND]),
        **{name: partial(http, each) for name, each in asked.items()},
    }
    for run in runs.values():
        run()
    rounds = in_turn(runs, repeats)
    p50 = {
        name: [1e3 * statistics.median(each.seconds) for each in made]
        for name, made in rounds.items()
    }
    return [
        {
            "what": name,
            "requests": sum(len(each.seconds) for each in rounds[name]),
            **quantiles(list(itertools.chain(*(each.seconds for each in rounds[name])))),
            "p50 over the call, ms": statistics.median(
                a - b for a, b in zip(p50[name], p50["Python call"], strict=True)
            ),
            "CPU ms a request": 1e3
            * statistics.median(each.cpu / len(each.seconds) for each in rounds[name]),
            "errors": sum(each.errors for each in rounds[name]),
        }
        for name in runs
    ]


def many_connections(
    pool: ProcessPoolExecutor, mentions: Sequence[str], asked: Served, seconds: float
) -> list[dict[str, Any]]:
    """Requests per second and their latency, by connections and mentions per request."""
    many = min(BATCH, len(mentions))
    starts = range(0, len(mentions) - many + 1, many)
    kinds = {
        1: [single(mention) for mention in mentions],
        many: [batch(mentions[at : at + many]) for at in starts],
    }
    rows = []
    for size, connections in itertools.product(kinds, CONNECTIONS):
        made = load(pool, asked, kinds[size], connections, 10**6, seconds)
        rows.append(
            {
                "connections": connections,
                "mentions a request": size,
                "requests/s": len(made.seconds) / made.wall,
                "mentions/s": size * len(made.seconds) / made.wall,
                **quantiles(made.seconds),
                "CPU ms a request": 1e3 * made.cpu / len(made.seconds),
                "requests": len(made.seconds),
                "errors": made.errors,
            }
        )
    return rows


class Memory(threading.Thread):
    """A thread that samples the memory of processes every second."""

    def __init__(self, processes: Sequence[psutil.Process]) -> None:
        super().__init__(daemon=True)
        self.processes = processes
        self.seen: list[tuple[int, int]] = []
        self.over = threading.Event()

    def run(self) -> None:
        """Sample until ``over`` is set."""
        while True:
            each = [process.memory_full_info() for process in self.processes]
            self.seen.append((sum(one.rss for one in each), sum(one.pss for one in each)))
            if self.over.wait(1.0):
                return


def sustained_load(
    pool: ProcessPoolExecutor, mentions: Sequence[str], asked: Served, seconds: float
) -> dict[str, Any]:
    """Errors, latency and memory under the largest number of connections."""
    memory = Memory(asked.processes)
    memory.start()
    requests = [single(mention) for mention in mentions]
    made = load(pool, asked, requests, max(CONNECTIONS), 10**7, seconds)
    memory.over.set()
    memory.join()
    rss, pss = zip(*memory.seen, strict=True)
    return {
        "connections": max(CONNECTIONS),
        "seconds": made.wall,
        "requests": len(made.seconds),
        "errors": made.errors,
        **quantiles(made.seconds),
        "RSS MB, begin": rss[0] / 1e6,
        "RSS MB, end": rss[-1] / 1e6,
        "RSS MB, most": max(rss) / 1e6,
        "PSS MB, begin": pss[0] / 1e6,
        "PSS MB, end": pss[-1] / 1e6,
    }


# -- the command ----------------------------------------------------------------------------------


def check(path: Path, port: int, mentions: Sequence[str]) -> None:
    """Raise AssertionError unless the service returns what the library returns."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(batch(mentions).replace(b"HTTP/1.1\r\n", b"HTTP/1.0\r\n"))
        with connection.makefile("rb") as file:
            said = json.loads(file.read().partition(b"\r\n\r\n")[2])["results"]
    expected = candgen.load(path).candidates(mentions, K)
    for one, candidates in zip(said, expected, strict=True):
        if [(each["entity"], each["score"]) for each in one["candidates"]] != [
            *map(tuple, candidates)
        ]:
            raise AssertionError(f"the service and the library differ on {one['mention']!r}")


def measure(path: Path, size: int, options: argparse.Namespace, report: Report) -> None:
    """All tables for one index."""
    mentions = make_queries(load_world(size), options.queries, seed=1)
    arguments = [f"bench={path}", "--workers", str(options.workers), "--max-requests", "256"]
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool, serving(*arguments) as ours:
        check(path, ours.port, mentions[:BATCH])
        load(pool, ours, [single(mention) for mention in mentions], 8, len(mentions), 60.0)
        with peer(plain, path) as route, peer(constant, path) as floor:
            asked = {"candgen serve": ours, "plain FastAPI": route, "uvicorn alone": floor}
            rows = one_connection(pool, path, mentions, asked, options.repeats)
        report.add(f"One mention, one connection, k = {K} ({options.method})", rows)
        kind = f"{options.method}, {options.workers} workers"
        each = min(options.seconds, max(1.0, options.seconds / 10))
        report.add(f"Load ({kind})", many_connections(pool, mentions, ours, each))
        rows = [sustained_load(pool, mentions, ours, options.seconds)]
        report.add(f"Sustained load, one mention a request ({kind})", rows)


def main() -> None:
    """Measure every size asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_size(parser, [500_000])
    add_queries(parser, QUERIES, "distinct mentions")
    add_repeats(parser, REPEATS)
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds of sustained load (default: %(default)s)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="processes of the service (default: %(default)s)",
    )
    parser.add_argument(
        "--method",
        choices=("pti", "rerank"),
        default="pti",
        help="the kind of index (default: %(default)s)",
    )
    options = parser.parse_args()
    name = "service" if options.method == "pti" else "service-rerank"
    report = Report(name, question, options.size)
    for package in ("fastapi", "uvicorn"):
        report.about[package] = importlib.metadata.version(package)
    for size in options.size:
        with TemporaryDirectory() as folder:
            path = index_path(size)
            if options.method == "rerank":
                path = Path(folder) / "rerank.candgen"
                candgen.Rerank(candgen.load(index_path(size))).save(path)
            measure(path, size, options, report)
    report.write()


if __name__ == "__main__":
    main()
