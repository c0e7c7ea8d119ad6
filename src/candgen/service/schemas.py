"""What goes in and out of the JSON API, for checking requests and for the OpenAPI description."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from candgen.generators.candidate import LARGEST, SMALLEST


def is_text(text: str) -> bool:
    """Whether it is all characters: JSON can spell half of one, which nothing can be called."""
    return not any("\ud800" <= each <= "\udfff" for each in text)


def _text(text: str) -> str:
    if not is_text(text):
        raise ValueError("it has half a character, a lone surrogate")
    return text


def _whole(number: object) -> object:
    """5.0 is a whole number to JSON."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Mention = Annotated[
    str, AfterValidator(_text), Field(description="A name as it was found.", examples=["Tórshavn"])
]
_LAMS = [{"const": 0}, {"type": "number", "minimum": SMALLEST, "maximum": LARGEST}]
Lam = Annotated[
    float | None,
    Field(
        ge=0,
        le=LARGEST,
        allow_inf_nan=False,
        description="Weight of the posterior, where the index lets you choose it.",
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


class Asked(BaseModel):
    """Several mentions to find candidates for."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"mentions": ["Tórshavn", "Føroyar"], "k": 5}]},
    )

    mentions: list[Mention] = Field(description="The names to look for.")
    k: Annotated[int, BeforeValidator(_whole)] = Field(
        10, ge=1, description="How many candidates each should have at most."
    )
    lam: Lam = None
    index: Index = None
    details: bool = Field(
        default=False,
        description="Also names, types, probabilities and what each score is made of.",
    )


class AskedOne(BaseModel):
    """One mention to find candidates for, as the query of an address has it."""

    mention: Mention
    k: int = Field(10, ge=1, description="How many candidates at most.")
    lam: Lam = None
    index: Index = None
    details: bool = Field(
        default=False,
        description="Also names, types, probabilities, and what each score is made of.",
    )


class AskedWhy(BaseModel):
    """A mention and one of its candidates, as the query of an address has them."""

    mention: Mention
    entity: Annotated[
        str, Field(max_length=1000, description="One of its candidates.", examples=["Q10704"])
    ]
    lam: Lam = None
    index: Index = None


def parameters(model: type[BaseModel]) -> dict[str, Any]:
    """The fields of a model as parameters of an address, for the OpenAPI description."""
    schema = model.model_json_schema()
    needed = schema.get("required", [])
    return {
        "parameters": [
            {
                "name": name,
                "in": "query",
                "required": name in needed,
                "schema": field,
                "description": field.get("description", ""),
            }
            for name, field in schema["properties"].items()
        ]
    }


class TypeOut(BaseModel):
    """What an entity is."""

    id: str = Field(examples=["Q515"])
    name: str = Field(examples=["city"])


class CandidateOut(BaseModel):
    """An entity that a mention may mean. What is below ``score`` is there with ``details`` only."""

    entity: str = Field(examples=["Q10704"])
    score: float = Field(examples=[3.3442])
    name: str | None = Field(None, examples=["Tórshavn"])
    language: str | None = Field(None, description="Of the name.", examples=["fo"])
    description: str | None = None
    types: list[TypeOut] | None = None
    probability: float | None = Field(
        None, ge=0, le=1, description="How likely it is the right one; comparable between mentions."
    )
    prior: float | None = Field(None, description="A(e), the part of the score that is prior.")
    posterior: float | None = Field(None, description="lam * B(e), the part that is posterior.")
    languages: dict[str, float] | None = Field(
        None, description="The share of each language's counts in what the tokens bring."
    )


class Answer(BaseModel):
    """The candidates of one mention, the best first."""

    index: str = Field(examples=["fo"])
    mention: str
    candidates: list[CandidateOut]


class Found(BaseModel):
    """The candidates of one mention of a batch, the best first."""

    mention: str
    candidates: list[CandidateOut]


class Answers(BaseModel):
    """The answers to all mentions, in their order."""

    index: str = Field(examples=["fo"])
    results: list[Found]


class IndexOut(BaseModel):
    """An index that answers."""

    name: str
    kind: str
    language: str | None = Field(description="Of the mentions that it is asked for.")
    languages: list[str] = Field(description="That it has learned from.")
    entities: int | None
    stages: int = Field(description="2 if a second stage orders what the first has found.")
    wikidata: bool = Field(description="Whether its entities are Wikidata's.")
    examples: list[str] = Field(description="Names to try it with.")
    lam: float | None = Field(description="Weight of the posterior; null if it is not yours.")
    explains: bool
    calibrated_on: int = Field(description="Queries its probabilities were learned from.")
    types: int = Field(description="Types that its entities have.")
    described: int = Field(description="Entities with names and descriptions of their own.")
    bytes: int


class Indexes(BaseModel):
    """All indexes; the default is asked where none is named."""

    default: str
    indexes: list[IndexOut]
    broken: list[str] = Field(description="Names of those that cannot answer.")
    limits: dict[str, Any]


class ReloadedOut(BaseModel):
    """What became of an index."""

    index: str
    state: str = Field(examples=["changed", "unchanged", "failed"])
    detail: str


class ReloadedAll(BaseModel):
    """What became of all of them."""

    indexes: list[ReloadedOut]


class ProblemOut(BaseModel):
    """What went wrong, as RFC 9457 has it."""

    type: str = Field(examples=["about:blank"])
    title: str
    status: int
    detail: str
