"""Indexes that are rebuilt or damaged while the service runs."""

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

import candgen
from tests.support.service_world import client_of, problem_detail, save_toy, toy_index


def test_a_rebuilt_index_answers_after_a_reload(tmp_path):
    save_toy(tmp_path / "fo.candgen")
    with client_of(tmp_path, "fo") as client:
        ask = lambda: client.get("/api/v1/candidates", params={"mention": "Oslo"}).json()  # noqa: E731
        assert client.post("/api/v1/reload").json()["indexes"] == [
            {"index": "fo", "state": "unchanged", "detail": ""}
        ]
        assert ask()["candidates"] == []
        table = candgen.MentionTable.from_pairs([("Oslo", "Q585")])
        candgen.PivotTokenIndex.build({"de": table}).save(tmp_path / "fo.candgen")
        assert ask()["candidates"] == []  # not before the reload
        assert client.post("/api/v1/reload").json()["indexes"][0]["state"] == "changed"
        assert [each["entity"] for each in ask()["candidates"]] == ["Q585"]
        (tmp_path / "fo.candgen" / "manifest.json").write_text("{}", encoding="utf-8")
        said = problem_detail(client.post("/api/v1/reload"), 503)
        assert "keeps answering" in said
        assert str(tmp_path) not in said
        assert [each["entity"] for each in ask()["candidates"]] == ["Q585"]


def test_a_damaged_index_is_out_of_service_and_comes_back(tmp_path, caplog):
    save_toy(tmp_path / "fo.candgen")
    save_toy(tmp_path / "other.candgen")
    with client_of(tmp_path, "fo", "other") as client:
        service = client.app.app.state.service
        victim = next((tmp_path / "fo.candgen").glob("blocks.key.*"))
        whole = victim.read_bytes()
        with victim.open("r+b") as file:  # in place: another inode would be another file
            file.write(b"\xff" * 100)
        service.registry.get("other")
        service.registry.loaded[0].checked = 0.0
        # Without any request to the index.
        assert "1 of 2 indexes" in problem_detail(client.get("/readyz"), 503)
        metrics = client.get("/metrics").text
        assert 'candgen_index_info{index="fo",kind="pti",language="fo",version' in metrics
        assert [
            line[-3:] for line in metrics.splitlines() if line.startswith("candgen_index_info")
        ] == ["0.0", "1.0"]
        answer = client.get("/api/v1/candidates", params={"mention": "Vín"})
        assert "damaged" in problem_detail(answer, 503)
        assert answer.headers["retry-after"] == "1"
        assert "1 of 2 indexes" in problem_detail(client.get("/readyz"), 503)
        params = {"mention": "Vín", "index": "other"}
        assert client.get("/api/v1/candidates", params=params).status_code == 200
        victim.write_bytes(whole)
        assert client.post("/api/v1/reload").status_code == 200
        assert client.get("/readyz").status_code == 200
        found = client.get("/api/v1/candidates", params={"mention": "Vín", "k": 1}).json()
        assert found["candidates"][0]["entity"] == toy_index().candidates(["Vín"])[0][0].entity
    assert "the index fo is out of service: its files were changed" in caplog.text


def test_an_index_that_is_damaged_does_not_stop_the_others(tmp_path, caplog):
    save_toy(tmp_path / "fo.candgen")
    save_toy(tmp_path / "other.candgen")
    (victim,) = (tmp_path / "fo.candgen").glob("entities.bytes.*")
    victim.write_bytes(victim.read_bytes()[:128] + b"\xff" * (victim.stat().st_size - 128))
    with client_of(tmp_path, "fo", "other") as client:
        answer = client.get("/api/v1/candidates", params={"mention": "Vín"})
        assert "damaged" in problem_detail(answer, 503)
        assert f"{victim.name} is damaged: build the index again" in caplog.text
        save_toy(tmp_path / "fo.candgen")
        assert client.post("/api/v1/reload").status_code == 200
        assert client.get("/readyz").status_code == 200
