"""Files of arrays: round trips, names, damage."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from candgen.storage import array_file, index_folder
from tests.support.stored_indexes import NAMES, assert_holds, content, file_of, refusal, snapshot


def test_arrays_are_plain_read_only_and_mapped(folder):
    for array in index_folder.load(folder).arrays.values():
        assert type(array) is np.ndarray
        assert not array.flags.writeable
        assert array.flags.c_contiguous
        assert array.flags.aligned
        assert not array.flags.owndata


def test_numpy_reads_the_files(folder):
    for name, array in content()["arrays"].items():
        read = np.load(file_of(folder, name), allow_pickle=False)
        np.testing.assert_array_equal(read, array, strict=True)


numbers = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="?"),
    npst.unsigned_integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
)


shapes = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


@settings(max_examples=40, deadline=None)
@given(npst.arrays(numbers, shapes), st.booleans())
def test_any_array_of_numbers(array, transposed):
    array = array.T if transposed else array
    with tempfile.TemporaryDirectory() as place:
        index_folder.save(Path(place, "x"), kind="k", parameters={}, arrays={"a": array})
        loaded = index_folder.load(Path(place, "x"), verify=True).arrays["a"]
        np.testing.assert_array_equal(loaded, array)
        assert loaded.shape == array.shape
        assert loaded.dtype == array.dtype.newbyteorder("<")


def test_files_are_named_after_their_content(folder):
    for name in NAMES:
        path = file_of(folder, name)
        digest = subprocess.check_output(["sha256sum", path], text=True)
        assert path.name == f"{name}.{digest[:16]}.npy"
        entry = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"][name]
        assert entry["sha256"] == digest.split()[0]


def test_an_index_that_was_saved_here_is_not_hashed_unless_asked(folder, monkeypatch):
    monkeypatch.setattr(array_file.hashlib, "file_digest", lambda *_: pytest.fail("hashed"))
    assert index_folder.load(folder).is_verified
    with pytest.raises(pytest.fail.Exception):
        index_folder.load(folder, verify=True)


def test_forty_arrays_open_in_milliseconds(tmp_path):
    arrays = {f"array.{i}": np.arange(1000) + i for i in range(40)}
    index_folder.save(tmp_path / "x", kind="k", parameters={}, arrays=arrays)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        index_folder.load(tmp_path / "x")
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.03  # 3 ms here


@pytest.mark.parametrize(
    "array",
    [
        np.array([None]),
        np.array(["a"]),
        np.array([b"a"]),
        np.array([1j]),
        np.array([1], dtype="datetime64[s]"),
        np.zeros(2, dtype=[("a", int)]),
        np.zeros(2, dtype=np.longdouble),
    ],
    ids=lambda array: str(array.dtype),
)
def test_a_dtype_that_is_not_numeric_is_refused(tmp_path, array):
    arrays = {"fine": np.zeros(2), "bad.one": array}
    said = refusal(index_folder.save, tmp_path / "x", kind="k", parameters={}, arrays=arrays)
    assert "bad.one" in said
    assert str(array.dtype) in said
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../a", "a..b", ".a", "a.", "A", "é", "a b", "a\n", "a" * 201]
)
def test_an_invalid_array_name_is_refused(tmp_path, name):
    arrays = {name: np.zeros(1)}
    said = refusal(index_folder.save, tmp_path / "x", kind="k", parameters={}, arrays=arrays)
    assert repr(name) in said
    assert not (tmp_path / "x").exists()


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def empty(path):
    path.write_bytes(b"")


def lengthen(path):
    path.write_bytes(path.read_bytes() + b"\0")


def alter(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def replace_by_text(path):
    path.write_text("hello", encoding="utf-8")


def replace_by_pickle(path):
    with path.open("wb") as file:
        np.save(file, np.array([print], dtype=object), allow_pickle=True)


def replace_by_a_valid_array(path):
    with path.open("wb") as file:
        np.save(file, np.arange(7))


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


def replace_by_link(path):
    path.rename(path.parent.parent / path.name)
    path.symlink_to(path.parent.parent / path.name)


def replace_by_pipe(path):
    path.unlink()
    os.mkfifo(path)


DAMAGES = [
    Path.unlink,
    truncate,
    empty,
    lengthen,
    alter,
    replace_by_text,
    replace_by_pickle,
    replace_by_a_valid_array,
    replace_by_folder,
    replace_by_link,
    replace_by_pipe,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", [index_folder.MANIFEST, *NAMES])
def test_a_damaged_file_is_refused_by_name(folder, name, damage):
    path = file_of(folder, name)
    damage(path)
    assert str(path) in refusal(index_folder.load, folder)
    assert str(path) in refusal(index_folder.load, folder, verify=True)


@pytest.mark.parametrize(
    "damage", [d for d in DAMAGES if d is not replace_by_folder], ids=lambda d: d.__name__
)
@pytest.mark.parametrize("name", [index_folder.MANIFEST, *NAMES])
def test_a_damaged_index_can_be_built_again(folder, name, damage):
    good = snapshot(folder)
    damage(file_of(folder, name))
    index_folder.save(folder, **content())
    assert snapshot(folder) == good
    assert not any(path.is_symlink() for path in folder.iterdir())
    assert_holds(folder, content())


def test_a_bit_flipped_anywhere_is_found(tmp_path):
    folder = tmp_path / "x"
    index_folder.save(folder, kind="k", parameters={"lam": 0.4}, arrays={"a": np.arange(9)})
    for path in sorted(folder.iterdir()):
        good = path.read_bytes()
        with path.open("r+b", buffering=0) as file:
            for at, byte in enumerate(good):
                os.pwrite(file.fileno(), bytes([byte ^ 1 << at % 8]), at)
                assert str(path) in refusal(index_folder.load, folder), at
                os.pwrite(file.fileno(), bytes([byte]), at)
    assert not index_folder.load(folder).is_verified


@pytest.mark.parametrize("damage", [truncate, empty, lengthen, replace_by_pickle])
@pytest.mark.parametrize("name", NAMES)
def test_sizes_and_headers_are_checked_without_checksums(folder, monkeypatch, name, damage):
    path = file_of(folder, name)
    damage(path)
    monkeypatch.setattr(index_folder, "check_sha256", lambda *_: None)
    assert str(path) in refusal(index_folder.load, folder)
