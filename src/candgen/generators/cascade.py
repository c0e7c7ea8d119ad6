"""Cascade: several generators, of which the later ones help where the earlier ones fail."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from candgen.errors import ParameterError
from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query
from candgen.generators.nesting import pack_parts, stored_part
from candgen.generators.tiers import ask_in_turn
from candgen.protocols import Names, Summarizes, Summary, covers, is_generator
from candgen.storage import index_folder
from candgen.storage.index_folder import Contents, StoredIndex
from candgen.tables.source_mentions import SourceMention


class Cascade:
    """Ask one generator, and the next for the mentions for which it finds nothing.

    This is the paper's advice for languages with much data: WikiPriors first, PivotTokenIndex only
    where it retrieves no candidate. With ``fill``, later generators also fill the places that
    earlier ones leave. Any generators will do, also your own, as long as they answer with positive
    scores, best first: what has no positive score, or comes again, is not passed on.

    >>> class Heart:
    ...     def candidates(self, mentions, k=30):
    ...         return [[("Q282", 1.0)] if mention == "Vín" else [] for mention in mentions]
    >>> class Guess:
    ...     def candidates(self, mentions, k=30):
    ...         return [[("Q1741", 3.0), ("Q282", 1.0)][:k] for _ in mentions]
    >>> def shown(cascade):
    ...     return [[tuple(c) for c in some] for some in cascade.candidates(["Vín", "Wien"])]
    >>> shown(Cascade(Heart(), Guess()))
    [[('Q282', 1.5)], [('Q1741', 0.75), ('Q282', 0.5)]]
    >>> shown(Cascade(Heart(), Guess(), fill=True))
    [[('Q282', 1.5), ('Q1741', 0.75)], [('Q1741', 0.75), ('Q282', 0.5)]]
    """

    def __init__(self, first: Any, then: Any, *more: Any, fill: bool = False) -> None:  # noqa: ANN401
        self.nested = (first, then, *more)
        self.fill = fill
        self.calibration = Calibration.default("cascade")
        if not isinstance(fill, bool):
            raise ParameterError(f"fill is {fill!r}: expected True or False")
        for number, each in enumerate(self.nested, start=1):
            if not is_generator(each):
                raise ParameterError(
                    f"generator {number} is {each!r}, which cannot be asked for candidates: "
                    "expected one that is built, such as a PivotTokenIndex"
                )

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[Candidate]]:
        """The first k entities for each mention, those of earlier generators first.

        score = number of generators left + s / (1 + s),  s the score that its generator gives
        """
        asked = check_query(mentions, k)
        return ask_in_turn([each.candidates for each in self.nested], asked, k, fill=self.fill)

    def knows(self, entities: Sequence[str]) -> list[bool]:
        """Return, for each entity, whether any of the generators knows it.

        Raises ParameterError if one of them cannot tell: see ``candgen.protocols.covers``.
        """
        for number, each in enumerate(self.nested, start=1):
            if not covers(each):
                raise ParameterError(f"generator {number}, {each!r}, has no method knows")
        answers = (each.knows(entities) for each in self.nested)
        return [any(known) for known in zip(*answers, strict=True)]

    def names(self, entity: str) -> list[SourceMention]:
        """Return the mentions of an entity, from the first generator that has any."""
        for each in self.nested:
            if isinstance(each, Names) and (found := each.names(entity)):
                return list(found)
        return []

    def probabilities(self, mention: str, candidates: Sequence[tuple[str, float]]) -> list[float]:
        """Return how likely each candidate is the right one; ask for at least 30 candidates.

        Learned on dev queries if the index was tuned, fixed otherwise: see ``Calibration``.
        """
        return self.calibration.probabilities(mention, candidates)

    def summary(self) -> Summary:
        """Return what is known of the nested generators together."""
        known = [each.summary() for each in self.nested if isinstance(each, Summarizes)]
        return Summary(
            "Cascade",
            next((each.language for each in known if each.language), None),
            tuple(dict.fromkeys(pivot for each in known for pivot in each.pivots)),
            max((each.entities or 0 for each in known), default=None),
            postings=sum(each.postings or 0 for each in known) or None,
        )

    def __repr__(self) -> str:
        return str(self.summary())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all generators to one folder that ``candgen.load`` opens."""
        index_folder.save(path, **self.contents()._asdict())

    def contents(self) -> Contents:
        """What is stored: the contents of each generator, under a name of its own."""
        described, arrays, inputs = pack_parts(self.nested, "cascade")
        return Contents("cascade", {"fill": self.fill, "parts": described}, arrays, inputs)

    @classmethod
    def from_stored(cls, stored: StoredIndex, open_part: Callable[[StoredIndex], Any]) -> "Cascade":
        """The cascade that was saved; ``open_part`` makes a generator of what is stored of it."""
        parts = [
            open_part(stored_part(stored, at)) for at in range(len(stored.parameters["parts"]))
        ]
        made = cls(*parts, fill=stored.parameters["fill"])
        made.calibration = Calibration.from_stored(stored)
        return made
