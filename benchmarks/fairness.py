"""Does a client with one short name get its answer while others send the largest requests?

    python benchmarks/fairness.py --size 50000 --clients 0 3 16 64 --seconds 15
    python benchmarks/fairness.py --index fo.candgen --kind batch

`candgen serve` runs with its default limits. Clients in other processes each repeat a request that
is as large as the limits allow, and send the next one as soon as they have an answer, also after a
503 that tells them to wait. Meanwhile one client asks for one name at a time, and every answer is
compared with that of the library. Before that, searches for the longest mentions allowed are
cancelled, as at a deadline, and the time until they have ended is measured.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import numpy as np
from measure import Report, add_size
from serving import serving
from synthetic_index import index_path

import candgen
from candgen.index.cancellation import Cancellation, SearchCancelledError, cancelled_by
from candgen.protocols import entity_ids_of

K, MAX_K = 10, 100
LONGEST, LONG_MENTIONS = 250, 40
"""Characters of mentions whose searches are cancelled, and how many of them."""
NAMES = 200
"""Names of the short requests."""
PAUSE = 0.02
"""Seconds between an answer and the next short request."""
TIMEOUT = 60.0
PATH = "/api/v1/candidates"
SPAWN = multiprocessing.get_context("spawn")


# -- requests -------------------------------------------------------------------------------------


def get(path: str, **query: object) -> bytes:
    """Return the bytes of a GET request."""
    return f"GET {path}?{urlencode(query)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def post(path: str, body: bytes, media_type: str = "application/json") -> bytes:
    """Return the bytes of a POST request."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media_type}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def largest_requests(
    limits: dict[str, int],
    names: Sequence[str],
    generator: Any,  # noqa: ANN401
) -> dict[str, bytes]:
    """Return a request of each kind that is as large as the limits allow."""
    characters = min(limits.get("characters", 10**9), limits["body"] // 2)
    text = itertools.cycle(" ".join(names) + " ")

    def mentions(number: int) -> list[str]:
        length = min(limits["mention"], characters // number)
        return ["".join(itertools.islice(text, length)) for _ in range(number)]

    def batch(number: int, **options: object) -> bytes:
        k = min(limits["k"], limits["candidates"] // number)
        body = {"mentions": mentions(number), "k": k, **options}
        return post(PATH, json.dumps(body, ensure_ascii=False).encode()[: limits["body"]])

    most = limits["batch"]
    fewest = max(1, characters // limits["mention"])
    deepest = max(1, limits["candidates"] // limits["k"])
    queries = {
        f"q{number}": {"query": mention, "limit": limits["candidates"] // most}
        for number, mention in enumerate(mentions(most))
    }
    form = urlencode({"queries": json.dumps(queries, ensure_ascii=False)}).encode()
    (one,) = mentions(1)
    entity = generator.candidates([one], 1)[0][0][0]
    return {
        "batch": batch(most),
        "long": batch(min(most, fewest)),
        "deep": batch(min(most, deepest)),
        "details": batch(most, details=True),
        "reconcile": post("/reconcile", form, "application/x-www-form-urlencoded"),
        "one": get(PATH, mention=one, k=limits["k"], details=True),
        "explain": get("/api/v1/explain", mention=one, entity=entity),
    }


# -- clients --------------------------------------------------------------------------------------


async def exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[int, bytes]:
    """Send a request and return the status and the body of the answer."""
    writer.write(request)
    await writer.drain()
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
    return int(head.split()[1]), await reader.readexactly(length)


async def repeat(port: int, requests: Sequence[bytes], start: int, counts: Any) -> None:  # noqa: ANN401
    """Send requests one after the other on one connection, and open another if it is closed."""
    queue = itertools.islice(itertools.cycle(requests), start, None)
    while True:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for request in queue:
                status, _ = await exchange(reader, writer, request)
                counts[status] = counts.get(status, 0) + 1
        await asyncio.sleep(0.1)


def send_large(port: int, requests: Sequence[bytes], clients: int, counts: Any) -> None:  # noqa: ANN401
    """Be a number of clients with large requests, until the process is terminated."""

    async def run() -> None:
        own: Counter[int] = Counter()
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(repeat(port, requests, number, own))
            while True:
                await asyncio.sleep(0.2)
                counts.update(own)

    asyncio.run(run())


def ask_short(
    port: int, requests: Sequence[bytes], expected: Sequence[Any], seconds: float
) -> tuple[list[float], int]:
    """Return the seconds of each short request, and how many had an error or a wrong answer."""

    async def run() -> tuple[list[float], int]:
        taken: list[float] = []
        errors = 0
        end = time.monotonic() + seconds
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request, answer in itertools.cycle(zip(requests, expected, strict=True)):
            start = time.monotonic()
            if start > end:
                break
            try:
                status, body = await asyncio.wait_for(exchange(reader, writer, request), TIMEOUT)
                errors += status != 200 or json.loads(body)["candidates"] != answer
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                errors += 1
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            taken.append(time.monotonic() - start)
            await asyncio.sleep(PAUSE)
        writer.close()
        return taken, errors

    return asyncio.run(run())


@contextlib.contextmanager
def large_clients(port: int, requests: Sequence[bytes], clients: int) -> Iterator[Any]:
    """Let clients send large requests while the block runs; it gets their counts by status."""
    with SPAWN.Manager() as manager:
        counts = manager.dict()
        process = SPAWN.Process(target=send_large, args=(port, requests, clients, counts))
        if clients:
            process.start()
            time.sleep(2.0)
        try:
            yield counts
        finally:
            if clients:
                process.terminate()
                process.join()


# -- the command ----------------------------------------------------------------------------------


def sample_names(generator: Any) -> list[str]:  # noqa: ANN401
    """Return names of entities of the index, at equal distances."""
    entities = entity_ids_of(generator)
    sampled = [entities[at] for at in range(0, len(entities), max(1, len(entities) // NAMES))]
    names = [each.mention for entity in sampled for each in generator.names(entity)[:1]]
    return [name for name in names if len(name) <= 40][:NAMES]


def cancel(generator: Any, mention: str, seconds: float) -> float | None:  # noqa: ANN401
    """Return how long a search lasted after its cancellation; None if it ended before."""
    cancellation, times = Cancellation(), []

    def set_now() -> None:
        times.append(time.monotonic())
        cancellation.set()

    timer = threading.Timer(seconds, set_now)
    with cancelled_by(cancellation):
        timer.start()
        try:
            generator.candidates([mention], MAX_K)
        except SearchCancelledError:
            times.append(time.monotonic())
    timer.cancel()
    timer.join()
    return times[1] - times[0] if len(times) == 2 else None


def measure_deadlines(generator: Any, names: Sequence[str]) -> list[dict[str, Any]]:  # noqa: ANN401
    """Measure searches for long mentions, and how soon they end if they are cancelled."""
    text = itertools.cycle(" ".join(names) + " ")
    mentions = ["".join(itertools.islice(text, LONGEST)) for _ in range(LONG_MENTIONS)]
    whole = []
    for mention in mentions:
        start = time.monotonic()
        generator.candidates([mention], MAX_K)
        whole.append(time.monotonic() - start)
    # At a third and at two thirds of the time that the search takes.
    ends = [
        cancel(generator, mention, taken * part)
        for mention, taken in zip(mentions, whole, strict=True)
        for part in (1 / 3, 2 / 3)
    ]
    late = [end for end in ends if end is not None]
    return [
        {
            "characters": LONGEST,
            "search, median ms": 1e3 * float(np.median(whole)),
            "longest ms": 1e3 * max(whole),
            "cancelled": len(late),
            "until the end, median ms": 1e3 * float(np.median(late)) if late else 0.0,
            "until the end, longest ms": 1e3 * max(late, default=0.0),
        }
    ]


def measure(path: Path, options: argparse.Namespace, report: Report) -> None:
    """Measure a short client beside each number of large ones."""
    generator = candgen.load(path)
    names = sample_names(generator)
    deadlines = measure_deadlines(generator, names)
    report.add(f"Searches that are cancelled at a deadline ({path.stem})", deadlines)
    short = [get(PATH, mention=name, k=K) for name in names]
    expected = [
        [{"entity": entity, "score": float(score)} for entity, score in answer]
        for answer in generator.candidates(names, K)
    ]
    with serving(str(path), *options.serve) as (port, (worker,)):
        with urlopen(f"http://127.0.0.1:{port}/api/v1/indexes") as answer:
            limits = json.load(answer)["limits"]
        large = largest_requests(limits, names, generator)
        kinds = [large[kind] for kind in options.kind] or list(large.values())
        ask_short(port, short, expected, 1.0)
        rows = []
        for clients in options.clients:
            with large_clients(port, kinds, clients) as counts:
                taken, errors = ask_short(port, short, expected, options.seconds)
                statuses = dict(counts)
            p50, p99, longest = 1e3 * np.quantile(taken, [0.5, 0.99, 1.0])
            rows.append(
                {
                    "large clients": clients,
                    "short requests": len(taken),
                    "wrong or refused": errors,
                    "p50 ms": p50,
                    "p99 ms": p99,
                    "longest ms": longest,
                    "large answered": statuses.get(200, 0),
                    "large refused": sum(statuses.values()) - statuses.get(200, 0),
                    "memory MB": worker.memory_info().rss / 1e6,
                }
            )
        kind = "all kinds" if not options.kind else ", ".join(options.kind)
        report.add(f"One short name at a time, beside large requests ({path.stem}, {kind})", rows)


def main() -> None:
    """Measure every index asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_size(parser, [50_000])
    parser.add_argument(
        "--index",
        type=Path,
        nargs="*",
        default=[],
        metavar="FOLDER",
        help="indexes to serve, in place of synthetic ones of two stages",
    )
    parser.add_argument(
        "--clients",
        type=int,
        nargs="*",
        default=[0, 3, 16, 64],
        metavar="N",
        help="numbers of clients with large requests (default: %(default)s)",
    )
    parser.add_argument(
        "--kind",
        nargs="*",
        default=[],
        choices=("batch", "long", "deep", "details", "reconcile", "one", "explain"),
        help="kinds of large requests (default: all, in turn)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=15.0,
        metavar="S",
        help="seconds for each number of clients (default: %(default)s)",
    )
    parser.add_argument(
        "--serve",
        nargs="*",
        default=[],
        metavar="ARGUMENT",
        help="further arguments of candgen serve",
    )
    options = parser.parse_args()
    report = Report("fairness", question, [] if options.index else options.size)
    with TemporaryDirectory() as folder:
        paths = list(options.index)
        for size in [] if options.index else options.size:
            paths.append(Path(folder) / f"rerank-{size}.candgen")
            candgen.Rerank(candgen.load(index_path(size))).save(paths[-1])
        for path in paths:
            measure(path, options, report)
    report.write()


if __name__ == "__main__":
    main()
