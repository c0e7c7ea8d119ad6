"""Rerank: what it refuses, its files, and as a method."""

import math

import pytest

import candgen
from candgen import CandgenError, Cascade, MentionTable, PivotTokenIndex, Query, WikiPriors
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.rerank.weights import DEFAULT_WEIGHTS
from candgen.storage import index_folder
from tests.generators.rerank.test_rerank import FAROESE, ICELANDIC, Listed, pti, spellings

# ---------------------------------------------------------------- refusals, files


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"depth": 0}, "depth is 0: expected a whole number of at least 1"),
        ({"depth": True}, "depth is True: expected a whole number"),
        ({"depth": "many"}, "depth is 'many': expected a whole number"),
        ({"normalizer": "greek"}, "greek"),
        ({"weights": {"score": 1.0}}, "expected a finite number for each of score, likeness"),
        ({"weights": 7}, "weights is 7: expected a finite number for each of score"),
        (
            {"weights": DEFAULT_WEIGHTS._replace(score=math.nan)},
            "expected a finite number for each",
        ),
        ({"weights": DEFAULT_WEIGHTS._replace(score="much")}, "expected a finite number for each"),
        ({"pivots": {"is": 7}}, "the table of 'is' is 7: expected a MentionTable"),
        ({"pivots": {"": ICELANDIC}}, "'' is not the name of a language"),
        ({"target": [("Vín", "Q1")]}, "expected a MentionTable"),
        ({"language": 7}, "7 is not the name of a language: expected a string"),
        *(({"dev": dev}, "expected a list of queries, such as") for dev in (7, None, "x", [7])),
        ({"pivots": {"is": MentionTable.from_pairs([])}}, "the table of 'is' is empty"),
        ({"pivots": {"is": MentionTable.from_pairs([("\u200b", "Q1")])}}, "no name is left after"),
    ],
)
def test_what_is_refused(options, sentence):
    with pytest.raises(CandgenError) as refused:
        Rerank(pti(), **options)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("generator", [7, None, PivotTokenIndex, Listed])
def test_what_is_no_generator(generator):
    with pytest.raises(CandgenError, match="expected one that is built"):
        Rerank(generator, pivots={"is": ICELANDIC})


def test_a_generator_without_names_needs_tables():
    for generator in (Listed(), WikiPriors.build(target=FAROESE), Cascade(Listed(), pti())):
        with pytest.raises(CandgenError, match=r"does not keep the names .* give pivots, a target"):
            Rerank(generator)
        with pytest.raises(CandgenError, match="does not keep the names"):
            Rerank(generator, pivots={})


@pytest.mark.parametrize("answer", [None, [], [[], []], iter([[]])])
def test_answers_that_are_none_are_refused(answer):
    class Mine:
        def candidates(self, mentions, k=30):
            return answer

    rerank = Rerank(Mine(), pivots={"is": ICELANDIC})
    with pytest.raises(CandgenError, match="the generator answered 1 mentions with"):
        rerank.candidates(["Vín"])


def test_a_saved_one_answers_and_explains_the_same(tmp_path):
    rerank = Rerank(pti(), dev=[Query("Wienn", "Q1741", "hard")], depth=3)
    rerank.save(tmp_path / "x")
    loaded = candgen.load(tmp_path / "x")
    queries = ["Vín", "Wien", "Rúmenien", "", "Ω"]
    assert loaded.candidates(queries, 9) == rerank.candidates(queries, 9)
    assert loaded.explain("Vín", "Q1741") == rerank.explain("Vín", "Q1741")
    assert (loaded.depth, loaded.weights, loaded.learned) == (3, rerank.weights, rerank.learned)
    assert loaded.language == "fo"
    Rerank(pti(), dev=[Query("Wienn", "Q1741", "hard")], depth=3).save(tmp_path / "y")
    loaded.save(tmp_path / "z")
    files = [
        {path.name: path.read_bytes() for path in (tmp_path / each).iterdir()} for each in "xyz"
    ]
    assert files[0] == files[1] == files[2]


def test_what_cannot_be_saved(tmp_path):
    rerank = Rerank(Listed(("Q1", 1.0)), pivots={"is": ICELANDIC})
    with pytest.raises(CandgenError, match=r"has no method contents .* in a second stage"):
        rerank.save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_damaged_files_are_told_of(tmp_path):
    path = tmp_path / "x"
    Rerank(pti()).save(path)
    file = next(path.glob("stage.spellings.symbols*"))
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CandgenError, match=r"symbols.* is damaged"):
        candgen.load(path)
    file.unlink()
    with pytest.raises(CandgenError, match=r"symbols.* is missing"):
        candgen.load(path)


@pytest.mark.parametrize(
    "lost",
    [
        "stage.spellings.first",
        "stage.edits.change",
        "stage.spellings.entity.offsets",
        "stage.rarity.table",
        "stage.rarity.length",
    ],
)
def test_an_array_that_is_not_there(tmp_path, lost):
    contents = Rerank(pti()).contents()
    arrays = {name: array for name, array in contents.arrays.items() if name != lost}
    index_folder.save(tmp_path / "x", **contents._replace(arrays=arrays)._asdict())
    with pytest.raises(CandgenError, match=r"does not describe a rerank .* build it again"):
        candgen.load(tmp_path / "x")


@pytest.mark.parametrize("lost", ["depth", "weights", "alphabet", "parts", "normalizer"])
def test_a_parameter_that_is_not_there(tmp_path, lost):
    contents = Rerank(pti()).contents()
    parameters = {name: each for name, each in contents.parameters.items() if name != lost}
    index_folder.save(tmp_path / "x", **contents._replace(parameters=parameters)._asdict())
    with pytest.raises(CandgenError, match=r"does not describe a rerank .* build it again"):
        candgen.load(tmp_path / "x")


# ---------------------------------------------------------------- as a method


def test_a_generator_may_know_nobody():
    class Nobody(Listed):
        def knows(self, entities):
            return [False] * len(entities)

    rerank = Rerank(Nobody(("Q1741", 2.0), ("Q1", 1.0)), pivots={"is": ICELANDIC})
    assert spellings(rerank) == set()
    assert [c.entity for c in rerank.candidates(["Vín"])[0]] == ["Q1741", "Q1"]
    assert rerank.explain("Vín", "Q1").spelling == ""
