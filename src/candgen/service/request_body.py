"""The body of a request to the JSON API: parsed and checked in bounded time."""

import json
from typing import TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from candgen.service.problems import Problem, check_limit
from candgen.service.settings import Limits

M = TypeVar("M", bound=BaseModel)

VALUES_PER_MENTION = 100
"""JSON values that may come with a mention or a query."""
MAX_MEMBERS = 50
"""Members of a JSON object that are checked one by one."""


def check_values(text: str, limits: Limits) -> None:
    """Raise a Problem if a JSON text has more values than any valid request.

    Parsing a megabyte of empty lists would block all other threads. What separates values can also
    stand in a mention, but then it is one of its characters.
    """
    most = limits.characters + VALUES_PER_MENTION * limits.batch
    if sum(map(text.count, ",[{")) > most:
        raise Problem(422, f"the request has more than {most:,} JSON values: split it")


def parse_json(body: bytes, content_type: str, model: type[M], limits: Limits) -> M:
    """Return the valid model in a JSON body; raise a Problem or RequestValidationError.

    A list that is too long is rejected before its items are checked, because a list of all errors
    of a request of a megabyte would take seconds.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if body and media_type != "application/json" and not media_type.endswith("+json"):
        raise Problem(422, "the body is not JSON by its Content-Type: expected application/json")
    check_values(body.decode("utf-8", "replace"), limits)
    try:
        value = json.loads(body) if body else {}
    except (ValueError, RecursionError) as error:
        reason = "a number or the nesting is too large"
        if isinstance(error, json.JSONDecodeError):
            reason = error.msg
        elif isinstance(error, UnicodeDecodeError):
            reason = "it is not UTF-8 text"
        raise Problem(422, f"the body is not valid JSON: {reason}") from None
    if isinstance(value, dict):
        check_limit("the number of members", len(value), MAX_MEMBERS)
        for name, items in value.items():
            if isinstance(items, list | dict):
                check_limit(f"the number of {name[:64]}", len(items), limits.batch)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        errors = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(errors) from None
