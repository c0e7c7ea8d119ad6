"""Statistics of parts add up to those of the whole, and survive JSON."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from candgen.dumps.statistics import Statistics


class Note(NamedTuple):
    kind: str
    place: int


@dataclass
class Seen(Statistics):
    MAX_LISTED: ClassVar = 3
    ENTRIES: ClassVar = {"notes": Note}

    pages: Counter = field(default_factory=Counter)
    lines: dict = field(default_factory=dict)
    items: int = 0
    newest: str = ""
    truncated: bool = False
    notes: list = field(default_factory=list)
    texts: list = field(default_factory=list)


NUMBERS = st.integers(0, 9)
SEEN = st.builds(
    Seen,
    pages=st.dictionaries(st.sampled_from("abc"), NUMBERS).map(Counter),
    lines=st.dictionaries(NUMBERS, NUMBERS),
    items=NUMBERS,
    newest=st.text(max_size=3),
    truncated=st.booleans(),
    notes=st.lists(st.builds(Note, st.text(max_size=2), NUMBERS), max_size=3),
    texts=st.lists(st.text(max_size=2), max_size=3),
)


@given(SEEN)
def test_json_and_back(seen):
    again = Seen.from_json(seen.to_json())
    assert again == seen
    assert type(again.pages) is Counter
    assert all(isinstance(note, Note) for note in again.notes)


@given(st.lists(SEEN, max_size=4))
def test_the_sum_of_parts(parts):
    total = Seen()
    for part in parts:
        total.add(part)
    assert total.items == sum(part.items for part in parts)
    assert total.pages.keys() == {name for part in parts for name in part.pages}, "zeros too"
    assert all(
        number == sum(part.pages[name] for part in parts) for name, number in total.pages.items()
    )
    assert total.newest == max([part.newest for part in parts], default="")
    assert total.truncated is any(part.truncated for part in parts)
    assert total.notes == [note for part in parts for note in part.notes][:3]
    assert total.lines.keys() == {line for part in parts for line in part.lines}
    assert all(one.lines.items() <= total.lines.items() for one in parts[-1:])


@given(SEEN, SEEN)
def test_adding_leaves_the_other_alone(one, two):
    before = two.to_json()
    one.add(two)
    one.pages["x"] += 1
    one.notes.append(Note("x", 1))
    assert two.to_json() == before


def test_the_greatest_text_is_kept_in_any_order():
    for first, second in pairwise(("a", "b", "a")):
        seen = Seen(newest=first)
        seen.add(Seen(newest=second))
        assert seen.newest == "b"
