"""Why a second stage puts an entity where it does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from candgen.edits import Edit
from candgen.errors import ParameterError
from candgen.generators.candidate import Candidate
from candgen.generators.rerank_stage import Features, Stage
from candgen.generators.rerank_weights import Weights


class Property(NamedTuple):
    """One property of a candidate, and what it brings: its value times its weight.

    ``leader`` is the value of the same property of the candidate that it is compared with.
    """

    name: str
    value: float
    weight: float
    leader: float

    @property
    def ahead(self) -> float:
        """By how much it puts the entity before the one that it is compared with."""
        return self.weight * (self.value - self.leader)


@dataclass(frozen=True)
class RerankExplanation:
    """Where an entity stood and stands among the candidates, and what moved it.

    It is compared with the ``leader``: the candidate that now stands first, or, if it is that
    itself, with the one that the first stage had first, or else with the second one. ``spelling``
    is its name that is most like the mention, ``edits`` how that name becomes the mention, and
    ``first`` what the first stage has to say, where it can explain itself.
    """

    mention: str
    normalized: str
    entity: str
    score: float
    before: int
    after: int
    leader: str | None
    properties: list[Property]
    spelling: str
    edits: list[Edit]
    first: Any


def explain(
    generator: Any,  # noqa: ANN401
    stage: Stage,
    mention: str,
    entity: str,
    answer: Sequence[tuple[str, float]],
    features: Features,
    order: Sequence[Candidate],
) -> RerankExplanation:
    """Take the place of one candidate apart."""
    before = [each for each, _ in answer]
    if entity not in before:
        raise ParameterError(
            f"{entity!r} is not among the {len(answer)} candidates that the second stage saw for "
            f"{mention!r}, so that there is nothing to explain"
        )
    after = [candidate.entity for candidate in order]
    row = before.index(entity)
    leader = next((each for each in (after[0], before[0], *after[1:2]) if each != entity), None)
    values = features.values[row].tolist()
    beside = values if leader is None else features.values[before.index(leader)].tolist()
    (text,) = stage.texts([mention])
    number = int(features.best[row])
    spelling = stage.spelling(number) if number >= 0 else ""
    return RerankExplanation(
        mention, text, entity, order[after.index(entity)].score, row + 1, after.index(entity) + 1,
        leader, list(map(Property, Weights._fields, values, stage.weights, beside)), spelling,
        stage.edits.edits(text, spelling) if spelling else [],
        generator.explain(mention, entity) if hasattr(generator, "explain") else None,
    )  # fmt: skip
