"""Build an index automatically: choose pivots, normalizer and weights, and say why."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from candgen.auto.normalizer import DEFAULTS_WITHOUT_DEV
from candgen.auto.pivots import MAX_PIVOTS, choose_pivots, explain_pivots
from candgen.auto.size_limit import Build, Judge, fit_index
from candgen.auto.stand_in import StandIn, choose_stand_in, explain_stand_in, known_names
from candgen.auto.tuning import Learned, choose_parameters
from candgen.errors import ParameterError, check_whole_number
from candgen.evaluation import metrics
from candgen.evaluation.evaluate import evaluate
from candgen.evaluation.held_back import held_back, thin_easy
from candgen.evaluation.pivot_ranking import PivotRanking
from candgen.evaluation.report import Report
from candgen.evaluation.split import Split, split
from candgen.evaluation.steps import Steps
from candgen.evaluation.tune import Tuning
from candgen.generators.calibration import Calibration
from candgen.generators.promise import HELD_BACK, Promise, measure_promise
from candgen.generators.rerank.method import RERANK
from candgen.generators.rerank.rerank import Rerank
from candgen.protocols import Progress, Training, no_progress
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import EASY

MIN_QUERIES = 30
"""A target with fewer held-back dev or test queries than these is not tuned on."""
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
STEPS_STAND_IN: Mapping[str, float] = {
    "choosing pivots": 16,
    "comparing normalizers": 22,
    "choosing weights": 20,
    "learning from a stand-in": 16,
    "measuring the stand-in": 4,
    "building the index": 22,
}
STEPS_UNTUNED: Mapping[str, float] = {"choosing pivots": 30, "building the index": 70}


@dataclass(frozen=True)
class Auto:
    """A generator and why it was built this way: what ``build_auto`` returns.

    Attributes:
        generator: Both stages, built from all pairs of the target, the held-out ones included.
        ranking: All languages with their measures, the chosen pivots first.
        reasons: Every choice with its reason, a sentence or two each.
        tuning: What was tried on dev queries, or on names of a stand-in; None if there was none.
        report: The recall of both stages on test queries, which were not used for any choice:
            easy ones, which the training data has, and others, which were held out. None if the
            target has no entities, or too few to hold any out.
        calibration: What turns the scores into probabilities; None for the default.
        promise: What was measured on held-back names of the target, or on names of a stand-in;
            None if there were none.
    """

    generator: Rerank
    ranking: PivotRanking
    reasons: tuple[str, ...]
    tuning: Tuning | None = field(default=None, repr=False)
    report: Report | None = field(default=None, repr=False)
    calibration: Calibration | None = field(default=None, repr=False)
    promise: Promise | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the generator with all that was learned to a folder that ``candgen.load`` opens."""
        self.generator.save(path)
        if self.calibration is not None:
            self.calibration.store(path)
        if self.promise is not None:
            self.promise.store(path)


def build_auto(
    target: MentionTable | Sequence[str],
    candidates: Mapping[str, MentionTable],
    *,
    language: str | None = None,
    most: int = MAX_PIVOTS,
    seed: int = 0,
    max_size: int | None = None,
    sitelinks: Mapping[str, int] | None = None,
    exhaustive: bool = False,
    progress: Progress = no_progress,
) -> Auto:
    """Choose pivots, normalizer and weights for a target, and build both stages.

    Choices are made by names that were held back from the target's table. If it has too few, or
    names alone, the pivot that is most similar plays the target: its names are hidden, and what
    finds them with the other pivots is chosen. With a single pivot the weights are fixed.

    Args:
        target: The mention table of the target, of which some pairs are held out to tune and to
            test on; or names without entities.
        candidates: The tables of other languages by their codes; they are read one at a time.
        language: The code of the target; a candidate of that code is left out.
        most: The most pivots to choose; English is added if it is not among them.
        seed: The random seed of the held-out names.
        max_size: The most bytes that the index may take; pivots are left out for that, those that
            bring least for their postings first. None keeps all of them.
        sitelinks: How many sitelinks entities have, which tells how well known they are: see
            ``candgen.tables.entities.read_sitelinks``.
        exhaustive: Rank golds among all entities for each choice of weights, and learn edits and
            translations once more from all pairs: many times slower, and no better.
        progress: Called with the step that is being done, of how many, and the fraction of the
            whole that is done.

    Returns:
        The generator, with the reason for every choice and its recall on held-out queries.
    """
    if isinstance(target, str) or not isinstance(target, MentionTable | Sequence):
        raise ParameterError(f"the target is {target!r}: expected a table, or several names")
    if max_size is not None:
        check_whole_number("max_size", max_size)
    table = target if isinstance(target, MentionTable) else None
    if table is None and not target:
        raise ParameterError("the target has no names: give a table, or at least one name")
    folds = None if table is None else _hold_out(table, seed, language)
    known = known_names(target) if folds is None else folds.train
    first = Steps(progress, STEPS_STAND_IN if folds is None else STEPS)
    ranking, pivots = choose_pivots(
        known,
        candidates,
        language=language,
        most=most,
        own=table,
        progress=first.start("choosing pivots", measured=True),
    )
    reasons = (explain_pivots(ranking, pivots, len(candidates), known),)
    names = () if isinstance(target, MentionTable) else target
    whole = Training(pivots, table, language, names=names, sitelinks=sitelinks or {})
    work = _Work(ranking, reasons, whole, first, max_size, exhaustive)
    if folds is not None:
        return work.by_held_back_names(folds)
    stand_in = choose_stand_in(ranking, pivots, known_names(target), seed, sitelinks)
    if stand_in is not None:
        return work.by_stand_in(stand_in)
    return replace(work, steps=Steps(progress, STEPS_UNTUNED)).by_defaults()


@dataclass(frozen=True)
class _Work:
    """What is known after the pivots were chosen, and the three ways to go on."""

    ranking: PivotRanking
    reasons: tuple[str, ...]
    whole: Training
    steps: Steps
    max_size: int | None
    exhaustive: bool

    def by_held_back_names(self, folds: Split) -> Auto:
        """Choose by the dev names of the target, and measure on its test names."""
        training = replace(self.whole, target=folds.train, dev=thin_easy(folds.dev))
        chosen = choose_parameters(training, self.steps, exhaustive=self.exhaustive)
        tried = self._try(training, chosen.parameters, "learning from train and dev")
        progress = self.steps.start("measuring recall on test")
        stages = dict(zip(STAGES, (tried.first_stage, tried), strict=True))
        report = evaluate(stages, folds.test, ks=KS, progress=progress)
        progress("learning probabilities", 0.0)
        dev = held_back(folds.dev)
        promise, calibration = measure_promise(HELD_BACK, tried, held_back(folds.test), dev)
        recall = _explain_recall(report, tried)
        # The index that was tried is as large as the one to be built: only what it learned is kept.
        learned = Learned.of(tried)
        del tried
        judge = Judge(training, dev)
        build = learned.relearn if self.exhaustive else learned.build
        index, limited = self._build(build, chosen.parameters, judge)
        assert self.whole.target is not None  # noqa: S101
        reasons = [
            *chosen.reasons,
            recall,
            _explain_promise(promise),
            *limited,
            f"The index is built from all {len(self.whole.target):,} pairs of the target.",
        ]
        return self._finish(index, reasons, chosen.tuning, report, calibration, promise)

    def by_stand_in(self, stand_in: StandIn) -> Auto:
        """Choose by the names of a pivot that plays the target."""
        training, language = stand_in.training, self.whole.language
        chosen = choose_parameters(training, self.steps, exhaustive=self.exhaustive)
        tried = self._try(training, chosen.parameters, "learning from a stand-in")
        self.steps.start("measuring the stand-in")
        kind = f"stand-in {stand_in.language}"
        promise, calibration = measure_promise(
            kind, tried, stand_in.queries, training.dev, absent=stand_in.absent
        )
        learned = Learned.of(tried)
        del tried
        alpha = stand_in.complete(chosen.parameters.get("alpha", 1.0))
        judge = Judge(training, training.dev, frozenset({stand_in.language}))
        index, limited = self._build(learned.relearn, {**chosen.parameters, "alpha": alpha}, judge)
        why = explain_stand_in(stand_in, promise, language, _why_not_held_out(self.whole))
        reasons = [why, *chosen.reasons, *limited]
        return self._finish(index, reasons, chosen.tuning, None, calibration, promise)

    def by_defaults(self) -> Auto:
        """Build with fixed weights."""
        index, limited = self._build(RERANK, DEFAULTS_WITHOUT_DEV, Judge(self.whole, ()))  # type: ignore[arg-type]
        reasons = [_explain_defaults(_why_not_held_out(self.whole)), *limited]
        return self._finish(index, reasons, None, None, None, None)

    def _try(self, training: Training, parameters: Mapping[str, Any], step: str) -> Rerank:
        tried: Any = RERANK(replace(training, progress=self.steps.start(step)), parameters)
        return tried  # type: ignore[no-any-return]

    def _build(
        self, build: Build, parameters: Mapping[str, Any], judge: Judge
    ) -> tuple[Rerank, list[str]]:
        """Build the index from all pairs, without some pivots if it would be too large."""
        whole = replace(self.whole, progress=self.steps.start("building the index"))
        if self.max_size is None:
            return build(whole, parameters), []
        return fit_index(build, whole, parameters, judge, self.max_size)

    def _finish(
        self,
        index: Rerank,
        reasons: Sequence[str],
        tuning: Tuning | None,
        report: Report | None,
        calibration: Calibration | None,
        promise: Promise | None,
    ) -> Auto:
        generator = index if calibration is None else index.with_calibration(calibration)
        every = (*self.reasons, *reasons)
        return Auto(generator, self.ranking, every, tuning, report, calibration, promise)


def _hold_out(target: MentionTable, seed: int, language: str | None) -> Split | None:
    """Split the target into train, dev and test; return None if it is too small for that."""
    folds = split(
        target, per_type=QUERIES_PER_TYPE, seed=seed, normalizer="default", language=language
    )
    enough = min(len(held_back(fold)) for fold in (folds.dev, folds.test)) >= MIN_QUERIES
    return folds if enough and len(folds.train) > 0 else None


def _why_not_held_out(whole: Training) -> str:
    return "has no entities" if whole.target is None else "is too small to hold names out"


def _explain_defaults(why: str) -> str:
    return (
        f"The target {why}, and there is a single pivot, so that no other language can stand in "
        "for it: nothing is tuned. The normalizer is sound, alpha is 1, lam is 0.1, and the second "
        "stage and the probabilities have their default weights."
    )


def _explain_promise(promise: Promise) -> str:
    return (
        f"On the {promise.queries:,} held-out test names, the mean probability of the first "
        f"candidate is {promise.mean_probability:.1f}%, and {promise.right:.1f}% of the first "
        "candidates are right."
    )


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
