"""Build an index automatically: choose pivots, normalizer and weights, and say why."""

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from candgen.errors import ParameterError
from candgen.evaluation import metrics
from candgen.evaluation.ceilings import candidate_space, ceiling
from candgen.evaluation.evaluate import evaluate
from candgen.evaluation.pivot_ranking import PivotRanking, rank_pivots
from candgen.evaluation.report import Report
from candgen.evaluation.split import Split, split
from candgen.evaluation.steps import Steps
from candgen.evaluation.tune import Tuning, tune
from candgen.generators.calibration import Calibration
from candgen.generators.pivot import method as pivot_method
from candgen.generators.pivot.weight_search import take_stratified
from candgen.generators.rerank.method import RERANK
from candgen.generators.rerank.rerank import DEPTH, Rerank
from candgen.generators.rerank.stage import Stage
from candgen.protocols import Progress, Training, no_progress
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import EASY, Query

log = logging.getLogger("candgen")

MAX_PIVOTS = 8
MIN_PIVOT_GAIN = 0.2
"""Points of trigram similarity that a language must add to become a pivot."""
ENGLISH = "en"
"""Tried even if its names are not similar: it has a name for nearly every entity."""

NORMALIZERS = ("default", "latin", "sound")
"""From the simplest to the one that changes text most."""
MIN_NORMALIZER_GAIN = 0.3
"""Points of recall + 20 MRR by which a normalizer must be better than a simpler one."""
NORMALIZER_QUERIES = CALIBRATION_QUERIES = 1000
DEFAULTS_WITHOUT_DEV: Mapping[str, Any] = {"alpha": 1.0, "lam": 1.0, "normalizer": "latin"}
"""The hyperparameters if there are no dev queries to tune on."""
MIN_QUERIES = 30
"""A target with fewer dev or test queries than these is not tuned on."""
QUERIES_PER_TYPE = 1000
STAGES = ("first stage", "both stages")
KS = (1, 10, 30)

STEPS: Mapping[str, float] = {
    "choosing pivots": 8,
    "comparing normalizers": 32,
    "choosing weights": 23,
    "learning from train and dev": 20,
    "measuring recall on test": 5,
    "building the index": 12,
}
"""The steps, with the percentage of the time that each takes, between small and large tables."""
STEPS_UNTUNED: Mapping[str, float] = {"choosing pivots": 30, "building the index": 70}


@dataclass(frozen=True)
class Auto:
    """A generator and why it was built this way: what ``build_auto`` returns.

    Attributes:
        generator: Both stages, built from all pairs of the target, the held-out ones included.
        ranking: All languages with their measures, the chosen pivots first.
        reasons: Every choice with its reason, a sentence or two each.
        tuning: What was tried on dev queries. This and the following are None if the target has
            no entities, or too few to hold any out.
        report: The recall of both stages on test queries, which were not used for any choice:
            easy ones, which the training data has, and others, which were held out.
        calibration: What turns the scores into probabilities.
    """

    generator: Rerank
    ranking: PivotRanking
    reasons: tuple[str, ...]
    tuning: Tuning | None = field(default=None, repr=False)
    report: Report | None = field(default=None, repr=False)
    calibration: Calibration | None = field(default=None, repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write generator and calibration to the folder ``path``, which ``candgen.load`` opens."""
        self.generator.save(path)
        if self.calibration is not None:
            self.calibration.store(path)


def build_auto(
    target: MentionTable | Sequence[str],
    candidates: Mapping[str, MentionTable],
    *,
    language: str | None = None,
    most: int = MAX_PIVOTS,
    seed: int = 0,
    exhaustive: bool = False,
    progress: Progress = no_progress,
) -> Auto:
    """Choose pivots, normalizer and weights for a target, and build both stages.

    Args:
        target: The mention table of the target, of which some pairs are held out to tune and to
            test on; or names without entities, in which case nothing can be tuned.
        candidates: The tables of other languages by their codes; they are read one at a time.
        language: The code of the target; a candidate of that code is left out.
        most: The most pivots to choose; English is added if it is not among them.
        seed: The random seed of the split into train, dev and test.
        exhaustive: Rank golds among all entities for each choice of weights, and learn edits and
            translations once more from all pairs: many times slower, and no better.
        progress: Called with the step that is being done, of how many, and the fraction of the
            whole that is done.

    Returns:
        The generator, with the reason for every choice and its recall on held-out queries.
    """
    if isinstance(target, str) or not isinstance(target, MentionTable | Sequence):
        raise ParameterError(f"the target is {target!r}: expected a table, or several names")
    table = target if isinstance(target, MentionTable) else None
    if table is None and not target:
        raise ParameterError("the target has no names: give a table, or at least one name")
    folds = None if table is None else _hold_out(table, seed, language)
    steps = Steps(progress, STEPS_UNTUNED if folds is None else STEPS)
    known: MentionTable | Sequence[str] = target if folds is None else folds.train
    ranking, pivots = choose_pivots(
        known,
        candidates,
        language=language,
        most=most,
        own=table,
        progress=steps.start("choosing pivots", measured=True),
    )
    reasons = [explain_pivots(ranking, pivots, len(candidates), known)]
    whole = Training(pivots, table, language)
    if table is None or folds is None:
        reasons.append(_explain_defaults(table))
        whole = replace(whole, progress=steps.start("building the index"))
        return Auto(RERANK.build(whole, DEFAULTS_WITHOUT_DEV), ranking, tuple(reasons))  # type: ignore[arg-type]
    training = Training(pivots, folds.train, language, dev=folds.dev)
    tuning, parameters, why = _tune(training, steps, exhaustive=exhaustive)
    reasons += why
    tried: Any = RERANK(
        replace(training, progress=steps.start("learning from train and dev")), parameters
    )
    report, calibration = _measure(tried, folds, steps)
    reasons.append(_explain_recall(report, tried))
    # The index that was tried is as large as the one to be built: only what it learned is kept.
    learned = Learned.of(tried)
    del tried
    whole = replace(whole, progress=steps.start("building the index"))
    index = learned.relearn(whole, parameters) if exhaustive else learned.build(whole, parameters)
    reasons.append(f"The index is built from all {len(table):,} pairs of the target.")
    return Auto(index, ranking, tuple(reasons), tuning, report, calibration)


@dataclass(frozen=True)
class Learned:
    """What a second stage has learned: edits and translations, and the weights of dev."""

    stage: Stage
    numbers: Mapping[str, int]

    @classmethod
    def of(cls, generator: Rerank) -> "Learned":
        """Return what a generator has learned, without its names."""
        return cls(generator.stage.without_names(), generator.learned)

    def build(self, training: Training, parameters: Mapping[str, Any]) -> Rerank:
        """Build both stages of other tables, from which nothing is learned."""
        index = pivot_method.build(training, parameters)
        training.progress("reading names", 0.0)
        stage = self.stage.with_names(training.pivots, training.target, index.knows)
        return Rerank.of_stage(index, stage, learned=self.numbers)

    def relearn(self, training: Training, parameters: Mapping[str, Any]) -> Rerank:
        """Build both stages, and learn all but the weights once more."""
        index: Any = RERANK(training, parameters)
        return index.with_weights(self.stage.weights, queries=self.numbers["queries"])  # type: ignore[no-any-return]


def _tune(
    training: Training, steps: Steps, *, exhaustive: bool
) -> tuple[Tuning, dict[str, Any], list[str]]:
    """Return the weights that were tried, all parameters, and why they were chosen."""
    training = replace(training, progress=steps.start("comparing normalizers", measured=True))
    normalizer, why = choose_normalizer(training, training.dev)
    training = replace(training, progress=steps.start("choosing weights"))
    fixed = {"normalizer": normalizer}
    tuning = tune(RERANK, training, training.dev, fixed=fixed, exhaustive=exhaustive)
    return tuning, {**fixed, **tuning.best.parameters}, [why, *_explain_weights(tuning)]


def _measure(tried: Rerank, folds: Split, steps: Steps) -> tuple[Report, Calibration]:
    """Return the recall on test, and what dev says about probabilities."""
    stages = dict(zip(STAGES, (tried.first_stage, tried), strict=True))
    progress = steps.start("measuring recall on test")
    report = evaluate(stages, folds.test, ks=KS, progress=progress)
    progress("calibrating on dev", 0.0)
    return report, Calibration.learn(tried, take_stratified(folds.dev, CALIBRATION_QUERIES))


def choose_pivots(
    target: MentionTable | Sequence[str],
    candidates: Mapping[str, MentionTable],
    *,
    language: str | None = None,
    most: int = MAX_PIVOTS,
    own: MentionTable | None = None,
    progress: Progress = no_progress,
) -> tuple[PivotRanking, dict[str, MentionTable]]:
    """Return the languages whose names are most similar to the target's, and English.

    ``own`` is the whole table that the target is a part of; it is never a pivot.
    """
    ranking = rank_pivots(
        target,
        candidates,
        by="closeness",
        language=language,
        most=most,
        least=MIN_PIVOT_GAIN,
        own=own,
        progress=progress,
    )
    chosen = ranking.chosen()
    if not chosen:
        log.warning("no language has names similar to the target's: expect a low recall")
        chosen = [row.language for row in ranking.rows[:1]]
    if any(row.language == ENGLISH for row in ranking.rows) and ENGLISH not in chosen:
        chosen.append(ENGLISH)
    return ranking, {name: candidates[name] for name in chosen}


def explain_pivots(
    ranking: PivotRanking,
    chosen: Mapping[str, MentionTable],
    languages: int,
    target: MentionTable | Sequence[str],
) -> str:
    """Return why these pivots were chosen among so many languages, in a sentence or two."""
    gains = {row.language: row.gain for row in ranking.rows}
    listed = ", ".join(
        f"{name} (for coverage)" if (gain := gains[name]) is None else f"{name} (+{gain:.1f})"
        for name in chosen
    )
    if isinstance(target, MentionTable):
        queries = [Query(mention, entity) for mention, entity, _ in target]
        reach = ceiling(queries, candidate_space(*chosen.values(), named=target.entities))[
            "all"
        ].recall
        covered = f"Together they have the entities of {reach:.1f}% of the target's pairs."
    else:
        reach = max((row.ceiling for row in ranking.rows if row.ceiling is not None), default=0.0)
        covered = f"Estimated from {ranking.size:,} names, they cover {reach:.1f}% of the names."
    return (
        f"Pivots, chosen from the {languages} languages in the folder, with the points of trigram "
        f"similarity that each adds: {listed}. {covered}"
    )


def choose_normalizer(training: Training, dev: Sequence[Query]) -> tuple[str, str]:
    """Return the simplest normalizer that no other one beats, and why.

    Normalizers are compared by recall@DEPTH + 20 MRR of the first stage on at most 1,000 dev
    queries, each type in proportion: by what the second stage can reorder.
    """
    dev = take_stratified(dev, NORMALIZER_QUERIES)
    choices = [{**DEFAULTS_WITHOUT_DEV, "normalizer": each} for each in NORMALIZERS]
    if training.target is not None:
        choices = [{**choice, "alpha": 0.4} for choice in choices]
    training.progress("trying normalizers on dev", 0.0)
    assert RERANK.ranks is not None  # noqa: S101
    ranks = RERANK.ranks(training, choices, dev, DEPTH)
    found = [(metrics.recall(some, DEPTH), metrics.mrr(some)) for some in ranks]
    points = [recall + 20 * mrr for recall, mrr in found]
    best = 0
    for at in range(1, len(points)):
        if points[at] >= points[best] + MIN_NORMALIZER_GAIN:
            best = at
    listed = ", ".join(
        f"{recall:.1f} and {mrr:.3f} with {name}"
        for name, (recall, mrr) in zip(NORMALIZERS, found, strict=True)
    )
    return NORMALIZERS[best], (
        f"Normalizer {NORMALIZERS[best]}: recall@{DEPTH} and MRR of the first stage on "
        f"{len(dev):,} dev queries are {listed}."
    )


def _hold_out(target: MentionTable, seed: int, language: str | None) -> Split | None:
    """Split the target into train, dev and test; return None if it is too small for that."""
    folds = split(
        target, per_type=QUERIES_PER_TYPE, seed=seed, normalizer="default", language=language
    )
    enough = min(len(folds.dev), len(folds.test)) >= MIN_QUERIES and len(folds.train) > 0
    return folds if enough else None


def _explain_defaults(table: MentionTable | None) -> str:
    why = "has no entities" if table is None else "is too small"
    return (
        f"The target {why}, so no queries can be held out to tune on: names are romanised "
        "(normalizer latin), alpha is 1 for all pivots, lam is 1, and the second stage has its "
        "default weights."
    )


def _explain_weights(tuning: Tuning) -> list[str]:
    chosen = (
        f"Weights, chosen on {tuning.queries:,} dev queries: {tuning.best.described}; "
        f"recall@{tuning.k} of the first stage on them is {tuning.best.recall:.1f}."
    )
    dropped = [
        f"The pivot {pivot.pivot} is left out of the first stage: it adds {pivot.loss:.2f} "
        f"points of recall@{tuning.pivots_k} and takes {pivot.share:.0%} of the postings."
        for pivot in tuning.pivots
        if not pivot.kept
    ]
    return [chosen, *dropped]


def _explain_recall(report: Report, tried: Rerank) -> str:
    held_out = [number for number, query in enumerate(report.queries) if query.type != EASY]
    every = range(len(report.queries))
    first, both = (_recalls(report, name, every) for name in STAGES)
    first_held_out, both_held_out = (_recalls(report, name, held_out) for name in STAGES)
    return (
        f"On {len(report.queries):,} test queries, recall@1, @10, @30 is {first} for the first "
        f"stage and {both} for both stages; on the {len(held_out):,} held-out names among them it "
        f"is {first_held_out} and {both_held_out}. The second stage learned edits from "
        f"{tried.learned['pairs']:,} pairs of names, weights from {tried.learned['queries']:,} dev "
        f"queries, and translations of {tried.learned['words']:,} words."
    )


def _recalls(report: Report, name: str, numbers: Iterable[int]) -> str:
    ranks = np.array([report.answers[name][number].rank for number in numbers], np.int64)
    return ", ".join(f"{metrics.recall(ranks, k):.1f}" for k in KS) if len(ranks) else "unknown"
