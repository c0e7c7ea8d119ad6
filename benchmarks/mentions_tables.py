"""The tables of mentions.py, from the stored results."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from mentions_cases import JOINT, SAME_QUERIES, ZERO_SHOT
from mentions_methods import ABSENT, MATCH
from mentions_results import BOTH, FIRST, KS, Ablation, Pooled

from candgen.evaluation.metrics import Comparison, bootstrap, recall
from candgen.reporting.table import Cell, Difference, Table

HELD_OUT = "held out"
RECALLS = " / ".join(f"@{k}" for k in KS)
GAINS = tuple(name for k in KS for name in (f"gain @{k}", f"gain @{k}, 95%", f"p @{k}"))


def tables(every: Sequence[Pooled]) -> dict[str, Table]:
    """Return all tables that have rows, the most important first, by the names of CSV files."""
    made = {
        "recall": recalls(every),
        "gains": gains(every),
        "more-data": more_data(every),
        "probabilities": probabilities(every),
        "matching": matching(every),
        "features": feature_means(every),
        "without": ablations(every),
        "pivots": pivots(every),
    }
    return {name: table for name, table in made.items() if table.rows}


def selections(every: Sequence[Pooled]) -> Iterator[tuple[Pooled, tuple[Cell, ...]]]:
    """Yield each selection of queries that has any, and the first cells of its row."""
    for pooled in every:
        for subset, only_unlike in product(pooled.subsets, (False, True)):
            selected = replace(pooled, subset=subset, only_unlike=only_unlike)
            if number := len(selected.ranks(BOTH)):
                asked = subset + (", no exact match" if only_unlike else "")
                yield selected, (pooled.setting, pooled.name, asked, number)


def recalls(every: Sequence[Pooled]) -> Table:
    """A row for each selection of queries, a column for each method."""
    rows = []
    for pooled, start in selections(every):
        best = pooled.baseline
        baseline = (None, None) if best is None else (best, in_one(pooled, best))
        rows.append((*start, *baseline, in_one(pooled, FIRST), in_one(pooled, BOTH)))
    names = ("setting", "case", "queries of", "queries", "baseline", "TF-IDF", FIRST, BOTH)
    note = (
        "No exact match: no table that the methods have been given has the mention, romanised, as "
        "a name of its gold. The normalizer of TF-IDF is the one that is better in the case."
    )
    return Table(f"Recall{RECALLS}", names, tuple(rows), note=note)


def in_one(pooled: Pooled, method: str) -> str:
    """Return all recalls of a method as one text."""
    ranks = pooled.ranks(method)
    return " / ".join(f"{recall(ranks, k):.1f}" for k in KS)


def gains(every: Sequence[Pooled]) -> Table:
    """Both stages compared with the baseline and with the first stage."""
    rows = []
    for pooled, start in selections(every):
        for other, label in ((pooled.baseline, "TF-IDF"), (FIRST, FIRST)):
            if other is not None:
                compared = [pooled.gain(BOTH, other, k) for k in KS]
                rows.append((*start, label, *gain_cells(compared)))
    names = ("setting", "case", "queries of", "queries", "compared with", *GAINS)
    note = "Points of recall; intervals by paired bootstrap, p by McNemar's exact test."
    return Table("Gain of both stages", names, tuple(rows), note=note)


def gain_cells(compared: Sequence[Comparison]) -> Iterator[Cell]:
    """Yield difference, interval and p of each comparison."""
    for found in compared:
        yield Difference(found.difference)
        yield found.interval.shown
        yield f"{found.p_value:.2g}"


def more_data(every: Sequence[Pooled]) -> Table:
    """Both stages with the labelled table of the target, compared with only its names."""
    by_case: dict[str, dict[str, Pooled]] = {}
    for pooled in every:
        by_case.setdefault(pooled.name, {})[pooled.setting] = pooled
    rows = []
    for name, settings in by_case.items():
        alone, labelled = settings.get(SAME_QUERIES, settings.get(ZERO_SHOT)), settings.get(JOINT)
        if alone is None or labelled is None:
            continue
        seeds = same_queries(alone, labelled)
        subset = HELD_OUT if HELD_OUT in labelled.subsets else "all"
        alone, labelled = (
            replace(
                pooled,
                subset=subset,
                results=tuple(each for each in pooled.results if each.place.seed in seeds),
            )
            for pooled in (alone, labelled)
        )
        before, now = alone.ranks(BOTH), labelled.ranks(BOTH)
        if len(now):
            compared = [labelled.gain_over(alone, BOTH, k) for k in KS]
            recalls_of = (in_one(alone, BOTH), in_one(labelled, BOTH))
            worse = any(found.interval.high < 0 for found in compared)
            row = (name, subset, len(before), len(seeds), *recalls_of, *gain_cells(compared))
            rows.append((*row, "yes" if worse else "no"))
    names = ("case", "queries of", "queries", "seeds", "names alone", "labelled table", *GAINS)
    note = (
        f"Recall{RECALLS} of both stages, built from the names of the target alone or from its "
        "labelled table. Worse: an interval lies below 0."
    )
    return Table("Do labels of the target ever hurt?", (*names, "worse"), tuple(rows), note=note)


def same_queries(one: Pooled, other: Pooled) -> set[int]:
    """Return the seeds with which both were asked the same queries."""
    digests = {result.place.seed: result.digest for result in one.results}
    return {
        result.place.seed
        for result in other.results
        if digests.get(result.place.seed) == result.digest
    }


def probabilities(every: Sequence[Pooled]) -> Table:
    """How likely the first candidates are said to be, and how many are right."""
    rows = []
    for pooled in every:
        for subset in pooled.subsets:
            selected = replace(pooled, subset=subset)
            asked = [
                (result.probability[at], result.ranks[BOTH][at] == 1)
                for result, at in selected.chosen()
            ]
            answered = [each for each in asked if each[0] is not None]
            if not answered:
                continue
            said, right = np.array(answered, np.float64).T
            sure = said >= MATCH
            rows.append(
                (
                    pooled.setting,
                    pooled.name,
                    subset,
                    len(answered),
                    100 * said.mean(),
                    100 * right.mean(),
                    Difference(100 * (said.mean() - right.mean())),
                    bootstrap(100 * (said - right)).shown,
                    100 * sure.mean(),
                    100 * right[sure].mean() if sure.any() else None,
                )
            )
    names = (
        "setting",
        "case",
        "queries of",
        "queries",
        "mean probability",
        "right",
        "difference",
        "difference, 95%",
        f"{MATCH:g} or more",
        "right of these",
    )
    note = "In percent. Of the first candidates of both stages; queries without any are left out."
    return Table("Probabilities", names, tuple(rows), note=note)


def matching(every: Sequence[Pooled]) -> Table:
    """Precision and recall of matching where some entities are absent."""
    rows = []
    for pooled in every:
        mix = [outcome for result in pooled.results for outcome in result.mix]
        matched = [outcome for outcome in mix if outcome.matched]
        known = [outcome for outcome in mix if outcome.known]
        wrong_of_absent = sum(outcome.matched and not outcome.known for outcome in mix)
        precision = 100 * np.array([outcome.right for outcome in matched], np.float64)
        found = 100 * np.array([outcome.right for outcome in known], np.float64)
        rows.append(
            (
                pooled.setting,
                pooled.name,
                len(mix),
                len(mix) - len(known),
                len(matched),
                precision.mean() if matched else None,
                bootstrap(precision).shown,
                found.mean() if known else None,
                bootstrap(found).shown,
                wrong_of_absent,
            )
        )
    names = (
        "setting",
        "case",
        "queries",
        "absent",
        "matched",
        "precision",
        "precision, 95%",
        "recall",
        "recall, 95%",
        "absent and matched",
    )
    note = (
        f"Matched: the first candidate has a probability of at least {MATCH:g}. The entities of "
        f"{ABSENT:.0%} of the queries were taken out of all tables before building: any match of "
        "these is wrong. Queries that no table covers are not in the mix."
    )
    return Table("Matching, some entities absent", names, tuple(rows), note=note)


def feature_means(every: Sequence[Pooled]) -> Table:
    """What each feature of the second stage brings, over all cases."""
    gains: dict[tuple[str, str], list[list[float]]] = {}
    for pooled, _ in measured_without(every):
        for feature in filter(None, pooled.methods):
            compared = [pooled.gain(feature, "", k).difference for k in KS]
            gains.setdefault((pooled.setting, feature), []).append(compared)
    rows = []
    for (setting, feature), cases in gains.items():
        found = np.array(cases)
        means = map(Difference, found.mean(axis=0))
        extremes = map(Difference, (found[:, 0].min(), found[:, 0].max()))
        rows.append((setting, feature, len(cases), *means, *extremes))
    names = ("setting", "without", "cases", *(f"mean gain @{k}" for k in KS), "worst @1", "best @1")
    note = "Points of recall by which both stages differ without the feature: below 0, it helps."
    return Table("Features of the second stage, mean of the cases", names, tuple(rows), note=note)


def measured_without(every: Sequence[Pooled]) -> Iterator[tuple[Pooled, int]]:
    """Yield the cases with ranks for each feature left out, and the number of dev queries."""
    for pooled in every:
        stored = [Ablation.read(result.place.path("without")) for result in pooled.results]
        pairs = [
            (result, found)
            for result, found in zip(pooled.results, stored, strict=True)
            if found is not None and found.digest == result.digest
        ]
        if pairs:
            results = tuple(replace(result, ranks=found.ranks) for result, found in pairs)
            yield replace(pooled, results=results), sum(found.learned for _, found in pairs)


def ablations(every: Sequence[Pooled]) -> Table:
    """Both stages without one feature at a time, compared with all features."""
    rows: list[tuple[Any, ...]] = []
    for pooled, dev in measured_without(every):
        rows += feature_rows(pooled, dev)
    names = ("setting", "case", "queries", "dev", "without", RECALLS, *GAINS)
    note = (
        "The weight of one feature at a time is 0. With dev queries, which are then held out of "
        "the target's table, the other weights are learned anew; without any they stay."
    )
    return Table("Features of the second stage", names, tuple(rows), note=note)


def feature_rows(pooled: Pooled, dev: int) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each feature of a case; the first one is that with all features."""
    start = (pooled.setting, pooled.name, len(pooled.ranks("")), dev)
    for feature in pooled.methods:
        compared = [pooled.gain(feature, "", k) for k in KS]
        cells = gain_cells(compared) if feature else [None] * len(GAINS)
        yield (*start, feature or "nothing", in_one(pooled, feature), *cells)


def pivots(every: Sequence[Pooled]) -> Table:
    """The tables that the methods were given, and what a case costs."""
    rows = tuple(
        (
            pooled.setting,
            pooled.name,
            result.place.seed,
            " ".join(result.pivots),
            result.seconds["building"],
            1000 * result.seconds["asking"] / max(len(result.queries), 1),
        )
        for pooled in every
        for result in pooled.results
    )
    names = ("setting", "case", "seed", "pivots", "building, s", "ms per query")
    return Table("Pivots and CPU time", names, rows, note="CPU time of all threads.")
