"""Equal slices of bytes are counted together."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.wikipedia.markup.link_counter import SliceCounter


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@given(
    texts=st.lists(st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"[[x]]", b"y" * 300]))),
    room=st.sampled_from([1, 2, 4]),
)
def test_slices_are_counted(texts, room, monkeypatch_module):
    monkeypatch_module.setattr("candgen.wikipedia.markup.link_counter._CAPACITY", room)
    counter, expected = SliceCounter(), Counter()
    for again in range(2):
        for slices in texts:
            lengths = np.array([len(each) for each in slices], dtype=np.int64)
            last = np.cumsum(lengths)
            counter.add(b"".join(slices), last - lengths, last)
            expected.update(slices)
        assert len(counter) == len(expected)
        found, counts = counter.take()
        assert {found.at(n): c for n, c in enumerate(counts.tolist())} == expected, again
        expected.clear()
