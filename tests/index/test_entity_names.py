"""Names are grouped by entity, and read as rows of the numbers of an alphabet."""

import pytest

from candgen import CharNgrams, MentionTable, Words
from candgen.index.counts import NoTokenError
from candgen.index.entity_names import Alphabet, EntityNames, join_lines

TABLES = {
    "fo": MentionTable.from_pairs([("Vín", "Q282", 2), ("Wien", "Q1741")]),
    "is": MentionTable.from_pairs([("Vin", "Q282", 3), ("Rín", "Q584"), ("Vín", "Q1741", 4)]),
}


def grouped(names, rows=None):
    """The languages and counts of the rows of each entity."""
    return {
        entity: list(
            zip(names.language[low:high].tolist(), names.count[low:high].tolist(), strict=True)
        )
        for entity, low, high in zip(
            names.entities.to_pylist(), names.first[:-1], names.first[1:], strict=True
        )
    }


def test_rows_are_grouped_by_entity_in_the_order_of_the_languages():
    names = EntityNames.of(TABLES)
    assert grouped(names) == {"Q282": [(0, 2), (1, 3)], "Q1741": [(0, 1), (1, 4)], "Q584": [(1, 1)]}
    assert sorted(names.lines("default").split("\n")) == ["rin", "vin", "vin", "vin", "wien"]


def test_a_sample_has_whole_entities():
    names = EntityNames.of(TABLES)
    few = names.sample(2)
    assert len(few.entities) == 2
    assert grouped(few).items() <= grouped(names).items()
    assert len(few.lines("default").split("\n")) == len(few.row)
    assert names.sample(3) is names


@pytest.mark.parametrize("tokenizer", [CharNgrams(2, 3), Words()])
def test_symbols_that_no_query_has_share_one_number(tokenizer):
    names = EntityNames.of(TABLES)
    alphabet = Alphabet.of(join_lines(["vin", ""]), tokenizer)
    rows = names.encode(alphabet, "default")
    read = [rows.text[start:end].tolist() for start, end in zip(rows.start, rows.end, strict=True)]
    lines = names.lines("default").split("\n")
    known = alphabet.encode("vin")
    expected = known.text[known.start[0] : known.end[0]].tolist()
    for line, row in zip(lines, read, strict=True):
        assert (row == expected) == (line == "vin")
        assert max(row) <= len(alphabet.symbols)


def test_totals_are_those_of_all_tokens():
    names = EntityNames.of(TABLES)
    tokenizer = CharNgrams(2, 2)
    rows = names.encode(Alphabet.of("vin", tokenizer), "default")
    totals = dict(
        zip(names.entities.to_pylist(), names.totals(rows, tokenizer).T.tolist(), strict=True)
    )
    assert totals == {"Q282": [8, 12], "Q1741": [5, 16], "Q584": [0, 4]}


def test_names_without_a_token():
    names = EntityNames.of({"fo": MentionTable.from_pairs([("x", "Q1")])})
    with pytest.raises(NoTokenError, match="no mention has a token"):
        names.encode(Alphabet.of("abc", CharNgrams(4, 5)), "default")
