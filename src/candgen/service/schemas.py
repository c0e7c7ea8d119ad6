"""Requests and responses of the JSON API: they check requests and make the OpenAPI description."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from candgen.generators.candidate import LARGEST, SMALLEST


def is_valid_text(text: str) -> bool:
    """Return whether a text has no lone surrogates, which JSON can contain and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_text(text: str) -> str:
    if not is_valid_text(text):
        raise ValueError("the text contains a lone surrogate (half a character)")
    return text


def _as_whole(number: object) -> object:
    """Return 5 for 5.0, which is a whole number in JSON."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Mention = Annotated[
    str, AfterValidator(_check_text), Field(description="A name.", examples=["Tórshavn"])
]
_LAMS = [{"const": 0}, {"type": "number", "minimum": SMALLEST, "maximum": LARGEST}]
Lam = Annotated[
    float | None,
    Field(
        ge=0,
        le=LARGEST,
        allow_inf_nan=False,
        description="Weight of the posterior, for indexes that take it.",
        examples=[0.4],
    ),
    WithJsonSchema({"anyOf": [*_LAMS, {"type": "null"}]}),
]
Index = Annotated[
    str | None,
    Field(
        max_length=64, description="Name of the index; the first one by default.", examples=["fo"]
    ),
]
K = Annotated[int, Field(ge=1, description="Maximum number of candidates for each mention.")]
Details = Annotated[
    bool, Field(description="Add names, types, probabilities and what each score is made of.")
]


class CandidatesRequest(BaseModel):
    """Several mentions to find candidates for."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"mentions": ["Tórshavn", "Føroyar"], "k": 5}]},
    )

    mentions: list[Mention] = Field(description="The names to look up.")
    k: Annotated[K, BeforeValidator(_as_whole)] = 10
    lam: Lam = None
    index: Index = None
    details: Details = False


class SingleMentionRequest(BaseModel):
    """One mention to find candidates for, in the query string."""

    mention: Mention
    k: K = 10
    lam: Lam = None
    index: Index = None
    details: Details = False


class ExplainRequest(BaseModel):
    """A mention and one of its candidates, in the query string."""

    mention: Mention
    entity: Annotated[
        str, Field(max_length=1000, description="One of its candidates.", examples=["Q10704"])
    ]
    lam: Lam = None
    index: Index = None


def query_parameters(model: type[BaseModel]) -> dict[str, Any]:
    """Return the fields of a model as query parameters for the OpenAPI description."""
    schema = model.model_json_schema()
    required = schema.get("required", [])
    return {
        "parameters": [
            {
                "name": name,
                "in": "query",
                "required": name in required,
                "schema": field,
                "description": field.get("description", ""),
            }
            for name, field in schema["properties"].items()
        ]
    }


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model as the JSON body of a request for the OpenAPI description."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


class EntityType(BaseModel):
    """A type of an entity."""

    id: str = Field(examples=["Q515"])
    name: str = Field(examples=["city"])


class CandidateOut(BaseModel):
    """A candidate. The fields after ``score`` are present with ``details`` only."""

    entity: str = Field(examples=["Q10704"])
    score: float = Field(examples=[3.3442])
    name: str | None = Field(None, examples=["Tórshavn"])
    language: str | None = Field(None, description="Language of the name.", examples=["fo"])
    description: str | None = None
    types: list[EntityType] | None = None
    probability: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Probability that it is the right entity; comparable between mentions.",
    )
    prior: float | None = Field(None, description="A(e), the prior part of the score.")
    posterior: float | None = Field(None, description="lam * B(e), the posterior part.")
    languages: dict[str, float] | None = Field(
        None, description="Share of each language in prior plus posterior."
    )


class MentionResult(BaseModel):
    """The candidates of one mention of a batch, best first."""

    mention: str
    candidates: list[CandidateOut]


class SingleMentionResponse(MentionResult):
    """The candidates of one mention, best first."""

    index: str = Field(examples=["fo"])


class CandidatesResponse(BaseModel):
    """The results of all mentions, in their order."""

    index: str = Field(examples=["fo"])
    results: list[MentionResult]


class PromiseOut(BaseModel):
    """What was measured before the index was built, on names that it had not learned from."""

    kind: str = Field(
        description="'held-back names' of the language, or the language that stood in for it.",
        examples=["held-back names", "stand-in da"],
    )
    queries: int = Field(description="Number of names.")
    recall_at_1: float = Field(description="Percentage with the right entity first.")
    recall_at_10: float
    recall_at_30: float
    mean_probability: float = Field(description="Mean probability of the first candidate, in %.")
    right: float = Field(description="Percentage of first candidates that are right.")


class IndexOut(BaseModel):
    """An index that answers."""

    name: str
    kind: str
    language: str | None = Field(description="Language of the mentions.")
    languages: list[str] = Field(description="Languages it was learned from.")
    entities: int | None
    stages: int = Field(description="2 if a second stage reorders the candidates of the first.")
    wikidata: bool = Field(description="Whether its entities are Wikidata items.")
    examples: list[str] = Field(description="Example mentions.")
    lam: float | None = Field(description="Weight of the posterior; null if it is fixed.")
    explains: bool
    calibrated_on: int = Field(description="Dev queries its probabilities were learned from.")
    promise: PromiseOut | None = Field(description="Null if nothing was measured.")
    types: int = Field(description="Number of types of its entities.")
    described: int = Field(description="Entities with a name or description of their own.")
    bytes: int


class IndexesResponse(BaseModel):
    """All indexes, and the limits of the service."""

    default: str
    indexes: list[IndexOut]
    broken: list[str] = Field(description="Names of the indexes that cannot answer.")
    limits: dict[str, Any]


class ReloadResult(BaseModel):
    """The result of reloading one index."""

    index: str
    state: str = Field(examples=["changed", "unchanged", "failed"])
    detail: str


class ReloadResponse(BaseModel):
    """The results for all indexes."""

    indexes: list[ReloadResult]


class ProblemOut(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["about:blank"])
    title: str
    status: int
    detail: str
