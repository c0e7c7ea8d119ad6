"""Clients that repeat the largest requests allowed do not stop the service for a short one."""

import itertools
import json
import random
import statistics
import time
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

import candgen
from tests.support.serving import PATIENCE, Asking, eventually, exchange, serving

ENTITIES = 1000
CLIENTS = 8
SHORT = 100
"""Short requests while the others are at work."""
MAX_SECONDS = 2.0
"""A generous bound for one of them: it takes some ten milliseconds, and took the whole timeout of
30 seconds when requests were answered first come, first served."""
K = 10


@pytest.fixture(scope="module")
def names():
    chance = random.Random(1)
    syllables = ["ba", "vin", "tor", "sha", "lund", "klaks", "vik", "eyr", "rún", "gøta", "mi"]
    return ["".join(chance.choices(syllables, k=chance.randint(2, 5))) for _ in range(ENTITIES)]


@pytest.fixture(scope="module")
def index(names):
    """An index of two stages, which translates no words."""
    pairs = [(name, f"Q{number}", 1) for number, name in enumerate(names, 1)]
    pivot = candgen.MentionTable.from_pairs(pairs)
    target = candgen.MentionTable.from_pairs([(name + "i", *rest) for name, *rest in pairs[::3]])
    return candgen.Rerank.build({"is": pivot}, target, language="fo")


@pytest.fixture(scope="module")
def service(index, tmp_path_factory):
    folder = tmp_path_factory.mktemp("load")
    index.save(folder / "fo.candgen")
    with serving(folder, folder / "fo.candgen") as made:
        yield made


def largest_requests(limits, names):
    """Paths and bodies of requests that are as large as the limits allow."""
    text = itertools.cycle(" ".join(names) + " ")
    characters = min(limits.get("characters", limits["body"]), limits["body"] // 2)

    def mentions(number):
        length = min(limits["mention"], characters // number)
        return ["".join(itertools.islice(text, length)) for _ in range(number)]

    def batch(number, **options):
        k = min(limits["k"], limits["candidates"] // number)
        body = {"mentions": mentions(number), "k": k, **options}
        return "/api/v1/candidates", json.dumps(body, ensure_ascii=False).encode()

    most = limits["batch"]
    queries = {f"q{number}": {"query": each} for number, each in enumerate(mentions(most))}
    return [
        batch(most),
        batch(min(most, characters // limits["mention"])),
        batch(limits["candidates"] // limits["k"]),
        batch(most, details=True),
        ("/reconcile", urlencode({"queries": json.dumps(queries)}).encode()),
    ]


def test_a_short_request_is_answered_while_others_send_the_largest(service, index, names):
    limits = service.ask("/api/v1/indexes").json["limits"]
    requests = itertools.cycle(largest_requests(limits, names))
    statuses = []

    def send_large():
        for path, body in requests:
            kind = "application/json" if path.startswith("/api") else ""
            answer = service.ask(path, body, headers={"Content-Type": kind}, timeout=3 * PATIENCE)
            assert answer.status == 200 or answer.headers["Retry-After"], answer
            statuses.append(answer.status)
            yield

    def is_loaded():
        text = service.ask("/metrics").body.decode()
        return float(text.split("\ncandgen_requests_in_progress ")[1].split()[0]) > CLIENTS / 2

    expected = index.candidates(names[:SHORT], K)
    taken = []
    with Asking(send_large, threads=CLIENTS) as asking:
        eventually(is_loaded)
        connection = service.connection(2 * PATIENCE)
        for name, candidates in zip(names, expected, strict=False):
            query = urlencode({"mention": name, "k": K})
            begun = time.monotonic()
            answer = exchange(connection, f"/api/v1/candidates?{query}")
            taken.append(time.monotonic() - begun)
            assert answer.status == 200, answer
            assert answer.candidates == [tuple(each) for each in candidates]
            assert taken[-1] < MAX_SECONDS
        connection.close()
    assert asking.failures == []
    assert set(statuses) <= {200, 503}
    assert 200 in statuses  # large ones are answered too
    assert service.mistakes() == []
    p99 = statistics.quantiles(taken, n=100)[-1]
    print(  # noqa: T201
        f"{CLIENTS} large clients: median {1e3 * statistics.median(taken):.0f} ms, "
        f"p99 {1e3 * p99:.0f} ms, {statuses.count(200)} of {len(statuses)} large answered"
    )
