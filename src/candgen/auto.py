"""An index from a target's names and a folder of other languages: all is chosen, and said why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from candgen.errors import ParameterError
from candgen.evaluation import metrics
from candgen.evaluation.experiment import evaluate, tune
from candgen.evaluation.pivots import PivotRanking, rank_pivots
from candgen.evaluation.report import Report
from candgen.evaluation.split import Split, split
from candgen.evaluation.tuning import Tuning
from candgen.generators.rerank import DEPTH, Rerank
from candgen.generators.rerank_method import RERANK
from candgen.mentions import MentionTable
from candgen.methods import Progress, Training, nothing
from candgen.queries import Query

MOST_PIVOTS = 8
LEAST_GAIN = 0.2
"""Points of likeness that a language must add to be tried as a pivot."""
ENGLISH = "en"
"""Has a name for nearly every entity, so that it is tried even if its names are not alike."""

NORMALIZERS = ("default", "latin", "sound")
"""From the simplest to the one that changes most."""
PAYS = 0.3
"""Points by which a normalizer must be ahead of a simpler one."""
UNTUNED: Mapping[str, Any] = {"alpha": 1.0, "lam": 1.0, "normalizer": "latin"}
"""Where there are no dev queries."""
FEWEST_QUERIES = 30
QUERIES_OF_A_TYPE = 1000


@dataclass(frozen=True)
class Auto:
    """What was built, and why so.

    ``reasons`` are sentences. ``tuning`` and ``report`` are None where the target has no entities,
    or too few to hold any back; the report has the recalls of both stages on queries that were held
    back and used for nothing else. The generator is built from all pairs, these included.
    """

    generator: Rerank
    ranking: PivotRanking
    reasons: tuple[str, ...]
    tuning: Tuning | None = field(default=None, repr=False)
    report: Report | None = field(default=None, repr=False)


def build_auto(
    target: MentionTable | Sequence[str],
    candidates: Mapping[str, MentionTable],
    *,
    language: str | None = None,
    most: int = MOST_PIVOTS,
    seed: int = 0,
    progress: Progress = nothing,
) -> Auto:
    """Choose pivots, normalizer and weights for a target, and build both stages.

    The target is a mention table, of which some pairs are held back to choose by, or names without
    entities: then nothing can be tuned. ``candidates`` are the tables of other languages, read one
    at a time.
    """
    names = None if isinstance(target, MentionTable) else list(target)
    if names is not None and not names:
        raise ParameterError("the target has no names: give a table, or at least one name")
    parts = _parts(target, seed, language) if isinstance(target, MentionTable) else None
    known = names if names is not None else target if parts is None else parts.train
    assert known is not None  # noqa: S101 (one of the three is there)
    ranking, pivots = choose_pivots(
        known, candidates, language=language, most=most, progress=progress
    )
    reasons = [why_pivots(ranking, list(pivots), len(candidates))]
    if parts is None:
        table = target if isinstance(target, MentionTable) else None
        training = Training(pivots, table, language, progress=progress)
        reasons.append(_why_untuned(table))
        return Auto(RERANK.build(training, UNTUNED), ranking, tuple(reasons))  # type: ignore[arg-type]
    training = Training(pivots, parts.train, language, dev=parts.dev, progress=progress)
    normalizer, why = choose_normalizer(training, parts.dev)
    tuning = tune(RERANK, training, parts.dev, fixed={"normalizer": normalizer})
    parameters = {"normalizer": normalizer, **tuning.best.parameters}
    reasons += [why, *_why_weights(tuning)]
    tried: Any = RERANK(training, parameters)
    report = evaluate(
        {"first stage": tried.generator, "both stages": tried}, parts.test, ks=(1, 10, 30),
        progress=progress,
    )  # fmt: skip
    reasons.append(_why_stage(report, tried))
    whole = Training(pivots, target, language, progress=progress)  # type: ignore[arg-type]
    index: Any = RERANK(whole, parameters)
    index.stage = replace(index.stage, weights=tried.weights)
    index.learned["queries"] = tried.learned["queries"]
    reasons.append(f"The index is built from all {len(target):,} pairs of the target.")
    return Auto(index, ranking, tuple(reasons), tuning, report)


def choose_pivots(
    target: MentionTable | Sequence[str],
    candidates: Mapping[str, MentionTable],
    *,
    language: str | None = None,
    most: int = MOST_PIVOTS,
    progress: Progress = nothing,
) -> tuple[PivotRanking, dict[str, MentionTable]]:
    """The languages whose names are most like the target's, and English; their tables are read."""
    ranking = rank_pivots(
        target, candidates, by="closeness", language=language, most=most, least=LEAST_GAIN,
        progress=progress,
    )  # fmt: skip
    chosen = ranking.chosen() or [row.language for row in ranking.rows[:1]]
    if ENGLISH in candidates and ENGLISH not in (*chosen, language):
        chosen.append(ENGLISH)
    return ranking, {name: candidates[name] for name in chosen}


def choose_normalizer(training: Training, dev: Sequence[Query]) -> tuple[str, str]:
    """The simplest normalizer that is not behind, and why: by what the second stage gets to see."""
    choices = [{**UNTUNED, "normalizer": each} for each in NORMALIZERS]
    if training.target is not None:
        choices = [{**choice, "alpha": 0.4} for choice in choices]
    training.progress("trying normalizers on dev", 0.0)
    assert RERANK.ranks is not None  # noqa: S101
    ranks = RERANK.ranks(training, choices, dev, DEPTH)
    found = [metrics.recall(some, DEPTH) for some in ranks]
    points = [recall + 20 * metrics.mrr(some) for recall, some in zip(found, ranks, strict=True)]
    best = 0
    for at in range(1, len(points)):
        if points[at] >= points[best] + PAYS:
            best = at
    listed = ", ".join(
        f"{recall:.1f} with {name}" for name, recall in zip(NORMALIZERS, found, strict=True)
    )
    return NORMALIZERS[best], (
        f"Text is folded by the normalizer {NORMALIZERS[best]}: recall@{DEPTH} of the first stage "
        f"on {len(dev):,} dev queries is {listed}."
    )


def _parts(target: MentionTable, seed: int, language: str | None) -> Split | None:
    """What is held back of the target; None if it is too small for that."""
    parts = split(
        target, per_type=QUERIES_OF_A_TYPE, seed=seed, normalizer="default", language=language
    )
    enough = min(len(parts.dev), len(parts.test)) >= FEWEST_QUERIES and len(parts.train) > 0
    return parts if enough else None


def why_pivots(ranking: PivotRanking, chosen: list[str], languages: int) -> str:
    """Why these pivots were chosen of so many languages, in a sentence or two."""
    rows = {row.language: row for row in ranking.rows}
    ceilings = [row.ceiling for row in ranking.rows if row.ceiling is not None]
    parts = [
        f"{name} (+{row.gain:.1f})"
        if (row := rows[name]).gain is not None
        else f"{name} (for coverage)"
        for name in chosen
    ]
    reach = f"{ceilings[-1]:.1f}%" if ceilings else "next to none"
    whose = "names" if ranking.estimated else "pairs"
    about = ", by an estimate from names alone" if ranking.estimated else ""
    return (
        f"Pivots, of {languages} languages, in the order in which they make names more alike, with "
        f"the points that each adds: {', '.join(parts)}. Of the target's {ranking.size:,} {whose} "
        f"they cover {reach}{about}."
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
        f"The pivot {pivot.pivot} is left out: it brings {pivot.loss:.2f} points of recall and "
        f"takes {pivot.share:.0%} of the postings."
        for pivot in tuning.pivots
        if not pivot.kept
    ]
    return [chosen, *dropped]


def _why_stage(report: Report, tried: Rerank) -> str:
    first, both = (
        ", ".join(f"{report.recall(name, k=k):.1f}" for k in (1, 10, 30))
        for name in ("first stage", "both stages")
    )
    return (
        f"On {len(report.queries):,} queries held back, recall@1, @10, @30 is {first} of the first "
        f"stage and {both} of both; edits were learned from {tried.learned['pairs']:,} pairs of "
        f"names, weights on {tried.learned['queries']:,} dev queries."
    )
