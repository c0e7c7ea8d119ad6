"""What clients of the Reconciliation API send: forms, batches of queries, prefixes."""

import json
import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from fastapi import Request

from candgen.service.problems import Problem
from candgen.service.schemas import is_text
from candgen.service.settings import Limits

LIMIT = 10
"""Candidates of a query that does not say how many."""


class Asked(NamedTuple):
    """One query of a batch."""

    mention: str
    types: tuple[str, ...]
    strict: str
    limit: int


def form_of(request: Request, body: bytes) -> dict[str, str]:
    """The parameters of a request: of its address, and of its body if that is a form."""
    found = dict(request.query_params)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind in ("", "application/x-www-form-urlencoded"):
        try:
            text = body.decode("utf-8")
            found.update(
                parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=20)
            )
        except (UnicodeDecodeError, ValueError):
            raise Problem(400, "the form is not UTF-8, or has too many fields") from None
    elif body:
        raise Problem(415, "send the queries as a form: application/x-www-form-urlencoded")
    return found


def batch_of(text: str, most: int) -> dict[str, Any]:
    """Queries by name, not yet checked."""
    try:
        batch = json.loads(text)
    except (ValueError, RecursionError):
        raise Problem(400, "queries is not JSON") from None
    if not isinstance(batch, dict):
        raise Problem(400, 'queries is no JSON object: expected {"q0": {"query": "..."}, ...}')
    if len(batch) > most:
        raise Problem(422, f"{len(batch):,} queries at once: this service takes up to {most:,}")
    return batch


def asked_of(name: str, query: object, most: int) -> Asked:
    """One query, checked; a type may be one or several, as text or as a list."""
    where = f"query {name[:64]!r}"
    if not isinstance(query, dict):
        raise Problem(400, f"{where} is no JSON object")
    mention = query.get("query", "")
    types = query.get("type") or []
    types = [types] if isinstance(types, str) else types
    limit = query.get("limit", LIMIT)
    strict = query.get("type_strict", "any")
    if not isinstance(mention, str) or not is_text(mention) or not is_text(name):
        raise Problem(400, f"{where} asks for {mention!r:.60}, which is no text")
    if not isinstance(types, list) or not all(isinstance(each, str) for each in types):
        raise Problem(400, f"{where} has the type {types!r:.60}: expected an id, or a list of ids")
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit < 1e9:
        raise Problem(400, f"{where} has the limit {limit!r:.60}: expected a whole number")
    if strict not in ("any", "all", "should"):
        raise Problem(400, f"{where} has the type_strict {strict!r:.60}: expected any, all, should")
    return Asked(mention, tuple(types), strict, min(int(limit), most) or min(LIMIT, most))


def prefix_of(request: Request, limits: Limits) -> str:
    """What somebody has typed so far."""
    prefix = request.query_params.get("prefix", "").strip()
    if len(prefix) > limits.mention:
        raise Problem(
            422,
            f"prefix has {len(prefix):,} characters: this service takes up to {limits.mention:,}",
        )
    return prefix


def cursor_of(request: Request) -> int:
    """How many suggestions a client has had already."""
    text = request.query_params.get("cursor", "0") or "0"
    if not re.fullmatch("[0-9]{1,4}", text):
        raise Problem(400, f"cursor is {text[:20]!r}: expected a whole number below 10,000")
    return int(text)
