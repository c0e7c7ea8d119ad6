"""Rerank with translated words: what is asked, what is compared with what, and what it tells."""

import json

import pytest

import candgen
from candgen import MentionTable, PivotTokenIndex, Query
from candgen.generators.conformance import check_generator
from candgen.generators.rerank.name_pairs import choose_partner
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.rerank.spellings import normalized_rows
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


def test_words_are_translated_and_the_others_keep_their_script():
    stage = rerank(Listed()).stage
    assert stage.translate(["लेना नदी", "लेना", "", "नदी", "Volga नदी"]) == [
        "लेना river",
        None,
        None,
        "river",
        "volga river",
    ]


def test_what_stays_the_same_when_it_is_compared_is_no_translation():
    serbian = MentionTable.from_pairs([("Битола", "Q1"), ("кафа", "Q2")])
    own = MentionTable.from_pairs([("Битола", "Q1"), ("кафе", "Q2")])
    stage = Rerank(Listed(), pivots={"sr": serbian}, target=own, language="mk").stage
    assert stage.translations.entry("bitola").translation == "битола"
    assert stage.translate(["Битола", "Bitola", "кафе"]) == [None, None, "кафа"]


@pytest.mark.parametrize("depth", [2, 3, 4, 7])
def test_the_translation_has_half_of_the_depth(depth):
    own = [(f"Q{n}", 9.0 - n) for n in range(1, 8)]
    first = Asked(नदी=own, river=[("Q3", 5.0), ("Q1", 4.0), ("Q8", 2.0), ("Q9", 1.0)])
    (answer,) = rerank(first, depth=depth).candidates(["लेना नदी"], 30)
    half = depth // 2
    assert first.asked == [("लेना नदी", 30), ("लेना river", half)]
    seen = [f"Q{n}" for n in range(1, depth - half + 1)]
    seen += [each for each in ["Q3", "Q1", "Q8", "Q9"][:half] if each not in seen]
    assert {c.entity for c in answer if c.score > 1} == set(seen)
    rest = [c for c in answer if c.score < 1]
    assert rest == [(e, s / (1 + s)) for e, s in own if e not in seen]
    assert answer[0].entity == "Q3"


def test_a_depth_of_one_is_not_shared():
    first = Asked(नदी=[("Q1", 2.0), ("Q3", 1.0)])
    (answer,) = rerank(first, depth=1).candidates(["लेना नदी"], 1)
    assert first.asked == [("लेना नदी", 1)]
    assert [c.entity for c in answer] == ["Q1"]


def test_what_only_the_translation_finds_is_not_called_the_same():
    """Q5 has the very name of the mention, but is found by its translation, as is said of Q6."""
    words = MentionTable.from_pairs([("a b", "Q1"), ("b", "Q5"), ("c", "Q6")])
    own = MentionTable.from_pairs([("x", "Q5"), ("x", "Q6")])
    first = Asked(x=[("Q6", 1.0)], b=[("Q5", 1.0), ("Q6", 0.5)])
    both = Rerank(first, pivots={"en": words}, target=own, depth=4)
    assert both.stage.translate(["x"]) == ["b"]
    told = {e: both.explain("x", e) for e in ("Q5", "Q6")}
    same = {e: each.properties[-1].value for e, each in told.items()}
    assert same == {"Q5": 0.0, "Q6": 1.0}
    assert (told["Q5"].before, told["Q6"].before) == (0, 1)
    assert (told["Q5"].translation, told["Q6"].translation) == ("b", None)


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


def test_words_come_from_the_language_with_most_to_learn_from():
    few = MentionTable.from_pairs([("reka Amur", "Q1")])
    tables = {"": MARATHI, "bg": few, "en": ENGLISH}
    rows = normalized_rows(tables, "latin", dict.fromkeys(tables, "mr"))
    assert choose_partner(rows, joint=True) == 2
    pivots = {name: table for name, table in tables.items() if name}
    rows = normalized_rows(pivots, "latin", dict.fromkeys(pivots, "mr"))
    assert choose_partner(rows, joint=False) == 0  # each has one that the other has too
    alone = normalized_rows({"en": ENGLISH}, "latin", {"en": "en"})
    assert choose_partner(alone, joint=False) is choose_partner(alone, joint=True) is None


def test_without_a_target_words_come_from_two_pivots():
    hindi = MentionTable.from_pairs([("अमूर नदी", "Q1"), ("डॉन नदी", "Q2"), ("वोल्गा नदी", "Q4")])
    both = Rerank(Listed(), pivots={"en": ENGLISH, "hi": hindi}, language="mr")
    assert both.stage.translate(["लेना नदी"]) == ["लेना river"]


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
