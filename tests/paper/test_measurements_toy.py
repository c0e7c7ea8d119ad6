"""Measurements on the toy world and on real names."""

import json
import math
from dataclasses import replace

import numpy as np

from candgen.evaluation.dataset import write_dataset
from candgen.paper import measurements
from candgen.paper.corpus import Corpus
from candgen.paper.published import PAIRS
from candgen.protocols import rank_golds
from candgen.tables.queries import Query
from tests.support.paper_cell import answered
from tests.support.paper_world import PTI, TOY_PAIRS


def test_other_test_queries_change_no_choice(folder, monkeypatch):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    found = measurements.ranks(case, PTI, {})
    nonsense = replace(case.folds, test=[Query("zzz", "Q1", "hard")])
    other = measurements.ranks(replace(case, folds=nonsense), PTI, {})
    for setting in ("zero-shot", "joint"):
        assert found["settings"][setting]["parameters"] == other["settings"][setting]["parameters"]
        assert other["settings"][setting]["ranks"] == [0]


# Measurements


def test_thresholds_remove_more_and_more(folder):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    found = measurements.thresholds(case, PTI, {}, {"alpha": 0.4, "lam": 1.0})["thresholds"]
    assert [one["threshold"] for one in found] == [0.0, 0.01, 0.1]
    removed = [one["removed"] for one in found]
    assert removed[0] == 0.0
    assert removed == sorted(removed)
    assert removed[-1] > 10


def test_training_sizes_are_nested_samples(folder):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    measured = measurements.ranks(case, PTI, {})["settings"]
    found = measurements.training_sizes(case, PTI, {}, measured, 0)["sizes"]
    for one in found[-2:]:
        whole = PTI(case.training(one["setting"]), measured[one["setting"]]["parameters"])
        ranks = rank_golds(whole, case.folds.test, 30)
        assert one["recall"] == 100 * (ranks > 0).sum() / len(ranks)
    assert [one["share"] for one in found if one["setting"] == "joint"] == [
        0.01,
        0.03,
        0.1,
        0.3,
        1.0,
    ]
    assert found[-1]["pairs"] == len(case.pivots["is"])
    table = case.pivots["is"]
    smaller, larger = (set(measurements._sample(table, share, 0)) for share in (0.1, 0.3))
    assert smaller < larger < set(table)
    assert len(smaller) == round(0.1 * len(table))
    assert set(measurements._sample(table, 0.1, 1)) != smaller


def test_ceilings_of_the_toy(folder):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    found = measurements.ceilings(case)
    assert list(found) == ["PL", "PL+TL", "EN", "EN+PL", "EN+PL+TL"]
    easy = found["PL+TL"]["easy"]
    assert easy == {"queries": 5, "recall": 100.0}
    assert found["EN"] == found["EN+PL"] == found["EN+PL+TL"]
    alone = Corpus(folder, per_type=5).case(TOY_PAIRS[1])
    assert list(measurements.ceilings(alone)) == ["PL", "EN", "EN+PL"]


# Real names


def test_a_cell_of_real_names_by_hand(shared_data, tmp_path):
    """Turkmen from Azerbaijani, zero-shot, computed by a program that shares no code with ours."""
    names = shared_data / "names"
    pair = next(pair for pair in PAIRS if pair.target == "tk")
    case = Corpus(names).case(pair)
    write_dataset(tmp_path / "tk.dataset", case.folds)
    found = measurements.ranks(case, PTI, {"normalizer": "default"})["settings"]["zero-shot"]
    test, lam = tmp_path / "tk.dataset" / "test.tsv", found["parameters"]["lam"]
    hits = sum(0 < rank <= 30 for rank in found["ranks"])
    assert answered(names / "az.tsv.gz", test, lam) == (len(found["ranks"]), hits)
    assert 0 < hits < len(found["ranks"])


def test_real_names_keep_their_promises(shared_data):
    """A third of the Faroese entities are not in Icelandic."""
    case = Corpus(shared_data / "names").case(next(p for p in PAIRS if p.target == "fo"))
    found = measurements.ceilings(case)
    assert found["PL+TL"]["easy"]["recall"] == found["PL+TL"]["medium"]["recall"] == 100.0
    assert 60 < found["PL"]["all"]["recall"] < 75
    assert not math.isnan(found["PL"]["hard"]["recall"])
    about = measurements.queries(case, "default")
    assert len(about["types"]) == len(about["unlike"]) == len(case.folds.test)
    assert json.loads(json.dumps(about)) == about
    assert np.mean(about["unlike"]) > 0.3
