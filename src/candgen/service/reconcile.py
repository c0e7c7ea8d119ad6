"""The Reconciliation Service API 0.2, for OpenRefine."""

import json
import re
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from pydantic_core import to_json

from candgen.service import preview as previews
from candgen.service.accept_language import languages_of
from candgen.service.api import check_answer_size, check_characters, check_known
from candgen.service.executor import Job
from candgen.service.loaded_index import LoadedIndex, is_short
from candgen.service.problems import Problem
from candgen.service.reconcile_queries import (
    ReconciliationQuery,
    read_batch,
    read_cursor,
    read_prefix,
)
from candgen.service.reconcile_results import build_results, find_candidates
from candgen.service.state import ServiceState
from candgen.storage.versions import version

BATCH_SIZE = 50
"""Queries that a client should send at once."""
PAGE_SIZE = 20
"""Suggestions in one answer."""
CALLBACK = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.]{0,127}")
HOST = re.compile(r"[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")

router = APIRouter(prefix="/reconcile", include_in_schema=False)


async def manifest(request: Request, index: str | None) -> Response:
    """Return the service manifest: what the service offers, and where."""
    state = ServiceState.of(request)
    loaded = state.registry.get(index)
    base = _base_url(request, state.settings.url)
    here = f"{base}/reconcile" if index is None else f"{base}/reconcile/{loaded.name}"
    language = f" ({loaded.language})" if loaded.language not in (None, loaded.name) else ""
    wikidata, preview_url = loaded.wikidata, f"{here}/preview?id={{{{id}}}}"
    described: dict[str, Any] = {
        "versions": ["0.2"],
        "name": f"candgen: {loaded.name}{language}",
        "identifierSpace": "http://www.wikidata.org/entity/" if wikidata else f"{here}#entity/",
        "schemaSpace": "http://www.wikidata.org/prop/direct/" if wikidata else f"{here}#type/",
        "serviceVersion": version(),
        "documentation": f"{base}/",
        "defaultTypes": [loaded.view_type(loaded.any_type)],
        "view": {"url": f"{previews.WIKIDATA}{{{{id}}}}" if wikidata else preview_url},
        "preview": {"url": preview_url, **previews.SIZE},
        "suggest": {
            "entity": {
                "service_url": here,
                "service_path": "/suggest/entity",
                "flyout_service_url": here,
                "flyout_service_path": "/flyout?id=${id}",
            },
            "type": {"service_url": here, "service_path": "/suggest/type"},
        },
        "batchSize": min(BATCH_SIZE, state.settings.limits.batch),
    }
    if state.settings.key is not None:
        described["authentication"] = {"type": "apiKey", "name": "X-API-Key", "in": "header"}
    return _as_json(described, request.query_params.get("callback"))


@router.get("/suggest/entity")
@router.get("/{index}/suggest/entity")
async def suggest_entity(request: Request, index: str | None = None) -> Response:
    """Return entities with names similar to the prefix, or the entity with this id."""
    state = ServiceState.of(request)
    loaded = state.registry.get(index)
    prefix = read_prefix(request, state.settings.limits)
    languages, skipped = languages_of(request), read_cursor(request)
    types = tuple(filter(None, request.query_params.get("type", "").split(",")))

    def search() -> Job[list[dict[str, Any]]]:
        query = ReconciliationQuery(prefix, types, "any", skipped + PAGE_SIZE)
        (candidates,) = yield from find_candidates(loaded, [query])
        found = [entity for entity, _ in candidates]
        if loaded.knows(prefix):
            found = [prefix, *(each for each in found if each != prefix)]
        views = ((each, loaded.view(each, languages)) for each in found[skipped:][:PAGE_SIZE])
        return [
            {
                "id": entity,
                "name": view.name,
                "description": view.description,
                "notable": loaded.view_types(view, languages),
            }
            for entity, view in views
        ]

    number = skipped + PAGE_SIZE
    work = state.settings.limits.work(len(prefix), number)
    short = not types and is_short([prefix], number)
    result = await state.run(request, loaded, search(), work, short=short) if prefix else []
    state.record(request, loaded, 1, len(result))
    return _as_json({"result": result}, request.query_params.get("callback"))


@router.get("/suggest/type")
@router.get("/{index}/suggest/type")
async def suggest_type(request: Request, index: str | None = None) -> Response:
    """Return types whose id or name begins with the prefix."""
    state = ServiceState.of(request)
    loaded = state.registry.get(index)
    prefix = read_prefix(request, state.settings.limits).casefold()
    languages, skipped = languages_of(request), read_cursor(request)

    def search() -> Job[list[dict[str, str]]]:
        known = [] if loaded.descriptions is None else list(loaded.descriptions.types)
        found = []
        for type_id in [loaded.any_type, *known]:
            each = loaded.view_type(type_id, languages)
            if any(text.casefold().startswith(prefix) for text in each.values()):
                found.append(each)
            yield
        return found[skipped:][:PAGE_SIZE]

    result = await state.run(request, loaded, search(), 0.0)
    return _as_json({"result": result}, request.query_params.get("callback"))


@router.get("/preview")
@router.get("/{index}/preview")
async def preview(request: Request, index: str | None = None) -> Response:
    """Return an entity as a small HTML page, which other pages may embed."""
    loaded, entity, body = _entity_html(request, index)
    page = previews.page_html(loaded, entity, body)
    return HTMLResponse(page, headers={"Content-Security-Policy": previews.POLICY})


@router.get("/flyout")
@router.get("/{index}/flyout")
async def flyout(request: Request, index: str | None = None) -> Response:
    """Return an entity as a piece of HTML in JSON."""
    _, entity, body = _entity_html(request, index)
    return _as_json({"id": entity, "html": body}, request.query_params.get("callback"))


@router.api_route("", methods=["GET", "POST"])
@router.api_route("/", methods=["GET", "POST"])
@router.api_route("/{index}", methods=["GET", "POST"])  # the last route: it matches any name
async def reconcile(request: Request, index: str | None = None) -> Response:
    """Return the manifest, or the results of a batch of queries."""
    state = ServiceState.of(request)
    limits = state.settings.limits
    form, queries = await state.parse(request, lambda body: read_batch(request, body, limits))
    if queries is None:
        if "query" in form or "extend" in form:
            raise Problem(
                400,
                "send a batch of queries as 'queries': single queries (of older versions than 0.2) "
                "and data extension are not supported",
            )
        return await manifest(request, index)
    loaded, callback = state.registry.get(index), form.get("callback")
    _check_callback(callback)
    # A cell that is too long gets no candidates: the other rows still get theirs.
    searched = {name: each for name, each in queries.items() if len(each.mention) <= limits.mention}
    mentions = [query.mention for query in searched.values()]
    characters = check_characters(mentions, limits)
    candidates = sum(query.limit for query in queries.values())
    check_answer_size(candidates, limits)
    languages, threshold = languages_of(request), state.settings.match_threshold

    def search() -> Job[tuple[list[bytes], int]]:
        answers = yield from find_candidates(loaded, list(searched.values()))
        found = dict(zip(searched, answers, strict=True))
        results, number = [], 0
        for name, query in queries.items():
            answer = found.pop(name, [])
            built = yield from build_results(loaded, query, answer, languages, threshold)
            results.append(_dump(name, callback) + b":" + _dump({"result": built}, callback))
            number += len(built)
        return results, number

    typed = any(query.types for query in queries.values())
    short = not typed and is_short(mentions, candidates)
    work = limits.work(characters, candidates)
    results, number = await state.run(request, loaded, search(), work, short=short)
    state.record(request, loaded, len(queries), number)
    return _response(b"{" + b",".join(results) + b"}", callback)


def _as_json(value: object, callback: str | None) -> Response:
    """Return JSON or, with a callback, JSONP."""
    _check_callback(callback)
    return _response(_dump(value, callback), callback)


def _check_callback(callback: str | None) -> None:
    if callback is not None and not CALLBACK.fullmatch(callback):
        raise Problem(400, "callback is not the name of a JavaScript function")


def _dump(value: object, callback: str | None) -> bytes:
    """Return JSON; for JSONP in ASCII: U+2028 and U+2029 end a line in JavaScript, not in JSON."""
    return to_json(value) if callback is None else json.dumps(value, ensure_ascii=True).encode()


def _response(content: bytes, callback: str | None) -> Response:
    """Return a response of JSON or, with a callback, JSONP."""
    if callback is None:
        return Response(content, media_type="application/json")
    script = b"".join([b"/**/", callback.encode(), b"(", content, b");"])
    return Response(script, media_type="application/javascript")


def _base_url(request: Request, url: str | None) -> str:
    """Return the public address of the service: as configured, or by the header Host."""
    if url is not None:
        return url.rstrip("/")
    host = request.headers.get("host", "")
    if not HOST.fullmatch(host):
        raise Problem(400, "the header Host is invalid")
    return f"{request.url.scheme}://{host}"


def _entity_html(request: Request, index: str | None) -> tuple[LoadedIndex, str, str]:
    """Return the index, the requested entity, and its HTML."""
    loaded = ServiceState.of(request).registry.get(index)
    entity = request.query_params.get("id", "")
    check_known(loaded, entity)
    view = loaded.view(entity, languages_of(request))
    return loaded, entity, previews.entity_html(loaded, entity, view)
