"""The Reconciliation Service API 0.2, which OpenRefine speaks."""

import html
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from candgen.generators.shares import Shares
from candgen.service.api import DEPTH
from candgen.service.languages import accepted
from candgen.service.models import is_text
from candgen.service.opened import Late, Opened, Shown
from candgen.service.problems import Problem
from candgen.service.service import Service
from candgen.versions import version

VERSIONS = ["0.1", "0.2"]
LIMIT = 10
"""Candidates of a query that does not say how many."""
BATCH = 50
"""Queries that a client should send at once."""
SUGGESTED = 20
PREVIEW_SIZE = {"width": 420, "height": 260}
DEEPEST = 1000
"""Candidates among which those of a type are looked for."""
OTHER_TYPE = 0.02
"""What is left of a probability if the candidate is not of the type that is preferred."""
WIKIDATA = "https://www.wikidata.org/wiki/"
CALLBACK = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.]{0,127}")
HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")

router = APIRouter(prefix="/reconcile", include_in_schema=False)


class Asked(NamedTuple):
    """One query of a batch."""

    mention: str
    types: tuple[str, ...]
    strict: str
    limit: int


@router.api_route("", methods=["GET", "POST"])
@router.api_route("/", methods=["GET", "POST"])
async def reconcile_default(request: Request) -> Response:
    """The manifest, or the answers to a batch of queries, of the first index."""
    return await reconcile(request, None)


@router.get("/suggest/entity")
async def suggest_entity_default(request: Request) -> Response:
    """Entities whose names are like what was typed, in the first index."""
    return await suggest_entity(request, None)


@router.get("/suggest/type")
async def suggest_type_default(request: Request) -> Response:
    """Types whose names are like what was typed, in the first index."""
    return await suggest_type(request, None)


@router.get("/preview")
async def preview_default(request: Request) -> Response:
    """An entity of the first index, as a small page."""
    return await preview(request, None)


@router.get("/flyout")
async def flyout_default(request: Request) -> Response:
    """An entity of the first index, as a piece of a page."""
    return await flyout(request, None)


@router.api_route("/{index}", methods=["GET", "POST"])
async def reconcile(request: Request, index: str | None) -> Response:
    """The manifest, or the answers to a batch of queries."""
    form = _form(request, await request.body())
    if "queries" not in form:
        if "query" in form or "extend" in form:
            raise Problem(
                400, "send a batch as 'queries', as the Reconciliation API 0.2 has it; single "
                "queries and data extension are not offered"
            )  # fmt: skip
        return await manifest(request, index)
    service = Service.of(request)
    opened = service.shelf.take(index)
    batch = _batch(form["queries"], service.settings.limits.batch)
    languages = accepted(request.headers.get("accept-language", ""))
    longest, most = service.settings.limits.mention, service.settings.limits.k
    queries = {name: _asked(name, query, most) for name, query in batch.items()}

    def job(deadline: float) -> dict[str, Any]:
        # A cell that is too long for a name gets no candidates: the other rows still get theirs.
        fit = {name: query for name, query in queries.items() if len(query.mention) <= longest}
        found = dict(zip(fit, _candidates(opened, list(fit.values()), deadline), strict=True))
        results: dict[str, Any] = {}
        for name, query in queries.items():
            Late.check(deadline)
            listed = found.get(name, [])
            made = _results(opened, query, listed, languages, service.settings.match)
            results[name] = {"result": made}
        return results

    answer = await service.work.do(job)
    service.note(
        request, opened, len(queries), sum(len(each["result"]) for each in answer.values())
    )
    return _json(answer, form.get("callback"))


async def manifest(request: Request, index: str | None) -> Response:
    """What the service is, and where its parts are."""
    service = Service.of(request)
    opened = service.shelf.take(index)
    base = _base(request, service.settings.url)
    here = f"{base}/reconcile" if index is None else f"{base}/reconcile/{opened.name}"
    language = f" for {opened.language}" if opened.language else ""
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
        "preview": {"url": f"{here}/preview?id={{{{id}}}}", **PREVIEW_SIZE},
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


@router.get("/{index}/suggest/entity")
async def suggest_entity(request: Request, index: str | None) -> Response:
    """Entities whose names are like what was typed, or whose id was typed."""
    service = Service.of(request)
    opened = service.shelf.take(index)
    prefix = _prefix(request, service)
    languages = accepted(request.headers.get("accept-language", ""))
    skipped = _cursor(request)
    types = tuple(filter(None, request.query_params.get("type", "").split(",")))

    def job(deadline: float) -> list[dict[str, Any]]:
        asked = Asked(prefix, types, "any", skipped + SUGGESTED)
        found = [entity for entity, _ in _candidates(opened, [asked], deadline)[0]]
        if prefix and opened.knows(prefix):
            found = [prefix, *(each for each in found if each != prefix)]
        shown = ((each, opened.show(each, languages)) for each in found[skipped:][:SUGGESTED])
        return [
            {
                "id": entity, "name": each.name, "description": each.description,
                "notable": [opened.type(kind, languages)._asdict() for kind in each.types],
            }
            for entity, each in shown
        ]  # fmt: skip

    result = await service.work.do(job) if prefix else []
    service.note(request, opened, 1, len(result))
    return _json({"result": result}, request.query_params.get("callback"))


@router.get("/{index}/suggest/type")
async def suggest_type(request: Request, index: str | None) -> Response:
    """Types whose id or name begins with what was typed."""
    service = Service.of(request)
    opened = service.shelf.take(index)
    prefix = _prefix(request, service).casefold()
    languages = accepted(request.headers.get("accept-language", ""))
    skipped = _cursor(request)

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


@router.get("/{index}/preview")
async def preview(request: Request, index: str | None) -> Response:
    """An entity as a small page, to be shown inside others."""
    opened, entity, body = _shown_entity(request, index)
    page = (
        f'<!doctype html><html lang="{html.escape(opened.language or "en")}"><meta charset="utf-8">'
        f"<title>{html.escape(entity)}</title><style>{_STYLE}</style>{body}</html>"
    )
    policy = f"default-src 'none'; style-src '{_STYLE_HASH}'; frame-ancestors *"
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})


@router.get("/{index}/flyout")
async def flyout(request: Request, index: str | None) -> Response:
    """An entity as a piece of a page, in JSON."""
    _, entity, body = _shown_entity(request, index)
    return _json({"id": entity, "html": body}, request.query_params.get("callback"))


def _candidates(opened: Opened, asked: Sequence[Asked], deadline: float) -> list[list[Any]]:
    """The candidates of queries, of their types only; at least 30, if there are so many.

    Those that want a type, and find too few among the first candidates, are asked again for more.
    """
    answers = opened.ask(
        [query.mention for query in asked], max([DEPTH, *(query.limit for query in asked)]),
        deadline=deadline,
    )  # fmt: skip
    kept = []
    for query, answer in zip(asked, answers, strict=True):
        wanted = set(query.types) - {opened.any_type}
        if not wanted or query.strict == "should":
            kept.append(list(answer))
            continue
        depth = len(answer)
        fitting = _of_type(opened, answer, wanted, query.strict)
        if len(fitting) < query.limit and depth >= DEPTH:
            (more,) = opened.ask([query.mention], DEEPEST, deadline=deadline)
            fitting = _of_type(opened, more, wanted, query.strict)
        kept.append(fitting)
    return kept


def _of_type(opened: Opened, answer: Sequence[Any], wanted: set[str], strict: str) -> list[Any]:
    """Those candidates that have one of these types, or all of them."""
    fits = wanted.issubset if strict == "all" else lambda types: not wanted.isdisjoint(types)
    return [each for each in answer if fits(opened.show(each[0]).types)]


def _weighed(opened: Opened, query: Asked, answer: Sequence[Any]) -> list[tuple[Any, float]]:
    """Candidates with their probabilities; those of another type than the one preferred lose."""
    chances = opened.calibration.probabilities(query.mention, answer)
    wanted = set(query.types) - {opened.any_type}
    if not wanted or query.strict != "should":
        return list(zip(answer, chances, strict=True))
    fitting = wanted | {opened.any_type}  # what has no type may have this one
    none = max(0.0, 1.0 - sum(chances[:DEPTH]))
    weights = [
        chance * (1.0 if fitting & set(opened.show(each[0]).types) else OTHER_TYPE)
        for each, chance in zip(answer, chances, strict=True)
    ]
    total = none + sum(weights[:DEPTH])
    shares = [weight / total if total else 0.0 for weight in weights]
    return sorted(zip(answer, shares, strict=True), key=lambda pair: -pair[1])


def _results(
    opened: Opened, query: Asked, answer: Sequence[Any], languages: Sequence[str], match: float
) -> list[dict[str, Any]]:
    """The candidates of one query; the first is a match if it is likely enough, and alone so."""
    weighed = _weighed(opened, query, answer)
    chances = [chance for _, chance in weighed]
    first = [each for each, _ in weighed[: query.limit]]
    shares = opened.shares(query.mention, [entity for entity, _ in first])
    results = []
    for place, ((entity, score), chance, parts) in enumerate(
        zip(first, chances, shares, strict=False)
    ):
        shown = opened.show(entity, languages)
        results.append(
            {
                "id": entity,
                "name": shown.name,
                "description": shown.description,
                "type": [opened.type(each, languages)._asdict() for each in shown.types],
                "score": round(100 * chance, 4),
                "match": place == 0 and chance >= match and chances[1:2] != [chance],
                "features": _features(float(score), parts),
            }
        )
    return results


def _features(score: float, parts: Shares | None) -> list[dict[str, Any]]:
    values = {"score": score}
    if parts is not None:
        values.update(prior=parts.prior, posterior=parts.posterior)
        values.update(
            {f"language:{language}": share for language, share in parts.languages.items()}
        )
    return [{"id": name, "value": value} for name, value in values.items()]


# ---------------------------------------------------------------- what clients send


def _form(request: Request, body: bytes) -> dict[str, str]:
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


def _batch(text: str, most: int) -> dict[str, Any]:
    try:
        batch = json.loads(text)
    except (ValueError, RecursionError):
        raise Problem(400, "queries is not JSON") from None
    if not isinstance(batch, dict):
        raise Problem(400, 'queries is no JSON object: expected {"q0": {"query": "..."}, ...}')
    if len(batch) > most:
        raise Problem(422, f"{len(batch):,} queries at once: this service takes up to {most:,}")
    return batch


def _asked(name: str, query: object, most: int) -> Asked:
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


def _prefix(request: Request, service: Service) -> str:
    prefix = request.query_params.get("prefix", "").strip()
    if len(prefix) > service.settings.limits.mention:
        raise Problem(
            422, f"prefix has {len(prefix):,} characters: this service takes up to "
            f"{service.settings.limits.mention:,}"
        )  # fmt: skip
    return prefix


def _cursor(request: Request) -> int:
    text = request.query_params.get("cursor", "0") or "0"
    if not re.fullmatch("[0-9]{1,4}", text):
        raise Problem(400, f"cursor is {text[:20]!r}: expected a whole number below 10,000")
    return int(text)


# ---------------------------------------------------------------- what they get


def _json(value: object, callback: str | None) -> Response:
    """JSON, or, for pages that cannot read it otherwise, a call of their function with it."""
    text = json.dumps(value, ensure_ascii=False)
    if callback is None:
        return Response(text.encode(), media_type="application/json")
    if not CALLBACK.fullmatch(callback):
        raise Problem(400, "callback is no name of a function")
    # These two end a line in JavaScript, but not in JSON.
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
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
    return opened, entity, _html(opened, entity, shown)


def _html(opened: Opened, entity: str, shown: Shown) -> str:
    """Name, id, description, types, and the names in all languages; everything escaped."""
    text = html.escape
    link = text(entity)
    if opened.wikidata:
        address = text(WIKIDATA + quote(entity, safe=""))
        link = f'<a href="{address}" target="_blank" rel="noopener noreferrer">{link}</a>'
    languages_of: dict[str, list[str]] = {}
    for row in opened.names(entity):
        if row.name and row.language not in languages_of.setdefault(row.name, []):
            languages_of[row.name].append(row.language)
    names = "".join(
        f"<li><bdi>{text(name)}</bdi> <small>{text(', '.join(filter(None, codes)))}</small></li>"
        for name, codes in list(languages_of.items())[:12]
    )
    types = ", ".join(
        text(opened.type(each).name) for each in shown.types if each != opened.any_type
    )
    return (
        f"<h1><bdi>{text(shown.name)}</bdi> <small>{link}</small></h1>"
        f"{f'<p>{text(shown.description)}</p>' if shown.description else ''}"
        f"{f'<p><em>{types}</em></p>' if types else ''}<ul>{names}</ul>"
    )


_STYLE = (
    "body,ul{margin:0;padding:0}body{font:14px/1.4 system-ui,sans-serif;padding:12px}"
    "h1{font-size:17px;margin:0 0 6px}p{margin:4px 0}li{display:inline-block;margin:2px 12px 2px 0}"
    "small{color:#555;font-weight:normal}"
    "@media(prefers-color-scheme:dark){body{background:#16181d;color:#e8e8e8}"
    "small{color:#aaa}a{color:#8ab4f8}}"
)
_STYLE_HASH = f"sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}"
