"""Choose the normalizer on dev, and say why."""

from collections.abc import Mapping, Sequence
from typing import Any

from candgen.evaluation import metrics
from candgen.generators.pivot.weight_search import take_stratified
from candgen.generators.rerank.method import RERANK
from candgen.generators.rerank.rerank import DEPTH
from candgen.protocols import Training
from candgen.tables.queries import Query

NORMALIZERS = ("default", "latin", "sound")
"""From the simplest to the one that changes text most."""
MIN_NORMALIZER_GAIN = 0.3
"""Points of recall + 20 MRR by which a normalizer must be better than a simpler one."""
NORMALIZER_QUERIES = 1000
DEFAULTS_WITHOUT_DEV: Mapping[str, Any] = {"alpha": 1.0, "lam": 0.1, "normalizer": "sound"}
"""The hyperparameters if there are no dev queries to tune on."""


def choose_normalizer(training: Training, dev: Sequence[Query]) -> tuple[str, str]:
    """Return the simplest normalizer that no other one beats, and why.

    Normalizers are compared by recall@DEPTH + 20 MRR of the first stage on at most 1,000 dev
    queries, each type in proportion: by what the second stage can reorder.
    """
    dev = take_stratified(dev, NORMALIZER_QUERIES)
    choices = [{**DEFAULTS_WITHOUT_DEV, "normalizer": each} for each in NORMALIZERS]
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
