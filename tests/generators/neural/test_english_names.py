"""English names: the most frequent mention of each entity."""

from hypothesis import given
from hypothesis import strategies as st

from candgen.generators.neural.english_names import Names
from candgen.tables.mention_table import MentionTable


def test_a_name_is_the_most_frequent_mention():
    table = MentionTable.from_pairs(
        [
            ("B", "Q1", 2),
            ("A", "Q1", 2),
            ("C", "Q1"),
            ("Z", "Q20", 1),
            ("\u200b", "Q3", 5),
            ("x", "Q3"),
        ]
    )
    names = Names.of(table, normalizer="default")
    assert list(zip(names.entities.to_pylist(), names.text, strict=True)) == [
        ("Q1", "a"),
        ("Q20", "z"),
    ]
    assert names.unnamed == 1


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(["Q1", "Q2", "Q10"]), st.integers(1, 3)),
        min_size=1,
    )
)
def test_names_are_those_of_a_dictionary(rows):
    table = MentionTable.from_pairs(rows)
    expected = {}
    for mention, entity, count in table:
        if entity not in expected or count > expected[entity][0]:
            expected[entity] = count, mention
    names = Names.of(table, normalizer="none")
    found = dict(zip(names.entities.to_pylist(), names.text, strict=True))
    assert found == {entity: mention for entity, (_, mention) in expected.items()}
    assert list(found) == sorted(found, key=lambda entity: (len(entity), entity))
