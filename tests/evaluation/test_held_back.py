"""Easy queries are thinned, held-back ones all stay."""

from hypothesis import given
from hypothesis import strategies as st

from candgen import Query
from candgen.evaluation.held_back import held_back, thin_easy

QUERIES = st.lists(st.sampled_from(["easy", "medium", "hard", None])).map(
    lambda kinds: [Query(f"{at}", "Q1", kind) for at, kind in enumerate(kinds)]
)


@given(QUERIES)
def test_all_that_are_held_back_stay_and_easy_ones_are_at_most_half_as_many(queries):
    kept, hidden = thin_easy(queries), held_back(queries)
    assert held_back(kept) == hidden
    assert kept == [query for query in queries if query in kept]  # in their order
    easy = len(kept) - len(hidden)
    if hidden:
        before = len(queries) - len(hidden)
        assert easy == min(before, len(hidden) // 2)
    else:
        assert kept == queries
