"""The measurements of each pair and method that the paper's tables are made of.

A measurement is a function of a case and a method. It chooses parameters on dev, and its result can
be written as JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from candgen.evaluation.ceilings import ceiling, paper_spaces, unlike_pivots
from candgen.evaluation.metrics import recall
from candgen.evaluation.shuffle import shuffle_keys
from candgen.evaluation.tune import tune
from candgen.paper.cache import Result
from candgen.paper.complexity import measure_in_process
from candgen.paper.corpus import Case
from candgen.paper.training_budget import with_budget
from candgen.protocols import Method, Parameters, Training, rank_golds
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query

K = 30
DEPTH = 100
"""The number of candidates for recall against k."""

THRESHOLDS = (0.0, 0.01, 0.1)
COMPLEXITY_THRESHOLD = 0.01
FRACTIONS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Of the pivot's pairs, for recall against the amount of training data."""


def ranks(case: Case, method: Method, fixed: Parameters) -> Result:
    """Return, for each setting, what dev chose and the ranks of the test queries' golds."""
    return {
        "settings": {
            setting: _tune(method, case.training(setting), fixed, case.folds.test)
            for setting in case.settings
        }
    }


def _tune(method: Method, training: Training, fixed: Parameters, test: Sequence[Query]) -> Result:
    """Choose on dev and rank the golds of test; the best generator is built only once."""
    tuning = tune(method, training, training.dev, fixed=fixed, k=K)
    best, generator = tuning.best, tuning.generator
    parameters = {**fixed, **best.parameters}
    if generator is None:
        generator = method(training, parameters)
    found = {
        "parameters": best.parameters,
        "dev": {"queries": tuning.queries, "recall": best.recall},
        "ranks": rank_golds(generator, test, DEPTH).tolist(),
    }
    return with_budget(found, method, parameters, generator)


def queries(case: Case, normalizer: str) -> Result:
    """Return the types of the test queries, and how much data there is beside them."""
    unlike = unlike_pivots(
        case.folds.test,
        case.pivots.values(),
        normalizer=normalizer,
        language=case.pair.target,
        languages=list(case.pivots),
    )
    return {
        "types": [query.type for query in case.folds.test],
        "unlike": unlike.tolist(),
        "dev": len(case.folds.dev),
        "train": data(case.folds.train),
        "pivots": {name: data(table) for name, table in case.pivots.items()},
    }


def thresholds(case: Case, method: Method, fixed: Parameters, chosen: Parameters) -> Result:
    """Return recall and the share of removed entries, with what dev chose for no threshold."""
    training = case.training(case.settings[-1])
    found = []
    for threshold in THRESHOLDS:
        generator = method(training, {**fixed, **chosen, "threshold": threshold})
        reached = recall(rank_golds(generator, case.folds.test, K), K)
        removed = 100 * method.size(generator).removed
        found.append({"threshold": threshold, "recall": reached, "removed": removed})
    return {"thresholds": found}


def training_sizes(
    case: Case, method: Method, fixed: Parameters, measured: Mapping[str, Result], seed: int
) -> Result:
    """Return recall with a fraction of the pivots' pairs; each sample contains the smaller ones.

    ``measured`` is what ``ranks`` found in each setting: with all pairs, nothing is built again.
    """
    found = []
    for fraction in FRACTIONS:
        pivots = {name: _sample(table, fraction, seed) for name, table in case.pivots.items()}
        pairs = sum(len(table) for table in pivots.values())
        for setting in case.settings:
            result = measured[setting]
            if fraction < 1:
                training = replace(case.training(setting), pivots=pivots)
                parameters = {**fixed, **result["parameters"]}
                generator = method(training, parameters)
                result = {"ranks": rank_golds(generator, case.folds.test, K).tolist()}
                result = with_budget(result, method, parameters, generator)
            reached = recall(np.array(result["ranks"], np.int64), K)
            size = {"share": fraction, "pairs": pairs, "setting": setting, "recall": reached}
            found.append(size | ({"budget": result["budget"]} if "budget" in result else {}))
    return {"sizes": found}


def complexity(
    case: Case,
    name: str,
    method: Method,
    fixed: Parameters,
    chosen: Parameters,
    command: Sequence[str],
) -> Result:
    """Return the cost of building and querying in the best setting, with the paper's threshold."""
    small = {"threshold": COMPLEXITY_THRESHOLD} if "threshold" in method.options else {}
    training = case.training(case.settings[-1])
    parameters = {**fixed, **chosen, **small}
    return measure_in_process(command, name, training, parameters, case.folds.test)


def ceilings(case: Case) -> Result:
    """Return, for each candidate space, the share of test queries whose gold is in it, by type."""
    target = case.folds.train if "joint" in case.settings else None
    golds = {query.entity for query in case.folds.test}
    spaces = paper_spaces(case.pivots.values(), target, case.english, among=golds)
    return {
        label: {kind: found._asdict() for kind, found in ceiling(case.folds.test, entities).items()}
        for label, entities in spaces.items()
    }


def high_resource(case: Case, method: Method, fixed: Parameters) -> Result:
    """Return what dev chose and the test ranks, for a language with its own data alone."""
    training = replace(case.training("joint"), pivots={})
    found = _tune(method, training, fixed, case.folds.test)
    return {**found, "types": [query.type for query in case.folds.test]}


def data(table: MentionTable) -> dict[str, Any]:
    """Return how much data a language has."""
    entities = pc.count_distinct(table.arrow["entity"]).as_py()
    return {"pairs": len(table), "entities": entities, "occurrences": table.total}


def _sample(table: MentionTable, fraction: float, seed: int) -> MentionTable:
    """Return a fraction of the pairs, drawn uniformly; at least one."""
    if fraction == 1.0:
        return table
    keys = shuffle_keys(np.arange(len(table)), seed, 3)
    chosen = np.argsort(keys, kind="stable")[: max(1, round(fraction * len(table)))]
    return MentionTable.from_arrow(table.arrow.take(np.sort(chosen)))
