"""Row groups of equal size, whatever the pieces in which the rows come."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import MentionTable
from candgen.dumps import parquet_writer
from candgen.dumps.parquet_writer import MentionTableWriter, RowGroupWriter
from candgen.errors import StorageError
from candgen.tables.rows import SCHEMA

NUMBERS = pa.schema([("n", pa.int64())])


@pytest.fixture(scope="module", autouse=True)
def _small_groups():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_writer, "ROW_GROUP", 5)
        yield


@given(lengths=st.lists(st.integers(0, 13), max_size=6))
def test_groups_are_equal_and_rows_in_order(tmp_path_factory, lengths):
    path = tmp_path_factory.getbasetemp() / "numbers.parquet"
    writer = RowGroupWriter(path, NUMBERS)
    total = 0
    for length in lengths:
        writer.write(pa.table({"n": range(total, total + length)}, schema=NUMBERS))
        total += length
    writer.close({"b": "2", "a": "1"})
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
        assert groups == [5] * (total // 5) + [total % 5] * (total % 5 > 0)
        assert file.read()["n"].to_pylist() == list(range(total))
        assert writer.rows == total
        assert file.metadata.metadata[b"a"] == b"1"


def test_a_table_without_rows_may_have_a_group(tmp_path):
    for grouped in (True, False):
        writer = RowGroupWriter(tmp_path / "numbers.parquet", NUMBERS)
        if grouped:
            writer.write_group()
        writer.close()
        with pq.ParquetFile(tmp_path / "numbers.parquet") as file:
            assert (file.num_row_groups, file.metadata.num_rows) == (int(grouped), 0)


def test_pairs_are_summed_and_rare_ones_counted(tmp_path):
    writer = MentionTableWriter(tmp_path / "fo.parquet")
    rows = [("Havn", "Q1", 2), ("Havn", "Q1", 1), ("Havn", "Q2", 1), ("á", "Q3", 4)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    assert writer.write(pa.table(columns, schema=SCHEMA), minimum=2) == 1
    writer.close({})
    assert (writer.pairs, writer.occurrences) == (2, 7)
    assert list(MentionTable.read(tmp_path / "fo.parquet")) == [("Havn", "Q1", 3), ("á", "Q3", 4)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_sentence():
    rows = pa.table([["a"], ["Q1"], [1]], schema=SCHEMA)
    with pytest.raises(StorageError) as raised:
        writer = MentionTableWriter(Path("/dev/full"))
        writer.write(rows)
        writer.close({})
    message = "full cannot be written: No space left on device; make room or choose another place"
    assert str(raised.value) == message
