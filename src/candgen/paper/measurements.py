"""What is measured for each pair and method: everything that the paper's tables are made of.

A measurement is a function of a case and a method; it chooses parameters on dev, and what it gives
can be written as JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from candgen.evaluation.ceilings import ceiling, paper_spaces, unlike_pivots
from candgen.evaluation.evaluate import tune
from candgen.evaluation.metrics import recall
from candgen.evaluation.shuffle import shuffle_keys
from candgen.paper.cache import Result
from candgen.paper.complexity import measure_apart
from candgen.paper.corpus import Case
from candgen.paper.training_budget import with_budget
from candgen.protocols import Method, Parameters, Training, rank_golds
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query

K = 30
DEPTH = 100
"""How far down candidates are looked at, for recall against k."""

THRESHOLDS = (0.0, 0.01, 0.1)
COMPLEXITY_THRESHOLD = 0.01
SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Of the pivot's pairs, for recall against the amount of training data."""


def ranks(case: Case, method: Method, fixed: Parameters) -> Result:
    """In each setting, what dev chose, and the ranks of the test queries' golds."""
    return {
        "settings": {
            setting: _tuned(method, case.training(setting), fixed, case.parts.test)
            for setting in case.settings
        }
    }


def _tuned(method: Method, training: Training, fixed: Parameters, test: Sequence[Query]) -> Result:
    """What dev chose, and the ranks of the test queries' golds; the best is built only once."""
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
    """What the test queries are, and how much data there is beside them."""
    unlike = unlike_pivots(
        case.parts.test,
        case.pivots.values(),
        normalizer=normalizer,
        language=case.pair.target,
        languages=list(case.pivots),
    )
    return {
        "types": [query.type for query in case.parts.test],
        "unlike": unlike.tolist(),
        "dev": len(case.parts.dev),
        "train": _amount(case.parts.train),
        "pivots": {name: _amount(table) for name, table in case.pivots.items()},
    }


def thresholds(case: Case, method: Method, fixed: Parameters, chosen: Parameters) -> Result:
    """Recall and the share of entries that go, with what dev chose for no threshold."""
    training = case.training(case.settings[-1])
    found = []
    for threshold in THRESHOLDS:
        generator = method(training, {**fixed, **chosen, "threshold": threshold})
        found.append(
            {
                "threshold": threshold,
                "recall": recall(rank_golds(generator, case.parts.test, K), K),
                "removed": 100 * method.size(generator).removed,
            }
        )
    return {"thresholds": found}


def training_sizes(
    case: Case, method: Method, fixed: Parameters, measured: Mapping[str, Result], seed: int
) -> Result:
    """Recall with a part of the pivots' pairs; every part contains the smaller ones.

    ``measured`` is what ``ranks`` found in each setting: with all pairs, nothing is built again.
    """
    found = []
    for share in SHARES:
        pivots = {name: _sample(table, share, seed) for name, table in case.pivots.items()}
        pairs = sum(len(table) for table in pivots.values())
        for setting in case.settings:
            whole = measured[setting]
            if share < 1:
                training = replace(case.training(setting), pivots=pivots)
                whole = _asked(method, training, {**fixed, **whole["parameters"]}, case.parts.test)
            reached = recall(np.array(whole["ranks"], np.int64), K)
            size = {"share": share, "pairs": pairs, "setting": setting, "recall": reached}
            found.append(size | ({"budget": whole["budget"]} if "budget" in whole else {}))
    return {"sizes": found}


def _asked(
    method: Method, training: Training, parameters: Parameters, test: Sequence[Query]
) -> Result:
    generator = method(training, parameters)
    found = {"ranks": rank_golds(generator, test, K).tolist()}
    return with_budget(found, method, parameters, generator)


def complexity(
    case: Case,
    name: str,
    method: Method,
    fixed: Parameters,
    chosen: Parameters,
    command: Sequence[str],
) -> Result:
    """What building and asking cost in the best setting, with the paper's threshold if any."""
    small = {"threshold": COMPLEXITY_THRESHOLD} if "threshold" in method.options else {}
    training = case.training(case.settings[-1])
    return measure_apart(command, name, training, {**fixed, **chosen, **small}, case.parts.test)


def ceilings(case: Case) -> Result:
    """For each candidate space, the share of test queries whose gold is in it, by type."""
    target = case.parts.train if "joint" in case.settings else None
    golds = {query.entity for query in case.parts.test}
    spaces = paper_spaces(case.pivots.values(), target, case.english, among=golds)
    return {
        label: {kind: found._asdict() for kind, found in ceiling(case.parts.test, entities).items()}
        for label, entities in spaces.items()
    }


def high_resource(case: Case, method: Method, fixed: Parameters) -> Result:
    """What dev chose and the test ranks, for a language that learns from its own data alone."""
    training = replace(case.training("joint"), pivots={})
    found = _tuned(method, training, fixed, case.parts.test)
    return {**found, "types": [query.type for query in case.parts.test]}


def data(table: MentionTable) -> Result:
    """How much data a language has."""
    return _amount(table)


def _amount(table: MentionTable) -> dict[str, Any]:
    entities = pc.count_distinct(table.arrow["entity"]).as_py()
    return {"pairs": len(table), "entities": entities, "occurrences": table.total}


def _sample(table: MentionTable, share: float, seed: int) -> MentionTable:
    """A share of the pairs, drawn uniformly; at least one."""
    if share == 1.0:
        return table
    keys = shuffle_keys(np.arange(len(table)), seed, 3)
    chosen = np.argsort(keys, kind="stable")[: max(1, round(share * len(table)))]
    return MentionTable.from_arrow(table.arrow.take(np.sort(chosen)))
