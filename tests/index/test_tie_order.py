"""The order of entities with equal scores is the same everywhere."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from candgen.index.tie_order import tie_key, tie_order, tie_order_of

IDS = st.lists(st.text("Q019é😀", min_size=1, max_size=4), unique=True, max_size=9)


def test_shorter_ids_come_first():
    table, places = tie_order(pa.array(["Q10", "Q2", "P999", "Q9"], pa.large_string()))
    assert list(table) == ["Q2", "Q9", "Q10", "P999"]
    assert places.tolist() == [2, 0, 3, 1]


@given(IDS)
def test_arrays_have_the_order_of_the_key(entities):
    table, places = tie_order(pa.array(entities, pa.large_string()))
    ordered = sorted(entities, key=tie_key)
    assert list(table) == ordered
    assert [ordered.index(entity) for entity in entities] == places.tolist()


@given(IDS, st.text("Q019é😀", max_size=4))
def test_an_entity_is_found_by_its_key(entities, other):
    table, _ = tie_order(pa.array(entities, pa.large_string()))
    for place, entity in enumerate(sorted(entities, key=tie_key)):
        assert tie_order_of(entity, table) == place
    if other not in entities:
        assert tie_order_of(other, table) is None
