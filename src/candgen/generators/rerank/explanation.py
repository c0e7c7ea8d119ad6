"""Why the second stage puts an entity at its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from candgen.errors import ParameterError
from candgen.generators.candidate import Candidate
from candgen.generators.rerank.candidate_pool import CandidatePool
from candgen.generators.rerank.edit_model import Edit
from candgen.generators.rerank.stage import Stage
from candgen.generators.rerank.translations import TranslatedWord
from candgen.generators.rerank.weights import Weights
from candgen.protocols import Explains


class Property(NamedTuple):
    """One property of a candidate; it adds its value times its weight to the candidate's value.

    ``leader`` is the value of the same property of the candidate that it is compared with.
    """

    name: str
    value: float
    weight: float
    leader: float

    @property
    def ahead(self) -> float:
        """By how much it puts the entity before the leader."""
        return self.weight * (self.value - self.leader)


@dataclass(frozen=True)
class RerankExplanation:
    """The places of an entity before and after the second stage, and what moved it.

    It is compared with the ``leader``: the candidate that now stands first, or, if that is the
    entity itself, the first one of the first stage, or else the second one. ``spelling`` is its
    name that is most similar to the mention, or to the ``translation``, in which ``words`` are
    replaced, if that is more similar. ``edits`` turn that name into the one or the other, which is
    in ``normalized``. ``before`` is 0 if only the translation found it. ``first`` is the first
    stage's explanation, if it has one.
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
    translation: str | None
    words: list[TranslatedWord]
    first: Any

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as JSON values."""
        return {
            "mention": self.mention,
            "normalized": self.normalized,
            "entity": self.entity,
            "score": self.score,
            "place": self.after,
            "place_in_first_stage": self.before or None,
            "leader": self.leader,
            "properties": [
                {
                    "name": each.name,
                    "value": each.value,
                    "weight": each.weight,
                    "brings": each.weight * each.value,
                    "leader_value": each.leader,
                    "ahead": each.ahead,
                }
                for each in self.properties
            ],
            "spelling": self.spelling,
            "edits": [edit._asdict() for edit in self.edits],
            "translation": self.translation,
            "words": [word._asdict() for word in self.words],
            "first": None if self.first is None else self.first.as_json(),
        }


def explain(
    generator: Any,  # noqa: ANN401
    stage: Stage,
    mention: str,
    entity: str,
    pool: CandidatePool,
    order: Sequence[Candidate],
) -> RerankExplanation:
    """Explain the place of one candidate; ``order`` are those that were compared."""
    (translation,), rows = pool.translations, pool.rows
    compared = pool.numbering.ids(rows.place[: pool.starts[1]])
    if entity not in compared:
        raise ParameterError(
            f"{entity!r} is not among the {len(order)} candidates that the second stage compared "
            f"for {mention!r}, so there is nothing to explain"
        )
    after = [candidate.entity for candidate in order]
    row = compared.index(entity)
    leader = next((each for each in (after[0], compared[0], *after[1:2]) if each != entity), None)
    values = rows.values[row].tolist()
    beside = values if leader is None else rows.values[compared.index(leader)].tolist()
    said = translation if rows.translated[row] else None
    (text,) = stage.texts([mention if said is None else said])
    number = int(rows.best[row])
    spelling = stage.spelling(number) if number >= 0 else ""
    before = row + 1 if row < pool.own[0] else 0
    found_by = mention if before or translation is None else translation
    return RerankExplanation(
        mention,
        text,
        entity,
        order[after.index(entity)].score,
        before,
        after.index(entity) + 1,
        leader,
        list(map(Property, Weights._fields, values, stage.weights, beside)),
        spelling,
        stage.edits.edits(text, spelling) if spelling else [],
        said,
        [] if said is None else stage.replaced_words(mention),
        generator.explain(found_by, entity) if isinstance(generator, Explains) else None,
    )
