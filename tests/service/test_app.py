"""The application: the web page, unknown addresses and methods."""

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from tests.support.service_world import problem_detail


def test_what_is_not_there(client):
    assert "not found: /api/v1/openapi.json" in problem_detail(client.get("/api/v1/nothing"), 404)
    assert problem_detail(client.put("/api/v1/candidates"), 405) == "Method Not Allowed"


def test_the_page_is_for_browsers_and_the_manifest_for_programs(client):
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    assert (
        client.get("/", headers={"Accept": browser}).headers["content-type"].startswith("text/html")
    )
    found = client.get("/", headers={"Accept": "application/json"})
    assert found.json()["versions"] == client.get("/reconcile").json()["versions"]
    assert found.headers["access-control-allow-origin"] == "*"
