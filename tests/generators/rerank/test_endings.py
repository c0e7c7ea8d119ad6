"""Endings: against dictionaries, what they do for inflected mentions, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import MentionTable, PivotTokenIndex
from candgen.generators.rerank import endings as module
from candgen.generators.rerank.edit_model import EditModel
from candgen.generators.rerank.endings import Endings
from candgen.generators.rerank.rerank import Rerank
from tests.support.rerank_oracle import NaiveModel

TEXTS = st.lists(st.text("abc 𝔸", max_size=12) | st.sampled_from(["abc", "abcab", "abca"]))
KNOWN = "abc "
STEMS = "vik", "nesta", "dalur", "gran", "holm", "sund", "berg"


def decoded(endings, model):
    """Each ending as a text, with its ratio."""
    texts = (
        "".join(model.alphabet[byte] for byte in code.to_bytes(8).lstrip(b"\0"))
        for code in endings.code.tolist()
    )
    return dict(zip(texts, endings.ratio.tolist(), strict=True))


@given(TEXTS)
def test_they_are_those_of_dictionaries(texts):
    model = EditModel.plain([KNOWN])
    naive = NaiveModel.of(model.alphabet, *model.tables, model.common, texts)
    endings = Endings.learn(texts, model)
    endings.validate()
    assert decoded(endings, model) == pytest.approx(naive.endings)


def test_the_order_of_names_and_their_repetition_do_not_matter():
    texts = [f"{stem}{ending} land" for stem in STEMS for ending in ("", "anna", "ið")]
    model = EditModel.plain(texts)
    one, other = Endings.learn(texts, model), Endings.learn([*reversed(texts), *texts], model)
    assert {"anna", "ið"} == set(decoded(one, model))
    for name, array in one.arrays().items():
        assert array.tobytes() == other.arrays()[name].tobytes()


def test_of_many_words_evenly_spaced_ones_are_looked_at(monkeypatch):
    texts = [f"{stem}{ending}" for stem in STEMS for ending in ("", "anna")]
    model = EditModel.plain(texts)
    whole = decoded(Endings.learn(texts, model), model)
    monkeypatch.setattr(module, "MAX_WORDS", 7)
    some = decoded(Endings.learn(texts, model), model)
    assert set(whole) == {"anna"}
    assert set(some) in (set(), {"anna"})


@pytest.mark.parametrize("texts", [[], [""], [" "], ["ab", "abc"], ["vik", "vika", "nes", "nesa"]])
def test_too_few_words_have_no_endings(texts):
    assert not len(Endings.learn(texts, EditModel.plain(["abc"])).code)


def rerank(**own):
    """Two entities, of which one has a name that looks more like the mention than its stem does."""
    pivot = MentionTable.from_pairs(
        [("Hvaland", "Q1", 3), ("Hvalandnir", "Q2"), ("Hvalsey", "Q3"), ("Hvalur", "Q4")]
    )
    return Rerank(PivotTokenIndex.build({"is": pivot}), pivots={"is": pivot}, **own)


@pytest.mark.parametrize("kind", ["names", "target"])
def test_a_known_ending_explains_its_part_of_a_mention(kind):
    names = [f"{stem}{ending}" for stem in STEMS for ending in ("", "ninar")]
    target = MentionTable.from_pairs([(name, f"Q{n + 9}") for n, name in enumerate(names)])
    own = {"names": names} if kind == "names" else {"target": target}
    coverage = [
        {each.name: each.value for each in made.explain("Hvalandninar", "Q1").properties}[
            "coverage"
        ]
        for made in (rerank(), rerank(**own))
    ]
    assert coverage[1] > coverage[0] + 0.1
    assert rerank(**own).candidates(["Hvalandninar"])[0][0].entity == "Q1"


CODE = np.array([1, 2], np.uint64)


@pytest.mark.parametrize(
    ("code", "ratio"),
    [
        (CODE[::-1], np.ones(2)),
        (np.array([1, 1], np.uint64), np.ones(2)),
        (CODE.astype(np.int64), np.ones(2)),
        (CODE.reshape(1, 2), np.ones(2)),
        (CODE, np.ones(3)),
        (CODE, np.ones(2, np.float32)),
        (CODE, np.array([1.0, np.nan])),
        (CODE, np.array([1.0, np.inf])),
        (CODE, np.array([-1.0, 1.0])),
    ],
)
def test_what_is_refused(code, ratio):
    with pytest.raises(ValueError, match=r"endings\.(code|ratio)"):
        Endings(code, ratio).validate()
