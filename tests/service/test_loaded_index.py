"""A loaded index: names of entities, languages, cache, and speed."""

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

import numpy as np

import candgen
from candgen.errors import StorageError
from candgen.generators.promise import Promise
from candgen.service import loaded_index
from candgen.service.loaded_index import LoadedIndex, is_short
from candgen.service.schemas import IndexOut
from candgen.storage import index_folder
from tests.support.service_world import client_of, problem_detail, save_toy, toy_index


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("", "Wien"), ("is", "Vín"), ("fo", "Wien"), ("de, is;q=0.5", "Vín"), ("IS-is", "Vín")],
)
def test_without_a_table_the_most_frequent_mention_is_the_name(client, wanted, name):
    params = {"mention": "Wien", "k": 1, "details": True}
    answer = client.get("/api/v1/candidates", params=params, headers={"Accept-Language": wanted})
    assert answer.json()["candidates"][0]["name"] == name


def test_what_is_no_entity_is_not_remembered(client):
    known = client.app.app.state.service.registry.get("one")._cache
    before = len(known)
    for entity in ("Q0", "Q00", "", "x" * 1000):
        params = {"mention": "Vín", "entity": entity}
        assert "unknown entity" in problem_detail(client.get("/api/v1/explain", params=params), 404)
    assert len(known) == before
    long = {"mention": "Vín", "entity": "x" * 1001}
    assert "at most 1000" in problem_detail(client.get("/api/v1/explain", params=long), 422)


def test_other_generators_have_a_language_too(tmp_path):
    faroese = candgen.MentionTable.from_pairs([("Vínið", "Q282"), ("Wien", "Q1741")])
    icelandic = candgen.MentionTable.from_pairs([("Vín", "Q282", 9)])
    priors = candgen.WikiPriors.build({"is": icelandic}, faroese, language="fo")
    priors.save(tmp_path / "priors.candgen")
    candgen.Cascade(priors, toy_index()).save(tmp_path / "cascade.candgen")
    with client_of(tmp_path, "priors", "cascade") as client:
        for each in client.get("/api/v1/indexes").json()["indexes"]:
            assert each["language"] == "fo"
            assert set(each["languages"]) == {"fo", "is"}
        params = {"mention": "Vín", "details": True}
        found = client.get("/api/v1/candidates", params=params).json()["candidates"]
        assert (found[0]["name"], found[0]["language"]) == ("Vínið", "fo")


def test_an_index_is_quick_whatever_opening_it_took(tmp_path, monkeypatch):
    """The first questions, which compile kernels, tell nothing of the later ones."""
    save_toy(tmp_path / "fo.candgen")
    passed = iter(range(0, 10_000, 10))  # seconds: every question takes ten
    with monkeypatch.context() as slowly:
        slowly.setattr("candgen.service.loaded_index.time.monotonic", lambda: next(passed))
        loaded = LoadedIndex.load("fo", str(tmp_path / "fo.candgen"))
    assert not loaded.is_quick()  # nothing is known yet
    list(loaded.search(["Vín"] * 2, 10))
    assert not loaded.is_quick()  # two at once do not tell how long one takes
    list(loaded.search(["Vín"], 10))
    assert loaded.is_quick()


def test_what_an_index_promises_is_told_and_damage_is_found_when_it_is_loaded(tmp_path):
    path = tmp_path / "fo.candgen"
    save_toy(path)
    assert LoadedIndex.load("fo", str(path)).facts()["promise"] is None
    Promise("held-back names", 200, 91.5, 97.0, 98.0, 91.0).store(path)
    facts = LoadedIndex.load("fo", str(path)).facts()
    assert facts["promise"]["recall_at_1"] == facts["promise"]["right"] == 91.5
    assert IndexOut(**facts).promise.kind == "held-back names"
    index_folder.amend(path, "promise", {"json": np.zeros(5, np.uint8)})
    with pytest.raises(StorageError, match="invalid promise"):
        LoadedIndex.load("fo", str(path))


def test_one_slow_search_makes_an_index_slow_for_a_while(tmp_path, monkeypatch):
    save_toy(tmp_path / "fo.candgen")
    loaded = LoadedIndex.load("fo", str(tmp_path / "fo.candgen"))

    def ask(seconds):
        clock = iter((0.0, seconds))
        with monkeypatch.context() as patched:
            patched.setattr("candgen.service.loaded_index.time.monotonic", lambda: next(clock))
            list(loaded.search(["Vín"], 10))
        return loaded.is_quick()

    assert ask(0.001)
    assert not ask(0.4)
    again = [ask(0.001) for _ in range(100)]
    assert again == sorted(again)  # from some search on
    assert 10 < again.count(False) < 90


@pytest.mark.parametrize(
    ("mentions", "k", "short"),
    [
        (["a" * 100], 100, True),
        (["a" * 101], 100, False),
        (["a"], 101, False),
        (["a", "a"], 1, False),
        ([], 1, False),
    ],
)
def test_a_request_for_one_short_mention_is_short(mentions, k, short):
    assert is_short(mentions, k) is short


MENTIONS = ["Vín", "Vínið", "Oslo", "", "v", "𐍅", "Vín Rín " * 25, "\x00", " Vín "] * 40


@pytest.mark.parametrize("second_stage", [False, True])
@pytest.mark.parametrize(("size", "seconds"), [(1, 10.0), (1, 1e-9), (250, 0.01), (10**9, 0.01)])
def test_candidates_do_not_depend_on_the_pieces(tmp_path, monkeypatch, second_stage, size, seconds):
    save_toy(tmp_path / "fo.candgen", second_stage=second_stage)
    loaded = LoadedIndex.load("fo", str(tmp_path / "fo.candgen"))
    monkeypatch.setattr(loaded_index, "FIRST_PIECE", size)
    monkeypatch.setattr(loaded_index, "PIECE_SECONDS", seconds)
    pieces = list(loaded.search(MENTIONS, 10))
    assert [each for piece in pieces for each in piece] == loaded.generator.candidates(MENTIONS, 10)
    assert len(pieces) > 1
    if seconds == 1e-9:  # every call takes too long
        assert len(pieces) == len(MENTIONS)


def test_a_piece_has_about_the_same_characters_whatever_its_mentions(tmp_path):
    save_toy(tmp_path / "fo.candgen")
    loaded = LoadedIndex.load("fo", str(tmp_path / "fo.candgen"))
    first = next(loaded.search(["a" * 5] * 100, 1))
    assert len(first) == 10
    assert len(next(loaded.search(["a" * 1000] * 100, 1))) == 1


def test_scores_of_many_entities_are_broken_down_in_pieces(tmp_path, monkeypatch):
    index = save_toy(tmp_path / "fo.candgen")
    loaded = LoadedIndex.load("fo", str(tmp_path / "fo.candgen"))
    entities = ["Q282", "Q1741", "Q584"]
    monkeypatch.setattr(loaded_index, "SCORES_AT_ONCE", 1)
    job = loaded.break_down_scores("Vín", entities)
    assert [next(job), next(job), next(job)] == [None] * 3
    with pytest.raises(StopIteration) as stop:
        next(job)
    assert stop.value.value == index.shares("Vín", entities)
