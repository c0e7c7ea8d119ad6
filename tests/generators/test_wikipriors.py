"""WikiPriors: against the oracle, the toy world, what it knows, its refusals, and its files."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import candgen
from candgen import CandgenError, MentionTable, WikiPriors
from candgen.generators import METHODS
from candgen.generators.wikipriors import PriorLists
from candgen.protocols import Size, Training
from candgen.text.tokenizers import from_parameters, to_parameters
from tests.support import toy
from tests.support.tiers_oracle import PriorsOracle
from tests.support.worlds import Rows, large_world, mentions, tables

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
ICELANDIC = MentionTable.from_pairs(toy.ICELANDIC)
FAROESE = MentionTable.from_pairs(toy.FAROESE)


def build(**options):
    defaults = {"pivots": {"is": ICELANDIC}, "target": FAROESE, "language": "fo"}
    return WikiPriors.build(**{**defaults, **options})


def table(rows: Rows | None) -> MentionTable | None:
    return None if rows is None else MentionTable.from_pairs(rows)


def both(pivots: dict[str, Rows], target: Rows | None, *, released: bool):
    ours = WikiPriors.build(
        {name: table(rows) for name, rows in pivots.items()},
        table(target),
        normalizer="none",
        released=released,
    )
    return ours, PriorsOracle(pivots, target, released=released)


def agree(found, expected):
    """Ids and order equal, scores to 1e-6."""
    assert [entity for entity, _ in found] == [entity for entity, _ in expected]
    assert [score for _, score in found] == pytest.approx(
        [score for _, score in expected], rel=1e-6
    )


def spaced() -> st.SearchStrategy[str]:
    """Mentions of several words, with repetition and odd white space."""
    pieces = st.lists(mentions() | st.sampled_from(["a", "b", "ab", "-"]), min_size=2, max_size=4)
    return st.builds(
        lambda some, space: space.join(some), pieces, st.sampled_from([" ", "  ", ","])
    )


@st.composite
def languages(draw):
    """Pivots and a target; at least one of them."""
    names = draw(st.lists(st.sampled_from(["is", "da", "no"]), max_size=3, unique=True))
    rows = st.tuples(mentions() | spaced(), st.sampled_from(["Q1", "Q2", "Q10", "é", "𝔸"]))
    more = st.lists(
        st.builds(lambda pair, n: (*pair, n), rows, st.integers(1, 4)),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[:2],
    )
    some = tables() | more
    pivots = {name: draw(some) for name in names}
    target = None if names and draw(st.booleans()) else draw(some)
    return pivots, target


QUERIES = st.lists(mentions() | spaced() | st.sampled_from(["", " ", "xyz", "-"]), max_size=5)


@given(languages(), QUERIES, st.integers(1, 20), st.booleans())
@SLOW
def test_candidates_are_those_of_the_oracle(world, queries, k, released):
    ours, oracle = both(*world, released=released)
    queries = [*queries, *(row[0] for row in (world[1] or next(iter(world[0].values())))[:3])]
    answers = ours.candidates(queries, k)
    for query, answer in zip(queries, answers, strict=True):
        agree(answer, oracle.candidates(query, k))
        assert ours.candidates([query], k) == [answer]
        assert ours.candidates([query], 10**9)[0][:k] == answer
    assert ours.postings == oracle.priors()
    known = ["Q1", "Q2", "Q9", "Q10", "Q100", "P1", "é", "𝔸", "aa", "nobody"]
    assert ours.knows(known) == [entity in oracle.entities() for entity in known]


@pytest.fixture(scope="module", params=["tiers", "released"])
def large(request):
    """Many blocks and groups, frequent words, and counts that have no code of one byte."""
    world = large_world(7, entities=900, letters="abcd   ")
    rng = random.Random(1)
    pivots = {name: varied(rows, rng) for name, rows in world.pivots.items()}
    target = varied(world.target, rng)
    return (*both(pivots, target, released=request.param == "released"), pivots, target)


def varied(rows: Rows, rng: random.Random) -> Rows:
    """The same rows with many different counts."""
    return [(mention, entity, n + rng.randrange(600)) for mention, entity, n in rows]


def test_large_worlds(large):
    ours, oracle, pivots, target = large
    rng = random.Random(2)
    queries = [row[0] for row in rng.sample(target, 25) + rng.sample(pivots["is"], 25)]
    queries += ["", "x", "a b c d", "ab cd ab", "x a"]
    answers = [ours.candidates(queries, k) for k in (1, 30, 10_000)]
    for query, one, thirty, everything in zip(queries, *answers, strict=True):
        expected = oracle.candidates(query, 10_000)
        agree(everything, expected)
        agree(thirty, expected[:30])
        agree(one, expected[:1])
    assert any(len(some) > 100 for some in answers[2])
    assert ours.candidates(queries, threads=3) == ours.candidates(queries, threads=1)


def test_lists_hold_the_priors_of_the_index(large):
    ours, oracle, _, _ = large
    tier, expected = ours.tiers["pivot_words"], oracle.words[-1]
    lists = PriorLists.of(tier)
    assert len(tier.blocks.escape_at) > 0
    for word in ("ab", "a", "cd"):
        (token,), _ = tier.tokens(word)
        here = slice(lists.start[token], lists.start[token + 1])
        found = dict(zip(tier.ids(lists.place[here]), lists.prior[here].tolist(), strict=True))
        assert found == {e: expected.prior[word, e] for e in expected.entities[word]}


@pytest.mark.parametrize(("target", "pivot"), [("fo", "is"), ("mk", "bg")])
@pytest.mark.parametrize("released", [False, True])
def test_real_names_agree_with_the_oracle(shared_data, target, pivot, released):
    names = shared_data / "names"
    mine, other = (list(MentionTable.read(names / f"{each}.tsv.gz")) for each in (target, pivot))
    train = mine[::2]
    ours, oracle = both({pivot: other}, train, released=released)
    queries = [row[0] for row in mine[:: len(mine) // 60]]
    for query, answer in zip(queries, ours.candidates(queries), strict=True):
        agree(answer, oracle.candidates(query, 30))


# The toy world


def test_tiers_of_the_toy_world():
    """Wine is what the target says, Vienna what the pivot adds, in three cases of four."""
    assert [(c.entity, c.score) for c in build().candidates(["Vín"])[0]] == [
        ("Q282", 3 + 1 / 2),
        ("Q1741", 2 + 0.75 / 1.75),
    ]
    # Without a target there are two tiers.
    assert [(c.entity, c.score) for c in build(target=None).candidates(["VIN"])[0]] == [
        ("Q1741", 1 + 0.75 / 1.75),
        ("Q282", 1 + 0.25 / 1.25),
    ]
    assert [(c.entity, c.score) for c in build(pivots=None).candidates(["Wien"])[0]] == [
        ("Q1741", 1 + 1 / 2)
    ]
    # Rín-Vín has never been seen: Faroese knows one of its words, Icelandic both.
    assert [(c.entity, c.score) for c in build().candidates(["Rín-Vín"])[0]] == [
        ("Q282", 1 + 1 / 2),
        ("Q584", 1 / 2),
        ("Q1741", 0.75 / 1.75),
    ]
    assert build().candidates(["Vín", "Oslo", ""], k=1)[0][0].entity == "Q282"
    assert build().candidates(["Oslo", ""]) == [[], []]


def test_the_toy_world_as_released():
    """Tiers are summed; one word has no use for words, and a hyphen does not make two."""
    released = build(released=True)
    assert released.candidates(["Vín", "Rín-Vín", "Rín Vín"]) == [
        [("Q282", 1 + 0.25), ("Q1741", 0.75)],
        [],
        [("Q282", 1 + 0.25), ("Q584", 1.0), ("Q1741", 0.75)],
    ]
    again = build(released=True, target=MentionTable.from_pairs([("Rín Vín", "Q1")]))
    # Q1 has the mention, and both of its words.
    assert again.candidates(["Rín Vín"])[0][0] == ("Q1", 1 + 1 + 1)


def test_several_pivots_are_one_tier():
    danish = MentionTable.from_pairs([("vin", "Q282", 4)])
    priors = build(pivots={"is": ICELANDIC, "da": danish}, target=None)
    assert priors.candidates(["Vín"])[0] == [
        ("Q282", pytest.approx(1 + 0.625 / 1.625)),
        ("Q1741", pytest.approx(1 + 0.375 / 1.375)),
    ]


def test_words_count_as_often_as_they_occur():
    priors = build(
        target=None,
        pivots={
            "is": MentionTable.from_pairs(
                [("Vín", "Q1"), ("Vín", "Q2"), ("Rín", "Q3", 1), ("Rín", "Q2", 3)]
            )
        },
    )
    scores = dict(priors.candidates(["Vín og Vín og Rín"])[0])
    assert scores == {
        "Q1": pytest.approx(1 / 2),
        "Q2": pytest.approx(1.75 / 2.75),
        "Q3": pytest.approx(0.2),
    }


def test_a_tier_without_a_token_is_empty():
    """No mention of the target has a word; then one has not even a letter."""
    marks = MentionTable.from_pairs([("!", "Q1"), ("?", "Q2")])
    priors = build(target=marks)
    assert list(priors.tiers) == ["target_mentions", "pivot_mentions", "pivot_words"]
    assert priors.candidates(["!", "Rín, Rín"]) == [[("Q1", 3.5)], [("Q584", 2 / 3)]]
    vanished = MentionTable.from_pairs([("\u200b", "Q1")])
    priors = build(target=vanished)
    assert list(priors.tiers) == ["pivot_mentions", "pivot_words"]
    assert priors.candidates(["\u200b", "Rín"]) == [[], [("Q584", 2.5)]]
    assert priors.knows(["Q1", "Q584"]) == [False, True]
    assert priors.inputs["fo"]["entities"] == 0
    with pytest.raises(CandgenError, match="no mention has a token"):
        build(target=vanished, pivots=None)


def test_names_are_those_of_all_tables():
    priors = build()
    assert priors.names("Q1741") == [("Vín", "is", 3), ("Wien", "fo", 1)]
    assert priors.names("Q584") == [("Rín", "is", 2)]
    assert priors.names("Q1") == []
    assert priors.knows(["Q282", "Q28", "Q584"]) == [True, False, True]


def test_a_name_without_a_word_is_a_name():
    priors = build(pivots={"is": MentionTable.from_pairs([("!", "Q1", 2), ("Rín", "Q2")])})
    assert priors.names("Q1") == [("!", "is", 2)]
    assert priors.inputs["is"]["entities"] == 2


def test_queries_are_normalised_in_the_target_language():
    turkish = MentionTable.from_pairs([("IĞDIR", "Q1")])
    assert WikiPriors.build({"tr": turkish}, language="az").candidates(["Iğdır"])[0]
    assert WikiPriors.build({"tr": turkish}, language="fo").candidates(["Iğdır"]) == [[]]


def test_odd_queries():
    odd = ["", "V", "\ud800", "V\nín", "Vín\r\n", "😀", "\x00 \x00", "a " * 10_000, "Vín"]
    for released in (False, True):
        priors = build(released=released)
        assert priors.candidates(odd) == [priors.candidates([mention])[0] for mention in odd]
        assert priors.candidates(["Vín\n"]) == priors.candidates(["Vín"])
        assert priors.candidates([]) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"language": "is"}, "'is' is the name of the target and of a pivot"),
        ({"pivots": {}, "target": None}, "nothing to build from"),
        ({"pivots": {"is": MentionTable.from_pairs([])}}, "the table of 'is' is empty"),
        ({"target": [("Vín", "Q1")]}, "expected a MentionTable"),
        ({"normalizer": "nfc"}, "nfc"),
        ({"threads": 0}, "threads is 0"),
    ],
)
def test_builds_are_refused(options, sentence):
    with pytest.raises(CandgenError, match=sentence):
        build(**options)


def test_queries_are_refused():
    with pytest.raises(CandgenError, match="k is 0"):
        build().candidates(["Vín"], 0)
    with pytest.raises(CandgenError, match="expected several strings"):
        build().candidates("Vín")


def test_words_between_spaces_can_be_stored():
    spaced = candgen.Words("spaced")
    assert spaced.tokens(" Saint-Pierre,  2nd\u2003") == ["Saint-Pierre,", "2nd"]
    assert from_parameters(to_parameters(spaced)) == spaced
    assert from_parameters({"kind": "words"}) == candgen.Words()  # as older folders say it
    with pytest.raises(CandgenError, match="Words unit is 'space': choose 'letters' or 'spaced'"):
        candgen.Words("space")


# Files


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_saved_index_answers_the_same(large, tmp_path):
    ours, _, _, target = large
    ours.save(tmp_path / "x.candgen")
    loaded = candgen.load(tmp_path / "x.candgen")
    queries = [mention for mention, _, _ in target][:60]
    assert loaded.candidates(queries) == ours.candidates(queries)
    assert loaded.parameters == ours.parameters
    assert loaded.inputs == ours.inputs
    entity = target[0][1]
    assert loaded.names(entity) == ours.names(entity) != []
    assert not loaded.tiers["pivot_words"].blocks.key.flags.owndata  # memory-mapped
    assert len(list((tmp_path / "x.candgen").glob("entities.bytes.*"))) == 1
    assert not list((tmp_path / "x.candgen").glob("tiers.*.entities.*"))


def test_empty_tiers_are_saved(tmp_path):
    priors = build(target=MentionTable.from_pairs([("!", "Q1")]))
    priors.save(tmp_path / "x")
    loaded = candgen.load(tmp_path / "x")
    assert loaded.candidates(["!", "Vín"]) == priors.candidates(["!", "Vín"])
    assert loaded.candidates(["!"]) == [[("Q1", 3.5)]]


def test_the_same_input_gives_the_same_bytes(large, tmp_path):
    """Whatever the order of rows, of pivots, and the number of threads."""
    ours, _, pivots, target = large
    ours.save(tmp_path / "a")
    rng = random.Random(0)
    shuffled = {name: rng.sample(rows, len(rows)) for name, rows in reversed(pivots.items())}
    WikiPriors.build(
        {name: table(rows) for name, rows in shuffled.items()},
        table(rng.sample(target, len(target))),
        normalizer="none",
        threads=2,
        released=ours.parameters["released"],
    ).save(tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")


# As methods


@pytest.mark.parametrize("name", ["wikipriors", "wikipriors-released"])
def test_methods(name):
    method = METHODS[name]
    training = Training({"is": ICELANDIC}, FAROESE, "fo")
    assert method.choices(training) == [{}]
    built = method(training, {"normalizer": "paper"})
    assert built.parameters["normalizer"] == "paper"
    expected = build(normalizer="paper", released=name.endswith("released"))
    assert built.candidates(["Vín", "Wien"]) == expected.candidates(["Vín", "Wien"])
    assert built.parameters["released"] == name.endswith("released")
    # Two and three pairs of mention and entity, and as many of word and entity.
    assert method.size(built) == Size(10, 0.0)
    with pytest.raises(CandgenError, match="'alpha' is not a parameter of this method: use normal"):
        method.check({"alpha": 1})


def test_scores_are_plain_numbers():
    for released in (False, True):
        ((candidate, *_),) = build(released=released).candidates(["Vín"])
        assert type(candidate.score) is float
        assert type(candidate) is candgen.Candidate
    assert np.float32(candidate.score) == candidate.score
