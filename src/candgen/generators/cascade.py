"""Cascade: several generators, of which the later ones help where the earlier ones fail."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from candgen.errors import ParameterError
from candgen.generators.candidate import Candidate, check_query
from candgen.generators.nesting import pack_parts, stored_part
from candgen.generators.tiers import ask_in_turn
from candgen.storage import index_folder
from candgen.storage.index_folder import Contents, Stored
from candgen.tables.source_mentions import SourceMention

Knows = Callable[[Sequence[str]], list[bool]]


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
        self.parts = (first, then, *more)
        self.fill = fill
        if not isinstance(fill, bool):
            raise ParameterError(f"fill is {fill!r}: expected True or False")
        for number, part in enumerate(self.parts, start=1):
            if isinstance(part, type) or not callable(getattr(part, "candidates", None)):
                raise ParameterError(
                    f"generator {number} is {part!r}, which cannot be asked for candidates: "
                    "expected one that is built, such as a PivotTokenIndex"
                )

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[Candidate]]:
        """The first k entities for each mention, those of earlier generators first.

        score = number of generators left + s / (1 + s),  s the score that its generator gives
        """
        asked = check_query(mentions, k)
        return ask_in_turn([part.candidates for part in self.parts], asked, k, fill=self.fill)

    @property
    def knows(self) -> Knows | None:
        """``knows(entities)``: whom any generator knows; None if one of them cannot tell."""
        asks = [ask for part in self.parts if (ask := getattr(part, "knows", None)) is not None]
        if len(asks) < len(self.parts):
            return None

        def known(entities: Sequence[str]) -> list[bool]:
            return [any(answers) for answers in zip(*(ask(entities) for ask in asks), strict=True)]

        return known

    def names(self, entity: str) -> list[SourceMention]:
        """The mentions of an entity, from the first generator that has any."""
        for part in self.parts:
            if hasattr(part, "names") and (found := part.names(entity)):
                return list(found)
        return []

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all generators to one folder that ``candgen.load`` opens."""
        index_folder.save(path, **self.contents()._asdict())

    def contents(self) -> Contents:
        """What is stored: the contents of each generator, under a name of its own."""
        described, arrays, inputs = pack_parts(self.parts, "cascade")
        return Contents("cascade", {"fill": self.fill, "parts": described}, arrays, inputs)

    @classmethod
    def from_stored(cls, stored: Stored, open_part: Callable[[Stored], Any]) -> "Cascade":
        """The cascade that was saved; ``open_part`` makes a generator of what is stored of it."""
        parts = [
            open_part(stored_part(stored, at)) for at in range(len(stored.parameters["parts"]))
        ]
        return cls(*parts, fill=stored.parameters["fill"])
