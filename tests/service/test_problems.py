"""Problem documents."""

import json

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.service.problems import Problem, busy, check_limit


def test_a_problem_is_a_document_of_rfc_9457():
    response = Problem(404, "not here").response()
    assert response.headers["content-type"] == "application/problem+json"
    assert json.loads(response.body) == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "not here",
    }
    assert "retry-after" not in response.headers


def test_headers_say_what_helps():
    assert busy("later").response().headers["retry-after"] == "1"
    assert Problem(401, "key").response().headers["www-authenticate"] == 'Bearer realm="candgen"'


def test_a_limit_may_be_reached_and_not_exceeded():
    check_limit("k", 1000, 1000)
    with pytest.raises(Problem, match=r"^k is 1,001: this service allows at most 1,000$") as raised:
        check_limit("k", 1001, 1000)
    assert raised.value.status == 422
