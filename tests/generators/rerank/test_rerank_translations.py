"""Rerank with translated words: what is asked, what is compared with what, and what it tells."""

import json

import pytest

import candgen
from candgen import MentionTable, PivotTokenIndex, Query
from candgen.generators.conformance import check_generator
from candgen.generators.rerank.rerank import Rerank
from tests.generators.rerank.test_rerank import Listed

ENGLISH = MentionTable.from_pairs(
    [
        ("Amur River", "Q1"),
        ("Don River", "Q2"),
        ("Lena River", "Q3"),
        ("Volga River", "Q4"),
        ("Lena", "Q5"),
        ("Nadia", "Q6"),
    ]
)
MARATHI = MentionTable.from_pairs(
    [("अमूर नदी", "Q1"), ("डॉन नदी", "Q2"), ("व्होल्गा नदी", "Q4"), ("नादिया", "Q6")]
)


class Asked(Listed):
    """Keeps what it was asked, and answers by words."""

    def __init__(self, **answers):
        self.answers, self.asked = answers, []

    def candidates(self, mentions, k=30):
        self.asked += [(mention, k) for mention in mentions]
        return [self.answers.get(mention.split()[-1], [])[:k] for mention in mentions]


def rerank(generator, **options):
    given = {"pivots": {"en": ENGLISH}, "target": MARATHI, "language": "mr"}
    return Rerank(generator, **{**given, **options})


def pti(normalizer="latin"):
    return PivotTokenIndex.build({"en": ENGLISH}, MARATHI, language="mr", normalizer=normalizer)


@pytest.mark.parametrize("normalizer", ["latin", "default"])
def test_names_are_found_whether_the_index_romanises_or_not(normalizer):
    both = rerank(pti(normalizer))
    assert both.candidates(["लेना नदी"])[0][0].entity == "Q3"
    assert {c.entity for c in both.candidates(["नदी"])[0]} >= {"Q1", "Q2", "Q3", "Q4"}


def test_weights_are_learned_from_what_the_translation_finds():
    first = Asked(नदी=[("Q1", 2.0)], river=[("Q3", 1.0)])
    assert rerank(first, dev=[Query("लेना नदी", "Q3", "hard")]).learned["queries"] == 1
    far = [(f"Q{n}", 1.0) for n in range(10, 300)]
    first = Asked(नदी=[*far, ("Q3", 0.5)], river=[])
    dev = [Query("लेना नदी", "Q3", "hard")]
    assert rerank(first, dev=dev, depth=300).learned["queries"] == 0  # beyond its own half


@pytest.mark.parametrize("entity", ["Q3", "Q6", "Q1"])
def test_of_mention_and_translation_the_better_counts(entity):
    """Lena River is like the translation, Nadia like the mention; each was found by both."""
    found = [("Q3", 2.0), ("Q6", 1.0), ("Q1", 0.5)]
    first = Asked(नदी=found, river=found[::-1], River=found[::-1])
    alone, both = rerank(first, depth=1), rerank(first, depth=6)
    # A depth of 1 is not shared, so that only this entity is compared with the mention alone.
    alone = alone.with_first_stage(Asked(नदी=[(entity, dict(found)[entity])], River=[]))
    other = rerank(Asked(River=found[::-1]), depth=6).explain("Lena River", entity)
    mention = alone.explain("लेना नदी", entity)
    assert (mention.translation, other.translation) == (None, None)
    told = {each.name: each.value for each in both.explain("लेना नदी", entity).properties}
    apart = [{p.name: p.value for p in each.properties} for each in (mention, other)]
    for name in ("likeness", "cosine", "coverage", "words"):
        assert told[name] == pytest.approx(max(each[name] for each in apart), abs=1e-12)
    assert apart[0]["cosine"] != apart[1]["cosine"]


def test_rules_hold_and_files_keep_it(tmp_path):
    asked = ["लेना नदी", "नदी", "अमूर नदी", "Volga", "", "😀 नदी", "नदी " * 50]
    both = rerank(pti(), depth=3)
    check_generator(both, asked, folder=tmp_path / "x")
    loaded = candgen.load(tmp_path / "x/first.candgen")
    assert loaded.explain("लेना नदी", "Q3") == both.explain("लेना नदी", "Q3")


def test_it_is_explained(cli, tmp_path):
    both = rerank(pti(), depth=4)
    both.save(tmp_path / "x.candgen")
    told = both.explain("लेना नदी", "Q3")
    assert told.translation == "लेना river"
    assert told.normalized == "lena river" == "".join(edit.after for edit in told.edits)
    assert [word[:2] for word in told.words] == [("nadi", "river")]
    assert told.first == both.first_stage.explain("लेना नदी" if told.before else "लेना river", "Q3")
    done = cli("explain", tmp_path / "x.candgen", "लेना नदी", "Q3")
    share = told.words[0].probability
    assert f"seen as 'lena river', where nadi is river (p = {share:.2f})" in done.out
    values = json.loads(
        cli("explain", tmp_path / "x.candgen", "लेना नदी", "Q3", "--format", "json").out
    )
    assert values["translation"] == "लेना river"
    assert values["words"][0]["translation"] == "river"
    assert values["place_in_first_stage"] == (told.before or None)
    plain = both.explain("Lena", "Q5")
    assert (plain.translation, plain.words) == (None, [])


def test_the_terminal_says_what_a_translation_found(cli, tmp_path):
    """Nadia is spelled nearly like nadi, and takes the one place that the mention itself has."""
    both = rerank(pti(), depth=2)
    both.save(tmp_path / "x.candgen")
    assert [both.explain("नदी", entity).before for entity in ("Q6", "Q3")] == [1, 0]
    done = cli("explain", tmp_path / "x.candgen", "नदी", "Q3")
    assert "(found by its translation)" in done.out.splitlines()[0]
