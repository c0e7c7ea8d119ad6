"""The rule for a row, and the same rule over columns."""

from hypothesis import given
from hypothesis import strategies as st

from candgen.tables import rows as table_rows
from tests.support.mention_tables import texts

anything = st.one_of(
    texts, st.text(max_size=3), st.none(), st.integers(), st.binary(max_size=2), st.floats()
)


@given(st.tuples(anything, anything, st.one_of(st.integers(-1, 2), st.integers(), anything)))
def test_the_check_of_columns_agrees_with_the_check_of_a_row(row):
    plain = [type(value) for value in row] == [str, str, int]
    valid = table_rows.row_problem(*row) is None
    assert (table_rows._columns_if_valid([row]) is not None) == valid
    assert plain or not valid
