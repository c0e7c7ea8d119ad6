"""The middleware: API key, access log, CORS and security headers."""

import logging

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from tests.support.service_world import client_of, problem_detail


def test_the_log_has_one_object_a_request_and_no_mention(client, caplog):
    with caplog.at_level(logging.INFO, "candgen.access"):
        client.get("/api/v1/candidates", params={"mention": "Vín", "k": 2})
    (line,) = [each.msg for each in caplog.records]
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/v1/candidates", 200)
    assert (line["index"], line["mentions"], line["candidates"]) == ("one", 1, 2)
    assert line["ms"] > 0
    assert "Vín" not in caplog.text


def test_a_key(folder, caplog):
    with client_of(folder, "one", key="open-sesame") as client:
        path = "/api/v1/indexes"
        for headers in (
            {},
            {"X-API-Key": "wrong"},
            {"Authorization": "Bearer wrong"},
            {"Authorization": "open-sesame"},
            {"Authorization": "Basic open-sesame"},
        ):
            answer = client.get(path, headers=headers)
            assert "an API key is required" in problem_detail(answer, 401)
            assert answer.headers["www-authenticate"].startswith("Bearer")
        for headers in (
            {"X-API-Key": "open-sesame"},
            {"Authorization": "Bearer open-sesame"},
            {"authorization": "bearer  open-sesame"},
        ):
            assert client.get(path, headers=headers).status_code == 200
        assert client.get("/metrics").status_code == 401
        assert client.get("/reconcile").status_code == 401
        assert {client.get(each).status_code for each in ("/healthz", "/readyz", "/")} == {200}
        assert client.get("/", headers={"Accept": "application/json"}).status_code == 401
        assert client.get("/", params={"callback": "f"}).status_code == 401
        assert client.get("/", params={"queries": "{}"}).status_code == 401
        assert client.post("/", data={"queries": "{}"}).status_code == 401
    assert "open-sesame" not in caplog.text


def test_other_sites_may_read_the_reconciliation_api_only(client):
    foreign = {"Origin": "https://evil.example"}
    for path in ("/reconcile", "/reconcile/two", "/reconcile/suggest/type"):
        assert client.get(path, headers=foreign).headers["access-control-allow-origin"] == "*"
    for path in ("/", "/api/v1/indexes", "/healthz", "/metrics", "/nothing", "/reconciled"):
        assert "access-control-allow-origin" not in client.get(path, headers=foreign).headers
    said = problem_detail(client.post("/api/v1/reload", headers=foreign), 403)
    assert said == "cross-origin requests are not allowed here"
    own = {"Origin": "http://testserver"}
    assert client.post("/api/v1/reload", headers=own).status_code == 200
    for path in ("/reconcile", "/"):
        assert client.options(path, headers=foreign).status_code == 204
    assert client.options("/api/v1/candidates", headers=foreign).status_code == 405


def test_every_answer_has_safe_headers(client):
    for path in ("/", "/page.js", "/api/v1/indexes", "/reconcile", "/nothing"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "script-src 'self'" in client.get("/").headers["content-security-policy"]
