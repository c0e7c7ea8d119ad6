"""How postings are counted, beside sets of pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from candgen.kernels.gold_ranks import count_postings

ENTITIES, TOKENS = 4, 5
pairs = st.sets(st.tuples(st.integers(0, ENTITIES - 1), st.integers(0, TOKENS - 1)))


@given(st.lists(st.tuples(pairs, st.booleans()), min_size=1, max_size=4))
def test_postings_of_the_kept_languages_and_of_each_alone(languages):
    sets, kept = zip(*languages, strict=True)
    entries = sorted((e, t, number) for number, some in enumerate(sets) for e, t in some)
    first = np.array([sum(e < entity for e, _, _ in entries) for entity in range(ENTITIES + 1)])
    token = np.array([t for _, t, _ in entries], np.uint32)
    language = np.array([number for _, _, number in entries], np.uint16)
    alone = np.zeros(len(sets), np.int64)
    postings = (first, token, language, np.ones(len(entries), np.int32))
    total = count_postings(postings, np.array(kept), alone)
    there = [some if keep else set() for some, keep in languages]
    assert total == len(set().union(*there))
    for number, some in enumerate(there):
        others = set().union(*there[:number], *there[number + 1 :])
        assert alone[number] == len(some - others)
