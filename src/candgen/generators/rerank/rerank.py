"""Rerank: the first candidates of another generator, put into a better order."""

import logging
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError
from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query
from candgen.generators.inputs import tables_of
from candgen.generators.nesting import pack_parts, stored_part
from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
from candgen.generators.rerank.candidate_pool import Answer, Seen
from candgen.generators.rerank.explanation import RerankExplanation, explain
from candgen.generators.rerank.stage import Features, Stage
from candgen.generators.rerank.weights import Weights, learn_weights
from candgen.protocols import (
    Names,
    Progress,
    Summarizes,
    Summary,
    covers,
    is_generator,
    no_progress,
)
from candgen.storage import index_folder
from candgen.storage.index_folder import Contents, StoredIndex, add_prefix, strip_prefix
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.tables.source_mentions import SourceMention
from candgen.text.normalize import check_normalizer

DEPTH = 300
AT_ONCE = 256
"""Mentions that are put into order together."""


log = logging.getLogger("candgen")


class Rerank:
    """Ask a generator for ``depth`` candidates, and order them by how like the mention they are.

    What counts is the score of the first stage, how likely the mention is a copy of one of the
    entity's names (by edits that are learned from names of the same entities in two languages), how
    frequent that name is, and how well known the entity: see ``Weights``. The weights are learned
    on ``dev`` queries; without any, they are fixed ones. Words that names translate are learned
    too: a mention that has some is also asked with their translations, see ``Lexicon``.

    The names are those of the generator, if it is a PivotTokenIndex, or of the tables that are
    given, which may be of more languages. Neither may hold the mentions of ``dev`` queries that are
    not easy. Names of entities that the generator does not know are learned from, and not kept.

    >>> from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
    >>> icelandic = MentionTable.from_pairs(
    ...     [("Moskva", "Q649"), ("Moska", "Q32815"), ("Moso", "Q43347")])
    >>> index = PivotTokenIndex.build({"is": icelandic}, language="fo")
    >>> [[candidate.entity for candidate in generator.candidates(["Moskwa"])[0]]
    ...  for generator in (index, Rerank(index))]
    [['Q32815', 'Q649', 'Q43347'], ['Q649', 'Q32815', 'Q43347']]
    """

    def __init__(
        self,
        generator: Any,  # noqa: ANN401
        *,
        pivots: Mapping[str, MentionTable] | None = None,
        target: MentionTable | None = None,
        language: str | None = None,
        dev: Sequence[Query] = (),
        depth: int = DEPTH,
        normalizer: str = "latin",
        weights: Weights | Mapping[str, float] | None = None,
        progress: Progress = no_progress,
    ) -> None:
        if not is_generator(generator):
            raise ParameterError(
                f"the generator is {generator!r}, which cannot be asked for candidates: "
                "expected one that is built, such as a PivotTokenIndex"
            )
        check_depth(depth)
        check_normalizer(normalizer)
        queries = _queries(dev)
        if not pivots and target is None:
            pivots, target, spoken = _names_of(generator)
            language = language or spoken
        tables_of(dict(pivots or {}), target, language, {})  # refuses what is no table
        progress("learning edits", 0.0)
        stage, pairs = Stage.build(
            dict(sorted((pivots or {}).items())),
            target,
            language,
            normalizer,
            generator.knows if covers(generator) else None,
        )
        if weights is not None:
            stage = replace(stage, weights=_checked(weights))
        self.first_stage: Any = generator
        self.calibration = Calibration.default("rerank")
        self.depth = depth
        self.stage = stage
        self.learned = {"pairs": pairs, "queries": 0, "words": len(stage.lexicon.words)}
        if queries and weights is None:
            progress("learning weights on dev", 0.5)
            self._learn(queries, target)

    def _learn(self, dev: list[Query], target: MentionTable | None) -> None:
        """Choose weights by the dev queries whose gold is among the first candidates."""
        _warn_of_leaks(dev, target)
        seen = self._seen([query.mention for query in dev], self.depth)
        starts = seen.features.starts
        gold = np.full(len(dev), -1, np.int64)
        for number, (query, answer) in enumerate(zip(dev, seen.answers, strict=True)):
            compared = answer[: starts[number + 1] - starts[number]]
            places = (at for at, (entity, _) in enumerate(compared) if entity == query.entity)
            gold[number] = next((starts[number] + at for at in places), -1)
        weights = learn_weights(seen.features.values, starts, gold)
        self.stage = replace(self.stage, weights=weights)
        self.learned["queries"] = int(np.count_nonzero(gold >= 0))

    @property
    def weights(self) -> Weights:
        """What each property of a candidate weighs."""
        return self.stage.weights

    @property
    def language(self) -> str | None:
        """The language of the queries."""
        return self.stage.language

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[Candidate]]:
        """The k best entities for each mention, best first.

        With v the sum of weights times properties, the first ``depth`` of the generator have

            score = 1 + (1 + v / (1 + |v|)) / 2

        and those that come after them, in their order, s / (1 + s), s being their score there.
        """
        asked = check_query(mentions, k)
        answers: list[list[Candidate]] = []
        for first in range(0, len(asked), AT_ONCE):
            seen = self._seen(asked[first : first + AT_ONCE], k)
            scores, starts = self._scores(seen.features), seen.features.starts
            for number, answer in enumerate(seen.answers):
                answers.append(_ordered(answer, scores[starts[number] : starts[number + 1]], k))
        return answers

    def _seen(self, mentions: list[str], k: int) -> Seen:
        return Seen.of(self.first_stage, self.stage, mentions, k, self.depth)

    def _scores(self, features: Features) -> npt.NDArray[np.float64]:
        # Not a product of matrices, which may round a row otherwise in other company.
        value = np.zeros(len(features.values), np.float64)
        for weight, column in zip(self.weights, features.values.T, strict=True):
            value += weight * column
        return 1.0 + 0.5 * (1.0 + value / (1.0 + np.abs(value)))

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

    def probabilities(self, mention: str, candidates: Sequence[tuple[str, float]]) -> list[float]:
        """Return how likely each candidate is the right one; ask for at least 30 candidates.

        Learned on dev queries if the index was tuned, fixed otherwise: see ``Calibration``.
        """
        return self.calibration.probabilities(mention, candidates)

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes, those of the first stage."""
        first = self.first_stage
        known = first.summary() if isinstance(first, Summarizes) else Summary("", None, (), None)
        return known._replace(method="Rerank", language=self.language or known.language)

    def __repr__(self) -> str:
        return str(self.summary())

    def explain(self, mention: str, entity: str) -> RerankExplanation:
        """Why the entity stands where it does, and where the first stage had it."""
        check_query([mention], 1)
        seen = self._seen([mention], self.depth)
        scores = self._scores(seen.features)
        order = _ordered(seen.answers[0], scores, len(scores))
        return explain(self.first_stage, self.stage, mention, entity, seen, order)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both stages to a folder that ``candgen.load`` opens."""
        index_folder.save(path, **self.contents()._asdict())

    def contents(self) -> Contents:
        """What is stored: the generator, and beside it the second stage."""
        described, arrays, inputs = pack_parts([self.first_stage], "second stage")
        parameters = {
            "depth": self.depth,
            "learned": self.learned,
            "parts": described,
            **self.stage.parameters(),
        }
        return Contents(
            "rerank", parameters, {**arrays, **add_prefix("stage", self.stage.arrays())}, inputs
        )

    @classmethod
    def from_stored(cls, stored: StoredIndex, open_part: Callable[[StoredIndex], Any]) -> "Rerank":
        """What was saved; ``open_part`` makes a generator of what is stored of it."""
        made = cls.__new__(cls)
        made.calibration = Calibration.from_stored(stored)
        made.first_stage = open_part(stored_part(stored, 0))
        made.depth = stored.parameters["depth"]
        made.learned = stored.parameters["learned"]
        made.stage = Stage.from_stored(stored.parameters, strip_prefix("stage", stored.arrays))
        return made


def check_depth(depth: object) -> int:
    """A number of candidates."""
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise ParameterError(f"depth is {depth!r}: expected a whole number of at least 1")
    return depth


def _queries(dev: object) -> list[Query]:
    """Dev queries as a list."""
    if not isinstance(dev, Sequence) or not all(isinstance(each, Query) for each in dev):
        raise ParameterError(
            f"dev is {dev!r:.60}: expected a list of queries, such as [Query('Vín', 'Q1741')]"
        )
    return list(dev)


def _ordered(answer: Answer, scores: npt.NDArray[np.float64], k: int) -> list[Candidate]:
    """The first k by their new scores, then those that have none, in their order.

    Equal scores are ordered as everywhere: the shorter id first, then the smaller one. Where
    s / (1 + s) would make one number of two, the worse gets the next smaller one.
    """
    near = np.arange(len(scores))
    if len(scores) > k:
        near = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
    mine = [answer[at][0] for at in near.tolist()]
    first = sorted(zip((-scores[near]).tolist(), map(len, mine), mine, strict=True))
    ordered = [Candidate(entity, -score) for score, _, entity in first[:k]]
    before, last = math.inf, 1.0
    for entity, given in answer[len(scores) : k]:
        score = float(given)
        last = min(score / (1.0 + score), math.nextafter(last, 0.0) if score < before else last)
        before = score
        ordered.append(Candidate(entity, last))
    return ordered


def _names_of(
    generator: Any,  # noqa: ANN401
) -> tuple[dict[str, MentionTable], MentionTable | None, str | None]:
    """The tables that a PivotTokenIndex was built from, from the mentions that it keeps."""
    if not isinstance(generator, PivotTokenIndex):
        raise ParameterError(
            f"{type(generator).__name__} does not keep the names of its entities: "
            "give pivots, a target or both"
        )
    tables = generator.sources.tables(generator.token_index.all_ids())
    target = tables.pop(generator.parameters["target"] or "", None)
    return tables, target, generator.language


def _warn_of_leaks(dev: list[Query], target: MentionTable | None) -> None:
    """Say so if queries that should be difficult are in the training data."""
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


def _checked(weights: Weights | Mapping[str, float]) -> Weights:
    given = weights._asdict() if isinstance(weights, Weights) else weights
    if (
        not isinstance(given, Mapping)
        or set(given) != set(Weights._fields)
        or not all(isinstance(value, int | float) and abs(value) < 1e30 for value in given.values())
    ):
        raise ParameterError(
            f"weights is {weights!r}: expected a finite number for each of "
            f"{', '.join(Weights._fields)}"
        )
    return Weights(**{name: float(value) for name, value in given.items()})
