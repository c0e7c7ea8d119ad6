"""StringTable: many strings in two arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candgen.errors import ParameterError
from candgen.storage import index_folder
from candgen.tables.string_table import StringTable


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_string_table_is_the_list_it_was_packed_from(strings):
    table = StringTable(**StringTable.pack(iter(strings)))
    assert list(table) == strings
    assert len(table) == len(strings)
    assert [table[i] for i in range(len(strings))] == strings
    assert [table[-i - 1] for i in range(len(strings))] == strings[::-1]
    assert table[1:-1] == strings[1:-1]
    assert table[::-2] == strings[::-2]
    assert table.take(range(len(strings))) == strings


def test_a_string_table_in_an_index(tmp_path):
    names = ["Tórshavn", "", "मुंबई", "𐌰\0b"] * 3000
    packed = index_folder.add_prefix("names", StringTable.pack(names))
    index_folder.save(tmp_path / "x", kind="k", parameters={}, arrays=packed)
    table = StringTable(
        **index_folder.strip_prefix("names", index_folder.load(tmp_path / "x").arrays)
    )
    assert table[2] == "मुंबई"
    assert table[4:6] == ["Tórshavn", ""]
    assert list(table) == names
    assert table.take(np.array([3, 0, 3])) == ["𐌰\0b", "Tórshavn", "𐌰\0b"]
    assert repr(table) == f"<StringTable of 12000 strings, {len(''.join(names).encode())} bytes>"


def test_a_string_table_has_ends():
    table = StringTable(**StringTable.pack(["a", "b"]))
    for outside in (2, -3):
        with pytest.raises(IndexError):
            table[outside]
    for outside in ([2], [-1], [0, 2], np.array([2], np.uint32), np.array([2**64 - 1], np.uint64)):
        with pytest.raises(IndexError, match="outside the table"):
            table.take(outside)
    assert table.take([]) == []
    assert table.take(np.array([1, 0], np.uint32)[:1]) == ["b"]


@pytest.mark.parametrize("inner", [[9, 3], [-1, 3], [2, 1]])
def test_offsets_that_are_wrong_inside_read_nothing_else(inner):
    table = StringTable(np.frombuffer(b"abc", np.uint8), np.array([0, *inner, 3]))
    with pytest.raises(IndexError, match="outside the text"):
        table.take([0, 1, 2])


def test_invalid_string_tables_are_refused():
    fine = StringTable.pack(["ab", "c"])
    for wrong in (
        {"bytes": fine["bytes"].astype(np.int8)},
        {"bytes": fine["bytes"][:-1]},
        {"bytes": fine["bytes"].reshape(1, 3)},
        {"offsets": fine["offsets"].astype(np.int32)},
        {"offsets": fine["offsets"][:0]},
        {"offsets": fine["offsets"][1:]},
        {"offsets": np.array(3)},
    ):
        with pytest.raises(ParameterError):
            StringTable(**fine | wrong)
    with pytest.raises(ParameterError, match="Tórshavn"):
        StringTable.pack("Tórshavn")
    with pytest.raises(ParameterError, match=r"string 1, .* is not valid Unicode"):
        StringTable.pack(["a", "\ud800"])
