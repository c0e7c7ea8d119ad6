"""Hosts: only its own are answered, so that DNS rebinding fails; none is repeated."""

import socket

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

import candgen
from candgen.service.hosts import Hosts, check_hosts
from candgen.service.problems import Problem
from tests.support.service_world import save_toy
from tests.support.serving import assert_problem, serving

EVIL = "evil.example"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("hosts")
    save_toy(made / "fo.candgen")
    return made


def status(hosts, host, local="127.0.0.1"):
    """200, or the status of the problem that a header Host gets."""
    try:
        hosts.check([host.encode("latin-1")], local)
    except Problem as problem:
        return problem.status
    return 200


@pytest.mark.parametrize(
    ("host", "local", "expected"),
    [
        ("127.0.0.1", "127.0.0.1", 200),
        ("127.0.0.1:8000", "127.0.0.1", 200),
        ("localhost:8000", "127.0.0.1", 200),
        ("LOCALHOST.", "127.0.0.1", 200),
        ("[::1]:8000", "::1", 200),
        ("[0:0:0:0:0:0:0:1]", "::1", 200),
        ("localhost", "::1", 200),
        ("192.0.2.7", "192.0.2.7", 200),
        ("localhost", "192.0.2.7", 421),
        ("192.0.2.8", "192.0.2.7", 421),
        ("127.0.0.1", "192.0.2.7", 421),
        ("127.0.0.1.evil.example", "127.0.0.1", 421),
        ("localhost.evil.example", "127.0.0.1", 421),
        ("127.1", "127.0.0.1", 421),
        (EVIL, "127.0.0.1", 421),
        (EVIL, None, 421),
        ("", "127.0.0.1", 400),
        (":8000", "127.0.0.1", 400),
        ("a b", "127.0.0.1", 400),
        ("localhost:x", "127.0.0.1", 400),
        ("localhost@evil.example", "127.0.0.1", 400),
        ("localhost/evil", "127.0.0.1", 400),
        ("::1", "::1", 400),
        ("local\xfeost", "127.0.0.1", 400),
    ],
)
def test_the_address_of_the_connection_is_a_host(host, local, expected):
    assert status(Hosts([]), host, local) == expected


def test_hosts_that_are_allowed():
    hosts = Hosts(["Names.Example", "2001:DB8::1"])
    assert status(hosts, "names.example:8443") == 200
    assert status(hosts, "[2001:db8:0::1]:8443") == 200
    assert status(hosts, "sub.names.example") == 421
    assert status(Hosts(["*"]), EVIL) == 200
    assert status(Hosts(["*"]), "a b") == 400


def test_there_is_one_host():
    for values in ([], [b"localhost", b"localhost"], [b"localhost", EVIL.encode()]):
        with pytest.raises(Problem) as caught:
            Hosts(["*"]).check(values, "127.0.0.1")
        assert caught.value.status == 400


def test_hosts_of_the_options():
    check_hosts(["*", "names.example", "::1", "192.0.2.1"], "http://[::1]:80/x")
    for bad in ("", "a/b", "http://a", "a:80", "[::1]", "*.example", "a b"):
        with pytest.raises(candgen.CandgenError, match="expected a host name or an address"):
            check_hosts([bad], None)
    for bad in ("names.example", "ftp://a", "http://", "https:///x", "http://[x/", "http://a b/"):
        with pytest.raises(candgen.CandgenError, match="expected an address such as"):
            check_hosts([], bad)
    assert status(Hosts([], "https://names.example:8443/fo"), "names.example") == 200


def test_another_host_is_refused_everywhere_and_never_repeated(folder):
    forwarded = {"X-Forwarded-Host": EVIL, "Forwarded": f"host={EVIL}", "X-Host": EVIL}
    with serving(folder, folder / "fo.candgen") as service:
        paths = ("/", "/reconcile", "/reconcile/fo", "/api/v1/indexes", "/metrics", "/nothing")
        for path in paths:
            for method in ("GET", "POST", "OPTIONS"):
                answer = service.ask(
                    path, method=method, headers={"Host": f"{EVIL}:{service.port}"}
                )
                assert_problem(answer, 421)
                assert EVIL not in f"{answer.headers}{answer.body}"
        for path in ("/reconcile", "/"):
            answer = service.ask(path, headers={"Accept": "application/json", **forwarded})
            assert answer.status == 200
            assert EVIL not in f"{answer.headers}{answer.body}"
        for path in ("/healthz", "/readyz"):  # container platforms ask by any address
            answer = service.ask(path, headers={"Host": EVIL})
            assert answer.status == 200
            assert EVIL not in f"{answer.headers}{answer.body}"
        # HTTP/1.0 has no Host: probes may use it
        assert service.send(b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert service.send(b"GET /reconcile HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 400 ")
        assert EVIL not in service.log.read_text(encoding="utf-8")


def test_hosts_of_a_service_on_all_interfaces(folder):
    names = ("--host", "0.0.0.0", "--url", "https://names.example/fo", "--allowed-host", "candgen")
    with serving(folder, folder / "fo.candgen", *names) as service:
        own = ["127.0.0.1", "localhost", socket.gethostname(), "names.example", "candgen"]
        for host in own:
            assert service.ask("/reconcile", headers={"Host": host}).status == 200, host
        for host in (EVIL, "192.0.2.1", "0.0.0.1"):
            assert_problem(service.ask("/reconcile", headers={"Host": host}), 421)
