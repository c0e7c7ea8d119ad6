"""An index from a target's names and a folder of other languages: all is chosen, and said why."""

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from candgen.errors import ParameterError
from candgen.evaluation import metrics
from candgen.evaluation.ceilings import candidate_space, ceiling
from candgen.evaluation.evaluate import evaluate, tune
from candgen.evaluation.pivot_ranking import PivotRanking, rank_pivots
from candgen.evaluation.report import Report
from candgen.evaluation.split import Split, split
from candgen.evaluation.tuning import Tuning
from candgen.generators.calibration import Calibration
from candgen.generators.rerank.method import RERANK
from candgen.generators.rerank.rerank import DEPTH, Rerank
from candgen.protocols import Progress, Training, no_progress
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import EASY, Query

log = logging.getLogger("candgen")

MOST_PIVOTS = 8
LEAST_GAIN = 0.2
"""Points of likeness that a language must add to be tried as a pivot."""
ENGLISH = "en"
"""Has a name for nearly every entity, so that it is tried even if its names are not alike."""

NORMALIZERS = ("default", "latin", "sound")
"""From the simplest to the one that changes most."""
MIN_NORMALIZER_GAIN = 0.3
"""Points by which a normalizer must be ahead of a simpler one."""
DEFAULTS_WITHOUT_DEV: Mapping[str, Any] = {"alpha": 1.0, "lam": 1.0, "normalizer": "latin"}
"""Where there are no dev queries."""
FEWEST_QUERIES = 30
STAGES = ("first stage", "both stages")
QUERIES_OF_A_TYPE = 1000


@dataclass(frozen=True)
class Auto:
    """What was built, and why so.

    ``reasons`` are sentences. ``tuning``, ``report`` and ``calibration`` are None where the target
    has no entities, or too few to hold any back. The report has the recalls of both stages on test
    queries, which have chosen nothing: easy ones, which the training data has, and others, which
    were held back. The generator is built from all pairs, these included.
    """

    generator: Rerank
    ranking: PivotRanking
    reasons: tuple[str, ...]
    tuning: Tuning | None = field(default=None, repr=False)
    report: Report | None = field(default=None, repr=False)
    calibration: Calibration | None = field(default=None, repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the generator, and with it what its scores are worth, for ``candgen.load``."""
        self.generator.save(path)
        if self.calibration is not None:
            self.calibration.store(path)


def build_auto(
    target: MentionTable | Sequence[str],
    candidates: Mapping[str, MentionTable],
    *,
    language: str | None = None,
    most: int = MOST_PIVOTS,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Auto:
    """Choose pivots, normalizer and weights for a target, and build both stages.

    The target is a mention table, of which some pairs are held back to choose by, or names without
    entities: then nothing can be tuned. ``candidates`` are the tables of other languages, read one
    at a time.
    """
    if isinstance(target, str) or not isinstance(target, MentionTable | Sequence):
        raise ParameterError(f"the target is {target!r}: expected a table, or several names")
    names = None if isinstance(target, MentionTable) else list(target)
    if names is not None and not names:
        raise ParameterError("the target has no names: give a table, or at least one name")
    parts = _parts(target, seed, language) if isinstance(target, MentionTable) else None
    known = names if names is not None else target if parts is None else parts.train
    assert known is not None  # noqa: S101
    own = target if isinstance(target, MentionTable) else None
    ranking, pivots = choose_pivots(
        known, candidates, language=language, most=most, own=own, progress=progress
    )
    reasons = [why_pivots(ranking, pivots, len(candidates), known)]
    if parts is None:
        table = target if isinstance(target, MentionTable) else None
        training = Training(pivots, table, language, progress=progress)
        reasons.append(_why_untuned(table))
        return Auto(RERANK.build(training, DEFAULTS_WITHOUT_DEV), ranking, tuple(reasons))  # type: ignore[arg-type]
    training = Training(pivots, parts.train, language, dev=parts.dev, progress=progress)
    normalizer, why = choose_normalizer(training, parts.dev)
    tuning = tune(RERANK, training, parts.dev, fixed={"normalizer": normalizer})
    parameters = {"normalizer": normalizer, **tuning.best.parameters}
    reasons += [why, *_why_weights(tuning)]
    tried: Any = RERANK(training, parameters)
    report = evaluate(
        dict(zip(STAGES, (tried.first_stage, tried), strict=True)),
        parts.test,
        ks=(1, 10, 30),
        progress=progress,
    )
    reasons.append(_why_stage(report, tried))
    whole = Training(pivots, target, language, progress=progress)  # type: ignore[arg-type]
    index: Any = RERANK(whole, parameters)
    index = index.with_weights(tried.weights, queries=tried.learned["queries"])
    reasons.append(f"The index is built from all {len(target):,} pairs of the target.")
    progress("calibrating on dev", 0.0)
    calibration = Calibration.learn(tried, parts.dev)
    return Auto(index, ranking, tuple(reasons), tuning, report, calibration)


def choose_pivots(
    target: MentionTable | Sequence[str],
    candidates: Mapping[str, MentionTable],
    *,
    language: str | None = None,
    most: int = MOST_PIVOTS,
    own: MentionTable | None = None,
    progress: Progress = no_progress,
) -> tuple[PivotRanking, dict[str, MentionTable]]:
    """The languages whose names are most like the target's, and English; their tables are read.

    ``own`` is the whole table that the target is a part of: no pivot, under whatever name.
    """
    ranking = rank_pivots(
        target,
        candidates,
        by="closeness",
        language=language,
        most=most,
        least=LEAST_GAIN,
        own=own,
        progress=progress,
    )
    chosen = ranking.chosen()
    if not chosen:
        log.warning("no language has names like the target's: do not expect to find much")
        chosen = [row.language for row in ranking.rows[:1]]
    if any(row.language == ENGLISH for row in ranking.rows) and ENGLISH not in chosen:
        chosen.append(ENGLISH)
    return ranking, {name: candidates[name] for name in chosen}


def choose_normalizer(training: Training, dev: Sequence[Query]) -> tuple[str, str]:
    """The simplest normalizer that is not behind, and why: by what the second stage gets to see."""
    choices = [{**DEFAULTS_WITHOUT_DEV, "normalizer": each} for each in NORMALIZERS]
    if training.target is not None:
        choices = [{**choice, "alpha": 0.4} for choice in choices]
    training.progress("trying normalizers on dev", 0.0)
    assert RERANK.ranks is not None  # noqa: S101
    ranks = RERANK.ranks(training, choices, dev, DEPTH)
    found = [metrics.recall(some, DEPTH) for some in ranks]
    points = [recall + 20 * metrics.mrr(some) for recall, some in zip(found, ranks, strict=True)]
    best = 0
    for at in range(1, len(points)):
        if points[at] >= points[best] + MIN_NORMALIZER_GAIN:
            best = at
    listed = ", ".join(
        f"{recall:.1f} and {metrics.mrr(some):.3f} with {name}"
        for name, recall, some in zip(NORMALIZERS, found, ranks, strict=True)
    )
    return NORMALIZERS[best], (
        f"Text is folded by the normalizer {NORMALIZERS[best]}: recall@{DEPTH} and MRR of the "
        f"first stage on {len(dev):,} dev queries are {listed}."
    )


def _parts(target: MentionTable, seed: int, language: str | None) -> Split | None:
    """What is held back of the target; None if it is too small for that."""
    parts = split(
        target, per_type=QUERIES_OF_A_TYPE, seed=seed, normalizer="default", language=language
    )
    enough = min(len(parts.dev), len(parts.test)) >= FEWEST_QUERIES and len(parts.train) > 0
    return parts if enough else None


def why_pivots(
    ranking: PivotRanking,
    chosen: Mapping[str, MentionTable],
    languages: int,
    target: MentionTable | Sequence[str],
) -> str:
    """Why these pivots were chosen of so many languages, in a sentence or two."""
    gains = {row.language: row.gain for row in ranking.rows}
    parts = [
        f"{name} (for coverage)" if (gain := gains[name]) is None else f"{name} (+{gain:.1f})"
        for name in chosen
    ]
    if isinstance(target, MentionTable):
        queries = [Query(mention, entity) for mention, entity, _ in target]
        reach = ceiling(queries, candidate_space(*chosen.values()))["all"].recall
        covered = f"Together they have the entities of {reach:.1f}% of the target's pairs."
    else:
        reach = max((row.ceiling for row in ranking.rows if row.ceiling is not None), default=0.0)
        covered = f"By an estimate from {ranking.size:,} names they cover {reach:.1f}% of these."
    return (
        f"Pivots, of the {languages} in the folder, in the order in which they make names more "
        f"alike, with the points that each adds: {', '.join(parts)}. {covered}"
    )


def _why_untuned(table: MentionTable | None) -> str:
    why = "has no entities" if table is None else "is too small"
    return (
        f"The target {why}, so nothing can be held back to choose by: names are romanised, all "
        "pivots have alpha 1, lam is 1, and the second stage has its fixed weights."
    )


def _why_weights(tuning: Tuning) -> list[str]:
    chosen = (
        f"Chosen on {tuning.queries:,} dev queries: {tuning.best.described}; recall@{tuning.k} of "
        f"the first stage there is {tuning.best.recall:.1f}."
    )
    dropped = [
        f"The pivot {pivot.pivot} is left out of the first stage: it brings {pivot.loss:.2f} "
        f"points of recall@{tuning.pivots_k} and takes {pivot.share:.0%} of the postings."
        for pivot in tuning.pivots
        if not pivot.kept
    ]
    return [chosen, *dropped]


def _why_stage(report: Report, tried: Rerank) -> str:
    unseen = [number for number, query in enumerate(report.queries) if query.type != EASY]
    first, both = (_recalls(report, name, range(len(report.queries))) for name in STAGES)
    first_unseen, both_unseen = (_recalls(report, name, unseen) for name in STAGES)
    return (
        f"On {len(report.queries):,} test queries, recall@1, @10, @30 is {first} of the first "
        f"stage and {both} of both; on the {len(unseen):,} of them whose name was held back, it is "
        f"{first_unseen} and {both_unseen}. Edits were learned from {tried.learned['pairs']:,} "
        f"pairs of names, weights on {tried.learned['queries']:,} dev queries; "
        f"{tried.learned['words']:,} words are translated."
    )


def _recalls(report: Report, name: str, numbers: Sequence[int]) -> str:
    ranks = np.array([report.answers[name][number].rank for number in numbers], np.int64)
    if not len(ranks):
        return "unknown"
    return ", ".join(f"{metrics.recall(ranks, k):.1f}" for k in (1, 10, 30))
