"""Ranking: the k best of each mention, against sorting."""

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from candgen.generators.translation.ranking import Scored, rank
from candgen.tables.string_table import StringTable

IDS = ["Q1", "Q2", "Q10", "é12"]
ENTITIES = StringTable(**StringTable.pack(IDS))
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.25, 0.5, 1.0])), max_size=20
)


@given(ROWS, st.integers(1, 5), st.booleans())
def test_the_best_come_first(rows, k, total):
    scores = defaultdict(list)
    for mention, entity, score in rows:
        scores[mention, entity].append(score)
    expected = [[] for _ in range(4)]
    for (mention, entity), some in scores.items():
        expected[mention].append((IDS[entity], sum(some) if total else max(some)))
    for some in expected:
        some.sort(key=lambda each: (-each[1], IDS.index(each[0])))
    mention, entity, score = zip(*rows, strict=True) if rows else ((), (), ())
    scored = Scored(
        np.array(mention, np.int64), np.array(entity, np.uint32), np.array(score, np.float64)
    )
    assert rank(scored, ENTITIES, 4, k, total=total) == [some[:k] for some in expected]
