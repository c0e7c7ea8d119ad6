"""What an index promises is what was measured, and survives on disk; damage is one sentence."""

import json

import numpy as np
import pytest

import candgen
from candgen.errors import StorageError
from candgen.generators.calibration import FIXED
from candgen.generators.promise import Promise, measure_promise
from candgen.storage import index_folder
from tests.generators.test_calibration import Lottery
from tests.support.service_world import toy_index

PROMISE = Promise("held-back names", 200, 91.5, 97.0, 98.0, 91.0)


def test_it_is_what_was_measured():
    """Two of four are first, one is second, one is not there."""
    world = Lottery(5, 4, FIXED["log"])
    golds = ("Q0", "Q0", "Q1", "none")
    queries = [
        candgen.Query(each.mention, gold) for each, gold in zip(world.dev, golds, strict=True)
    ]
    promise, calibration = measure_promise("held-back names", world, queries)
    assert promise[:5] == ("held-back names", 4, 50.0, 75.0, 75.0)
    assert 0.0 < promise.mean_probability < 100.0
    assert calibration.queries == 4
    assert promise.as_json()["right"] == promise.right == 50.0
    assert str(promise).startswith(
        "recall@1, @10, @30 50.0, 75.0, 75.0 on 4 names (held-back names)"
    )


def test_the_mean_probability_is_of_names_that_taught_nothing():
    world = Lottery(6, 3000, FIXED["log"])
    promise, calibration = measure_promise("stand-in da", world, world.dev[:1500], world.dev[1500:])
    assert promise.queries == 1500 and calibration.queries == 3000
    assert promise.is_estimate and not PROMISE.is_estimate
    assert promise.mean_probability == pytest.approx(promise.right, abs=3.0)


def test_entities_that_the_target_lacks_are_hidden():
    """Half of four are to be missing: those of the first and the third are taken out."""
    index = toy_index()
    names = [("Vín", "Q1741"), ("Wien", "Q1741"), ("Rín", "Q584"), ("Vín", "Q282")]
    queries = [candgen.Query(*pair) for pair in names]
    whole, _ = measure_promise("stand-in is", index, queries)
    half, _ = measure_promise("stand-in is", index, queries, absent=0.5)
    nothing, calibration = measure_promise("stand-in is", index, queries, absent=1.0)
    assert whole.recall_at_30 == 100.0 and half.recall_at_30 == 50.0
    assert nothing.recall_at_30 == 0.0
    answer = index.candidates(["Vín"], 30)[0]
    assert calibration.probabilities("Vín", answer)[0] < 0.5


def test_it_is_stored_and_a_new_index_forgets_it(tmp_path):
    path = tmp_path / "fo.candgen"
    toy_index().save(path)
    assert Promise.load(path) is None
    PROMISE.store(path)
    assert Promise.load(path) == PROMISE
    assert candgen.load(path).candidates(["Vín"]) == toy_index().candidates(["Vín"])
    toy_index().save(path)
    assert Promise.load(path) is None


def damaged(**changes):
    return json.dumps({**PROMISE._asdict(), **changes}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 9000,
        b" " * 20_000,
        b'{"kind": "held-back names"}',
        damaged(kind=""),
        damaged(kind=5),
        damaged(queries=0),
        damaged(queries=1.5),
        damaged(queries=True),
        damaged(recall_at_1=101),
        damaged(recall_at_1=float("nan")),
        damaged(recall_at_10="97"),
        damaged(recall_at_1=99.0, recall_at_10=98.0, recall_at_30=98.0),
        damaged(mean_probability=-1),
    ],
)
def test_damage_is_one_sentence(tmp_path, content):
    path = tmp_path / "fo.candgen"
    toy_index().save(path)
    index_folder.amend(path, "promise", {"json": np.frombuffer(content, np.uint8)})
    with pytest.raises(StorageError, match="has an invalid promise of its recall: build it again"):
        Promise.load(path)


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2), np.uint8)])
def test_another_array_is_refused(tmp_path, array):
    path = tmp_path / "fo.candgen"
    toy_index().save(path)
    index_folder.amend(path, "promise", {"json": array})
    with pytest.raises(StorageError, match="invalid promise"):
        Promise.load(path)
