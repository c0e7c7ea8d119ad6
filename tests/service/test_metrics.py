"""Metrics for Prometheus."""

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")


def test_probes_and_counts(client):
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ok", "indexes": 3}
    client.post("/api/v1/candidates", json={"mentions": ["Vín", "Rín"], "k": 1})
    text = client.get("/metrics").text
    assert 'candgen_index_info{index="one",kind="pti",language="fo"' in text
    assert 'candgen_index_entities{index="one"} 3.0' in text
    for name in (
        'candgen_requests_total{method="POST",route="/api/v1/candidates",status="200"}',
        'candgen_request_seconds_count{route="/api/v1/candidates"}',
        'candgen_batch_size_bucket{index="one",le="2.0"}',
        'candgen_candidates_total{index="one"}',
        "candgen_requests_in_progress 1.0",
    ):
        assert name in text, name
