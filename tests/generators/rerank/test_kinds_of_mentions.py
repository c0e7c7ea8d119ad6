"""The second stage on made-up names: mentions in another order, shorter, longer, and inflected."""

import random

import pytest

from candgen import MentionTable, PivotTokenIndex
from candgen.generators.rerank.rerank import Rerank

PERSONS, PLACES = 300, 200
WORDS_THAT_MANY_HAVE = ("kommuna", "bygd", "kirkja")


def word(letters, syllables):
    return "".join(
        letters.choice("bdfghjklmnprstv") + letters.choice("aeiou") + letters.choice(["", "n", "r"])
        for _ in range(syllables)
    ).capitalize()


def world():
    """Persons with one of twenty given names, and places with one of three words."""
    letters = random.Random(3)
    given = [word(letters, 2) for _ in range(20)]
    surnames = list({word(letters, 3): None for _ in range(PERSONS)})
    persons = [(f"{letters.choice(given)} {surname}", surname) for surname in surnames]
    places = [f"{word(letters, 3)} {letters.choice(WORDS_THAT_MANY_HAVE)}" for _ in range(PLACES)]
    return persons, places


@pytest.fixture(scope="module")
def persons():
    return {f"Q{n}": names for n, names in enumerate(world()[0], 1000)}


def rows():
    people, places = world()
    made = [(name, f"Q{n}", 1 + n % 7) for n, (name, _) in enumerate(people, 1000)]
    made += [(name, f"Q{n}", 1 + n % 5) for n, name in enumerate(places, 5000)]
    return made


def build(*more, danish=()):
    pivots = {"is": MentionTable.from_pairs([*rows(), *more])}
    if danish:
        pivots["da"] = MentionTable.from_pairs(danish)
    return Rerank(PivotTokenIndex.build(pivots, language="fo", normalizer="latin"))


@pytest.fixture(scope="module")
def rerank():
    return build()


def places_of(rerank, mentions, entities):
    """Where the entity of each mention stands, from 1 on; 1000 if it is not found."""
    answers = rerank.candidates(mentions, 30)
    listed = [[c.entity for c in answer] for answer in answers]
    return [
        each.index(entity) + 1 if entity in each else 1000
        for each, entity in zip(listed, entities, strict=True)
    ]


def test_names_with_their_words_in_another_order_are_first(rerank, persons):
    for separator in (" ", ", "):
        turned = [separator.join(reversed(name.split())) for name, _ in persons.values()]
        assert set(places_of(rerank, turned, persons)) == {1}


def test_a_surname_alone_finds_the_person(rerank, persons):
    found = places_of(rerank, [surname for _, surname in persons.values()], persons)
    assert max(found) <= 5
    assert found.count(1) >= 0.95 * len(found)


def test_a_given_name_with_its_first_letter_only(rerank, persons):
    shortened = [f"{name[0]}. {surname}" for name, surname in persons.values()]
    found = places_of(rerank, shortened, persons)
    assert max(found) <= 5
    assert found.count(1) >= 0.95 * len(found)


@pytest.mark.parametrize("generic", WORDS_THAT_MANY_HAVE)
def test_a_generic_word_around_a_rare_one_does_not_push_it_off(generic):
    """Fuglebjerg has the generic word and a like name; Esbjerg has only what is rare."""
    both = build(("Esbjerg", "Q1", 3), (f"Fuglebjerg {generic}", "Q2", 3), ("Bjerg", "Q3", 3))
    assert both.candidates([f"Esbjerg {generic}"])[0][0].entity == "Q1"
    assert both.candidates([f"{generic} Esbjerg"])[0][0].entity == "Q1"
    assert both.candidates([f"Fuglebjerg {generic}"])[0][0].entity == "Q2"
    assert both.candidates(["Fuglebjerg"])[0][0].entity == "Q2"


def test_every_rare_word_is_found_with_generic_words_around_it(rerank, persons):
    wrapped = [f"kommuna {surname} bygd" for _, surname in persons.values()]
    found = places_of(rerank, wrapped, persons)
    assert found.count(1) >= 0.9 * len(found)
    assert max(found) <= 15


@pytest.mark.parametrize(
    ("name", "rival"), [("Sandvik", "Sandvig"), ("Elis", "Elisa"), ("Nes bygd", "Nesi bygd")]
)
def test_a_verbatim_name_is_not_pushed_off_by_a_known_one(name, rival):
    """The rival occurs a hundred thousand times, in two languages."""
    both = build((name, "Q1", 1), (rival, "Q2", 100_000), danish=[(rival, "Q2", 100_000)])
    found = [c.entity for c in both.candidates([name])[0]]
    assert found[:2] == ["Q1", "Q2"]
    assert both.candidates([rival])[0][0].entity == "Q2"


def test_a_name_with_an_ending():
    both = build(
        ("Jarmani", "Q183", 3),
        ("Jarman", "Q2", 3),
        ("Madhyapur", "Q3", 3),
        ("Madhyamgram", "Q4", 3),
        ("Jamanimara", "Q5", 3),
        ("Armani", "Q6", 3),
        ("Jarmundya", "Q7", 3),
        ("Karmandi", "Q8", 3),
    )
    for mention in ("jarmanimadhye", "Jarmanicha", "jarmanila", "jarmanitil"):
        assert both.candidates([mention])[0][0].entity == "Q183"


@pytest.mark.parametrize(("ending", "share"), [("ur", 0.98), ("ini", 0.95), ("madhye", 0.9)])
def test_surnames_with_endings(rerank, persons, ending, share):
    found = places_of(rerank, [each + ending for _, each in persons.values()], persons)
    assert found.count(1) >= share * len(found)
