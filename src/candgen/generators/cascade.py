"""Cascade: several generators, of which the later ones are asked where the earlier ones fail."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from candgen.errors import ParameterError, check_flag
from candgen.generators.calibration import DEFAULT as DEFAULT_CALIBRATION
from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query
from candgen.generators.index_base import IndexBase
from candgen.generators.nesting import pack_nested, stored_nested
from candgen.generators.pivot.pivot_token_index import IndexParameters, PivotTokenIndex
from candgen.generators.tiers import ask_in_turn
from candgen.generators.wikipriors import WikiPriors
from candgen.protocols import (
    Names,
    Progress,
    Summarizes,
    Summary,
    covers,
    is_generator,
    no_progress,
)
from candgen.storage.index_folder import Contents, StoredIndex
from candgen.tables.mention_table import MentionTable
from candgen.tables.source_mentions import SourceMention


@dataclass(frozen=True, repr=False, eq=False, init=False)
class Cascade(IndexBase):
    """Ask one generator, and the next one for the mentions for which it finds nothing.

    This is the paper's advice for languages with much data: WikiPriors first, PivotTokenIndex only
    where it retrieves no candidate. With ``fill``, later generators also fill the places that
    earlier ones leave empty. Any generators can be combined, including your own, if they return
    positive scores, best first: an entity without a positive score, or a repeated one, is dropped.

    Args:
        first: The generator that is asked first.
        then: The generator that is asked next.
        more: Further generators, in order.
        fill: Whether later generators also fill places that earlier ones leave empty.
        calibration: What turns scores into probabilities; the fixed one if not given.

    >>> class ExactNames:
    ...     def candidates(self, mentions, k=30):
    ...         return [[("Q282", 1.0)] if mention == "Vín" else [] for mention in mentions]
    >>> class Guess:
    ...     def candidates(self, mentions, k=30):
    ...         return [[("Q1741", 3.0), ("Q282", 1.0)][:k] for _ in mentions]
    >>> def shown(cascade):
    ...     return [[tuple(c) for c in some] for some in cascade.candidates(["Vín", "Wien"])]
    >>> shown(Cascade(ExactNames(), Guess()))
    [[('Q282', 1.5)], [('Q1741', 0.75), ('Q282', 0.5)]]
    >>> shown(Cascade(ExactNames(), Guess(), fill=True))
    [[('Q282', 1.5), ('Q1741', 0.75)], [('Q1741', 0.75), ('Q282', 0.5)]]
    """

    nested: tuple[Any, ...]
    fill: bool

    def __init__(
        self,
        first: Any,  # noqa: ANN401 (any generator)
        then: Any,  # noqa: ANN401
        *more: Any,  # noqa: ANN401
        fill: bool = False,
        calibration: Calibration = DEFAULT_CALIBRATION,
    ) -> None:
        nested = (first, then, *more)
        # The dictionary, because the fields of a frozen dataclass cannot be assigned.
        self.__dict__.update(nested=nested, fill=check_flag("fill", fill), calibration=calibration)
        for number, each in enumerate(nested, start=1):
            if not is_generator(each):
                raise ParameterError(
                    f"generator {number} is {each!r}, which cannot be asked for candidates: "
                    "expected one that is built, such as a PivotTokenIndex"
                )

    @classmethod
    def build(
        cls,
        pivots: Mapping[str, MentionTable] | None = None,
        target: MentionTable | None = None,
        *,
        language: str | None = None,
        fill: bool = False,
        normalizer: str = "default",
        threads: int = 1,
        progress: Progress = no_progress,
        **parameters: Unpack[IndexParameters],
    ) -> "Cascade":
        """Build WikiPriors and a PivotTokenIndex from the same tables, and put them in a cascade.

        Args:
            pivots: Mention tables of related languages, by language code.
            target: The mention table of the target language, if there is one.
            language: Code of the target language, which is also the language of the queries.
            fill: Whether the PivotTokenIndex also fills the places that WikiPriors leaves empty.
            normalizer: Text normalizer, for the tables and for the queries.
            threads: How many threads prepare the search.
            progress: Called with the name of the current step and the fraction of it that is done.
            parameters: Further parameters of `PivotTokenIndex.build`: alpha, lam, threshold,
                tokenizer, fusion and smoothing. WikiPriors has no weights: it also uses a pivot
                whose alpha is 0.

        Returns:
            The cascade, ready for ``candidates`` and ``save``.
        """
        common: dict[str, Any] = {
            "language": language,
            "normalizer": normalizer,
            "threads": threads,
            "progress": progress,
        }
        first = WikiPriors.build(pivots, target, **common)
        then = PivotTokenIndex.build(pivots, target, **common, **parameters)
        return cls(first, then, fill=fill)

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[Candidate]]:
        """Return the first k entities for each mention, those of earlier generators first.

            score = number of generators left + s / (1 + s),  s the score that its generator gives

        Args:
            mentions: The mentions, as they stand in the text.
            k: The largest number of candidates for a mention.
        """
        checked = check_query(mentions, k)
        return ask_in_turn([each.candidates for each in self.nested], checked, k, fill=self.fill)

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

    def validate(self) -> None:
        """Raise ValueError unless the only parameter is valid."""
        check_flag("fill", self.fill)

    def contents(self) -> Contents:
        """Return what `save` writes: the contents of each generator, under its own prefix."""
        described, arrays, inputs = pack_nested(self.nested, "cascade")
        return Contents("cascade", {"fill": self.fill, "parts": described}, arrays, inputs)

    @classmethod
    def from_stored(
        cls, stored: StoredIndex, open_nested: Callable[[StoredIndex], Any]
    ) -> "Cascade":
        """Return the cascade that was saved; ``open_nested`` opens the generators inside it."""
        return cls(
            *map(open_nested, stored_nested(stored)),
            fill=stored.parameters["fill"],
            calibration=Calibration.from_stored(stored),
        )
