"""Bodies of the JSON API: what is too large is rejected before it takes time."""

import json

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from fastapi.exceptions import RequestValidationError

from candgen.service import request_body
from candgen.service.problems import Problem
from candgen.service.request_body import parse_json
from candgen.service.schemas import CandidatesRequest
from candgen.service.settings import Limits

LIMITS = Limits()


def parse(body, content_type="application/json"):
    return parse_json(body, content_type, CandidatesRequest, LIMITS)


def test_the_largest_valid_body():
    mentions = ["[{,\\u005b" + "ю" * 40 + f"{number:05}" for number in range(LIMITS.batch)]
    assert parse(json.dumps({"mentions": mentions}).encode()).mentions == mentions
    all_separators = [",[{,[" * 10] * LIMITS.batch
    assert parse(json.dumps({"mentions": all_separators}).encode()).mentions == all_separators


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/LD+JSON"])
def test_media_types_of_json(content_type):
    assert parse(b'{"mentions": []}', content_type).mentions == []


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-www-form-urlencoded"])
def test_other_media_types_are_rejected(content_type):
    with pytest.raises(Problem, match="expected application/json") as raised:
        parse(b'{"mentions": []}', content_type)
    assert raised.value.status == 422


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"mentions": [' + b"1," * 400_000 + b"1]}", "more than 150,000 JSON values"),
        (b'{"mentions": [' + b"[]," * 300_000 + b"1]}", "more than 150,000 JSON values"),
        (b"[" + b"{}," * 300_000 + b"1]", "more than 150,000 JSON values"),
        (b'{"mentions": [' + b"1," * 100_000 + b"1]}", "the number of mentions is 100,001"),
        (json.dumps(dict.fromkeys(map(str, range(51)))).encode(), "the number of members is 51"),
        (json.dumps({"k": dict.fromkeys(map(str, range(2000)))}).encode(), "the number of k is"),
        (b"{", "not valid JSON: Expecting property name"),
        (b'{"mentions": ["\xff"]}', "not valid JSON: it is not UTF-8 text"),
        (b"[" * 100_000, "not valid JSON: a number or the nesting is too large"),
        (b"1" * 5000, "not valid JSON: a number or the nesting is too large"),
    ],
)
def test_what_is_too_large_or_no_json_is_rejected_before_it_is_validated(body, said, monkeypatch):
    monkeypatch.setattr(CandidatesRequest, "model_validate", None)  # it is not called
    with pytest.raises(Problem, match=said) as raised:
        parse(body)
    assert raised.value.status == 422


def test_what_has_too_many_values_is_not_parsed(monkeypatch):
    monkeypatch.setattr(request_body.json, "loads", None)
    with pytest.raises(Problem, match="JSON values"):
        parse(b"[" + b"[]," * 300_000 + b"1]")


def test_all_invalid_values_have_their_place():
    with pytest.raises(RequestValidationError) as raised:
        parse(b'{"mentions": [1, "a", 2], "k": 0}')
    places = [each["loc"] for each in raised.value.errors()]
    assert places == [("body", "mentions", 0), ("body", "mentions", 2), ("body", "k")]
