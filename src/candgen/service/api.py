"""The JSON API: candidates, explanations, indexes."""

from collections.abc import Sequence
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from candgen.protocols import Explains
from candgen.service.accept_language import accepted
from candgen.service.index_registry import facts
from candgen.service.loaded_index import Late, Opened
from candgen.service.problems import MEDIA_TYPE, Problem
from candgen.service.schemas import (
    Answer,
    Answers,
    Asked,
    AskedOne,
    AskedWhy,
    Indexes,
    ProblemOut,
    ReloadedAll,
    parameters,
)
from candgen.service.settings import Limits
from candgen.service.state import Service

Q = TypeVar("Q", bound=BaseModel)

DEPTH = 30
"""Probabilities are those among at least so many candidates, however few are asked for."""

_PROBLEMS = {
    status: {
        "model": ProblemOut,
        "description": said,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemOut"}}},
    }
    for status, said in {
        400: "The request cannot be read.",
        401: "The service wants a key.",
        403: "A page of another site asked for this.",
        404: "There is no such index, or no such entity in it.",
        405: "There is something at this address, but not for this method.",
        408: "The request did not arrive in time.",
        413: "The request is too large.",
        431: "Address and headers are too large.",
        422: "A value makes no sense, or is beyond a limit.",
        500: "The service made a mistake.",
        503: "Too busy, too slow, or the index is damaged; Retry-After says when to come back.",
    }.items()
}
router = APIRouter(prefix="/api/v1", responses=_PROBLEMS)  # type: ignore[arg-type]


@router.post("/candidates", response_model=Answers, response_model_exclude_unset=True)
async def candidates_of_many(asked: Asked, request: Request) -> Response:
    """The entities that each of several mentions may mean, best first."""
    service = Service.of(request)
    check_mentions(asked.mentions, service.settings.limits)
    index, found = await _find(service, request, asked)
    results = [
        {"mention": mention, "candidates": candidates}
        for mention, candidates in zip(asked.mentions, found, strict=True)
    ]
    return as_json({"index": index.name, "results": results})


@router.get(
    "/candidates",
    response_model=Answer,
    response_model_exclude_unset=True,
    openapi_extra=parameters(AskedOne),
)
async def candidates_of_one(request: Request) -> Response:
    """The entities that one mention may mean, best first."""
    service = Service.of(request)
    one = _asked(AskedOne, request)
    check_mentions([one.mention], service.settings.limits)
    asked = Asked.model_construct(mentions=[one.mention], **one.model_dump(exclude={"mention"}))
    opened, found = await _find(service, request, asked)
    return as_json({"index": opened.name, "mention": one.mention, "candidates": found[0]})


@router.get("/explain", response_model=dict[str, Any], openapi_extra=parameters(AskedWhy))
async def explain(request: Request) -> Response:
    """Why an entity has its score for a mention: tokens, languages, names it was seen by."""
    service = Service.of(request)
    asked = _asked(AskedWhy, request)
    mention, entity, lam = asked.mention, asked.entity, asked.lam
    check_mentions([mention], service.settings.limits)
    opened = service.shelf.take(asked.index)
    check_lam(opened, lam)
    service.note(request, opened, 1, 0)
    if not isinstance(opened.generator, Explains):
        raise Problem(422, f"the index {opened.name!r} cannot explain its candidates")
    if not opened.knows(entity):
        raise Problem(404, f"there is no entity {entity[:64]!r} in the index {opened.name!r}")
    options = {} if lam is None else {"lam": lam}
    explanation = await service.work.do(
        lambda _: opened.generator.explain(mention, entity, **options).as_json()
    )
    languages = accepted(request.headers.get("accept-language", ""))
    shown = opened.show(entity, languages)
    more = {"name": shown.name, "description": shown.description}
    if leader := explanation.get("leader"):
        more["leader_name"] = opened.show(leader, languages).name
    return as_json({**explanation, **more})


@router.get("/indexes", response_model=Indexes)
async def indexes(request: Request) -> Response:
    """The indexes that can be asked, and the limits of the service."""
    service = Service.of(request)
    return as_json(
        {
            "default": service.shelf.default,
            "indexes": [facts(opened) for opened in service.shelf.opened],
            "broken": sorted(service.shelf.broken),
            "limits": vars(service.settings.limits),
        }
    )


@router.post("/reload", response_model=ReloadedAll)
async def reload(request: Request) -> Response:
    """Open indexes that were built again since; what cannot be opened keeps answering as it was."""
    service = Service.of(request)
    reloaded = await service.reload(tell_others=True)
    if failed := [each for each in reloaded if each.state == "failed"]:
        raise Problem(503, "; ".join(f"{each.index}: {each.detail}" for each in failed))
    return as_json({"indexes": [each._asdict() for each in reloaded]})


def _asked(model: type[Q], request: Request) -> Q:
    """What the query of an address asks; by hand, since FastAPI takes much longer for it."""
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as error:
        places = [{**each, "loc": ("query", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(places) from None


async def _find(
    service: Service, request: Request, asked: Asked
) -> tuple[Opened, list[list[dict[str, Any]]]]:
    """The candidates of mentions, with details if they are asked for."""
    limits = service.settings.limits
    if asked.k > limits.k:
        raise Problem(422, f"k is {asked.k}: this service gives at most {limits.k:,}")
    check_size(len(asked.mentions) * asked.k, limits)
    opened = service.shelf.take(asked.index)
    check_lam(opened, asked.lam)
    languages = accepted(request.headers.get("accept-language", ""))

    def job(deadline: float) -> list[list[dict[str, Any]]]:
        depth = max(asked.k, DEPTH) if asked.details else asked.k
        answers = opened.ask(asked.mentions, depth, lam=asked.lam, deadline=deadline)
        if not asked.details:
            return [[{"entity": e, "score": float(s)} for e, s in answer] for answer in answers]
        found = []
        for mention, answer in zip(asked.mentions, answers, strict=True):
            Late.check(deadline)
            found.append(
                details(opened, mention, answer, asked.k, lam=asked.lam, languages=languages)
            )
        return found

    quick = not asked.details and opened.is_quick(asked.mentions, asked.k)
    found = await service.work.do(job, quick=quick)
    service.note(request, opened, len(asked.mentions), sum(map(len, found)))
    return opened, found


def details(
    opened: Opened,
    mention: str,
    answer: Sequence[Any],
    k: int,
    *,
    lam: float | None,
    languages: Sequence[str],
) -> list[dict[str, Any]]:
    """The first k candidates with all that is known of them."""
    chances = opened.calibration.probabilities(mention, answer)
    shares = opened.shares(mention, [entity for entity, _ in answer[:k]], lam=lam)
    made = []
    for (entity, score), chance, parts in zip(answer[:k], chances, shares, strict=False):
        shown = opened.show(entity, languages)
        each: dict[str, Any] = {
            "entity": entity,
            "score": float(score),
            "name": shown.name,
            "language": shown.language,
            "description": shown.description,
            "types": [opened.type(each, languages)._asdict() for each in shown.types],
            "probability": chance,
        }
        if parts is not None:
            each.update(parts._asdict())
        made.append(each)
    return made


def check_mentions(mentions: Sequence[str], limits: Limits) -> None:
    """Refuse too many mentions, and too long ones."""
    if len(mentions) > limits.batch:
        raise Problem(
            422, f"{len(mentions):,} mentions at once: this service takes up to {limits.batch:,}"
        )
    for place, mention in enumerate(mentions):
        if len(mention) > limits.mention:
            which = "the mention" if len(mentions) == 1 else f"mention {place}"
            raise Problem(
                422,
                f"{which} has {len(mention):,} characters: this service takes up to "
                f"{limits.mention:,}",
            )


def check_size(candidates: int, limits: Limits) -> None:
    """Refuse an answer that would be too large."""
    if candidates > limits.candidates:
        raise Problem(
            422,
            f"mentions times k are {candidates:,}: this service gives up to "
            f"{limits.candidates:,} candidates at once",
        )


def check_lam(opened: Opened, lam: float | None) -> None:
    """Refuse lam where it means nothing."""
    if lam is not None and not opened.takes_lam:
        raise Problem(
            422,
            f"lam means nothing to the index {opened.name!r}, a {opened.stored.kind}: leave it out",
        )


def as_json(value: object) -> Response:
    """JSON, by a writer that is several times as fast as the standard library's."""
    return Response(to_json(value), media_type="application/json")
