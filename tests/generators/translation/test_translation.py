"""The translation baseline: against dictionaries, a world by hand, its refusals, and its files."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import candgen
from candgen import CandgenError, MentionTable, Translation
from candgen.generators.conformance import check_generator
from candgen.index.cancellation import Cancellation, SearchCancelledError, cancelled_by
from tests.support.commands import snapshot
from tests.support.translation_oracle import TranslationOracle

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)

ENGLISH = MentionTable.from_pairs(
    [
        *(("Amur River", "Q6422", 9), ("Amur", "Q6422"), ("Don River", "Q1229", 4)),
        *(("Lena River", "Q46841"), ("Lake Lena", "Q5"), ("Lena", "Q3"), ("River", "Q4022")),
    ]
)
MACEDONIAN = MentionTable.from_pairs(
    [("река Амур", "Q6422"), ("Амур", "Q6422"), ("река Дон", "Q1229"), ("Вардар", "Q9")]
)
BULGARIAN = MentionTable.from_pairs(
    [("езеро Амур", "Q7"), ("езеро Дон", "Q8"), ("Амур", "Q7"), ("Вардар", "Q9")]
)
LAKES = MentionTable.from_pairs([("Lake Amur", "Q7"), ("Lake Don", "Q8"), ("Amur", "Q7")])


def build(**options):
    defaults = {"target": MACEDONIAN, "english": ENGLISH, "language": "mk"}
    return Translation.build(**{**defaults, **options})


def found(index, mention, k=30):
    return [(entity, round(score, 3)) for entity, score in index.candidates([mention], k)[0]]


def table(rows):
    return None if rows is None else MentionTable.from_pairs(rows)


def agree(answer, expected):
    """Ids and order equal, scores to 1e-6."""
    assert [entity for entity, _ in answer] == [entity for entity, _ in expected]
    assert [score for _, score in answer] == pytest.approx(
        [score for _, score in expected], rel=1e-6
    )


def both(pivots, target, english):
    ours = Translation.build(
        {name: table(rows) for name, rows in pivots.items()},
        table(target),
        english=table(english),
        normalizer="none",
    )
    translations = ours.lexicon.look_up(ours.lexicon.words)
    return ours, TranslationOracle(pivots, target, english, translations)


# ---------------------------------------------------------------- the oracle

NAMES = st.lists(st.sampled_from(["a", "b", "cd", "e", "x1"]), min_size=1, max_size=4)
SPACES = st.sampled_from([" ", ", ", "-"])
TEXTS = st.builds(lambda words, space: space.join(words), NAMES, SPACES)
ROWS = st.lists(
    st.tuples(TEXTS, st.sampled_from(["Q1", "Q2", "Q3", "Q10", "é"]), st.integers(1, 4)),
    min_size=1,
    max_size=10,
    unique_by=lambda row: row[:2],
)


@st.composite
def languages(draw):
    """Pivots, a target and English; not all need be there, but one of the first two."""
    names = draw(st.lists(st.sampled_from(["is", "da"]), max_size=2, unique=True))
    target = None if names and draw(st.booleans()) else draw(ROWS)
    return {name: draw(ROWS) for name in names}, target, draw(st.none() | ROWS)


QUERIES = st.lists(
    TEXTS | st.sampled_from(["", " ", "zz", "-", "a b cd e x1 a b cd e"]), max_size=4
)


@given(languages(), QUERIES, st.integers(1, 9))
@SLOW
def test_candidates_are_those_of_the_oracle(world, queries, k):
    ours, oracle = both(*world)
    answers = ours.candidates(queries, k)
    for query, answer in zip(queries, answers, strict=True):
        agree(answer, oracle.candidates(query, k))
        assert ours.candidates([query], k) == [answer]
        assert ours.candidates([query], 10**9)[0][:k] == answer
    known = ["Q1", "Q2", "Q3", "Q10", "é", "nobody"]
    assert ours.knows(known) == [entity in oracle.entities() for entity in known]


def large(seed):
    """Names of many words, some frequent and some rare; another vocabulary in English."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 4))) for _ in range(150)]
    often = [rng.randint(1, 60) for _ in words]
    target, english = [], []
    for number in range(600):
        some = rng.choices(words, often, k=rng.randint(1, 5))
        entity = f"Q{rng.randint(1, 400)}"
        target.append((" ".join(some), entity, rng.randint(1, 900)))
        other = [f"{word}{word}" if len(word) > 1 else word for word in some]
        if rng.random() < 0.3:
            rng.shuffle(other)
        english.append((" ".join(other), entity if rng.random() < 0.9 else f"P{number}", 1))
    return [list({row[:2]: row for row in rows}.values()) for rows in (target, english)]


@pytest.mark.parametrize("seed", [1, 2])
def test_larger_worlds_agree_with_the_oracle(seed):
    target, english = large(seed)
    ours, oracle = both({"is": target[:200]}, target[::2], english)
    assert len(ours.lexicon.words) > 50
    queries = [name for name, _, _ in target[1::9]] + [name for name, _, _ in english[::40]]
    answers = [ours.candidates(queries, k) for k in (1, 30, 10_000)]
    tiers = set()
    for query, one, thirty, everything in zip(queries, *answers, strict=True):
        expected = oracle.candidates(query, 10_000)
        agree(everything, expected)
        agree(thirty, expected[:30])
        agree(one, expected[:1])
        tiers |= {int(score) for _, score in expected}
    assert tiers == {0, 1, 2, 3, 4}


# ---------------------------------------------------------------- by hand


def test_a_river_that_no_table_of_the_target_has():
    """река is river, as two names teach; Лена is romanized."""
    index = build()
    translations = [word for word, _ in index.lexicon.look_up(["река"])["река"]]
    assert translations[0] == "river"
    answer = found(index, "река Лена")
    assert [entity for entity, _ in answer[:2]] == ["Q46841", "Q3"]
    assert 1 < answer[0][1] < 2  # the fourth tier of five: the words have another order in English
    assert all(score < 1 for _, score in answer[1:])
    assert found(index, "Лена река")[0][0] == "Q46841"
    assert 2 < found(index, "Лена река")[0][1] < 3  # the third
    assert found(index, "Вардар") == [("Q9", 4.5)]
    assert found(index, "Волга") == []


def test_a_name_of_the_target_comes_before_that_of_a_pivot():
    index = build(pivots={"bg": BULGARIAN})
    assert [entity for entity, _ in found(index, "Амур", 2)] == ["Q6422", "Q7"]
    assert [int(score) for _, score in found(index, "Амур", 2)] == [4, 3]


def test_pivots_teach_the_words_that_the_target_does_not_know():
    english = ENGLISH.merge(LAKES)
    alone, beside = build(english=english), build(english=english, pivots={"bg": BULGARIAN})
    assert alone.lexicon.look_up(["езеро"]) == {}
    assert beside.lexicon.look_up(["езеро"])["езеро"][0].word == "lake"
    assert found(beside, "езеро Лена")[0][0] == "Q5"
    # Without a target, the pivot is the only teacher.
    zero_shot = build(english=english, pivots={"bg": BULGARIAN}, target=None)
    assert found(zero_shot, "езеро Лена")[0][0] == "Q5"
    assert found(zero_shot, "река Лена")[0][0] == "Q3"


def test_without_english_the_pivots_are_searched():
    danish = MentionTable.from_pairs(
        [("Amur Flod", "Q6422"), ("Don Flod", "Q1229"), ("Lena Flod", "Q46841")]
    )
    index = build(english=None, pivots={"da": danish})
    assert found(index, "река Лена")[0][0] == "Q46841"
    assert index.parameters["searched"] == ["da"]
    zero_shot = build(english=None, pivots={"da": danish}, target=None)
    assert len(zero_shot.lexicon.words) == 0
    assert {entity for entity, _ in found(zero_shot, "Лена")} == {"Q46841"}
    alone = build(english=None)
    assert alone.parameters["searched"] == ["mk"]
    assert {entity for entity, _ in found(alone, "река")} == {"Q6422", "Q1229"}


def test_english_may_be_a_pivot_or_the_target():
    more = MentionTable.from_pairs([("Vardar", "Q9")])
    same = build(pivots={"en": ENGLISH})
    assert same.names("Q4022") == [("River", "en", 1)]
    assert same.inputs["en"]["pairs"] == len(ENGLISH)
    both_tables = build(pivots={"en": more})
    assert both_tables.names("Q4022") == [("River", "en", 1)]
    assert both_tables.inputs["en"]["pairs"] == len(ENGLISH) + 1
    target = build(target=ENGLISH, language="en")
    assert found(target, "Amur River", 1) == [("Q6422", 4.5)]


def test_names_are_those_of_all_tables():
    index = build(pivots={"bg": BULGARIAN})
    assert index.names("Q9") == [("Вардар", "mk", 1), ("Вардар", "bg", 1)]
    assert index.names("Q6422")[0] == ("Amur River", "en", 9)
    assert index.names("Q0") == []
    assert index.knows(["Q9", "Q0"]) == [True, False]
    assert repr(index) == "<Translation: language=mk, pivots=bg, 9 entities>"


def test_a_name_without_a_word_is_a_name_of_the_target_only():
    marks = MentionTable.from_pairs([("!", "Q1")])
    index = build(target=marks)
    assert found(index, "!") == [("Q1", 4.5)]
    index = build(english=MentionTable.from_pairs([("!", "Q1")]))
    assert index.knows(["Q1"]) == [False]
    with pytest.raises(CandgenError, match="no mention has a token"):
        build(target=MentionTable.from_pairs([("\u200b", "Q1")]), english=None)


def test_odd_queries():
    odd = ["", "Л", "\ud800", "река\nЛена", "Лена\r\n", "😀", "\x00 \x00", "а " * 5_000, "Лена"]
    index = build()
    assert index.candidates(odd) == [index.candidates([mention])[0] for mention in odd]
    assert index.candidates(["река\nЛена"]) == index.candidates(["река Лена"])
    assert index.candidates([]) == []
    many = ["река Лена", "Амур"] * 1500
    assert index.candidates(many) == index.candidates(many[:2]) * 1500


def test_a_cancelled_search_ends():
    cancellation = Cancellation()
    cancellation.set()
    with cancelled_by(cancellation), pytest.raises(SearchCancelledError):
        build().candidates(["Лена"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pivots": {"mk": BULGARIAN}}, "'mk' is the name of the target and of a pivot"),
        ({"target": None}, "nothing to build from"),
        ({"english": MentionTable.from_pairs([])}, "the table of English is empty"),
        ({"english": [("a", "Q1")]}, "english is .*: expected a MentionTable"),
        ({"normalizer": "nfc"}, "nfc"),
    ],
)
def test_builds_are_refused(options, sentence):
    with pytest.raises(CandgenError, match=sentence):
        build(**options)


def test_it_follows_the_rules_for_generators(tmp_path):
    mentions = ["река Лена", "Лена река", "Амур", "Вардар", "", "Волга", "река"]
    check_generator(build(pivots={"bg": BULGARIAN}), mentions, folder=tmp_path)


# ---------------------------------------------------------------- files


def test_a_saved_index_answers_the_same(tmp_path):
    built = build(pivots={"bg": BULGARIAN})
    built.save(tmp_path / "x")
    loaded = candgen.load(tmp_path / "x")
    mentions = ["река Лена", "Амур", "Вардар", "", "река"]
    assert loaded.candidates(mentions) == built.candidates(mentions)
    assert loaded.parameters == built.parameters
    assert loaded.inputs == built.inputs
    assert not loaded.words.name.flags.owndata  # memory-mapped
    with pytest.raises(ValueError, match="read-only"):
        loaded.searched.share[0] = 0


def test_the_same_input_gives_the_same_bytes(tmp_path):
    """Whatever the order of rows and of pivots."""
    build(pivots={"bg": BULGARIAN, "en": LAKES}).save(tmp_path / "a")
    rows = [list(each)[::-1] for each in (LAKES, BULGARIAN, MACEDONIAN, ENGLISH)]
    lakes, bulgarian, macedonian, english = map(MentionTable.from_pairs, rows)
    pivots = {"en": lakes, "bg": bulgarian}
    build(pivots=pivots, target=macedonian, english=english).save(tmp_path / "b")
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")


def test_an_index_without_english_and_target_is_saved(tmp_path):
    built = build(pivots={"bg": BULGARIAN}, target=None, english=None)
    built.save(tmp_path / "x")
    assert candgen.load(tmp_path / "x").candidates(["Вардар"]) == built.candidates(["Вардар"])


# ---------------------------------------------------------------- real names


@pytest.mark.parametrize(("target", "pivot"), [("fo", "is"), ("mk", "bg")])
def test_real_names_are_found_by_translation(shared_data, target, pivot):
    """On half of the names, it finds more of the other half than the same names do untranslated."""
    names = shared_data / "names"
    mine, other, english = (
        MentionTable.read(names / f"{each}.tsv.gz") for each in (target, pivot, "en")
    )
    rows = list(mine)
    training = MentionTable.from_pairs(rows[::2])
    queries = rows[1 :: len(rows) // 200]

    def recall(index):
        answers = index.candidates([row[0] for row in queries])
        golds = zip((row[1] for row in queries), answers, strict=True)
        return sum(gold in {entity for entity, _ in answer} for gold, answer in golds)

    index = Translation.build({pivot: other}, training, english=english, language=target)
    lookup = candgen.WikiPriors.build({pivot: other}, training, language=target)
    assert recall(index) > recall(lookup) + len(queries) / 20
