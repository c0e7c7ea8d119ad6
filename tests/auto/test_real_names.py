"""On real names: labels do not hurt, a stand-in helps, and probabilities are true of new names."""

import random

import numpy as np
import pytest

from candgen import MentionTable, Query
from candgen.auto import build_auto
from candgen.evaluation import metrics
from candgen.protocols import gold_ranks

HIDDEN = 250
TOLERANCE = 3.0
"""Points: about three standard errors of a paired difference of so many names."""


@pytest.fixture(scope="module")
def faroese(shared_data):
    """What is built with labels and from names alone, and ranks and probabilities of new names."""
    folder = shared_data / "names"
    rows = list(MentionTable.read(folder / "fo.tsv.gz"))
    random.Random(1).shuffle(rows)
    queries = [Query(mention, entity) for mention, entity, _ in rows[:HIDDEN]]
    known = MentionTable.from_pairs(rows[HIDDEN:])
    pivots = {code: MentionTable.read(folder / f"{code}.tsv.gz") for code in ("is", "da", "no")}
    found = {}
    for name, target in (("labels", known), ("names", known.mentions)):
        made = build_auto(target, pivots, language="fo")
        answers = made.generator.candidates([query.mention for query in queries], 30)
        chances = [
            max(made.generator.probabilities(query.mention, answer), default=0.0)
            for query, answer in zip(queries, answers, strict=True)
        ]
        found[name] = made, gold_ranks(queries, answers), np.array(chances)
    return found


def test_labels_do_not_hurt(faroese):
    (_, labels, _), (_, names, _) = faroese["labels"], faroese["names"]
    for k in (1, 10, 30):
        assert metrics.recall(labels, k) >= metrics.recall(names, k) - TOLERANCE


def test_every_pivot_stays(faroese):
    for made, _, _ in faroese.values():
        languages = made.generator.first_stage.parameters["languages"]
        assert set(made.ranking.chosen()) <= set(languages)


@pytest.mark.parametrize("name", ["labels", "names"])
def test_what_is_promised_is_kept(faroese, name):
    """Two samples of some 230 names differ by up to four points by chance."""
    made, ranks, chances = faroese[name]
    assert made.promise.is_estimate == (name == "names")
    assert metrics.recall(ranks, 1) == pytest.approx(made.promise.recall_at_1, abs=6.0)
    assert 100 * chances.mean() == pytest.approx(metrics.recall(ranks, 1), abs=5.0)


@pytest.mark.parametrize("name", ["labels", "names"])
def test_names_of_entities_that_the_index_lacks_get_low_probabilities(faroese, name):
    """Hungarian names of entities that no table has."""
    made, _, chances = faroese[name]
    absent = ["Kiskunfélegyháza", "Hódmezővásárhely", "Balatonszemes", "Zalaegerszeg", "Ózd"]
    absent += ["Qyzylorda", "Ouagadougou-Nord", "Xochimilco", "Bujumbura Mairie", "Ngorongoro"]
    answers = made.generator.candidates(absent, 30)
    found = [
        max(made.generator.probabilities(mention, answer), default=0.0)
        for mention, answer in zip(absent, answers, strict=True)
    ]
    assert np.mean(found) < chances.mean() - 0.3
