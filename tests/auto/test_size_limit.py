"""An index is made small enough, what that costs is said, and without a limit nothing goes."""

import logging
import random

import pytest

from candgen import MentionTable, Query
from candgen.auto.size_limit import Judge, fit_index, index_size
from candgen.generators.rerank.method import RERANK
from candgen.protocols import Training

PARAMETERS = {"alpha": 1.0, "lam": 0.1, "normalizer": "latin"}


def names(seed, size, first=0):
    rng = random.Random(seed)
    return [("".join(rng.choices("abcdefgh", k=8)), f"Q{first + n}") for n in range(size)]


@pytest.fixture(scope="module")
def world():
    """All queries are answered by close; noise is large and has 500 entities of its own."""
    close, noise = names(1, 200), names(2, 500, first=1000)
    pivots = {
        "close": MentionTable.from_pairs([(name[:-1] + "x", entity) for name, entity in close]),
        "noise": MentionTable.from_pairs(noise),
    }
    return Training(pivots, None, "fo"), [Query(*pair, "hard") for pair in close[::4]]


def test_nothing_goes_if_it_fits(world):
    training, queries = world
    whole = RERANK(training, PARAMETERS)
    made = fit_index(RERANK, training, PARAMETERS, Judge(training, queries), index_size(whole))
    assert made.reasons == []
    assert made.generator.first_stage.parameters["languages"] == ["close", "noise"]


def test_what_brings_least_goes_first_and_the_cost_is_said(world):
    training, queries = world
    limit = int(0.9 * index_size(RERANK(training, PARAMETERS)))
    made = fit_index(RERANK, training, PARAMETERS, Judge(training, queries), limit)
    assert made.generator.first_stage.parameters["languages"] == ["close"]
    assert index_size(made.generator) <= limit
    (reason,) = made.reasons
    assert (
        "noise is left out: recall@300 of the first stage on held-back names is 100.0 in" in reason
    )
    assert "500 entities that only it knows cannot be found" in reason


def test_a_pivot_that_is_needed_stays(world):
    training, queries = world
    limit = int(0.9 * index_size(RERANK(training, PARAMETERS)))
    judge = Judge(
        Training({"close": training.pivots["close"]}, None, "no"), queries, frozenset({"noise"})
    )
    made = fit_index(RERANK, training, PARAMETERS, judge, limit)
    assert made.generator.first_stage.parameters["languages"] == ["noise"]
    assert "is 0.0 in place of 100.0" in made.reasons[0]


def test_the_last_pivot_stays_and_a_warning_says_so(world, caplog):
    training, queries = world
    with caplog.at_level(logging.WARNING, "candgen"):
        made = fit_index(RERANK, training, PARAMETERS, Judge(training, queries), 1000)
    assert made.generator.first_stage.parameters["languages"] == ["close"]
    assert "is the last pivot" in made.reasons[-1]
    assert "cannot be met" in caplog.text


def test_without_queries_the_largest_goes(world):
    training, _ = world
    limit = int(0.9 * index_size(RERANK(training, PARAMETERS)))
    made = fit_index(RERANK, training, PARAMETERS, Judge(training, ()), limit)
    assert made.generator.first_stage.parameters["languages"] == ["close"]
    assert "could not be measured" in made.reasons[0]
