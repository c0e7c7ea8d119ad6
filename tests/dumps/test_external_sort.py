"""Runs on the disk, merged: the same rows as if everything had been sorted in memory."""

import resource
from itertools import chain, pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.dumps import external_sort
from candgen.dumps.external_sort import merge_runs, read_arrow, write_arrow, write_run
from candgen.errors import StorageError

SCHEMA = pa.schema([("mention", pa.large_string()), ("count", pa.int64())])
VALUES = st.text(st.sampled_from("abé𝔸ﬀ\U0010ffff"), max_size=2) | st.text(max_size=3)
ROWS = st.lists(st.tuples(VALUES, st.integers(-9, 9)), max_size=30)


def table(rows):
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], []]
    return pa.table(columns, schema=SCHEMA)


def rows_of(found):
    return list(zip(*found.to_pydict().values(), strict=True))


def written(folder, tables):
    paths = [folder / f"{number}.run" for number in range(len(tables))]
    for path, rows in zip(paths, tables, strict=True):
        path.unlink(missing_ok=True)
        write_run(path, table(rows))
    return paths


@given(tables=st.lists(ROWS, max_size=5), batch=st.integers(1, 6), rows=st.integers(1, 20))
def test_merged_runs_are_what_sorting_in_memory_gives(tmp_path_factory, tables, batch, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(external_sort, "_BATCH", batch)
        patch.setattr("os.fsync", lambda _handle: None)
        paths = written(tmp_path_factory.getbasetemp(), tables)
        found = [rows_of(each) for each in merge_runs(paths, rows=rows)]
    assert sorted(row for each in found for row in each) == sorted(chain(*tables))
    assert all(found)
    mentions = [[mention for mention, _ in each] for each in found]
    assert all(each == sorted(each) for each in mentions)
    assert all(one[-1] < two[0] for one, two in pairwise(mentions))
    most = max(rows, batch) + batch * len(tables)
    for each in mentions:  # rows of one value stay together, however many they are
        alike = max(each.count(mention) for mention in each)
        assert len(each) <= most + alike + len(tables) * batch


@pytest.mark.parametrize("number", [0, 1, 4, 5, 8, 9])
def test_borders_of_batches(tmp_path, monkeypatch, number):
    monkeypatch.setattr(external_sort, "_BATCH", 4)
    rows = [(f"{value:03}", value) for value in range(number)]
    (path,) = written(tmp_path, [rows[::-1]])
    assert rows_of(read_arrow(path)) == rows
    found = [rows_of(each) for each in merge_runs([path], rows=4)]
    assert found == [rows[at : at + 4] for at in range(0, number, 4)]


def test_a_value_that_fills_many_batches_of_many_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(external_sort, "_BATCH", 2)
    tables = [[("a", 1), *[("b", number)] * 9, ("c", 2)] for number in range(4)]
    found = [rows_of(each) for each in merge_runs(written(tmp_path, tables), rows=3)]
    assert [sorted({mention for mention, _ in each}) for each in found] == [["a"], ["b"], ["c"]]
    assert sum(map(len, found)) == 44


def test_nothing_and_empty_runs(tmp_path):
    assert list(merge_runs([])) == []
    paths = written(tmp_path, [[], [("b", 1)], [], [("a", 2)]])
    assert [rows_of(each) for each in merge_runs(paths)] == [[("a", 2), ("b", 1)]]
    assert list(merge_runs(paths[::2])) == []


def test_no_table_is_much_larger_than_was_asked_for(tmp_path, monkeypatch):
    # 2M rows in 8 runs: 50k are asked for, and of each run a batch may be begun
    monkeypatch.setattr("os.fsync", lambda _handle: None)
    paths = [tmp_path / f"{number}.run" for number in range(8)]
    for number, path in enumerate(paths):
        mentions = pa.array(range(number, 2_000_000, 8)).cast(pa.large_string())
        write_run(path, pa.table([mentions, pa.array([1] * 250_000)], schema=SCHEMA))
    del mentions
    before = pa.total_allocated_bytes()
    total, last = 0, ""
    for each in merge_runs(paths, rows=50_000):
        assert each.num_rows <= 50_000 + 8 * external_sort._BATCH
        assert pa.total_allocated_bytes() - before < 16 << 20  # the whole has 44 MB
        assert last < each[0][0].as_py()
        last = each[0][-1].as_py()
        total += each.num_rows
    assert total == 2_000_000


def test_more_runs_than_files_that_may_be_open(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _handle: None)
    paths = written(tmp_path, [[(f"{number:03}", number)] for number in range(200)])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        (found,) = merge_runs(paths, rows=1 << 20)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found["count"].to_pylist() == list(range(200))


def test_what_cannot_be_written_is_told(tmp_path):
    with pytest.raises(StorageError, match=r"cannot be written: .*make room or choose another"):
        write_arrow(tmp_path / "absent" / "0.run", table([("a", 1)]))


def test_a_run_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    (path,) = written(tmp_path, [[("a", 1)]])

    def broken(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(StorageError, match="No space left on device; make room"):
        write_run(path, table([("b", 2)]))
    assert rows_of(read_arrow(path)) == [("a", 1)]
    assert list(tmp_path.iterdir()) == [path]
