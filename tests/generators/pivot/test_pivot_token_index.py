"""PivotTokenIndex: the toy world, its options, its refusals, and its files."""

import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

import candgen
from candgen import CandgenError, CharNgrams, MentionTable, PivotTokenIndex, WholeMention, Words
from tests.support import toy
from tests.support.worlds import large_world

ICELANDIC = MentionTable.from_pairs(toy.ICELANDIC)
FAROESE = MentionTable.from_pairs(toy.FAROESE)


def build(**options):
    defaults = {
        "pivots": {"is": ICELANDIC},
        "target": FAROESE,
        "language": "fo",
        "alpha": toy.ALPHA,
        "lam": 1.0,
        "tokenizer": CharNgrams(*toy.NGRAMS),
    }
    return PivotTokenIndex.build(**{**defaults, **options})


@pytest.mark.parametrize(("query", "expected"), toy.CANDIDATES.items())
def test_toy_world(query, expected):
    mention, lam = query
    answer = build().candidates([mention], lam=lam)[0]
    assert [c.entity for c in answer] == [entity for entity, _ in expected]
    assert [c.score for c in answer] == pytest.approx([score for _, score in expected])


def test_explanation_of_the_toy_world():
    why = build().explain("Vínið", "Q1741")
    assert why.normalized == "vinið"
    assert why.score == pytest.approx(1.375 + 4.5 / 11)
    assert [part.token for part in why.tokens] == ["^v", "vi", "in"]
    assert why.tokens[2].prior == pytest.approx(1.5 / 4)
    assert why.tokens[2].posterior == pytest.approx(1.5 / 11)
    assert why.unknown == ["ni", "ið", "ð$"]
    assert why.languages == pytest.approx({"fo": 0, "is": 1})
    assert why.sources == [("Vín", "is", 3), ("Wien", "fo", 1)]
    # n$ of Vienna is 1.5 from Icelandic and 1 from Faroese.
    shares = build().explain("n", "Q1741").languages
    assert shares == pytest.approx({"fo": 1 / 2.5, "is": 1.5 / 2.5})


def test_settings_of_the_paper():
    zero_shot = build(target=None)
    assert [c.entity for c in zero_shot.candidates(["Vín"])[0]] == ["Q1741", "Q282", "Q584"]
    assert zero_shot.candidates(["Vín"]) == build(target=None, alpha=0.125).candidates(["Vín"])
    alone = build(pivots=None, alpha=0.4)
    assert [c.entity for c in alone.candidates(["Vín"])[0]] == ["Q282", "Q1741"]
    assert alone.candidates(["Vín"]) == build(alpha=0.0).candidates(["Vín"])
    assert alone.candidates(["Rín"], k=9)[0] == build(alpha={"is": 0}).candidates(["Rín"])[0]


def test_other_tokenizers():
    whole = build(tokenizer=WholeMention(), lam=0.0)
    assert [c.score for c in whole.candidates(["VÍN"])[0]] == pytest.approx([0.5, 0.5])
    assert whole.candidates(["Vínið"]) == [[]]
    words = build(tokenizer=Words())
    assert [c.entity for c in words.candidates(["(Wien), Vín"])[0]] == ["Q1741", "Q282"]


def test_graphemes_are_one_character():
    """A flag is two code points and one cluster, and so is नि."""
    table = MentionTable.from_pairs([("🇫🇴नि", "Q1")])
    options = {"language": "hi", "normalizer": "none"}
    clusters = PivotTokenIndex.build(
        {"is": table}, tokenizer=CharNgrams(2, 2, unit="grapheme"), **options
    )
    shown = {part.token for part in clusters.explain("🇫🇴नि", "Q1").tokens}
    assert shown == {"^🇫🇴", "🇫🇴नि", "नि$"}
    assert clusters.candidates(["न"]) == [[]]
    points = PivotTokenIndex.build({"is": table}, tokenizer=CharNgrams(2, 2), **options)
    assert len(points.explain("🇫🇴नि", "Q1").tokens) == 5


def test_turkish_i_is_that_of_the_table_and_of_the_query():
    turkish = MentionTable.from_pairs([("IĞDIR", "Q1")])
    index = PivotTokenIndex.build({"tr": turkish}, language="az", tokenizer=WholeMention())
    assert index.candidates(["Iğdır"])[0][0].entity == "Q1"
    index = PivotTokenIndex.build({"tr": turkish}, language="fo", tokenizer=WholeMention())
    assert index.candidates(["Iğdır"]) == [[]]


def test_mentions_that_vanish_are_dropped_and_logged(caplog):
    table = MentionTable.from_pairs([("\u200b", "Q1"), (" ", "Q2"), ("Ey", "Q3")])
    index = PivotTokenIndex.build({"fo": table})
    assert "fo: left out 2 without a token, of 3 mentions" in caplog.text
    assert index.candidates(["\u200b", "", " ", "Ey"])[:3] == [[], [], []]
    assert list(index.token_index.entities) == ["Q3"]


def test_queries_of_every_kind():
    index = build()
    odd = ["", "V", "\ud800", "V\nín", "Vín\r\n", "😀", "𝔙", "\x00", "a" * 10_000, "Vín"]
    answers = index.candidates(odd)
    assert answers == [index.candidates([mention])[0] for mention in odd]
    assert [c.entity for c in index.candidates(["Vín\n"])[0]] == ["Q282", "Q1741", "Q584"]
    assert index.candidates([]) == []
    assert index.candidates(("Vín",)) == index.candidates(iter(["Vín"]))
    plain = build(normalizer="none")
    assert plain.candidates(["V\nín", "Vín"]) == [
        plain.candidates(["V\nín"])[0],
        plain.candidates(["Vín"])[0],
    ]


NOT_WEIGHTS = [-0.1, math.nan, math.inf, -math.inf, "0.4", True, None]


@pytest.mark.parametrize("value", NOT_WEIGHTS)
def test_weights_are_refused(value):
    with pytest.raises(CandgenError, match=r"lam is .*expected a finite number of at least 0"):
        build(lam=value)
    with pytest.raises(CandgenError, match="alpha is"):
        build(alpha=value)
    with pytest.raises(CandgenError, match="alpha of 'is' is"):
        build(alpha={"is": value})
    with pytest.raises(CandgenError, match="threshold is"):
        build(threshold=value)
    if value is not None:
        with pytest.raises(CandgenError, match="lam is"):
            build().candidates(["Vín"], lam=value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"threshold": 1.5}, "threshold is 1.5: expected a probability"),
        ({"alpha": {"is": 1, "da": 1}}, "alpha is given for 'da', which is not a pivot"),
        ({"alpha": {}}, "alpha has no value for the pivot 'is'"),
        ({"language": "is"}, "'is' is the name of the target and of a pivot"),
        ({"pivots": {}, "target": None}, "nothing to build from"),
        ({"target": None, "alpha": 0}, "every pivot has alpha 0 and there is no target"),
        ({"pivots": {"is": MentionTable.from_pairs([])}}, "the table of 'is' is empty"),
        ({"target": [("Vín", "Q1")]}, "expected a MentionTable"),
        ({"tokenizer": "chars"}, "tokenizer is 'chars': choose"),
        ({"normalizer": "nfc"}, "nfc"),
        ({"threads": 0}, "threads is 0"),
        (
            {"target": MentionTable.from_pairs([(" ", "Q1")]), "pivots": None},
            "no mention has a token",
        ),
    ],
)
def test_builds_are_refused(options, sentence):
    with pytest.raises(CandgenError, match=sentence):
        build(**options)


@pytest.mark.parametrize("low_high", [(0, 2), (3, 2), (1.5, 2), (2, 33), (True, 2), ("2", 5)])
def test_ngrams_are_refused(low_high):
    with pytest.raises(CandgenError, match="expected whole numbers"):
        CharNgrams(*low_high)


@pytest.mark.parametrize("k", [0, -1, 1.0, "5", True, None])
def test_k_is_refused(k):
    with pytest.raises(CandgenError, match=r"k is .*expected a whole number of at least 1"):
        build().candidates(["Vín"], k)


def test_weights_that_would_overflow_are_refused():
    with pytest.raises(CandgenError, match=r"lam is 1e\+300: expected at most 1e\+30"):
        build().candidates(["Vín"], lam=1e300)
    assert build(lam=1e30).candidates(["Vín"])[0][0].entity == "Q282"


def test_the_number_of_tables_is_limited():
    pivots = {f"l{number}": ICELANDIC for number in range(1000)}
    with pytest.raises(CandgenError, match=r"there are 1001 tables, expected at most 1000: leave"):
        build(pivots=pivots, alpha=1.0)


def test_a_string_is_not_several_strings():
    with pytest.raises(CandgenError, match=r"expected several strings, such as \['Vín'\]"):
        build().candidates("Vín")
    with pytest.raises(CandgenError, match="mention 1 is 7: expected a string"):
        build().candidates(["Vín", 7])


def test_explaining_what_is_not_there():
    with pytest.raises(CandgenError, match="'Q9' is not in this index"):
        build().explain("Vín", "Q9")
    nothing = build().explain("xyz", "Q282")
    assert nothing.score == 0
    assert nothing.tokens == []
    assert set(nothing.languages.values()) == {0.0}


def test_everything_under_the_threshold():
    index = build(
        threshold=1.0, pivots=None, target=MentionTable.from_pairs([("ab", "Q1"), ("ab", "Q2")])
    )
    assert index.token_index.postings == 0
    assert index.candidates(["ab"]) == [[]]
    assert index.parameters["dropped"] == {"priors": 6, "posteriors": 6, "postings": 6}


# Files


@pytest.fixture(scope="module")
def world():
    return large_world(5, entities=300, letters="abcd")


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_saved_index_answers_the_same(world, tmp_path):
    index = world.index()
    index.save(tmp_path / "x.candgen")
    loaded = candgen.load(tmp_path / "x.candgen")
    queries = [mention for mention, _, _ in world.target][:50]
    assert loaded.candidates(queries) == index.candidates(queries)
    entity = index.candidates(queries[:1])[0][0].entity
    assert loaded.explain(queries[0], entity) == index.explain(queries[0], entity)
    assert loaded.parameters == index.parameters
    assert loaded.inputs == index.inputs


def test_the_same_input_gives_the_same_bytes(world, tmp_path):
    """Whatever the order of rows, of pivots, and the number of threads."""
    world.index().save(tmp_path / "a")
    rng = random.Random(0)
    shuffled = {name: rng.sample(rows, len(rows)) for name, rows in world.pivots.items()}
    PivotTokenIndex.build(
        {name: MentionTable.from_pairs(shuffled[name]) for name in reversed(shuffled)},
        MentionTable.from_pairs(rng.sample(world.target, len(world.target))),
        alpha=dict(reversed(world.alpha.items())),
        lam=0.4,
        normalizer="none",
        threads=2,
    ).save(tmp_path / "b")
    assert _files(tmp_path / "a") == _files(tmp_path / "b")


@pytest.mark.parametrize("tokenizer", [Words(), WholeMention(), CharNgrams(1, 3, unit="grapheme")])
def test_indexes_with_strings_as_symbols_are_saved(tokenizer, tmp_path):
    index = build(tokenizer=tokenizer)
    index.save(tmp_path / "x")
    assert candgen.load(tmp_path / "x").candidates(["Vín", "Wien"]) == index.candidates(
        ["Vín", "Wien"]
    )


def test_importing_candgen_does_not_import_numba():
    code = "import candgen, sys; print(sorted({'numba', 'pyarrow'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = candgen.nothing
    assert set(candgen._HOMES) == set(candgen.__all__)
