"""Validation of requests: what is invalid is reported, all of it at once."""

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.service.settings import Limits
from tests.support.service_world import client_of, problem_detail


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
        (b'{"mentions": ["a"], "k": 1001}', "k is 1,001: this service allows at most 1,000"),
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
    assert said in problem_detail(answer, 422)


def test_all_that_is_wrong_is_told_at_once(client):
    answer = client.post("/api/v1/candidates", json={"mentions": [1], "k": 0})
    said = problem_detail(answer, 422)
    assert "mentions.0" in said
    assert "k: " in said


def test_limits(folder):
    limits = Limits(body=200, batch=2, mention=5, characters=8, k=3)
    with client_of(folder, "one", limits=limits) as client:
        ask = lambda **body: client.post("/api/v1/candidates", json=body)  # noqa: E731
        assert ask(mentions=["Vín", "Rín"], k=3).status_code == 200
        for body, name, value, maximum in (
            ({"mentions": ["a"] * 3, "k": 3}, "the number of mentions", 3, 2),
            ({"mentions": ["a", "ä" * 6], "k": 3}, "the length of mention 1", 6, 5),
            ({"mentions": ["aaaa", "aaaaa"]}, "the number of characters of all mentions", 9, 8),
            ({"mentions": ["a"], "k": 4}, "k", 4, 3),
        ):
            said = f"{name} is {value}: this service allows at most {maximum}"
            assert problem_detail(ask(**body), 422) == said
        assert "more than 200 bytes" in problem_detail(ask(mentions=["a" * 300]), 413)
        one = client.get("/api/v1/candidates", params={"mention": "ä" * 6, "k": 1})
        assert "the length of the mention is 6" in problem_detail(one, 422)
        schemas = client.get("/api/v1/openapi.json").json()["components"]["schemas"]
        asked = schemas["CandidatesRequest"]
        assert asked["properties"]["mentions"]["maxItems"] == 2
        assert asked["properties"]["k"]["maximum"] == 3
        assert "8 characters" in asked["properties"]["mentions"]["description"]
        assert client.get("/api/v1/indexes").json()["limits"]["characters"] == 8
