"""Rerank as a method."""

from candgen.evaluation.tune import tune
from candgen.generators import METHODS
from candgen.protocols import Training
from candgen.text.normalize import normalize_many
from tests.generators.rerank.test_rerank import spellings
from tests.generators.test_conformance import SPLIT, TABLES


def test_it_is_tuned_like_others():
    training = Training({"is": TABLES["is"], "de": TABLES["de"]}, SPLIT.train, "fo", dev=SPLIT.dev)
    tuning = tune(METHODS["rerank"], training, SPLIT.dev, k=5)
    assert set(tuning.best.parameters) >= {"alpha", "lam"}
    built = METHODS["rerank"](training, {**tuning.best.parameters, "depth": 50})
    assert built.depth == 50
    assert built.first_stage.parameters["lam"] == tuning.best.parameters["lam"]
    assert built.first_stage.parameters["normalizer"] == built.stage.normalizer == "latin"
    assert built.learned["queries"] > 0
    assert (
        METHODS["rerank"].size(built).parameters > METHODS["pti"].size(built.first_stage).parameters
    )


def test_pivots_that_are_left_out_lend_their_names():
    """Names of entities that are in the index; all of them are learned from."""
    training = Training({"is": TABLES["is"], "de": TABLES["de"]}, SPLIT.train, "fo")
    built = METHODS["rerank"](training, {"alpha": {"is": 0.4, "de": 0.0}})
    alone = METHODS["rerank"](Training({"is": TABLES["is"]}, SPLIT.train, "fo"), {"alpha": 0.4})
    assert built.first_stage.candidates(["Tórshavn"]) == alone.first_stage.candidates(["Tórshavn"])
    known = [row[:2] for row in TABLES["de"] if alone.knows([row[1]])[0]]
    assert 0 < len(known) < len(TABLES["de"])
    lent = normalize_many([mention for mention, _ in known], "latin", language="de")
    assert spellings(built) == spellings(alone) | set(lent)
    assert built.learned["pairs"] > alone.learned["pairs"]
