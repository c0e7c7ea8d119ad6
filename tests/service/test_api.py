"""The JSON API answers what the Python API answers, and rejects what it cannot answer."""

import json

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

import candgen
from candgen.service.settings import Limits
from tests.support.service_world import problem_detail

MENTIONS = ["Vín", "Vínið", "Oslo", "", "v", "𐍅", "Vín" * 50, "\x00", "👩‍🚀", " Vín "]


@pytest.fixture(scope="module")
def generators(folder):
    return {name: candgen.load(folder / f"{name}.candgen") for name in ("one", "two")}


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
    said = problem_detail(
        client.post("/api/v1/candidates", json={"mentions": ["a"], "lam": lam, "index": "two"}), 422
    )
    assert "does not take lam" in said


def test_the_first_index_is_the_default_and_others_have_names(client):
    assert client.get("/api/v1/candidates", params={"mention": "Vín"}).json()["index"] == "one"
    said = problem_detail(
        client.get("/api/v1/candidates", params={"mention": "a", "index": "x"}), 404
    )
    assert said == "unknown index 'x': expected one of one, two, described"


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
    said = problem_detail(client.get("/api/v1/explain", params=params), 404)
    assert said == "unknown entity 'Q1' in the index 'one'"
    params = {"mention": "Vín", "entity": "Q282", "lam": 1, "index": "two"}
    assert "does not take lam" in problem_detail(client.get("/api/v1/explain", params=params), 422)


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
