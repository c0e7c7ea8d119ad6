"""The JSON API answers what the Python API answers, and says clearly what it does not."""

import json
import logging

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from starlette.testclient import TestClient

import candgen
from candgen.service.accept_language import accepted
from candgen.service.app import create_app
from candgen.service.loaded_index import Opened
from candgen.service.settings import Limits, Settings, name_indexes, read_key
from candgen.storage import index_folder
from tests.support.service_world import save_toy, toy_index

MENTIONS = ["Vín", "Vínið", "Oslo", "", "v", "𐍅", "Vín" * 50, "\x00", "👩‍🚀", " Vín "]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    save_toy(folder / "one.candgen")
    save_toy(folder / "two.candgen", second_stage=True)
    save_toy(folder / "described.candgen", described=True)
    return folder


def client_of(folder, *names, **settings):
    indexes = name_indexes([str(folder / f"{name}.candgen") for name in names])
    return TestClient(create_app(Settings(indexes, **settings)))


@pytest.fixture(scope="module")
def client(folder):
    with client_of(folder, "one", "two", "described") as client:
        yield client


@pytest.fixture(scope="module")
def generators(folder):
    return {name: candgen.load(folder / f"{name}.candgen") for name in ("one", "two")}


def problem(answer, status):
    """What a problem says; checks that it is one."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert body["type"] == "about:blank"
    assert body["title"]
    return body["detail"]


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize("k", [1, 2, 100])
def test_answers_equal_those_of_python(client, generators, name, k):
    asked = {"mentions": MENTIONS, "k": k, "index": name}
    answer = client.post("/api/v1/candidates", json=asked)
    assert answer.status_code == 200
    expected = generators[name].candidates(MENTIONS, k)
    found = answer.json()
    assert found["index"] == name
    assert [result["mention"] for result in found["results"]] == MENTIONS
    for result, candidates in zip(found["results"], expected, strict=True):
        assert result["candidates"] == [{"entity": e, "score": s} for e, s in candidates]
    for mention, result in zip(MENTIONS, found["results"], strict=True):
        one = client.get("/api/v1/candidates", params={"mention": mention, "k": k, "index": name})
        assert one.json() == {"index": name, **result}


@pytest.mark.parametrize("lam", [0, 0.4, 1, 7.5])
def test_lam_is_passed_on(client, generators, lam):
    expected = generators["one"].candidates(["Vín"], 10, lam=float(lam))[0]
    asked = client.post("/api/v1/candidates", json={"mentions": ["Vín"], "lam": lam})
    assert asked.json()["results"][0]["candidates"] == [
        {"entity": e, "score": s} for e, s in expected
    ]
    said = problem(
        client.post("/api/v1/candidates", json={"mentions": ["a"], "lam": lam, "index": "two"}), 422
    )
    assert "lam means nothing" in said


def test_the_first_index_is_the_default_and_others_have_names(client):
    assert client.get("/api/v1/candidates", params={"mention": "Vín"}).json()["index"] == "one"
    said = problem(client.get("/api/v1/candidates", params={"mention": "a", "index": "x"}), 404)
    assert said == "there is no index 'x': there are one, two, described"


def test_an_empty_batch_has_no_answers(client):
    assert client.post("/api/v1/candidates", json={"mentions": []}).json()["results"] == []


def test_details_say_what_is_known(client, generators):
    asked = {"mentions": ["Vín"], "k": 2, "index": "described", "details": True}
    found = client.post("/api/v1/candidates", json=asked, headers={"Accept-Language": "da"}).json()
    wine, vienna = found["results"][0]["candidates"]
    assert (wine["entity"], vienna["entity"]) == ("Q282", "Q1741")
    assert (vienna["name"], vienna["language"], vienna["description"]) == (
        "Wien",
        "da",
        "Østrigs hovedstad",
    )
    assert (wine["name"], wine["types"]) == ("wine", [{"id": "Q154", "name": "Q154"}])
    explanation = generators["one"].explain("Vín", "Q282")
    assert wine["prior"] == explanation.prior
    assert wine["posterior"] == explanation.posterior
    assert wine["prior"] + wine["posterior"] == pytest.approx(wine["score"])
    assert wine["languages"] == explanation.languages
    assert 0 < vienna["probability"] < wine["probability"] < 1


def test_probabilities_do_not_depend_on_k(client):
    def chances(k):
        asked = {"mentions": ["Vín"], "k": k, "details": True}
        found = client.post("/api/v1/candidates", json=asked).json()["results"][0]["candidates"]
        return [each["probability"] for each in found]

    assert chances(1) == chances(3)[:1]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("", "Wien"), ("is", "Vín"), ("fo", "Wien"), ("de, is;q=0.5", "Vín"), ("IS-is", "Vín")],
)
def test_without_a_table_the_most_frequent_mention_is_the_name(client, wanted, name):
    params = {"mention": "Wien", "k": 1, "details": True}
    answer = client.get("/api/v1/candidates", params=params, headers={"Accept-Language": wanted})
    assert answer.json()["candidates"][0]["name"] == name


def test_accept_language_is_read_leniently():
    assert accepted("") == ()
    assert accepted("fo") == ("fo",)
    assert accepted("x;q=,;;,*,da-DK;q=0.3,en;q=0.9") == ("en", "da-dk", "da")


@pytest.mark.parametrize("name", ["one", "two"])
def test_explanations_equal_those_of_python(client, generators, name):
    params = {"mention": "Vínið", "entity": "Q282", "index": name}
    found = client.get("/api/v1/explain", params=params).json()
    expected = generators[name].explain("Vínið", "Q282").as_json()
    assert {key: found[key] for key in expected} == json.loads(json.dumps(expected))
    assert found["name"] == "Vín"
    assert found.get("leader_name") == (None if name == "one" else "Wien")
    first = found if name == "one" else found["first"]
    assert first["unknown"]
    assert [part["token"] for part in first["tokens"]]


def test_what_cannot_be_explained_is_said(client):
    params = {"mention": "Vín", "entity": "Q1"}
    assert "no entity 'Q1'" in problem(client.get("/api/v1/explain", params=params), 404)
    params = {"mention": "Vín", "entity": "Q282", "lam": 1, "index": "two"}
    assert "lam means nothing" in problem(client.get("/api/v1/explain", params=params), 422)


def test_what_is_no_entity_is_not_remembered(client):
    known = client.app.app.state.service.shelf.take("one")._known
    before = len(known)
    for entity in ("Q0", "Q00", "", "x" * 1000):
        params = {"mention": "Vín", "entity": entity}
        assert "no entity" in problem(client.get("/api/v1/explain", params=params), 404)
    assert len(known) == before
    long = {"mention": "Vín", "entity": "x" * 1001}
    assert "at most 1000" in problem(client.get("/api/v1/explain", params=long), 422)


def test_other_generators_have_a_language_too(tmp_path):
    faroese = candgen.MentionTable.from_pairs([("Vínið", "Q282"), ("Wien", "Q1741")])
    icelandic = candgen.MentionTable.from_pairs([("Vín", "Q282", 9)])
    priors = candgen.WikiPriors.build({"is": icelandic}, faroese, language="fo")
    priors.save(tmp_path / "priors.candgen")
    candgen.Cascade(priors, toy_index()).save(tmp_path / "cascade.candgen")
    with client_of(tmp_path, "priors", "cascade") as client:
        for each in client.get("/api/v1/indexes").json()["indexes"]:
            assert each["language"] == "fo"
            assert set(each["languages"]) == {"fo", "is"}
        params = {"mention": "Vín", "details": True}
        found = client.get("/api/v1/candidates", params=params).json()["candidates"]
        assert (found[0]["name"], found[0]["language"]) == ("Vínið", "fo")


def test_an_index_is_quick_whatever_opening_it_took(tmp_path, monkeypatch):
    """The first questions, which compile kernels, tell nothing of the later ones."""
    save_toy(tmp_path / "fo.candgen")
    passed = iter(range(0, 10_000, 10))  # seconds: every question takes ten
    with monkeypatch.context() as slowly:
        slowly.setattr("candgen.service.loaded_index.time.monotonic", lambda: next(passed))
        opened = Opened.open("fo", str(tmp_path / "fo.candgen"))
    assert not opened.is_quick(["Vín"], 10)  # nothing is known yet
    opened.ask(["Vín"], 10)
    assert opened.is_quick(["Vín"], 10)
    assert not opened.is_quick(["Vín"] * 2, 10)
    assert not opened.is_quick(["Vín"], 101)


def test_indexes_are_listed(client, folder):
    found = client.get("/api/v1/indexes").json()
    assert found["default"] == "one"
    one, two, described = found["indexes"]
    assert (one["name"], one["kind"], one["language"]) == ("one", "pti", "fo")
    assert (one["languages"], one["entities"], one["lam"]) == (["fo", "is"], 3, 1.0)
    assert (two["kind"], two["entities"], two["lam"]) == ("rerank", 3, None)
    assert (one["stages"], two["stages"], one["wikidata"]) == (1, 2, True)
    assert (described["described"], described["types"]) == (3, 3)
    assert set(one["examples"]) == set(two["examples"]) == {"Vín", "Wien"}  # Faroese ones
    assert found["limits"]["batch"] == Limits().batch
    assert str(folder) not in client.get("/api/v1/indexes").text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "Field required"),
        (b"{", "JSON"),
        (b"[]", "dictionary"),
        (b'{"mentions": "Vin"}', "mentions: Input should be a valid list"),
        (b'{"mentions": [1]}', "mentions.0: Input should be a valid string"),
        (b'{"mentions": ["a"], "k": 0}', "k: "),
        (b'{"mentions": ["a"], "k": 1.5}', "k: "),
        (b'{"mentions": ["a"], "k": true}', "k: "),
        (b'{"mentions": ["a"], "k": 1001}', "at most 1,000"),
        (b'{"mentions": ["a"], "lam": -1}', "lam: "),
        (b'{"mentions": ["a"], "lam": 1e400}', "lam: "),
        (b'{"mentions": ["a"], "lam": NaN}', "lam: "),
        (b'{"mentions": ["a"], "what": 1}', "what: Extra inputs are not permitted"),
        (b'{"mentions": ["\\ud800"]}', "mentions.0: "),
    ],
)
def test_bad_requests_are_told_what_is_wrong(client, body, said):
    headers = {"Content-Type": "application/json"}
    answer = client.post("/api/v1/candidates", content=body, headers=headers)
    assert said in problem(answer, 422)


def test_all_that_is_wrong_is_told_at_once(client):
    answer = client.post("/api/v1/candidates", json={"mentions": [1], "k": 0})
    said = problem(answer, 422)
    assert "mentions.0" in said
    assert "k: " in said


def test_limits(folder):
    limits = Limits(body=200, batch=2, mention=5, k=3)
    with client_of(folder, "one", limits=limits) as client:
        ask = lambda **body: client.post("/api/v1/candidates", json=body)  # noqa: E731
        assert ask(mentions=["Vín", "Rín"], k=3).status_code == 200
        assert "3 mentions at once" in problem(ask(mentions=["a"] * 3, k=3), 422)
        assert "mention 1 has 6 characters" in problem(ask(mentions=["a", "ä" * 6], k=3), 422)
        assert "at most 3" in problem(ask(mentions=["a"], k=4), 422)
        assert "more than 200 bytes" in problem(ask(mentions=["a" * 300]), 413)
        one = client.get("/api/v1/candidates", params={"mention": "ä" * 6, "k": 1})
        assert "6 characters" in problem(one, 422)
        asked = client.get("/api/v1/openapi.json").json()["components"]["schemas"]["Asked"]
        assert asked["properties"]["mentions"]["maxItems"] == 2
        assert asked["properties"]["k"]["maximum"] == 3


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


def test_what_is_not_there(client):
    assert "nothing at this address" in problem(client.get("/api/v1/nothing"), 404)
    assert problem(client.put("/api/v1/candidates"), 405) == "Method Not Allowed"


def test_the_log_has_one_object_a_request_and_no_mention(client, caplog):
    with caplog.at_level(logging.INFO, "candgen.access"):
        client.get("/api/v1/candidates", params={"mention": "Vín", "k": 2})
    (line,) = [json.loads(each.getMessage()) for each in caplog.records]
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/v1/candidates", 200)
    assert (line["index"], line["mentions"], line["candidates"]) == ("one", 1, 2)
    assert line["ms"] > 0
    assert line["time"].endswith("+00:00")
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
            assert "wants a key" in problem(answer, 401)
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


def test_the_key_comes_from_a_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("CANDGEN_API_KEY", raising=False)
    assert read_key(None) is None
    monkeypatch.setenv("CANDGEN_API_KEY", "from-the-environment")
    assert read_key(None) == "from-the-environment"
    (tmp_path / "key").write_text("from-a-file\n", encoding="utf-8")
    assert read_key(tmp_path / "key") == "from-a-file"
    for bad in ("", "short", "with space in it", "ключ-ключ-ключ"):
        (tmp_path / "key").write_text(bad, encoding="utf-8")
        with pytest.raises(candgen.CandgenError, match="at least 8 characters"):
            read_key(tmp_path / "key")
    with pytest.raises(candgen.CandgenError, match="cannot be read"):
        read_key(tmp_path / "none")


def test_other_sites_may_read_the_reconciliation_api_only(client):
    foreign = {"Origin": "https://evil.example"}
    for path in ("/reconcile", "/reconcile/two", "/reconcile/suggest/type"):
        assert client.get(path, headers=foreign).headers["access-control-allow-origin"] == "*"
    for path in ("/", "/api/v1/indexes", "/healthz", "/metrics", "/nothing", "/reconciled"):
        assert "access-control-allow-origin" not in client.get(path, headers=foreign).headers
    said = problem(client.post("/api/v1/reload", headers=foreign), 403)
    assert "other sites" in said
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


def test_the_page_is_for_browsers_and_the_manifest_for_programs(client):
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    assert (
        client.get("/", headers={"Accept": browser}).headers["content-type"].startswith("text/html")
    )
    found = client.get("/", headers={"Accept": "application/json"})
    assert found.json()["versions"] == client.get("/reconcile").json()["versions"]
    assert found.headers["access-control-allow-origin"] == "*"


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
        assert ask()["candidates"] == []  # not before it is told
        assert client.post("/api/v1/reload").json()["indexes"][0]["state"] == "changed"
        assert [each["entity"] for each in ask()["candidates"]] == ["Q585"]
        (tmp_path / "fo.candgen" / "manifest.json").write_text("{}", encoding="utf-8")
        said = problem(client.post("/api/v1/reload"), 503)
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
        service.shelf.take("other")
        service.shelf.opened[0].checked = 0.0
        assert "1 of 2 indexes" in problem(client.get("/readyz"), 503)  # though nobody has asked
        told = client.get("/metrics").text
        assert 'candgen_index_info{index="fo",kind="pti",language="fo",version' in told
        assert [
            line[-3:] for line in told.splitlines() if line.startswith("candgen_index_info")
        ] == ["0.0", "1.0"]
        answer = client.get("/api/v1/candidates", params={"mention": "Vín"})
        assert "damaged" in problem(answer, 503)
        assert answer.headers["retry-after"] == "1"
        assert "1 of 2 indexes" in problem(client.get("/readyz"), 503)
        params = {"mention": "Vín", "index": "other"}
        assert client.get("/api/v1/candidates", params=params).status_code == 200
        victim.write_bytes(whole)
        assert client.post("/api/v1/reload").status_code == 200
        assert client.get("/readyz").status_code == 200
        found = client.get("/api/v1/candidates", params={"mention": "Vín", "k": 1}).json()
        assert found["candidates"][0]["entity"] == toy_index().candidates(["Vín"])[0][0].entity
    assert "out of service" in caplog.text or "cannot be opened" in caplog.text


def test_what_is_damaged_inside_is_told_whatever_fails(tmp_path, monkeypatch, caplog):
    """Of large indexes only the sizes are looked at, until something makes no sense."""
    monkeypatch.setattr(index_folder, "HASHED_ON_LOAD", 0)
    save_toy(tmp_path / "fo.candgen")
    save_toy(tmp_path / "other.candgen")
    (victim,) = (tmp_path / "fo.candgen").glob("entities.bytes.*")
    victim.write_bytes(victim.read_bytes()[:128] + b"\xff" * (victim.stat().st_size - 128))
    with pytest.raises(UnicodeDecodeError):
        candgen.load(tmp_path / "fo.candgen").candidates(["Vín"])
    with client_of(tmp_path, "fo", "other") as client:
        answer = client.get("/api/v1/candidates", params={"mention": "Vín"})
        assert "damaged" in problem(answer, 503)
        assert f"{victim.name} is damaged: build the index again" in caplog.text
        save_toy(tmp_path / "fo.candgen")
        assert client.post("/api/v1/reload").status_code == 200
        assert client.get("/readyz").status_code == 200


def test_names_of_indexes():
    assert name_indexes(["a/fo.candgen", "x=b/fo.candgen"]) == {
        "fo": "a/fo.candgen",
        "x": "b/fo.candgen",
    }
    for bad, said in (
        (["fo.candgen", "b/fo.candgen"], "both called 'fo'"),
        (["x="], "names no folder"),
        (["a b.candgen"], "needs a name"),
    ):
        with pytest.raises(candgen.CandgenError, match=said):
            name_indexes(bad)


def test_settings_reach_a_worker_as_they_are(monkeypatch):
    monkeypatch.delenv("CANDGEN_API_KEY", raising=False)
    monkeypatch.setenv("CANDGEN_SERVICE", "")
    settings = Settings(
        {"fo": "x"}, Limits(body=3, seconds=0.5), 0.7, "https://x", "k" * 9, log=False
    )
    monkeypatch.setenv("CANDGEN_API_KEY", "")
    settings.to_environment()
    import os

    assert "k" * 9 not in os.environ["CANDGEN_SERVICE"]
    assert Settings.from_environment() == settings
