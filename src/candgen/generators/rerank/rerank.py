"""Rerank: a second stage that puts the first candidates of another generator into order."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, Unpack

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError, check_whole_number
from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query
from candgen.generators.index_base import IndexBase
from candgen.generators.inputs import collect_tables
from candgen.generators.nesting import pack_nested, stored_nested
from candgen.generators.pivot.pivot_token_index import IndexParameters, PivotTokenIndex
from candgen.generators.rerank.candidate_pool import CandidatePool
from candgen.generators.rerank.explanation import RerankExplanation, explain
from candgen.generators.rerank.first_stage import number_entities, read_tables
from candgen.generators.rerank.simulated_mentions import simulate_mentions
from candgen.generators.rerank.stage import Stage
from candgen.generators.rerank.weights import (
    LEAST_WEIGHTS,
    PRIOR_STRENGTH,
    ZERO_SHOT_PRIOR_STRENGTH,
    Weights,
    check_weights,
    learn_weights,
)
from candgen.protocols import (
    Names,
    Progress,
    Summarizes,
    Summary,
    covers,
    is_generator,
    no_progress,
)
from candgen.storage.index_folder import Contents, StoredIndex, add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_count, check_mapping, check_range
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.tables.source_mentions import SourceMention
from candgen.text.normalize import check_normalizer

DEPTH = 300
MENTIONS_AT_ONCE = 256

log = logging.getLogger("candgen")


@dataclass(frozen=True, repr=False, eq=False, init=False)
class Rerank(IndexBase):
    """Ask a generator for ``depth`` candidates, and order them by how similar their names are.

    The order depends on the score of the first stage, on how likely the mention is a copy of one of
    the entity's names (by edits that are learned from names of the same entities in two languages),
    on how frequent that name is, and on how well known the entity is: see ``Weights``. The weights
    are learned on ``dev`` queries; without any, they are fixed. Translations of words are learned
    too: a mention that has some is also asked with its words translated, see ``Translations``.

    Names of entities that the generator does not know are learned from, and not kept.

    Args:
        generator: The first stage: any generator, or one of your own.
        pivots: Mention tables of other languages, by language code, from which names are taken;
            they may be more than those of the generator. Without pivots and target, the names are
            those of the generator, if it is a PivotTokenIndex.
        target: The mention table of the target language. Neither it nor the pivots may hold the
            mentions of medium and hard ``dev`` queries.
        language: Code of the target language, which is also the language of the queries.
        names: Names of the target without entities: like those of its table, they teach endings.
        sitelinks: How many sitelinks entities have, which tells how well known they are: see
            ``candgen.tables.entities.read_sitelinks``.
        dev: Held-out queries on which the weights are learned.
        depth: How many candidates of the first stage are put into order.
        normalizer: Text normalizer for comparing names; independent of the first stage's.
        weights: Weights to use in place of learned ones.
        progress: Called with the name of the current step and the fraction of it that is done.

    >>> from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
    >>> icelandic = MentionTable.from_pairs(
    ...     [("Moskva", "Q649"), ("Moska", "Q32815"), ("Moso", "Q43347")])
    >>> index = PivotTokenIndex.build({"is": icelandic}, language="fo")
    >>> [[candidate.entity for candidate in generator.candidates(["Moskwa"])[0]]
    ...  for generator in (index, Rerank(index))]
    [['Q32815', 'Q649', 'Q43347'], ['Q649', 'Q32815', 'Q43347']]
    """

    first_stage: Any
    """The generator whose candidates are put into order."""
    stage: Stage
    """Names of entities, the edit model, translations of words, and weights."""
    depth: int
    spelling_of: npt.NDArray[np.int32]
    """Of each entity of an index as first stage, its number among the spellings: see ``ask``."""
    learned: Mapping[str, int]
    """How many pairs of names, dev queries and words were learned from."""

    def __init__(
        self,
        generator: Any,  # noqa: ANN401
        *,
        pivots: Mapping[str, MentionTable] | None = None,
        target: MentionTable | None = None,
        language: str | None = None,
        names: Sequence[str] = (),
        sitelinks: Mapping[str, int] | None = None,
        dev: Sequence[Query] = (),
        depth: int = DEPTH,
        normalizer: str = "latin",
        weights: Weights | Mapping[str, float] | None = None,
        progress: Progress = no_progress,
    ) -> None:
        _check_generator(generator)
        depth = check_whole_number("depth", depth)
        check_normalizer(normalizer)
        queries = _check_queries(dev)
        if not pivots and target is None:
            pivots, target, own_language = read_tables(generator)
            language = language or own_language
        collect_tables(dict(pivots or {}), target, language, {})  # checks them
        progress("learning edits", 0.0)
        stage, pairs = Stage.build(
            dict(sorted((pivots or {}).items())),
            target,
            language,
            normalizer,
            generator.knows if covers(generator) else None,
            names,
            sitelinks,
        )
        self._set(
            first_stage=generator,
            stage=stage if weights is None else replace(stage, weights=check_weights(weights)),
            depth=depth,
            spelling_of=number_entities(generator, stage.spellings),
            learned={"pairs": pairs, "queries": 0, "words": len(stage.translations.words)},
            calibration=Calibration.default("rerank"),
        )
        if queries and weights is None:
            progress("learning weights on dev", 0.5)
            self._set(**vars(self._learn_weights(queries, target)))

    def _set(self, **fields: object) -> Self:
        """Set fields of a new object; the class is frozen, so only its own methods can do it."""
        self.__dict__.update(fields)
        return self

    @classmethod
    def build(
        cls,
        pivots: Mapping[str, MentionTable] | None = None,
        target: MentionTable | None = None,
        *,
        language: str | None = None,
        names: Sequence[str] = (),
        sitelinks: Mapping[str, int] | None = None,
        dev: Sequence[Query] = (),
        depth: int = DEPTH,
        normalizer: str = "latin",
        threads: int = 1,
        progress: Progress = no_progress,
        **parameters: Unpack[IndexParameters],
    ) -> "Rerank":
        """Build both stages: a PivotTokenIndex, and the second stage from the same tables.

        A pivot with alpha 0 takes no room in the index, but the second stage keeps its names.

        Args:
            pivots: Mention tables of related languages, by language code.
            target: The mention table of the target language, if there is one.
            language: Code of the target language, which is also the language of the queries.
            names: Names of the target without entities, from which endings of words are learned.
            sitelinks: How many sitelinks entities have.
            dev: Held-out queries on which the weights of the second stage are learned. The tables
                must not hold the mentions of medium and hard ones.
            depth: How many candidates of the first stage are put into order.
            normalizer: Text normalizer of the first stage; the second always compares names with
                "latin".
            threads: How many threads prepare the search.
            progress: Called with the name of the current step and the fraction of it that is done.
            parameters: Further parameters of `PivotTokenIndex.build`: alpha, lam, threshold,
                tokenizer, fusion and smoothing.

        Returns:
            The generator, ready for ``candidates``, ``explain`` and ``save``.
        """
        index = PivotTokenIndex.build(
            pivots,
            target,
            language=language,
            normalizer=normalizer,
            threads=threads,
            progress=progress,
            **parameters,
        )
        return cls(
            index,
            pivots=pivots,
            target=target,
            language=language,
            names=names,
            sitelinks=sitelinks,
            dev=dev,
            depth=depth,
            progress=progress,
        )

    def with_weights(self, weights: Weights | Mapping[str, float], *, queries: int = 0) -> "Rerank":
        """Return the same generator with other weights of the second stage.

        Args:
            weights: A finite number for each field of ``Weights``.
            queries: How many dev queries they were learned from, for ``learned``.
        """
        stage = replace(self.stage, weights=check_weights(weights))
        return self._copy(stage=stage, learned={**self.learned, "queries": queries})

    def with_first_stage(self, generator: Any) -> "Rerank":  # noqa: ANN401 (any generator)
        """Return the same second stage over another generator.

        Args:
            generator: The new first stage, with the same entities as the old one.
        """
        _check_generator(generator)
        spelling_of = number_entities(generator, self.stage.spellings)
        return self._copy(first_stage=generator, spelling_of=spelling_of)

    @classmethod
    def of_stage(cls, generator: Any, stage: Stage, *, learned: Mapping[str, int]) -> "Rerank":  # noqa: ANN401
        """Return a second stage that was made elsewhere, over a generator.

        Args:
            generator: The first stage.
            stage: The second stage.
            learned: How many pairs of names, dev queries and words it was learned from.
        """
        _check_generator(generator)
        calibration = Calibration.default("rerank")
        made = object.__new__(cls)
        return made._set(
            first_stage=generator,
            stage=stage,
            depth=DEPTH,
            spelling_of=number_entities(generator, stage.spellings),
            learned=dict(learned),
            calibration=calibration,
        )

    def _copy(self, **changes: object) -> Self:
        made = object.__new__(type(self))
        return made._set(**{**vars(self), **changes})

    def _learn_weights(self, dev: list[Query], target: MentionTable | None) -> "Rerank":
        """Return the generator with weights from the dev queries whose gold the pool has.

        Each query is also asked as it might stand in a text: see ``simulate_mentions``. These are
        not among the names, so they must not teach that a name which is there verbatim counts less.
        Nor must names of a list, in which every entity stands once, teach that people prefer to
        write about what is less known.
        """
        _warn_of_leaks(dev, target)
        asked = [*dev, *simulate_mentions(dev)]
        pool = self._pool([query.mention for query in asked], self.depth)
        rows = [pool.row_of(number, query.entity) for number, query in enumerate(asked)]
        gold = np.array([-1 if row is None else row for row in rows], np.int64)
        strength = ZERO_SHOT_PRIOR_STRENGTH if target is None else PRIOR_STRENGTH
        weights = learn_weights(pool.values, pool.starts, gold, strength=strength)
        least = {name: max(getattr(weights, name), value) for name, value in LEAST_WEIGHTS.items()}
        weights = weights._replace(**least)
        return self.with_weights(weights, queries=int(np.count_nonzero(gold[: len(dev)] >= 0)))

    @property
    def weights(self) -> Weights:
        """What each property of a candidate weighs."""
        return self.stage.weights

    @property
    def language(self) -> str | None:
        """The language of the queries."""
        return self.stage.language

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[Candidate]]:
        """Return the k best entities for each mention, best first.

        With v the sum of weights times properties, the first ``depth`` of the generator have

            score = 1 + (1 + v / (1 + |v|)) / 2

        and those that come after them, in their order, s / (1 + s), s being their score there.

        Args:
            mentions: The mentions, as they stand in the text.
            k: The largest number of candidates for a mention.
        """
        checked = check_query(mentions, k)
        answers: list[list[Candidate]] = []
        for first in range(0, len(checked), MENTIONS_AT_ONCE):
            pool = self._pool(checked[first : first + MENTIONS_AT_ONCE], k)
            answers += pool.order(self.weights, k)
        return answers

    def _pool(self, mentions: list[str], k: int) -> CandidatePool:
        return CandidatePool.gather(
            self.first_stage, self.spelling_of, self.stage, mentions, k, self.depth
        )

    @property
    def nested(self) -> tuple[Any]:
        """The generators that are stored inside this one."""
        return (self.first_stage,)

    def knows(self, entities: Sequence[str]) -> list[bool]:
        """Return, for each entity, whether the first stage knows it.

        Raises ParameterError if it cannot tell: see ``candgen.protocols.covers``.
        """
        if not covers(self.first_stage):
            raise ParameterError(f"the first stage, {self.first_stage!r}, has no method knows")
        return list(self.first_stage.knows(entities))

    def names(self, entity: str) -> list[SourceMention]:
        """Return the mentions of an entity, as the first stage has them; none if it has none."""
        first = self.first_stage
        return list(first.names(entity)) if isinstance(first, Names) else []

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes, those of the first stage."""
        first = self.first_stage
        known = first.summary() if isinstance(first, Summarizes) else Summary("", None, (), None)
        return known._replace(method="Rerank", language=self.language or known.language)

    def explain(self, mention: str, entity: str) -> RerankExplanation:
        """Return where an entity stands, where the first stage had it, and what moved it.

        Args:
            mention: The mention, as it stands in the text.
            entity: The id of one of the candidates that are put into order for it.
        """
        check_query([mention], 1)
        pool = self._pool([mention], self.depth)
        (order,) = pool.order(self.weights, int(pool.starts[-1]))
        return explain(self.first_stage, self.stage, mention, entity, pool, order)

    def validate(self) -> None:
        """Raise ValueError unless the second stage is as it is learned."""
        check_count("depth", self.depth, minimum=1)
        for name, number in check_mapping("learned", self.learned).items():
            check_count(f"learned {name}", number)
        check_weights(self.stage.weights)
        self.stage.validate()
        is_index = isinstance(self.first_stage, PivotTokenIndex)
        entities = len(self.first_stage.token_index.entities) if is_index else 0
        check_array("spelling_of", self.spelling_of, np.int32, entities)
        check_range("spelling_of", self.spelling_of, -1, len(self.stage.spellings.entities) - 1)

    def contents(self) -> Contents:
        """Return what `save` writes: the first stage, and beside it the second."""
        described, arrays, inputs = pack_nested([self.first_stage], "second stage")
        parameters = {
            "depth": self.depth,
            "learned": self.learned,
            "parts": described,
            **self.stage.parameters(),
        }
        own = {**add_prefix("stage", self.stage.arrays()), "spelling_of": self.spelling_of}
        return Contents("rerank", parameters, {**arrays, **own}, inputs)

    @classmethod
    def from_stored(
        cls, stored: StoredIndex, open_nested: Callable[[StoredIndex], Any]
    ) -> "Rerank":
        """Return what was saved; ``open_nested`` opens the first stage inside it."""
        (first,) = stored_nested(stored)
        made = object.__new__(cls)
        return made._set(
            first_stage=open_nested(first),
            stage=Stage.from_stored(stored.parameters, strip_prefix("stage", stored.arrays)),
            depth=stored.parameters["depth"],
            spelling_of=stored.arrays["spelling_of"],
            learned=stored.parameters["learned"],
            calibration=Calibration.from_stored(stored),
        )


def _check_generator(generator: object) -> None:
    if not is_generator(generator):
        raise ParameterError(
            f"the generator is {generator!r}, which cannot be asked for candidates: "
            "expected one that is built, such as a PivotTokenIndex"
        )


def _check_queries(dev: object) -> list[Query]:
    """Return dev queries as a list; raise ParameterError for anything else."""
    if not isinstance(dev, Sequence) or not all(isinstance(each, Query) for each in dev):
        raise ParameterError(
            f"dev is {dev!r:.60}: expected a list of queries, such as [Query('Vín', 'Q1741')]"
        )
    return list(dev)


def _warn_of_leaks(dev: list[Query], target: MentionTable | None) -> None:
    """Log a warning if medium or hard queries are in the training data."""
    if target is None:
        return
    wanted = {(query.mention, query.entity) for query in dev if query.type in ("medium", "hard")}
    held = sum((mention, entity) in wanted for mention, entity, _ in target) if wanted else 0
    if held:
        log.warning(
            "%d of the dev queries are in the target's table though they are not easy: the weights "
            "will trust equal names too much. Take them out of the table, as candgen split does",
            held,
        )
