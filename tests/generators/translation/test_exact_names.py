"""Exact names: entities of a name with their shares of its count."""

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.generators.translation.exact_names import ExactNames

NAMES = ["a", "ab", "b", "é", "𝔸", ""]
ROWS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 3), st.integers(1, 900)), max_size=12
)


def build(rows):
    texts, places, counts = zip(*rows, strict=True) if rows else ((), (), ())
    columns = {
        "text": pa.array(texts, pa.large_string()),
        "place": pa.array(places, pa.uint32()),
        "count": pa.array(counts, pa.int64()),
    }
    return ExactNames.build(pa.table(columns))


@given(ROWS)
def test_shares_are_those_of_dictionaries(rows):
    expected = defaultdict(Counter)
    for text, place, count in rows:
        expected[text][place] += count
    names = build(rows)
    assert list(names.names) == sorted(expected)
    which, entity, share = names.find([*NAMES, "nobody"])
    found = defaultdict(dict)
    for at, place, each in zip(which.tolist(), entity.tolist(), share.tolist(), strict=True):
        found[NAMES[at]][place] = each
    assert found == {
        text: {place: pytest.approx(n / some.total()) for place, n in some.items()}
        for text, some in expected.items()
    }
    names.validate("names", 4)
    again = ExactNames.from_arrays(names.arrays())
    assert again.find(NAMES).share.tolist() == names.find(NAMES).share.tolist()


def test_texts_may_be_repeated_and_missing():
    names = build([("a", 2, 3), ("a", 0, 1)])
    which, entity, share = names.find(["x", "a", "a"])
    assert (which.tolist(), entity.tolist()) == ([1, 1, 2, 2], [0, 2, 0, 2])
    assert share.tolist() == [0.25, 0.75, 0.25, 0.75]
    assert len(names.find([]).which) == 0


def test_an_entity_outside_is_invalid():
    names = build([("a", 2, 3)])
    with pytest.raises(ValueError, match=r"target\.entity has values outside 0 to 1"):
        names.validate("target", 2)
    names = ExactNames(names.names, names.start, names.entity, np.array([np.nan], np.float32))
    with pytest.raises(ValueError, match=r"target\.share has values outside"):
        names.validate("target", 3)
