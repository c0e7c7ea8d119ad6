"""Requests of the Reconciliation API: forms, batches of queries, prefixes."""

import json
import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from fastapi import Request

from candgen.service.problems import Problem, check_limit
from candgen.service.request_body import check_values
from candgen.service.schemas import is_valid_text
from candgen.service.settings import Limits

DEFAULT_LIMIT = 10
"""Candidates of a query without a limit."""


class ReconciliationQuery(NamedTuple):
    """One query of a batch."""

    mention: str
    types: tuple[str, ...]
    type_strict: str
    limit: int


def read_form(request: Request, body: bytes) -> dict[str, str]:
    """Return the parameters in the query string and, if it is a form, in the body."""
    form = dict(request.query_params)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and media_type in ("", "application/x-www-form-urlencoded"):
        try:
            text = body.decode("utf-8")
            form.update(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=20))
        except (UnicodeDecodeError, ValueError):
            raise Problem(400, "the form is not UTF-8, or has too many fields") from None
    elif body:
        raise Problem(415, "send the queries as a form: application/x-www-form-urlencoded")
    return form


def read_batch(
    request: Request, body: bytes, limits: Limits
) -> tuple[dict[str, str], dict[str, ReconciliationQuery] | None]:
    """Return the form of a request, and its queries by name; None if it has no batch of them."""
    form = read_form(request, body)
    return form, parse_batch(form["queries"], limits) if "queries" in form else None


def parse_batch(text: str, limits: Limits) -> dict[str, ReconciliationQuery]:
    """Return the queries of a batch by name; raise a Problem if the batch is invalid."""
    check_values(text, limits)
    try:
        batch = json.loads(text)
    except (ValueError, RecursionError):
        raise Problem(400, "queries is not JSON") from None
    if not isinstance(batch, dict):
        raise Problem(400, 'queries is not a JSON object: expected {"q0": {"query": "..."}, ...}')
    check_limit("the number of queries", len(batch), limits.batch)
    return {name: _parse_query(name, query, limits.k) for name, query in batch.items()}


def _parse_query(name: str, query: object, maximum: int) -> ReconciliationQuery:
    """Check one query; its type may be one id or a list of ids."""
    where = f"query {name[:64]!r}"
    if not isinstance(query, dict):
        raise Problem(400, f"{where} is not a JSON object")
    mention: Any = query.get("query", "")
    types = query.get("type") or []
    types = [types] if isinstance(types, str) else types
    limit = query.get("limit", DEFAULT_LIMIT)
    strict = query.get("type_strict", "any")
    if not isinstance(mention, str) or not is_valid_text(mention) or not is_valid_text(name):
        raise Problem(400, f"{where} has the query {mention!r:.60}: expected valid text")
    if not isinstance(types, list) or not all(isinstance(each, str) for each in types):
        raise Problem(400, f"{where} has the type {types!r:.60}: expected an id or a list of ids")
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit < 1e9:
        raise Problem(400, f"{where} has the limit {limit!r:.60}: expected a whole number")
    if strict not in ("any", "all", "should"):
        raise Problem(400, f"{where} has the type_strict {strict!r:.60}: expected any, all, should")
    count = min(int(limit), maximum) or min(DEFAULT_LIMIT, maximum)
    return ReconciliationQuery(mention, tuple(types), strict, count)


def read_prefix(request: Request, limits: Limits) -> str:
    """Return the text that a user has typed so far."""
    prefix = request.query_params.get("prefix", "").strip()
    check_limit("the length of prefix", len(prefix), limits.mention)
    return prefix


def read_cursor(request: Request) -> int:
    """Return the number of suggestions that the client already has."""
    text = request.query_params.get("cursor", "0") or "0"
    if not re.fullmatch("[0-9]{1,4}", text):
        raise Problem(400, f"cursor is {text[:20]!r}: expected a whole number below 10,000")
    return int(text)
