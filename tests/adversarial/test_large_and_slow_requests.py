"""Clients that are slow, break off or want too much: each has its answer, others get theirs."""

import json
import select
import socket
import time
from functools import partial

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.service.settings import Limits
from tests.support.serving import (
    ASKED,
    OLD,
    PATIENCE,
    Asking,
    assert_problem,
    assert_raw_problem,
    clients,
    eventually,
    everything,
    is_answered,
    serving,
)

WAIT = 4
"""--request-timeout, in seconds."""
HEAD = b"POST /api/v1/candidates HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def service(folder):
    with serving(folder, folder / "fo.candgen", "--request-timeout", WAIT) as made:
        yield made


@pytest.fixture(scope="module")
def generous(folder):
    """Takes what is large, but gives it little time, and one of two places."""
    with serving(
        folder,
        folder / "fo.candgen",
        "--max-mention",
        300_000,
        "--max-body",
        8_000_000,
        "--max-batch",
        1_000_000,
        "--max-characters",
        10**9,
        "--max-candidates",
        10**9,
        "--work-timeout",
        1,
        "--max-requests",
        2,
    ) as made:
        yield made


@pytest.fixture(autouse=True)
def goes_on(request):
    """After each attack others are answered, and nothing was the service's own mistake."""
    yield
    for name in {"service", "generous"} & set(request.fixturenames):
        attacked = request.getfixturevalue(name)
        assert eventually(partial(is_answered, attacked))
        assert attacked.ask(ASKED).candidates == OLD
        assert not attacked.mistakes()


# -- slow and broken off --------------------------------------------------------------------------


SLOW = {
    "says nothing": b"",
    "half a head": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A",
    "half a body": HEAD + b'Content-Length: 40\r\n\r\n{"mentions"',
    "half a chunk": HEAD + b'Transfer-Encoding: chunked\r\n\r\n20\r\n{"mentions"',
}


EACH = 40


def test_clients_that_hang_are_left_and_nobody_waits_for_them(service):
    hanging = [(kind, service.socket()) for kind in SLOW for _ in range(EACH)]
    assert Limits().concurrency < 2 * EACH  # half a request does not count as one
    try:
        for kind, connection in hanging:
            connection.sendall(SLOW[kind])
        begun = time.monotonic()
        for _ in range(5):
            assert service.ask(ASKED).candidates == OLD
        ended, _, _ = select.select([connection for _, connection in hanging], [], [], 0)
        if time.monotonic() - begun < WAIT / 2:  # else a slow machine may have ended some
            assert not ended
        for kind, connection in hanging[::EACH]:
            got = everything(connection)
            if kind.startswith("half a c") or kind == "half a body":
                assert_raw_problem(got, 408)
            else:
                assert got == b""
    finally:
        for _, connection in hanging:
            connection.close()


@pytest.mark.parametrize(
    ("begin", "status"),
    [(b"GET /healthz HTTP/1.1\r\nX: ", None), (HEAD + b"Content-Length: 99\r\n\r\n", 408)],
)
def test_a_byte_now_and_then_does_not_keep_a_connection(service, begin, status):
    begun = time.monotonic()
    with service.socket() as connection:
        connection.sendall(begin)
        while not select.select([connection], [], [], 0.3)[0]:
            connection.sendall(b" ")
            assert time.monotonic() - begun < PATIENCE
        got = everything(connection)
    assert time.monotonic() - begun > WAIT / 2
    if status is None:  # without a head there is no request to answer
        assert got == b""
    else:
        assert_raw_problem(got, status)


@pytest.mark.parametrize("size", [70_000, 300_000, 3_000_000])
@pytest.mark.parametrize("where", ["header", "headers", "address"])
def test_a_head_that_is_too_large(service, size, where):
    header = {
        "header": b"X-A: " + b"a" * size,
        "headers": b"\r\n".join(b"X-%d: %s" % (each, b"a" * 90) for each in range(size // 100)),
        "address": b"X-A: b",
    }[where]
    address = b"/healthz?" + b"a" * size if where == "address" else b"/healthz"
    got = service.send(b"GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n" % (address, header))
    # Over 64 KiB without the end of the head, the HTTP library ends the connection, and answers
    # 400 if the client still listens. A larger head that came at once is read as a request.
    if got and not got.startswith(b"HTTP/1.1 400 "):
        assert_raw_problem(got, 431)


def test_the_head_is_counted_in_full(service):
    """With separators and line ends: many short headers are not a way around the limit."""
    few, many = 5_000, 20_000
    for number, status in ((few, 200), (many, 431)):
        lines = b"A:\r\n" * number
        got = service.send(
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + lines + b"\r\n"
        )
        assert got.startswith((b"HTTP/1.1 %d " % status, b"HTTP/1.1 400 ")[: 1 + (status == 431)])


@pytest.mark.parametrize("head", [b"Content-Length: 90\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_a_body_that_is_cut_off_is_not_worked_on(service, head):
    before = len(service.requests())
    body = b'{"mentions": ["' if b"Length" in head else b'13\r\n{"mentions": ["V"]}\r\n'
    assert service.send(HEAD + head + b"\r\n" + body, end=True) == b""
    (line,) = eventually(
        lambda: [each for each in service.requests()[before:] if each["status"] == 499]
    )
    assert line["path"] == "/api/v1/candidates"
    assert "mentions" not in line


def test_a_body_that_is_too_large(service):
    most = service.ask("/api/v1/indexes").json["limits"]["body"]
    assert_problem(service.post(b" " * (most + 1)), 413)
    chunks = (b" " * (1 << 16) for _ in range(2 + most // (1 << 16)))
    assert_problem(service.ask("/api/v1/candidates", chunks), 413)
    # What is far too large is not even waited for.
    assert_raw_problem(service.send(HEAD + b"Content-Length: %d\r\n\r\n" % 10**12), 413)
    endless = b"10000\r\n" + b" " * (1 << 16) + b"\r\n"
    sent = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + endless * (20 * most // (1 << 16))
    assert_raw_problem(service.send(sent), 413)
    fits = b'{"mentions": ["V\xc3\xadn"]}'
    assert service.post(fits + b" " * (most - len(fits))).status == 200


# -- too much -------------------------------------------------------------------------------------


def test_a_million_ngrams(generous):
    mention = "".join(chr(0x10000 + each) for each in range(250_000))
    begun = time.monotonic()
    answer = generous.post({"mentions": [mention]})
    assert time.monotonic() - begun < PATIENCE
    if answer.status != 200:  # on a machine that needs more than the second it has
        assert_problem(answer, 503)
        assert answer.headers["Retry-After"]
    assert_problem(generous.post({"mentions": [mention + "a" * 50_001]}), 422)
    assert generous.post({"mentions": ["a" + "\u0301" * 10_000]}).status == 200


def slow_batch(service, seconds):
    """A batch that takes about so long, or longer, however fast the machine is."""
    some = {"mentions": ["Vín"] * 100, "details": True}
    took = []
    for _ in range(5):
        begun = time.monotonic()
        assert eventually(lambda: service.post(some).status == 200)
        took.append(time.monotonic() - begun)
    return {"mentions": some["mentions"] * (1 + int(seconds / min(took))), "details": True}


def test_a_batch_that_takes_too_long(generous):
    answer = generous.post(slow_batch(generous, 10))
    assert_problem(answer, 503)
    assert answer.headers["Retry-After"] == "1"
    # And its work ends: else nothing would be left for others.
    assert eventually(partial(is_answered, generous), seconds=5)


def test_large_requests_leave_a_place_to_short_ones(generous):
    batch = slow_batch(generous, 10)

    def work():
        while True:
            yield generous.post(batch)

    with Asking(work, threads=4) as asking:
        refused = eventually(partial(refusal, generous, batch), every=0.01)
        for _ in range(20):
            assert generous.ask(ASKED).candidates == OLD
        assert generous.ask("/healthz").json == {"status": "ok"}
        assert generous.ask("/readyz").status == 200
        assert generous.ask("/metrics").status == 200
    assert not asking.failures
    assert_problem(refused, 503)
    assert refused.headers["Retry-After"] == "1"


def refusal(service, batch):
    answer = service.post(batch)
    return answer if "large requests are in progress" in answer.json["detail"] else None


def test_the_work_ends_when_the_client_disconnects(generous):
    body = json.dumps(slow_batch(generous, 10)).encode()
    with generous.socket() as connection:
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.2)
    assert eventually(lambda: 499 in [each["status"] for each in generous.requests()])


def test_a_client_that_does_not_read_is_given_up(folder):
    """Its answer, of some megabytes, would otherwise stay in memory as long as it likes."""
    limits = ("--max-batch", 100_000, "--max-characters", 10**6, "--max-candidates", 10**6)
    limits += ("--request-timeout", 1)
    with serving(folder, folder / "fo.candgen", *limits) as service, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", service.port))
        body = json.dumps({"mentions": ["Vín"] * 40_000}).encode()
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        eventually(lambda: service.requests() and service.requests()[-1]["bytes"] > 1e6)
        (worker,) = service.workers()
        port = connection.getsockname()[1]
        assert eventually(lambda: port not in clients(worker))
