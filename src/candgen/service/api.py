"""The JSON API: candidates, explanations, indexes."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from candgen.generators.calibration import DEPTH
from candgen.protocols import Explains
from candgen.service.accept_language import languages_of
from candgen.service.executor import Job
from candgen.service.loaded_index import LoadedIndex, is_short
from candgen.service.problems import MEDIA_TYPE, Problem, check_limit
from candgen.service.request_body import parse_json
from candgen.service.schemas import (
    CandidatesRequest,
    CandidatesResponse,
    ExplainRequest,
    IndexesResponse,
    ProblemOut,
    ReloadResponse,
    SingleMentionRequest,
    SingleMentionResponse,
    json_body,
    query_parameters,
)
from candgen.service.settings import Limits
from candgen.service.state import ServiceState

Q = TypeVar("Q", bound=BaseModel)

_PROBLEMS = {
    status: {
        "model": ProblemOut,
        "description": description,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemOut"}}},
    }
    for status, description in {
        400: "Malformed request.",
        401: "Missing or wrong API key.",
        403: "Cross-origin request that is not allowed.",
        404: "Unknown index, or unknown entity.",
        405: "Method not allowed at this address.",
        408: "Timeout: the request did not arrive in time.",
        413: "The request is too large.",
        431: "The request line and headers are too large.",
        422: "A value is invalid or beyond a limit.",
        500: "Internal error.",
        503: "Busy, timeout, or damaged index; Retry-After says when to try again.",
    }.items()
}
router = APIRouter(prefix="/api/v1", responses=_PROBLEMS)  # type: ignore[arg-type]


@router.post(
    "/candidates",
    response_model=CandidatesResponse,
    response_model_exclude_unset=True,
    openapi_extra=json_body(CandidatesRequest),
)
async def candidates_of_many(request: Request) -> Response:
    """Return the candidates of several mentions, best first."""
    state = ServiceState.of(request)
    content_type = request.headers.get("content-type", "")
    limits = state.settings.limits
    body = await state.parse(
        request, lambda body: parse_json(body, content_type, CandidatesRequest, limits)
    )
    loaded, results = await _find(request, body)
    return _json_response(
        to_json({"index": loaded.name})[:-1], b',"results":[', b",".join(results), b"]}"
    )


@router.get(
    "/candidates",
    response_model=SingleMentionResponse,
    response_model_exclude_unset=True,
    openapi_extra=query_parameters(SingleMentionRequest),
)
async def candidates_of_one(request: Request) -> Response:
    """Return the candidates of one mention, best first."""
    query = _read_query(SingleMentionRequest, request)
    options = query.model_dump(exclude={"mention"})
    batch = CandidatesRequest.model_construct(mentions=[query.mention], **options)
    loaded, (result,) = await _find(request, batch)
    return _json_response(to_json({"index": loaded.name})[:-1], b",", result[1:])


@router.get(
    "/explain", response_model=dict[str, Any], openapi_extra=query_parameters(ExplainRequest)
)
async def explain(request: Request) -> Response:
    """Explain the score of an entity for a mention: its tokens, languages and names."""
    state = ServiceState.of(request)
    query = _read_query(ExplainRequest, request)
    limits = state.settings.limits
    _check_mentions([query.mention], limits)
    loaded = state.registry.get(query.index)
    _check_lam(loaded, query.lam)
    state.record(request, loaded, 1, 0)
    if not isinstance(loaded.generator, Explains):
        raise Problem(422, f"the index {loaded.name!r} cannot explain its candidates")
    check_known(loaded, query.entity)
    languages = languages_of(request)

    def job() -> Job[bytes]:
        options = {} if query.lam is None else {"lam": query.lam}
        explanation = loaded.generator.explain(query.mention, query.entity, **options)
        yield
        view = loaded.view(query.entity, languages)
        found = {**explanation.as_json(), "name": view.name, "description": view.description}
        if leader := found.get("leader"):
            found["leader_name"] = loaded.view(leader, languages).name
        return to_json(found)

    work, short = limits.work(len(query.mention), 1), is_short([query.mention], 1)
    return _json_response(await state.run(request, loaded, job(), work, short=short))


@router.get("/indexes", response_model=IndexesResponse)
async def indexes(request: Request) -> Response:
    """List the indexes and the limits of the service."""
    state = ServiceState.of(request)
    return as_json(
        {
            "default": state.registry.default,
            "indexes": [loaded.facts() for loaded in state.registry.loaded],
            "broken": sorted(state.registry.broken),
            "limits": state.settings.limits.as_json(),
        }
    )


@router.post("/reload", response_model=ReloadResponse)
async def reload(request: Request) -> Response:
    """Load the indexes that were rebuilt; where that fails, the previous index keeps answering."""
    results = await ServiceState.of(request).reload(tell_others=True)
    if failed := [each for each in results if each.state == "failed"]:
        raise Problem(503, "; ".join(f"{each.index}: {each.detail}" for each in failed))
    return as_json({"indexes": results})


def _read_query(model: type[Q], request: Request) -> Q:
    """Validate the query string of a request; FastAPI takes much longer for that."""
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as error:
        errors = [{**each, "loc": ("query", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(errors) from None


async def _find(request: Request, body: CandidatesRequest) -> tuple[LoadedIndex, list[bytes]]:
    """Return the index, and mention and candidates of each result as JSON."""
    state = ServiceState.of(request)
    limits = state.settings.limits
    characters = _check_mentions(body.mentions, limits)
    check_limit("k", body.k, limits.k)
    check_answer_size(len(body.mentions) * body.k, limits)
    loaded = state.registry.get(body.index)
    _check_lam(loaded, body.lam)
    job = _results(loaded, body, languages_of(request))
    work = limits.work(characters, len(body.mentions) * body.k)
    short = is_short(body.mentions, body.k)
    quick = short and not body.details and loaded.is_quick()
    results, candidates = await state.run(request, loaded, job, work, short=short, quick=quick)
    state.record(request, loaded, len(body.mentions), candidates)
    return loaded, results


def _results(
    loaded: LoadedIndex, body: CandidatesRequest, languages: Sequence[str]
) -> Job[tuple[list[bytes], int]]:
    """Return the results as JSON, and the number of their candidates.

    Each is turned into JSON at once, because all of them together would block other threads.
    """
    depth = max(body.k, DEPTH) if body.details else body.k
    mentions = iter(body.mentions)
    results: list[bytes] = []
    number = 0
    for answers in loaded.search(body.mentions, depth, lam=body.lam):
        yield
        for mention, answer in zip(islice(mentions, len(answers)), answers, strict=True):
            if body.details:
                candidates = yield from _with_details(loaded, mention, answer, body, languages)
            else:
                candidates = [{"entity": e, "score": float(s)} for e, s in answer]
            results.append(to_json({"mention": mention, "candidates": candidates}))
            number += len(candidates)
    return results, number


def _with_details(
    loaded: LoadedIndex,
    mention: str,
    answer: Sequence[tuple[str, float]],
    body: CandidatesRequest,
    languages: Sequence[str],
) -> Job[list[dict[str, Any]]]:
    """Return the first k candidates with name, types, probability and parts of the score."""
    probabilities = loaded.generator.probabilities(mention, answer)
    first = answer[: body.k]
    entities = [entity for entity, _ in first]
    parts = yield from loaded.break_down_scores(mention, entities, lam=body.lam)
    candidates = []
    for (entity, score), probability, part in zip(first, probabilities, parts, strict=False):
        view = loaded.view(entity, languages)
        candidate = {
            "entity": entity,
            "score": float(score),
            **view._asdict(),
            "types": loaded.view_types(view, languages),
            "probability": probability,
        }
        candidates.append(candidate if part is None else candidate | part._asdict())
        yield
    return candidates


def _check_mentions(mentions: Sequence[str], limits: Limits) -> int:
    """Return the characters of all mentions; raise a Problem if they are too many or too long."""
    check_limit("the number of mentions", len(mentions), limits.batch)
    for place, mention in enumerate(mentions):
        if len(mention) > limits.mention:
            which = "the mention" if len(mentions) == 1 else f"mention {place}"
            check_limit(f"the length of {which}", len(mention), limits.mention)
    return check_characters(mentions, limits)


def check_characters(mentions: Iterable[str], limits: Limits) -> int:
    """Return the characters of all mentions; raise a Problem if they are too many."""
    characters = sum(map(len, mentions))
    check_limit("the number of characters of all mentions", characters, limits.characters)
    return characters


def check_answer_size(candidates: int, limits: Limits) -> None:
    """Raise a Problem if an answer would have too many candidates."""
    check_limit("the number of candidates, mentions times k,", candidates, limits.candidates)


def _check_lam(loaded: LoadedIndex, lam: float | None) -> None:
    """Raise a Problem if the index does not take lam."""
    if lam is not None and loaded.lam is None:
        kind = loaded.stored.kind
        raise Problem(422, f"the index {loaded.name!r}, a {kind}, does not take lam: leave it out")


def check_known(loaded: LoadedIndex, entity: str) -> None:
    """Raise a Problem if an index does not know an entity."""
    if not entity or len(entity) > 1000 or not loaded.knows(entity):
        raise Problem(404, f"unknown entity {entity[:64]!r} in the index {loaded.name!r}")


def as_json(value: object) -> Response:
    """Return a JSON response; this writer is several times faster than the standard library's."""
    return _json_response(to_json(value))


def _json_response(*parts: bytes) -> Response:
    """Return a response of parts of a JSON text."""
    return Response(b"".join(parts), media_type="application/json")
