"""MentionTable: contents, canonical order, pairs, merging, digests, real names."""

import gzip
import hashlib
import pickle
import random
import struct
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.errors import ParameterError
from candgen.tables.mention_table import MentionTable
from candgen.tables.rows import SCHEMA, Rows
from tests.support.mention_tables import MAX, SUFFIXES, TOY, refusal, rows_of_a_table, toy, write


def test_pairs_are_sorted_and_summed():
    table = MentionTable.from_pairs(
        [
            ("Tórshavn", "Q2", 3),
            ("Tórshavn", "Q10704"),
            ("Havnin", "Q10704", 5),
            ["Havnin", "Q10704", 7],
        ]
    )
    assert list(table) == TOY
    assert len(table) == 3
    assert table.total == 16
    assert table.mentions == ["Havnin", "Tórshavn"]
    assert table.entities == ["Q10704", "Q2"]
    assert all([type(m), type(e), type(n)] == [str, str, int] for m, e, n in table)


def test_arrow_columns_have_the_promised_types():
    for table in (toy(), MentionTable.from_pairs([])):
        assert table.arrow.schema.equals(
            pa.schema(
                [
                    ("mention", pa.large_string()),
                    ("entity", pa.large_string()),
                    ("count", pa.int64()),
                ]
            ),
            check_metadata=True,
        )


def test_order_is_that_of_code_points_not_of_utf_16_or_of_a_language():
    mentions = [
        "\U0001f600",
        "\uffff",
        "z",
        "é",
        "Z",
        "a\0",
        "a",
        "a\x01",
        "ab",
        "12345678",
        "123456789",
    ]
    table = MentionTable.from_pairs((m, "Q1") for m in mentions)
    assert table.mentions == sorted(mentions)
    assert [m for m, _, _ in table] == sorted(mentions)


@given(rows_of_a_table)
def test_a_table_is_a_sorted_counter(rows):
    expected = Counter()
    for mention, entity, count in rows:
        expected[mention, entity] += count
    table = MentionTable.from_pairs(rows)
    assert list(table) == [(m, e, n) for (m, e), n in sorted(expected.items())]
    assert table.mentions == sorted({m for m, _, _ in rows})
    assert table.entities == sorted({e for _, e, _ in rows})
    assert table.total == sum(expected.values())


@given(rows_of_a_table, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(rows, chance):
    shuffled = rows[:]
    chance.shuffle(shuffled)
    first, second = MentionTable.from_pairs(rows), MentionTable.from_pairs(shuffled)
    assert first == second
    assert first.digest == second.digest
    assert hash(first) == hash(second)


def test_many_rows_are_sorted_like_python_does():
    chance = random.Random(7)
    rows = [
        ("".join(chance.choices("abé中𝔘\0 ", k=chance.randint(1, 24))), f"Q{chance.randint(1, 40)}")
        for _ in range(30_000)
    ]
    expected = sorted(Counter(rows).items())
    assert list(MentionTable.from_pairs(rows)) == [(m, e, n) for (m, e), n in expected]


def test_an_empty_table_is_a_table():
    table = MentionTable.from_pairs([])
    assert len(table) == 0
    assert list(table) == []
    assert table.mentions == table.entities == []
    assert table.total == 0
    assert repr(table) == "MentionTable(0 pairs)"
    assert table == MentionTable.from_arrow(pa.table({"mention": [], "entity": []}))
    assert table != toy()
    assert table.merge(toy()) == toy()


def test_iteration_is_lazy_and_can_be_repeated():
    table = MentionTable.from_pairs((f"m{n:05}", "Q1") for n in range(20_000))
    iterator = iter(table)
    assert next(iterator) == ("m00000", "Q1", 1)
    assert sum(1 for _ in iterator) == 19_999
    assert sum(1 for _ in table) == 20_000


def test_a_table_cannot_be_changed():
    table = toy()
    for name in ("arrow", "skipped", "metadata", "mentions", "entities"):
        with pytest.raises(AttributeError):
            setattr(table, name, None)
    table.entities.clear()
    table.mentions.append("x")
    table.metadata["x"] = "y"
    assert table.entities == ["Q10704", "Q2"]
    assert table.mentions == ["Havnin", "Tórshavn"]
    assert table.metadata == {}


def test_repr_and_equality():
    assert repr(toy()) == "MentionTable(3 pairs)"
    assert (
        repr(MentionTable.from_pairs((str(n), "Q1") for n in range(2422)))
        == "MentionTable(2,422 pairs)"
    )
    assert repr(MentionTable.from_pairs([("a", "Q1")])) == "MentionTable(1 pair)"
    assert toy() == toy()
    assert toy() != MentionTable.from_pairs(TOY[:2])
    assert toy() != MentionTable.from_pairs([*TOY[:2], ("Tórshavn", "Q2", 4)])
    assert toy() != TOY
    assert pickle.loads(pickle.dumps(toy())) == toy()


def test_the_constructor_points_to_the_others():
    assert "from_pairs" in refusal(MentionTable, TOY, kind=ParameterError)


def test_pairs_may_come_from_anything_iterable():
    assert MentionTable.from_pairs(row for row in TOY) == toy()
    assert MentionTable.from_pairs(toy()) == toy()
    assert MentionTable.from_pairs(zip(["a", "b"], ["Q1", "Q2"], strict=True)).total == 2
    assert MentionTable.from_pairs([(np.str_("a"), "Q1", np.uint64(3))]) == MentionTable.from_pairs(
        [("a", "Q1", 3)]
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (("a",), "pairs[2]: found ('a',), expected (mention, entity) and maybe a count"),
        (("a", "b", 1, 2), "pairs[2]: found ('a', 'b', 1, 2), expected (mention, entity)"),
        ("ab", "pairs[2]: found 'ab', expected (mention, entity)"),
        (7, "pairs[2]: found 7"),
        (("", "Q1"), "pairs[2]: mention is empty"),
        (("a", ""), "pairs[2]: entity is empty"),
        ((None, "Q1"), "pairs[2]: mention is missing"),
        ((b"a", "Q1"), "pairs[2]: mention is b'a', expected a string"),
        (("a", 7), "pairs[2]: entity is 7, expected a string"),
        (("a\tb", "Q1"), r"pairs[2]: mention is 'a\tb', expected text without a tab or line break"),
        (("a", "Q\n1"), r"pairs[2]: entity is 'Q\n1', expected text without a tab or line break"),
        (("a\r", "Q1"), r"pairs[2]: mention is 'a\r', expected text without a tab or line break"),
        (("a\ud800", "Q1"), r"pairs[2]: mention is 'a\ud800', expected text without a lone surrog"),
        (("a", "Q1", 0), "pairs[2]: count is 0, expected a whole number of at least 1"),
        (("a", "Q1", -3), "pairs[2]: count is -3, expected a whole number of at least 1"),
        (("a", "Q1", 1.0), "pairs[2]: count is 1.0, expected a whole number of at least 1"),
        (("a", "Q1", True), "pairs[2]: count is True, expected a whole number of at least 1"),
        (("a", "Q1", "1"), "pairs[2]: count is '1', expected a whole number of at least 1"),
        (("a", "Q1", None), "pairs[2]: count is None, expected a whole number of at least 1"),
        (("a", "Q1", MAX + 1), f"pairs[2]: count is {MAX + 1}, expected at most {MAX}"),
        (("a", "Q1", 2**63), f"pairs[2]: count is {2**63}, expected at most {MAX}"),
        (("a", "Q1", 10**5000), "pairs[2]: count is a number of more than 4,300 digits, expec"),
    ],
)
def test_a_bad_pair_is_named_by_position_and_value(row, expected):
    assert refusal(MentionTable.from_pairs, [*TOY[:2], row, *TOY]).startswith(expected)


def test_a_bad_pair_far_on_is_found():
    rows = [("a", "Q1")] * 70_000 + [("a", "Q1", 0)]
    assert refusal(MentionTable.from_pairs, rows).startswith("pairs[70000]: count is 0")


def test_a_long_value_is_cut_in_the_message():
    assert (
        len(refusal(MentionTable.from_pairs, [("x" * 10_000, "Q1", 0), ("y\t" * 9999, "Q1")])) < 200
    )
    assert len(refusal(MentionTable.from_pairs, [("y\t" * 9999, "Q1")])) < 200


@pytest.mark.parametrize("mistake", ["Tórshavn", b"x", 7, None, {("a", "Q1"): 3}])
def test_anything_but_an_iterable_of_pairs_gets_one_sentence(mistake):
    message = refusal(MentionTable.from_pairs, mistake, kind=ParameterError)
    assert repr(mistake) in message
    assert "iterable of (mention, entity)" in message


def test_counts_may_be_large_but_must_not_overflow(tmp_path):
    assert list(MentionTable.from_pairs([("a", "Q1", MAX)])) == [("a", "Q1", MAX)]
    assert MentionTable.from_pairs([("a", "Q1", MAX - 1), ("a", "Q1")]).total == MAX
    expected = f"expected at most {MAX}: scale them down"
    for rows in ([("a", "Q1", MAX), ("a", "Q1")], [("a", "Q1", MAX), ("b", "Q2")]):
        message = refusal(MentionTable.from_pairs, rows)
        assert message == f"the counts add up to {MAX + 1}, {expected}"
    huge = MentionTable.from_pairs([("a", "Q1", MAX)])
    assert refusal(huge.merge, huge) == f"the counts add up to {2 * MAX}, {expected}"
    path = write(tmp_path / "fo.tsv", f"mention\tentity\tcount\na\tQ1\t{MAX}\na\tQ1\t1\n")
    assert refusal(MentionTable.read, path) == f"{path}: the counts add up to {MAX + 1}, {expected}"
    columns = {"mention": ["a", "b"] * 10_000, "entity": ["Q1"] * 20_000, "count": [MAX] * 20_000}
    message = refusal(MentionTable.from_arrow, pa.table(columns))  # more than 64 bits hold
    assert message == f"the counts add up to {20_000 * MAX}, {expected}"


@pytest.mark.parametrize("counts", [[0], [-1, 3], [MAX, 1], [2**63 - 1, 2**63 - 1]])
def test_rows_of_any_origin_are_checked(counts):
    """Such as those of a stored index, which are not read from a table."""
    rows = pa.table([["a", "b"][: len(counts)], ["Q1"] * len(counts), counts], schema=SCHEMA)
    assert "expected" in refusal(MentionTable, Rows(rows))


@given(st.lists(rows_of_a_table, min_size=1, max_size=4))
def test_merging_adds_counts(parts):
    tables = [MentionTable.from_pairs(rows) for rows in parts]
    expected = MentionTable.from_pairs(row for rows in parts for row in rows)
    assert tables[0].merge(*tables[1:]) == expected
    assert MentionTable.merge(*tables) == expected


def test_merging_anything_but_tables():
    for mistake in ("fo.tsv", TOY, [toy()]):
        assert "expected mention tables" in refusal(toy().merge, mistake, kind=ParameterError)


def test_the_digest_is_what_its_documentation_says():
    table = MentionTable.from_pairs([("é", "Q1", 2), ("ab", "Q22")])
    content = b"candgen mention table 1\n" + struct.pack("<q", 2)
    content += struct.pack("<3q", 0, 2, 4) + "abé".encode()
    content += struct.pack("<3q", 0, 3, 5) + b"Q22Q1"
    content += struct.pack("<2q", 1, 2)
    assert table.digest == hashlib.sha256(content).hexdigest()


def test_digests_of_different_tables_differ():
    tables = [[], [("a", "bc")], [("ab", "c")], [("a", "bc", 2)], [("a", "b"), ("c", "d")], TOY]
    assert len({MentionTable.from_pairs(rows).digest for rows in tables}) == len(tables)


def test_the_digest_does_not_depend_on_where_the_columns_lie():
    arrow = pa.concat_tables(
        [
            pa.table({"mention": ["x"], "entity": ["Q9"], "count": [1]}),
            toy().arrow.cast(
                pa.schema(
                    [("mention", pa.string()), ("entity", pa.string()), ("count", pa.int64())]
                )
            ),
        ]
    )
    sliced = MentionTable.from_arrow(arrow.combine_chunks().slice(1))
    assert sliced == toy()
    assert sliced.digest == toy().digest
    large = MentionTable.from_pairs([("A", "Q1"), *TOY]).arrow.slice(1)  # its offsets start late
    assert MentionTable.from_arrow(large).digest == toy().digest


def test_real_names(shared_data, tmp_path):
    table = MentionTable.read(shared_data / "names" / "fo.tsv.gz")
    assert (len(table), len(table.entities)) == (2422, 2298)
    rows = []
    with gzip.open(
        shared_data / "names" / "fo.tsv.gz", "rt", encoding="utf-8", newline="\n"
    ) as file:
        next(file)
        for line in file:
            mention, entity, count = line.rstrip("\n").split("\t")
            rows.append((mention, entity, int(count)))
    assert list(table) == sorted(rows)
    for suffix in SUFFIXES:
        table.write(tmp_path / f"fo{suffix}")
        assert MentionTable.read(tmp_path / f"fo{suffix}") == table


@pytest.mark.parametrize(
    ("name", "pairs", "entities"),
    [("is", 12_717, 12_334), ("mk", 16_194, 15_171), ("hi", 9_632, 9_187), ("de", 107_591, 98_478)],
)
def test_sizes_of_real_tables(name, pairs, entities, shared_data):
    table = MentionTable.read(shared_data / "names" / f"{name}.tsv.gz")
    assert (len(table), len(table.entities)) == (pairs, entities)
    assert table.mentions == sorted({m for m, _, _ in table})


def test_a_table_with_an_extra_column(shared_data):
    assert len(MentionTable.read(shared_data / "splits" / "mk" / "test.tsv")) == 1500
