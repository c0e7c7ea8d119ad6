"""Parquet files, folders of them, Arrow tables, and metadata."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from candgen.errors import ParameterError, TableError
from candgen.tables.mention_table import MentionTable
from tests.support.mention_tables import MAX, TOY, refusal, toy, write


@pytest.mark.parametrize(
    "text",
    [pa.string(), pa.large_string(), pa.string_view(), "dictionary", "large dictionary"],
    ids=str,
)
@pytest.mark.parametrize(
    "whole", [pa.int8(), pa.uint16(), pa.int32(), pa.uint64(), pa.int64(), "dictionary"], ids=str
)
def test_arrow_types_that_hold_strings_and_whole_numbers(text, whole, tmp_path):
    kinds = {
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
        "large dictionary": pa.dictionary(pa.int8(), pa.large_string()),
    }
    mention = pa.array([m for m, _, _ in TOY]).cast(kinds.get(text, text))
    entity = pa.array([e for _, e, _ in TOY]).cast(kinds.get(text, text))
    count = pa.array([n for _, _, n in TOY])
    count = count.dictionary_encode() if whole == "dictionary" else count.cast(whole)
    table = pa.table({"other": [1.5] * 3, "count": count, "entity": entity, "mention": mention})
    assert MentionTable.from_arrow(table) == toy()
    assert MentionTable.from_arrow(pa.concat_tables([table.slice(2), table.slice(0, 2)])) == toy()
    pq.write_table(table, tmp_path / "toy.parquet")
    assert MentionTable.read(tmp_path / "toy.parquet") == toy()


def test_arrow_table_without_count_and_with_other_metadata():
    fields = [pa.field("mention", pa.string(), nullable=False), pa.field("entity", pa.string())]
    table = pa.table([["b", "a"], ["Q2", "Q1"]], schema=pa.schema(fields, metadata={"x": "y"}))
    made = MentionTable.from_arrow(table)
    assert list(made) == [("a", "Q1", 1), ("b", "Q2", 1)]
    assert made.arrow.schema.equals(toy().arrow.schema, check_metadata=True)
    assert made.metadata == {}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"mention": ["a"]}, "the Arrow table has no column entity, only ['mention']"),
        ({"x": ["a"]}, "the Arrow table has no column mention and no column entity"),
        ({"mention": [b"a"], "entity": ["Q1"]}, "column mention holds binary, expected strings"),
        ({"mention": ["a"], "entity": [1]}, "column entity holds int64, expected strings"),
        ({"mention": ["a"], "entity": ["Q1"], "count": [1.0]}, "column count holds double"),
        ({"mention": ["a"], "entity": ["Q1"], "count": ["1"]}, "column count holds string"),
        ({"mention": ["a"], "entity": ["Q1"], "count": [True]}, "column count holds bool"),
        ({"mention": ["a", None], "entity": ["Q1", "Q1"]}, "row 2: mention is missing"),
        ({"mention": ["a", "b"], "entity": ["Q1", ""]}, "row 2: entity is empty"),
        ({"mention": ["a", "b\r"], "entity": ["Q1", "Q1"]}, "row 2: mention is 'b\\r'"),
        ({"mention": ["a"], "entity": ["Q1"], "count": [None]}, "row 1: count is None"),
        ({"mention": ["a"], "entity": ["Q1"], "count": [0]}, "row 1: count is 0"),
        (
            {"mention": ["a", "b"], "entity": ["Q1", "Q1"], "count": [MAX, MAX + 1]},
            f"row 2: count is {MAX + 1}, expected at most {MAX}",
        ),
        (
            {"mention": ["a"], "entity": ["Q1"], "count": pa.array([2**63], pa.uint64())},
            f"row 1: count is {2**63}, expected at most {MAX}",
        ),
    ],
)
def test_bad_arrow_tables(columns, expected):
    assert expected in refusal(MentionTable.from_arrow, pa.table(columns))


def test_arrow_strings_that_are_not_utf_8():
    bad = pa.array([b"a", b"\xff"]).view(pa.string())
    table = pa.table({"mention": bad, "entity": ["Q1", "Q2"]})
    assert r"row 2: mention is b'\xff', expected a string" in refusal(
        MentionTable.from_arrow, table
    )


def test_arrow_column_twice_and_no_arrow_at_all():
    table = pa.table([["a"], ["b"], ["c"]], names=["mention", "entity", "mention"])
    assert "more than one column 'mention'" in refusal(MentionTable.from_arrow, table)
    assert "pyarrow.Table" in refusal(MentionTable.from_arrow, TOY, kind=ParameterError)


def parquet(path: Path, **columns) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def test_bad_parquet_rows(tmp_path):
    mentions = [f"m{n}" for n in range(20_000)]
    mentions[15_000] = ""
    path = parquet(tmp_path / "fo.parquet", mention=mentions, entity=["Q1"] * 20_000)
    message = refusal(MentionTable.read, path)
    assert message.startswith(
        f"{path} row 15001: mention is empty, expected at least one character"
    )
    assert "--skip-bad-rows" in message
    table = MentionTable.read(path, skip_bad_rows=True)
    assert (len(table), table.skipped) == (19_999, 1)


def test_bad_parquet_files(tmp_path):
    path = parquet(tmp_path / "fo.parquet", mention=["a"], name=["b"])
    assert f"{path} has no column entity, only ['mention', 'name']" in refusal(
        MentionTable.read, path
    )
    parquet(path, mention=["a"], entity=["Q1"], count=[0.5])
    assert "column count holds double, expected whole numbers" in refusal(MentionTable.read, path)
    for content in (b"", b"mention\tentity\n", b"PAR1" + b"\0" * 40 + b"PAR1"):
        assert "is not a valid Parquet file" in refusal(MentionTable.read, write(path, content))


def test_damaged_parquet_is_refused_or_read_but_never_a_traceback(tmp_path):
    path = tmp_path / "fo.parquet"
    MentionTable.from_pairs((f"m{n}", f"Q{n % 7}", n + 1) for n in range(200)).write(path)
    sound = path.read_bytes()
    chance = random.Random(3)
    for _ in range(300):
        damaged = bytearray(sound)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged[: chance.choice([len(damaged), chance.randrange(len(damaged))])])
        try:
            MentionTable.read(path)
        except TableError as error:
            assert str(path) in str(error)


def test_a_folder_of_parquet_files(tmp_path):
    folder = tmp_path / "names.parquet"
    parquet(folder / "lang=fo" / "part-0.parquet", mention=["Havnin"], entity=["Q10704"], count=[5])
    parquet(folder / "lang=fo" / "part-1.parquet", mention=["Havnin"], entity=["Q10704"], count=[7])
    parquet(folder / "count=9" / "part-0.snappy.parquet", mention=["Tórshavn"], entity=["Q10704"])
    parquet(
        folder / "part-0.parquet",
        mention=pa.array(["Tórshavn"]).dictionary_encode(),
        entity=pa.array(["Q2"], pa.large_string()),
        count=pa.array([3], pa.uint8()),
    )
    for ignored in (
        "_SUCCESS",
        ".part-0.parquet.crc",
        "_temporary/0.parquet",
        ".x/1.parquet",
        "a.txt",
    ):
        (folder / ignored).parent.mkdir(exist_ok=True)
        (folder / ignored).write_bytes(b"not Parquet")
    assert MentionTable.read(folder) == toy()

    bad = parquet(folder / "part-1.parquet", mention=["a", ""], entity=["Q1", "Q1"])
    assert f"{bad} row 2: mention is empty" in refusal(MentionTable.read, folder)
    assert MentionTable.read(folder, skip_bad_rows=True).skipped == 1
    parquet(bad, mention=["a"])
    assert f"{bad} has no column entity" in refusal(MentionTable.read, folder)


def test_a_folder_without_parquet_files(tmp_path):
    (tmp_path / "x.tsv").write_text("mention\tentity\n", encoding="utf-8")
    message = refusal(MentionTable.read, tmp_path)
    assert f"{tmp_path} is a folder without .parquet files" in message


def test_metadata_lives_in_parquet(tmp_path):
    path, copy, text = tmp_path / "fo.parquet", tmp_path / "copy.parquet", tmp_path / "fo.tsv"
    toy().write(path, metadata={"source": "føroyska", "language": "fo"})
    table = MentionTable.read(path)
    assert table.metadata == {"language": "fo", "source": "føroyska"}
    assert table == toy()
    assert pq.read_schema(path).metadata[b"language"] == b"fo"
    table.write(copy)
    assert copy.read_bytes() == path.read_bytes()
    table.write(copy, metadata={})
    assert MentionTable.read(copy).metadata == {}
    table.write(text)
    assert MentionTable.read(text).metadata == {}
    assert table.merge(table).metadata == {}


def test_metadata_of_a_folder_is_what_its_files_share(tmp_path):
    toy().write(tmp_path / "1.parquet", metadata={"language": "fo", "part": "1"})
    toy().write(tmp_path / "2.parquet", metadata={"language": "fo", "part": "2"})
    assert MentionTable.read(tmp_path).metadata == {"language": "fo"}


def test_metadata_of_other_programs_is_not_ours(tmp_path):
    table = toy().arrow.replace_schema_metadata(
        {"pandas": "{}", "org.apache.spark.x": "1", "a": "b"}
    )
    pq.write_table(table, tmp_path / "fo.parquet")
    assert MentionTable.read(tmp_path / "fo.parquet").metadata == {"a": "b"}


@pytest.mark.parametrize(
    "metadata", [{"a": 1}, {1: "a"}, {"a": "\ud800"}, {"pandas": "x"}, {"ARROW:schema": "x"}, "ab"]
)
def test_bad_metadata(metadata, tmp_path):
    message = refusal(toy().write, tmp_path / "fo.parquet", metadata=metadata, kind=ParameterError)
    assert message.startswith("metadata")
    assert list(tmp_path.iterdir()) == []
