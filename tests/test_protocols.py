"""What generators can do: the protocols, and which of them each generator has."""

import inspect
import typing

import numpy as np
import pytest

import candgen
from candgen import protocols
from candgen.generators.registry import LOADERS, METHODS
from candgen.protocols import (
    Covers,
    Explains,
    Generator,
    Index,
    Names,
    Nests,
    Probabilities,
    ScoreBreakdown,
    Staged,
    Storable,
    Summarizes,
    Summary,
    TokenIndexed,
    Training,
    budget_of,
    covers,
    entity_ids_of,
    first_stage_of,
    gold_ranks,
    is_generator,
)
from tests.support import toy

ICELANDIC = candgen.MentionTable.from_pairs(toy.ICELANDIC)
FAROESE = candgen.MentionTable.from_pairs(toy.FAROESE)

COMMON = {Generator, Names, Covers, Probabilities, Summarizes, Storable}
OPTIONAL = {Explains, ScoreBreakdown, Nests, Staged, TokenIndexed}
ABILITIES = {
    "pti": {Explains, ScoreBreakdown, TokenIndexed},
    "wikipriors": set(),
    "translation": set(),
    "cascade": {Nests},
    "rerank": {Explains, Nests, Staged},
}


def build(name):
    return METHODS[name](Training({"is": ICELANDIC}, FAROESE, "fo"), {})


class Guess:
    """The least that can be asked for candidates."""

    def candidates(self, mentions, k=30):
        return [[("Q282", 0.5)] for _ in mentions]


@pytest.mark.parametrize("name", ABILITIES)
def test_what_each_generator_can_do(name, tmp_path):
    built = build(name)
    built.save(tmp_path / "index")
    for generator in (built, candgen.load(tmp_path / "index")):
        found = {each for each in COMMON | OPTIONAL if isinstance(generator, each)}
        assert found == COMMON | ABILITIES[name]
        assert covers(generator)
        assert is_generator(generator)


def test_charagram_has_the_common_abilities():
    """Looked up in the class: training needs PyTorch, which is optional."""
    methods = COMMON | {Explains, ScoreBreakdown}  # the others have properties
    assert {each for each in methods if issubclass(candgen.Charagram, each)} == COMMON


@pytest.mark.parametrize("kind", LOADERS)
def test_abilities_are_plain_methods_of_the_class(kind):
    """isinstance does not call properties from Python 3.12 on: see ``candgen.protocols``."""
    cls = getattr(LOADERS[kind], "func", LOADERS[kind]).__self__
    common = {"candidates", "save", "names", "knows", "probabilities", "summary", "contents"}
    for name in common:
        assert inspect.isfunction(inspect.getattr_static(cls, name))
    for name in ("explain", "shares"):
        assert not isinstance(inspect.getattr_static(cls, name, None), property)


def test_load_is_typed_with_the_index_protocol():
    assert typing.get_type_hints(candgen.load)["return"] is Index
    assert {*Index.__mro__} >= COMMON


def test_something_else_has_no_ability():
    for each in COMMON | OPTIONAL:
        assert not isinstance(object(), each)
        assert not isinstance(Guess(), each)  # a Generator can also be saved
    assert is_generator(Guess())
    for wrong in (Guess, candgen.Cascade, None, "Vín"):
        assert not is_generator(wrong)
    assert not covers(Guess())
    assert entity_ids_of(Guess()) is None
    assert budget_of(Guess()) == {}


def test_a_generator_covers_what_all_nested_ones_cover():
    index = build("pti")
    assert not covers(candgen.Cascade(index, Guess()))
    assert not covers(candgen.Cascade(index, candgen.Cascade(index, Guess())))
    assert covers(candgen.Cascade(index, candgen.Cascade(index, index)))
    assert not covers(candgen.Rerank(Guess(), pivots={"is": ICELANDIC}))


def test_the_first_stage_is_found_behind_all_stages():
    index = build("pti")
    twice = candgen.Rerank(candgen.Rerank(index), pivots={"is": ICELANDIC})
    assert first_stage_of(twice) is index
    assert first_stage_of(index) is index
    assert list(entity_ids_of(twice)) == ["Q282", "Q584", "Q1741"]
    assert entity_ids_of(build("wikipriors")) is None


REPRS = {
    "pti": "<PivotTokenIndex: language=fo, pivots=is, 3 entities, 43 postings>",
    "translation": "<Translation: language=fo, pivots=is, 3 entities>",
    "wikipriors": "<WikiPriors: language=fo, pivots=is, 3 entities, 10 postings>",
    "cascade": "<Cascade: language=fo, pivots=is, 3 entities, 53 postings>",
    "rerank": "<Rerank: language=fo, pivots=is, 3 entities, 43 postings>",
}


@pytest.mark.parametrize("name", ABILITIES)
def test_a_repr_is_one_line(name, tmp_path):
    built = build(name)
    built.save(tmp_path / "index")
    assert repr(built) == repr(candgen.load(tmp_path / "index")) == REPRS[name]


def test_a_summary_leaves_out_what_it_does_not_know():
    assert str(Summary("Charagram", "fo", ("is", "da"), 1234)) == (
        "<Charagram: language=fo, pivots=is+da, 1,234 entities>"
    )
    assert str(Summary("Cascade", None, (), None)) == "<Cascade: language=None, pivots=None>"
    cascade = candgen.Cascade(Guess(), Guess())
    assert repr(cascade) == "<Cascade: language=None, pivots=None>"


def test_ranks_of_golds():
    queries = [candgen.Query("Vín", "Q282"), candgen.Query("Vín", "Q1")]
    ranks = gold_ranks(queries, [[("Q1741", 2.0), ("Q282", 1.0)], []])
    assert ranks.tolist() == [2, 0]
    assert ranks.dtype == np.int64
    assert protocols.rank_golds(Guess(), queries, 1).tolist() == [1, 0]
