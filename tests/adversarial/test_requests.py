"""Requests that make no sense, or mean harm: each has a defined answer, and none is a 500."""

import json
import time
from urllib.parse import quote, urlencode

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from tests.support.serving import (
    ASKED,
    OLD,
    assert_problem,
    assert_raw_problem,
    eventually,
    everything,
    serving,
)

HEAD = b"POST /api/v1/candidates HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
KEY = "a-key-that-nobody-knows"


@pytest.fixture(autouse=True)
def goes_on(request):
    """After each attack others are answered, and nothing was the service's own mistake."""
    yield
    if "service" in request.fixturenames:
        service = request.getfixturevalue("service")
        assert service.ask(ASKED).candidates == OLD
        assert not service.mistakes()


def reconcile(service, queries, **more):
    text = queries if isinstance(queries, str | bytes) else json.dumps(queries)
    body = urlencode({"queries": text, **more}).encode()
    return service.ask("/reconcile", body, headers=FORM)


# -- invalid text and invalid JSON -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Encoding": "gzip"}, b"\x1f\x8b\x08\0\0\0\0\0"),
        ({"Content-Type": "text/plain"}, b'{"mentions": ["a"]}'),
        ({"Content-Type": "application/xml"}, b"<mentions/>"),
        ({"Content-Type": "application/json; charset=utf-16"}, '{"mentions": [}'.encode("utf-16")),
        ({"Content-Type": "multipart/form-data; boundary=x"}, b"--x\r\n\r\na\r\n--x--"),
        ({"Content-Type": "\xff"}, b'{"mentions": ["a"]}'),
        ({}, b""),
        ({}, b"null"),
        ({}, b"[]"),
        ({}, b'"mentions"'),
        ({}, b"{"),
        ({}, b'{"mentions": "Tre"}'),
        ({}, b'{"mentions": [1]}'),
        ({}, b'{"mentions": ["a"], "more": 1}'),
        ({}, b'{"mentions": ["\xff\xfe"]}'),
        ({}, b'{"mentions": ["\xed\xa0\x80"]}'),
        ({}, b'{"mentions": ["a\\ud800"]}'),
        ({}, b'{"mentions": ["\\udfff", "a"], "details": true}'),
        ({}, b'{"mentions": ["a"], "index": "\\ud800"}'),
        ({}, b'{"\\ud800": 1}'),
        ({}, b'{"mentions": ["a"], "k": 1e400}'),
        ({}, b'{"mentions": ["a"], "k": -1}'),
        ({}, b'{"mentions": ["a"], "k": true}'),
        ({}, b'{"mentions": ["a"], "k": 1%s}' % (b"0" * 100)),
        ({}, b'{"mentions": ["a"], "k": 1%s}' % (b"0" * 5000)),
        ({}, b'{"mentions": ["a"], "lam": 1e400}'),
        ({}, b'{"mentions": ["a"], "lam": NaN}'),
        ({}, b'{"mentions": ["a"], "lam": -Infinity}'),
        ({}, b"[" * 100_000),
        ({}, b'{"mentions":' * 50_000 + b"1" + b"}" * 50_000),
        ({}, b'{"mentions": [%s1%s]}' % (b"[" * 900, b"]" * 900)),
        ({}, json.dumps({"mentions": ["a"] * 1001}).encode()),
        ({}, json.dumps({"mentions": ["a" * 251]}).encode()),
        ({}, json.dumps({"mentions": ["a" * 51] * 1000}).encode()),
    ],
)
def test_bodies_that_make_no_sense(service, headers, body):
    answer = service.post(body, headers=headers)
    assert_problem(answer, 400, 404, 415, 422)
    assert len(answer.body) < 2000


@pytest.mark.parametrize(
    "queries",
    [
        "",
        "null",
        "[]",
        '{"q0": 1}',
        '{"q0": {"query": 1}}',
        "[" * 100_000,
        b"\xff",
        '{"q0": {"query": "\\ud800"}}',
        '{"\\ud800": {"query": "a"}}',
        '{"q0": {"query": "a", "type_strict": "\\ud800"}}',
        '{"q0": {"query": "a", "type_strict": {}}}',
        '{"q0": {"query": "a", "limit": NaN}}',
        '{"q0": {"query": "a", "limit": 1e400}}',
        '{"q0": {"query": "a", "limit": -1}}',
        '{"q0": {"query": "a", "limit": "3"}}',
        '{"q0": {"query": "a", "limit": 1%s}}' % ("0" * 5000),
        '{"q0": {"query": "a", "type": {"id": 1}}}',
        '{"q0": {"query": "a", "type": ["Q5", null]}}',
        json.dumps({str(each): {"query": "a"} for each in range(1001)}),
        json.dumps({str(each): {"query": "a" * 51} for each in range(1000)}),
    ],
)
def test_batches_of_openrefine_that_make_no_sense(service, queries):
    answer = reconcile(service, queries)
    assert_problem(answer, 400, 422)
    assert len(answer.body) < 2000


def test_types_that_are_deeply_nested(service):
    for depth in range(900, 1000, 3):  # around where Python gives up
        nested = "[" * depth + "1" + "]" * depth
        assert_problem(reconcile(service, f'{{"q0": {{"query": "a", "type": {nested}}}}}'), 400)


def test_forms_that_are_none(service):
    assert_problem(service.ask("/reconcile", b"queries=\xff", headers=FORM), 400)
    assert_problem(service.ask("/reconcile", b"queries=%ff", headers=FORM), 400)
    assert_problem(service.ask("/reconcile", b"a=b&" * 50, headers=FORM), 400)
    assert_problem(service.post({"queries": {}}, "/reconcile"), 415)


@pytest.mark.parametrize(
    "place",
    [
        f"/reconcile/suggest/entity?prefix={'a' * 1001}",
        "/reconcile/suggest/entity?prefix=a&cursor=-1",
        "/reconcile/suggest/type?prefix=a&cursor=99999999999999999999",
        "/reconcile/preview?id=%00",
        "/reconcile/preview",
        f"/reconcile/flyout?id={'Q' * 2000}",
        "/api/v1/explain?mention=a&entity=%ff",
        "/api/v1/explain?mention=a&entity=Q282&lam=nan",
        "/api/v1/candidates",
        "/api/v1/candidates?mention=a&k=x",
        f"/api/v1/candidates?mention=a&k={'9' * 5000}",
    ],
)
def test_addresses_that_make_no_sense(service, place):
    assert_problem(service.ask(place), 400, 404, 422)


def test_bytes_in_an_address_that_are_no_utf_8_are_read_as_such(service):
    answer = service.ask("/api/v1/candidates?mention=V%ff%ed%a0%80")
    assert answer.status == 200
    assert answer.json["mention"].startswith("V\ufffd")
    assert_problem(service.ask("/%ff"), 404)
    assert_problem(service.ask("/reconcile/%ed%a0%80"), 404)


def test_bytes_in_headers_that_are_no_text(service):
    odd = {"Accept-Language": "\xff\xed;q=\xff, fo;q=nan", "Accept": "\xff", "X-A": "\xff"}
    assert service.ask(ASKED, headers=odd).candidates == OLD
    assert_problem(service.ask("/reconcile", headers={"Host": "\xff"}), 400)
    assert_problem(service.ask("/reconcile", headers={"Host": "a/b?c"}), 400)


@pytest.mark.parametrize(
    "junk",
    [
        b"\x00\xff\xfe\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"0\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_what_is_not_http(service, junk):
    """The HTTP library answers, in plain text, and ends the connection."""
    assert service.send(junk).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "mention",
    [
        "",
        "\0",
        "\x00\x01\x1f\x7f\x85\u2028\ufeff",
        "😀𝔸\U0010ffff",
        "\u202eníV\u202c",
        "\ufffe",
        "a" + "\u0301" * 249,
        "ﷺ" * 250,
        "𒐫" * 250,
        "'; DROP TABLE--<script>",
        "%00%ff",
        "{{7*7}}",
    ],
)
def test_any_text_is_a_mention(service, mention):
    (result,) = service.post({"mentions": [mention], "details": True}).json["results"]
    assert result["mention"] == mention
    one = service.ask(f"/api/v1/candidates?mention={quote(mention)}")
    assert one.status == 200
    assert one.json["mention"] == mention
    assert reconcile(service, {mention: {"query": mention}}).json.keys() == {mention}


def test_the_last_of_two_equal_keys_counts(service):
    answer = service.post(b'{"mentions": ["a"], "mentions": ["b"]}')
    assert [each["mention"] for each in answer.json["results"]] == ["b"]


# -- keys, other sites, other files ---------------------------------------------------------------


def test_a_key(folder):
    with serving(folder, folder / "fo.candgen", key=KEY) as service:
        for path in (ASKED, "/api/v1/indexes", "/metrics", "/reconcile", "/nothing"):
            answer = service.ask(path)
            assert_problem(answer, 401)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        for wrong in (
            {"X-API-Key": KEY[:-1]},
            {"X-API-Key": ""},
            {"X-API-Key": "\xff"},
            {"Authorization": f"Basic {KEY}"},
            {"Authorization": "Bearer"},
            {"Authorization": "Bearer \xff", "X-API-Key": KEY},
        ):
            assert_problem(service.ask(ASKED, headers=wrong), 401)
        assert_problem(service.ask(f"{ASKED}&key={KEY}"), 401)
        assert_problem(service.ask("/api/v1/reload", b""), 401)
        with service.socket() as connection:  # one that sends all before it looks for an answer
            connection.sendall(
                b"POST /api/v1/candidates HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n"
                b"Connection: close\r\n\r\n"
            )
            for _ in range(10):
                connection.sendall(b" " * 30_000)
                time.sleep(0.02)
            assert_raw_problem(everything(connection), 401)
        for right in ({"X-API-Key": KEY}, {"Authorization": f"bearer  {KEY}"}):
            assert service.ask(ASKED, headers=right).candidates == OLD
        for path in ("/", "/healthz", "/readyz", "/api/v1/openapi.json"):
            assert service.ask(path).status == 200
        told = service.ask("/", headers={"Accept": "application/json"})
        assert_problem(told, 401)
        assert '"fo"' not in service.ask("/readyz").body.decode()
        service.ask("/api/v1/indexes", headers={"X-API-Key": KEY})
        eventually(
            lambda: [each["path"] for each in service.requests()][-1:] == ["/api/v1/indexes"]
        )
        assert KEY not in service.log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "origin", ["http://example.org", "null", "http://[", "", "http://127.0.0.1", "\xff"]
)
def test_pages_of_other_sites_may_not_reload(service, origin):
    headers = {"Origin": origin, "Content-Type": "text/plain"}
    assert_problem(service.ask("/api/v1/reload", b"", headers=headers), 403)
    assert_problem(service.post({"mentions": ["a"]}, headers={"Origin": origin}), 403)


def test_pages_of_other_sites_read_only_what_openrefine_needs(service):
    origin = {"Origin": "http://example.org"}
    allowed = "Access-Control-Allow-Origin"
    for path in (
        "/reconcile",
        "/reconcile/fo",
        "/reconcile/suggest/entity?prefix=a",
        "/reconcile/nothing",
    ):
        assert service.ask(path, headers=origin).headers[allowed] == "*"
    for path in ("/", ASKED, "/api/v1/indexes", "/metrics", "/healthz", "/reconcilex", "/nothing"):
        assert allowed not in service.ask(path, headers=origin).headers
    own = {"Origin": f"http://127.0.0.1:{service.port}"}
    assert service.ask("/api/v1/reload", b"", headers=own).status == 200
    assert (
        "Access-Control-Allow-Credentials" not in service.ask("/reconcile", headers=origin).headers
    )


@pytest.mark.parametrize(
    "path",
    [
        "/..%2f..%2fetc/passwd",
        "/../../etc/passwd",
        "//",
        "//etc/passwd",
        "/page.js/../",
        "/./page.js",
        "/page.js%00",
        "/page.css/",
        "/index.html",
        "/%2e%2e/app.py",
        "/reconcile/fo/../../x",
        "/reconcile/..%2f..%2fx",
        "/reconcile/%00",
        "/api/v1/candidates/",
        "/api/v1/../v1/indexes",
        "/docs",
        "/openapi.json",
        "/api/v1/candidates?mention=a&index=../../x",
        "/api/v1/candidates?mention=a&index=/etc/passwd",
    ],
)
def test_paths_that_lead_nowhere(service, path):
    assert_problem(service.ask(path), 404)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "BREW"])
def test_methods_that_are_not_offered(service, method):
    answer = service.ask("/api/v1/candidates", method=method)
    assert_problem(answer, 405)
    assert answer.headers["Allow"]


@pytest.mark.parametrize("path", [ASKED, "/", "/healthz", "/reconcile", "/nothing"])
def test_head_is_get_without_the_answer(service, path):
    expected, answer = service.ask(path), service.ask(path, method="HEAD")
    assert (answer.status, answer.body) == (expected.status, b"")
    assert answer.headers["Content-Length"] == expected.headers["Content-Length"]


def test_another_protocol_is_not_spoken_and_the_request_answered(service):
    """Java's client asks for HTTP/2 in its first request."""
    wish = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMA"}
    answer = service.post({"mentions": ["Vín"]}, headers=wish)
    assert answer.status == 200
    assert answer.json["results"][0]["candidates"][0]["entity"] == OLD[0][0]
    assert service.ask(ASKED, headers=wish).candidates == OLD
    assert not [line for line in service.errors() if "upgrade" in line.lower()]


def test_an_answer_that_would_be_too_large(service):
    assert_problem(service.post({"mentions": ["Vín"] * 101, "k": 1000}), 422)
    assert service.post({"mentions": ["Vín"] * 100, "k": 1000}).status == 200
    queries = {str(each): {"query": "Vín", "limit": 1000} for each in range(101)}
    assert_problem(reconcile(service, json.dumps(queries)), 422)


def test_names_of_hosts_as_containers_have_them(folder):
    with serving(folder, folder / "fo.candgen", "--allowed-host", "candgen_1") as service:
        assert service.ask("/reconcile", headers={"Host": "candgen_1:8000"}).status == 200
        assert_problem(service.ask("/reconcile", headers={"Host": "candgen_2:8000"}), 421)


@pytest.mark.parametrize("callback", ["alert(1)//", "a b", "", "<script>", "1a", "a" * 200, "é"])
def test_a_callback_is_a_name(service, callback):
    assert_problem(service.ask(f"/reconcile?callback={quote(callback)}"), 400)
    queries = quote(json.dumps({"q0": {"query": "Vín"}}))
    assert_problem(service.ask(f"/reconcile?queries={queries}&callback={quote(callback)}"), 400)
