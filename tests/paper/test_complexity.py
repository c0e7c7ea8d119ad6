"""The cost of a method, measured in a separate process."""

import sys
from dataclasses import replace

import pytest

from candgen.errors import CandgenError
from candgen.generators import METHODS
from candgen.paper.complexity import measure_in_process, run_job
from candgen.paper.corpus import Corpus
from candgen.protocols import Training
from candgen.tables.queries import Query
from tests.support.paper_world import MEASURE, NEURAL, PTI, TABLES, TOY_PAIRS, Trained


def test_complexity_is_measured_in_another_process(folder):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    training = case.training("joint")
    parameters = {"alpha": 0.4, "lam": 1.0, "threshold": 0.01}
    found = measure_in_process(MEASURE, "pti", training, parameters, case.folds.test)
    index = PTI(training, parameters)
    assert found["parameters"] == PTI.size(index).parameters
    assert found["queries"] == len(case.folds.test)
    assert found["build_seconds"] > 0
    assert found["query_seconds"] > 0
    assert 10e6 < found["peak_bytes"] < 10e9


def test_a_failure_in_the_other_process_is_one_sentence(folder):
    training = Training({"is": TABLES["is"]}, None, "fo")
    with pytest.raises(CandgenError, match=r"measuring pti .* failed: .*alpha") as error:
        measure_in_process(MEASURE, "pti", training, {"alpha": -1}, [Query("a", "Q1")])
    assert "\n" not in str(error.value)
    with pytest.raises(CandgenError, match="failed: no message"):
        measure_in_process([sys.executable, "-c", "raise SystemExit(3)"], "pti", training, {}, [])


def test_the_work_of_the_other_process(folder, tmp_path, monkeypatch):
    import os

    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None, raising=False)
    TABLES["is"].write(tmp_path / "is.parquet")
    (tmp_path / "queries.tsv").write_text("mention\tentity\ttype\nvík\tQ1\t\n", encoding="utf-8")
    job = {
        "method": "pti",
        "parameters": {"lam": 1.0},
        "language": "fo",
        "pivots": {"is": str(tmp_path / "is.parquet")},
        "target": None,
        "english": None,
        "queries": str(tmp_path / "queries.tsv"),
        "dev": str(tmp_path / "queries.tsv"),
    }
    assert run_job(METHODS, job)["queries"] == 1
    told = []

    def build(training, parameters):
        told.append((len(training.english), len(training.dev), dict(parameters)))
        return Trained(["Q1"], {"epochs": 7})

    TABLES["en"].write(tmp_path / "en.parquet")
    job = {**job, "method": "mine", "english": str(tmp_path / "en.parquet")}
    job["parameters"] = {"epochs": 7}
    found = run_job({"mine": replace(NEURAL, build=build)}, job)
    assert told == [(3, 1, {"epochs": 1}), (len(TABLES["en"]), 1, {"epochs": 7})]
    assert found["budget"] == {"epochs": 7, "of_epochs": 200, "of_pairs": 80_000}
    without = replace(NEURAL, build=build, options=frozenset())
    run_job({"mine": without}, {**job, "parameters": {}})
    assert told[2:] == [(len(TABLES["en"]), 1, {})]
