"""Limits of rows and tables: sizes as text, and which limit holds."""

import pytest

from candgen.errors import ParameterError, TableError
from candgen.tables import limits
from candgen.tables.limits import Limits, parse_size, show_size, table_limits, use_limits
from candgen.tables.mention_table import MentionTable


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("1kB", 1000), ("1.5 MB", 1_500_000), ("2gib", 2 << 30), (" 4GiB ", 4 << 30)],
)
def test_sizes(text, size):
    assert parse_size("--max-row-size", text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "1TB", "1e9", "nan", "9" * 40, "0.1", "1 2"])
def test_what_is_not_a_size(text):
    with pytest.raises(ParameterError, match=r"--max-row-size .*: expected a size"):
        parse_size("--max-row-size", text)


def test_sizes_are_shown_in_the_unit_that_suits_them():
    shown = [show_size(size) for size in (1, 999_999, 10**6, 1 << 20, 290_000_000, 3 << 30, 10**10)]
    assert shown == ["1 bytes", "1000 kB", "1 MB", "1 MiB", "290 MB", "3 GiB", "10 GB"]


def test_a_table_may_be_fifty_times_its_file_but_never_more_than_the_maximum():
    default = Limits()
    assert default.row == 1 << 20
    assert default.table(100) == 256 << 20
    assert default.table(10_000_000) == 500_000_000
    assert default.table(1 << 40) == 4 << 30
    assert Limits(table_bytes=5).table(1 << 40) == 5


def test_the_innermost_limits_hold_until_their_block_ends():
    with use_limits(10, 100):
        with use_limits(table_bytes=50):
            assert table_limits() == Limits(10, 50)
        limits.set_limits(row_bytes=7)
        assert table_limits() == Limits(7, 100)
    assert table_limits() == Limits()
    with pytest.raises(RuntimeError), use_limits(1, 1):
        raise RuntimeError
    assert table_limits() == Limits()


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "1MB"])
def test_bad_limits(tmp_path, value):
    with pytest.raises(ParameterError, match=r"max_row_bytes is .*: expected a whole number"):
        MentionTable.read(tmp_path / "a.tsv", max_row_bytes=value)


def test_a_limit_is_the_largest_size_that_is_read(tmp_path):
    path = tmp_path / "fo.tsv"
    path.write_text("mention\tentity\nTórshavn\tQ10704\n", encoding="utf-8")
    size = path.stat().st_size
    assert len(MentionTable.read(path, max_row_bytes=16, max_table_bytes=size)) == 1
    with pytest.raises(TableError, match=r"fo\.tsv line 2 has more than 15 bytes: .*max-row-size"):
        MentionTable.read(path, max_row_bytes=15)
    with pytest.raises(TableError, match=rf"has more than {size - 1} bytes unpacked .*table-size"):
        MentionTable.read(path, max_table_bytes=size - 1)
