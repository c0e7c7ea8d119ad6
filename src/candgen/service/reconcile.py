"""The Reconciliation Service API 0.2, which OpenRefine speaks."""

import json
import re
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from candgen.service import preview as previews
from candgen.service.accept_language import accepted
from candgen.service.api import as_json, check_size
from candgen.service.loaded_index import Late, Opened
from candgen.service.preview import WIKIDATA, entity_html
from candgen.service.problems import Problem
from candgen.service.reconcile_queries import (
    Asked,
    asked_of,
    batch_of,
    cursor_of,
    form_of,
    prefix_of,
)
from candgen.service.reconcile_results import candidates_of, results_of
from candgen.service.state import Service
from candgen.storage.versions import version

VERSIONS = ["0.2"]
BATCH = 50
"""Queries that a client should send at once."""
SUGGESTED = 20
CALLBACK = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.]{0,127}")
HOST = re.compile(r"[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")

router = APIRouter(prefix="/reconcile", include_in_schema=False)


async def manifest(request: Request, index: str | None) -> Response:
    """What the service is, and where its parts are."""
    service = Service.of(request)
    opened = service.shelf.take(index)
    base = _base(request, service.settings.url)
    here = f"{base}/reconcile" if index is None else f"{base}/reconcile/{opened.name}"
    language = f" ({opened.language})" if opened.language not in (None, opened.name) else ""
    described: dict[str, Any] = {
        "versions": VERSIONS,
        "name": f"candgen: {opened.name}{language}",
        "identifierSpace": "http://www.wikidata.org/entity/"
        if opened.wikidata
        else f"{here}#entity/",
        "schemaSpace": "http://www.wikidata.org/prop/direct/"
        if opened.wikidata
        else f"{here}#type/",
        "serviceVersion": version(),
        "documentation": f"{base}/",
        "defaultTypes": [opened.type(opened.any_type)._asdict()],
        "view": {
            "url": f"{WIKIDATA}{{{{id}}}}" if opened.wikidata else f"{here}/preview?id={{{{id}}}}"
        },
        "preview": {"url": f"{here}/preview?id={{{{id}}}}", **previews.SIZE},
        "suggest": {
            "entity": {
                "service_url": here,
                "service_path": "/suggest/entity",
                "flyout_service_url": here,
                "flyout_service_path": "/flyout?id=${id}",
            },
            "type": {"service_url": here, "service_path": "/suggest/type"},
        },
        "batchSize": min(BATCH, service.settings.limits.batch),
    }
    if service.settings.key is not None:
        described["authentication"] = {"type": "apiKey", "name": "X-API-Key", "in": "header"}
    return _json(described, request.query_params.get("callback"))


@router.get("/suggest/entity")
@router.get("/{index}/suggest/entity")
async def suggest_entity(request: Request, index: str | None = None) -> Response:
    """Entities whose names are like what was typed, or whose id was typed."""
    service = Service.of(request)
    opened = service.shelf.take(index)
    prefix = prefix_of(request, service.settings.limits)
    languages = accepted(request.headers.get("accept-language", ""))
    skipped = cursor_of(request)
    types = tuple(filter(None, request.query_params.get("type", "").split(",")))

    def job(deadline: float) -> list[dict[str, Any]]:
        asked = Asked(prefix, types, "any", skipped + SUGGESTED)
        found = [entity for entity, _ in candidates_of(opened, [asked], deadline)[0]]
        if prefix and opened.knows(prefix):
            found = [prefix, *(each for each in found if each != prefix)]
        shown = ((each, opened.show(each, languages)) for each in found[skipped:][:SUGGESTED])
        return [
            {
                "id": entity,
                "name": each.name,
                "description": each.description,
                "notable": [opened.type(kind, languages)._asdict() for kind in each.types],
            }
            for entity, each in shown
        ]

    result = await service.work.do(job) if prefix else []
    service.note(request, opened, 1, len(result))
    return _json({"result": result}, request.query_params.get("callback"))


@router.get("/suggest/type")
@router.get("/{index}/suggest/type")
async def suggest_type(request: Request, index: str | None = None) -> Response:
    """Types whose id or name begins with what was typed."""
    service = Service.of(request)
    opened = service.shelf.take(index)
    prefix = prefix_of(request, service.settings.limits).casefold()
    languages = accepted(request.headers.get("accept-language", ""))
    skipped = cursor_of(request)

    def job(_: float) -> list[dict[str, Any]]:
        types = [] if opened.descriptions is None else list(opened.descriptions.types)
        every = (opened.type(each, languages) for each in [opened.any_type, *types])
        fitting = (
            each._asdict()
            for each in every
            if any(text.casefold().startswith(prefix) for text in each)
        )
        return list(fitting)[skipped:][:SUGGESTED]

    result = await service.work.do(job)
    return _json({"result": result}, request.query_params.get("callback"))


@router.get("/preview")
@router.get("/{index}/preview")
async def preview(request: Request, index: str | None = None) -> Response:
    """An entity as a small page, to be shown inside others."""
    opened, entity, body = _shown_entity(request, index)
    page = previews.page(opened, entity, body)
    return HTMLResponse(page, headers={"Content-Security-Policy": previews.POLICY})


@router.get("/flyout")
@router.get("/{index}/flyout")
async def flyout(request: Request, index: str | None = None) -> Response:
    """An entity as a piece of a page, in JSON."""
    _, entity, body = _shown_entity(request, index)
    return _json({"id": entity, "html": body}, request.query_params.get("callback"))


@router.api_route("", methods=["GET", "POST"])
@router.api_route("/", methods=["GET", "POST"])
@router.api_route("/{index}", methods=["GET", "POST"])  # the last route: any name fits it
async def reconcile(request: Request, index: str | None = None) -> Response:
    """The manifest, or the answers to a batch of queries; of the first index if none is named."""
    form = form_of(request, await request.body())
    if "queries" not in form:
        if "query" in form or "extend" in form:
            raise Problem(
                400,
                "send a batch as 'queries', as the Reconciliation API 0.2 has it; single "
                "queries and data extension are not offered",
            )
        return await manifest(request, index)
    service = Service.of(request)
    opened = service.shelf.take(index)
    batch = batch_of(form["queries"], service.settings.limits.batch)
    languages = accepted(request.headers.get("accept-language", ""))
    longest, most = service.settings.limits.mention, service.settings.limits.k
    queries = {name: asked_of(name, query, most) for name, query in batch.items()}
    check_size(sum(query.limit for query in queries.values()), service.settings.limits)

    def job(deadline: float) -> dict[str, Any]:
        # A cell that is too long for a name gets no candidates: the other rows still get theirs.
        fit = {name: query for name, query in queries.items() if len(query.mention) <= longest}
        found = dict(zip(fit, candidates_of(opened, list(fit.values()), deadline), strict=True))
        results: dict[str, Any] = {}
        for name, query in queries.items():
            Late.check(deadline)
            listed = found.get(name, [])
            made = results_of(opened, query, listed, languages, service.settings.match)
            results[name] = {"result": made}
        return results

    answer = await service.work.do(job)
    service.note(
        request, opened, len(queries), sum(len(each["result"]) for each in answer.values())
    )
    return _json(answer, form.get("callback"))


def _json(value: object, callback: str | None) -> Response:
    """JSON, or, for pages that cannot read it otherwise, a call of their function with it."""
    if callback is None:
        return as_json(value)
    if not CALLBACK.fullmatch(callback):
        raise Problem(400, "callback is no name of a function")
    # Only ASCII: two characters end a line in JavaScript, but not in JSON.
    text = json.dumps(value, ensure_ascii=True)
    return Response(f"/**/{callback}({text});".encode(), media_type="application/javascript")


def _base(request: Request, url: str | None) -> str:
    """Where the service is, as far as this client is concerned."""
    if url is not None:
        return url.rstrip("/")
    host = request.headers.get("host", "")
    if not HOST.fullmatch(host):
        raise Problem(400, "the header Host is no host")
    return f"{request.url.scheme}://{host}"


def _shown_entity(request: Request, index: str | None) -> tuple[Opened, str, str]:
    """An index, an entity that was asked for, and HTML that shows it."""
    opened = Service.of(request).shelf.take(index)
    entity = request.query_params.get("id", "")
    if not entity or len(entity) > 1000 or not opened.knows(entity):
        raise Problem(404, f"there is no entity {entity[:64]!r} in the index {opened.name!r}")
    shown = opened.show(entity, accepted(request.headers.get("accept-language", "")))
    return opened, entity, entity_html(opened, entity, shown)
