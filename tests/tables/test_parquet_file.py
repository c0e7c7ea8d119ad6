"""Columns of Parquet files: the same as Arrow's, and nothing beyond the limits."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from candgen.errors import TableError
from candgen.tables import parquet_file
from candgen.tables.limits import use_limits
from candgen.tables.parquet_file import open_parquet

TABLE = pa.table(
    {
        "text": pa.array(["a", None, "bb", "a"] * 500),
        "list": pa.array([["x"], [], None, ["y", "zz"]] * 500),
        "number": pa.array([1, 2, 3, None] * 500),
        "coded": pa.array(["a", None, "bb", "a"] * 500).dictionary_encode(),
    }
)


@pytest.mark.parametrize("batch", [1 << 17, 7])
@pytest.mark.parametrize("dictionary", [True, False])
def test_columns_are_those_of_arrow(tmp_path, monkeypatch, batch, dictionary):
    monkeypatch.setattr(parquet_file, "_MAX_BATCH", batch)
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path, use_dictionary=dictionary, row_group_size=300)
    names = ["number", "coded", "text", "list"]
    with open_parquet(path) as file:
        found = file.read(names)
    assert found.column_names == names
    assert found.to_pydict() == TABLE.select(names).to_pydict()
    assert [str(found[name].type) for name in ("coded", "text")] == ["large_string"] * 2


def test_a_file_without_rows(tmp_path):
    pq.write_table(TABLE.slice(0, 0), tmp_path / "a.parquet")
    with open_parquet(tmp_path / "a.parquet") as file:
        assert file.read(["text"]).to_pydict() == {"text": []}


def test_a_value_beyond_the_limit_is_named_by_its_row(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a"] * 10 + ["b" * 100] + ["c"]}), path)
    with (
        use_limits(row_bytes=99),
        open_parquet(path) as file,
        pytest.raises(TableError, match=r"a\.parquet row 11: text has more than 99 bytes"),
    ):
        file.read(["text"])
    with use_limits(row_bytes=100), open_parquet(path) as file:
        assert len(file.read(["text"])) == 12


@pytest.mark.parametrize("nested", [False, True])
def test_a_value_that_a_dictionary_repeats_counts_each_time(tmp_path, nested):
    texts = pa.array(["x" * 1000] * 1000)
    values = pa.ListArray.from_arrays(np.arange(1001, dtype=np.int32), texts) if nested else texts
    pq.write_table(pa.table({"text": values}), tmp_path / "a.parquet")
    with (
        use_limits(table_bytes=900_000),
        open_parquet(tmp_path / "a.parquet") as file,
        pytest.raises(TableError, match="has more than 900 kB unpacked"),
    ):
        file.read(["text"])
    with use_limits(table_bytes=1_100_000), open_parquet(tmp_path / "a.parquet") as file:
        assert len(file.read(["text"])) == 1000


def test_a_column_that_is_there_twice(tmp_path):
    twice = pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    pq.write_table(twice, tmp_path / "a.parquet")
    with (
        open_parquet(tmp_path / "a.parquet") as file,
        pytest.raises(TableError, match="has more than one column 'text'"),
    ):
        file.read(["text"])
