"""The skeleton of consonants behind a romanised name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.text.consonants import add_skeletons
from candgen.text.normalize import normalize, normalize_many


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Müsür", "Misir"),
        ("Suw", "suv"),
        ("Semf", "Senf"),
        ("Мисир", "Misr"),
        ("Gawaý", "Gavayi"),
        ("Temmäki", "Temeki"),
        ("Shukin", "Sukin"),
        ("Thomas", "Tomaz"),
    ],
)
def test_names_that_sound_alike_have_the_same_skeleton(one, other):
    (_, first), (_, second) = (normalize(name, "sound").split(" ") for name in (one, other))
    assert first == second


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("aeiou", "aeiou"),
        ("123", "123"),
        ("b", "b B"),
        ("bb", "bb B"),
        ("a b", "a b B"),
        ("a, b.c", "a, b.c BG"),
        ("tott dóttir", "tott dottir D DR"),
    ],
)
def test_what_a_skeleton_is(text, expected):
    assert normalize(text, "sound") == expected


@given(st.lists(st.text(), max_size=5))
def test_lines_stay_lines_and_the_name_stands_first(texts):
    latin, sound = (normalize_many(texts, each) for each in ("latin", "sound"))
    assert len(sound) == len(texts)
    for name, both in zip(latin, sound, strict=True):
        assert both == name or both.startswith(f"{name} ")
        assert set(both[len(name) :]) <= set(" BDGLNRS")
        assert normalize_many([both], "none") == [both]


@given(st.lists(st.text("abc xyz,-'2", max_size=8), min_size=1))
def test_many_lines_at_once_are_the_same_as_one_by_one(lines):
    assert add_skeletons("\n".join(lines)).split("\n") == [add_skeletons(line) for line in lines]
