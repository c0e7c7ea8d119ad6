"""HTTP itself: where a request ends is never in doubt, directly and behind a proxy (nginx)."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import time
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from tests.support.serving import PATIENCE, Asking, eventually, everything

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
PAGE = Path(__file__).parents[2] / "docs" / "service.md"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""What must stay a part of a body, or be dropped with its connection."""
LAST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
FORM = b"POST /reconcile HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(SMUGGLED)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%b\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED)
JAVA = (
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    b"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n"
)
"""What Java's HttpClient adds to its first request."""
UPGRADES = {
    "h2c": JAVA,
    "websocket": b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "of no connection": b"Upgrade: anything\r\n",
}
markers = count()


@pytest.fixture(scope="module")
def proxy(service, folder):
    """The port of an nginx that keeps its connections to the service and uses them again."""
    if NGINX is None:
        pytest.skip("needs nginx: Debian's package nginx-light")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = folder / "nginx.conf"
    config.write_text(nginx_config(folder, port, service.port), encoding="utf-8")
    command = [NGINX, "-p", str(folder), "-c", str(config), "-e", str(folder / "nginx-errors")]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: process.poll() is not None or answers_at(port))
            yield port
        finally:
            process.terminate()


def nginx_config(folder, port, upstream):
    """The example of the documentation, on free ports."""
    page = PAGE.read_text(encoding="utf-8")
    example = re.search("```text\n(upstream .*?)```", page, re.DOTALL)[1]
    for old, new in (
        ("server 127.0.0.1:8000;", f"server 127.0.0.1:{upstream};"),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
    ):
        assert old in example
        example = example.replace(old, new)
    paths = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "\n".join(f"{name}_temp_path {folder}/nginx-{name};" for name in paths)
    return f"""
daemon off; master_process off; pid {folder}/nginx-pid;
events {{}}
http {{
access_log off;
{places}
{example}
}}
"""


def answers_at(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), PATIENCE):
        return True
    return False


def talk(port, *segments):
    """Send segments, so that each is read alone; the statuses of all answers, and their bodies."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError):  # it may have heard enough
            for segment in segments:
                connection.sendall(segment)
                time.sleep(0.003)
        return answers_in(everything(connection))


def answers_in(data):
    """Return the status of each answer in a stream, and its body."""
    found = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        assert lines[0].startswith(b"http/1."), lines
        lengths = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
        end = lengths[0] if lengths else 0 if lines[0].split()[1] == b"204" else len(data)
        found.append((int(lines[0].split()[1]), data[:end]))
        data = data[end:]
    return found


def statuses(answers):
    return [status for status, _ in answers]


def new_paths(service):
    """The paths of the requests since the last look, by the access log."""
    marker = f"/marker-{next(markers)}"
    service.ask(marker)

    def until_marker():
        paths = [line["path"] for line in service.requests()]
        return paths if marker in paths else None

    paths = eventually(until_marker)
    before = [place for place, path in enumerate(paths) if path.startswith("/marker-")]
    return paths[before[-2] + 1 if len(before) > 1 else 0 :]


def assert_nothing_smuggled(service):
    assert "/smuggled" not in new_paths(service)
    assert not service.mistakes()


# -- Upgrade --------------------------------------------------------------------------------------


def test_a_head_with_an_upgrade_that_arrives_in_two_segments(service, tried):
    """Cut at every byte: the body of a POST is never a request of its own."""
    head = FORM + LENGTH + JAVA + b"\r\n"
    tried("requests", len(head))
    for place in range(1, len(head) + 1):
        found = talk(service.port, head[:place], head[place:] + SMUGGLED + LAST)
        assert statuses(found) == [415, 200], place
    assert_nothing_smuggled(service)


@pytest.mark.parametrize("upgrade", UPGRADES)
@pytest.mark.parametrize("framing", ["length", "chunks"])
@pytest.mark.parametrize("cut", ["together", "head", "bytes"])
def test_an_upgrade_is_ignored_and_the_body_read(service, upgrade, framing, cut):
    length, body = (LENGTH, SMUGGLED) if framing == "length" else (CHUNKED, CHUNKS)
    head = FORM + length + UPGRADES[upgrade] + b"\r\n"
    if cut == "bytes":
        body = [body[each : each + 1] for each in range(len(body))]
        sent = [head, *body, LAST]
    else:
        sent = [head, body + LAST] if cut == "head" else [head + body + LAST]
    assert statuses(talk(service.port, *sent)) == [415, 200]
    # after another request on the same connection, and before a third
    first = LAST.replace(b"Connection: close\r\n", b"")
    assert statuses(talk(service.port, first + sent[0], *sent[1:])) == [200, 415, 200]
    assert_nothing_smuggled(service)


def test_the_answer_to_a_post_with_an_upgrade(service):
    body = json.dumps({"mentions": ["Vín"], "k": 1}).encode()
    head = FORM.replace(b"/reconcile", b"/api/v1/candidates").replace(b"text/plain", b"text/json")
    head = head.replace(b"text/json", b"application/json")
    sent = head + b"Content-Length: %d\r\n" % len(body) + JAVA + b"\r\n" + body
    (status, answer), _ = talk(service.port, sent, LAST)
    assert status == 200
    assert json.loads(answer)["results"][0]["candidates"][0]["entity"] == "Q282"


# -- bodies that an answer does not wait for ------------------------------------------------------


@pytest.mark.parametrize("framing", ["length", "chunks"])
@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"OPTIONS /reconcile HTTP/1.1", 204),
        (b"OPTIONS / HTTP/1.1", 204),
        (b"OPTIONS /api/v1/candidates HTTP/1.1", 405),
        (b"GET /healthz HTTP/1.1", 200),
        (b"DELETE /healthz HTTP/1.1", 405),
        (b"POST /nothing HTTP/1.1", 404),
        (b"POST /api/v1/reload HTTP/1.1", 200),
    ],
)
def test_a_body_is_not_the_next_request(service, request_line, status, framing):
    length, body = (LENGTH, SMUGGLED) if framing == "length" else (CHUNKED, CHUNKS)
    head = request_line + b"\r\nHost: localhost\r\n" + length + b"\r\n"
    assert statuses(talk(service.port, head + body + LAST)) == [status, 200]
    assert statuses(talk(service.port, head, body[:9], body[9:], LAST)) == [status, 200]
    assert_nothing_smuggled(service)


# -- heads that may be read in two ways -----------------------------------------------------------


GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
AMBIGUOUS = {
    "length and chunks": FORM + LENGTH + CHUNKED + b"\r\n" + CHUNKS,
    "chunks and length": FORM + CHUNKED + b"Content-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": FORM + LENGTH + b"Content-Length: 0\r\n\r\n",
    "a list of lengths": FORM + b"Content-Length: 0, %d\r\n\r\n" % len(SMUGGLED),
    "a signed length": FORM + b"Content-Length: +3\r\n\r\nabc",
    "a negative length": FORM + b"Content-Length: -1\r\n\r\n",
    "a length of two words": FORM + b"Content-Length: 3 4\r\n\r\nabcd",
    "a hexadecimal length": FORM + b"Content-Length: 0x3\r\n\r\nabc",
    "an empty length": FORM + b"Content-Length: \r\n\r\n",
    "an endless length": FORM + b"Content-Length: 1" + b"0" * 40 + b"\r\n\r\n",
    "an unknown coding": FORM + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS,
    "two codings": FORM + b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKS,
    "two headers of coding": FORM + CHUNKED + b"Transfer-Encoding: identity\r\n\r\n" + CHUNKS,
    "a space before the colon": FORM + b"Transfer-Encoding : chunked\r\n\r\n" + CHUNKS,
    "a coding after a bare CR": FORM + b"X: y\rTransfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "a null byte": GET + b"X: a\x00b\r\n\r\n",
    "a name of no letters": GET + b": x\r\n\r\n",
    "a line without a colon": GET + b"x\r\n\r\n",
    "a fold before any header": b"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n",
    "two hosts": GET + b"Host: localhost\r\n\r\n",
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "a chunk of no size": FORM + CHUNKED + b"\r\n\r\n",
    "a chunk of a negative size": FORM + CHUNKED + b"\r\n-1\r\n\r\n",
    "a chunk of a size that wraps": FORM + CHUNKED + b"\r\n1%032x\r\n" % 3 + b"abc\r\n0\r\n\r\n",
    "a chunk longer than its size": FORM + CHUNKED + b"\r\n1\r\nabc\r\n0\r\n\r\n",
    "a version of its own": b"GET /healthz HTTP/1.2.3\r\nHost: localhost\r\n\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "another protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_what_is_ambiguous_gets_one_answer_and_ends_the_connection(service, name):
    found = talk(service.port, AMBIGUOUS[name] + SMUGGLED)
    assert statuses(found) == [400]
    head = AMBIGUOUS[name]
    half = len(head) // 2
    assert statuses(talk(service.port, head[:half], head[half:], SMUGGLED)) == [400]
    assert_nothing_smuggled(service)


LENIENT = {
    "bare LF": GET.replace(b"\r\n", b"\n") + b"\n",
    "a folded header": GET + b"X: a\r\n b\r\n\r\n",
    "a coding in a fold": GET + b"X: a\r\n\tTransfer-Encoding: chunked\r\n\r\n",
    "an empty line before": b"\r\n" + GET + b"\r\n",
    "one length twice": GET + LENGTH + LENGTH + b"\r\n" + SMUGGLED,
    "an extension of a chunk": GET + CHUNKED + b"\r\n" + CHUNKS.replace(b"\r\n", b";a=b\r\n", 1),
    "a trailer": GET + CHUNKED + b"\r\n" + CHUNKS[:-2] + b"X: GET /smuggled HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("name", LENIENT)
def test_what_a_server_may_accept_is_one_request(service, name):
    found = statuses(talk(service.port, LENIENT[name] + LAST))
    assert found in ([200, 200], [400])
    assert_nothing_smuggled(service)


@pytest.mark.parametrize("body", [b"", LENGTH, CHUNKED])
def test_a_connection_of_http_1_0_ends_with_the_answer(service, body):
    sent = b"POST /nothing HTTP/1.0\r\nHost: localhost\r\n" + body + b"\r\n"
    sent += {b"": b"", LENGTH: SMUGGLED, CHUNKED: CHUNKS}[body]
    found = statuses(talk(service.port, sent + SMUGGLED))
    assert found in ([404], [400])
    assert_nothing_smuggled(service)


# -- behind a proxy -------------------------------------------------------------------------------


# nginx answers "no version", which is HTTP/0.9, itself, and without a head
@pytest.mark.parametrize(
    "name", [*sorted({*AMBIGUOUS} - {"no version"}), *LENIENT, *UPGRADES, "preflight"]
)
def test_nothing_is_smuggled_past_a_proxy(service, proxy, name):
    others = {each: FORM + LENGTH + UPGRADES[each] + b"\r\n" + SMUGGLED for each in UPGRADES}
    others["preflight"] = b"OPTIONS" + FORM[4:] + LENGTH + b"\r\n" + SMUGGLED
    sent = {**AMBIGUOUS, **LENIENT, **others}[name]
    whole = name in {**LENIENT, **others}
    half = len(sent) // 2
    for segments in ([sent], [sent[:half], sent[half:]]):
        found = statuses(talk(proxy, *segments, LAST))
        if whole and len(found) == 2:
            assert found[-1] == 200
            assert found[0] == {"preflight": 204}.get(name, 200 if name in LENIENT else 415)
        else:
            assert len(found) <= 2, found
        # On connections that nginx uses again, everybody gets their own answer.
        for mention in ("one", "two"):
            assert own_answer(proxy, mention)
    assert_nothing_smuggled(service)


def own_answer(port, mention):
    path = f"/api/v1/candidates?mention={quote(mention)}".encode()
    sent = b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    ((status, body),) = talk(port, sent)
    return status == 200 and json.loads(body)["mention"] == mention


def test_clients_of_a_proxy_get_their_own_answers_while_others_attack(service, proxy):
    numbers = count()

    def ask():
        while True:
            assert own_answer(proxy, f"client {next(numbers)}")
            yield

    with Asking(ask, threads=3) as asking:
        for upgrade in UPGRADES.values():
            head = FORM + LENGTH + upgrade + b"\r\n"
            for place in range(1, len(head), 7):
                talk(proxy, head[:place], head[place:] + SMUGGLED + LAST)
    assert not asking.failures
    assert asking.done > 10
    assert_nothing_smuggled(service)
