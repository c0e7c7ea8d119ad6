"""An index is read in full when it is new to this user or has changed, and only then."""

import os
import shutil

import numpy as np
import pytest

from candgen.cache_folder import CACHE_VARIABLE
from candgen.storage import index_folder
from candgen.storage import verification_record as verified
from tests.support.stored_indexes import content, file_of, refusal


@pytest.fixture(autouse=True)
def record(tmp_path, monkeypatch):
    """The folder of the record."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "verified"


@pytest.fixture
def folder(tmp_path):
    index_folder.save(tmp_path / "x", **content())
    return tmp_path / "x"


def is_verified(folder):
    return index_folder.load(folder).is_verified


def test_what_was_saved_here_is_trusted(folder, record):
    assert is_verified(folder)
    assert len(list(record.iterdir())) == 1


def test_a_copy_is_not(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "y")
    assert not is_verified(tmp_path / "y")
    stored = index_folder.load(tmp_path / "y")
    verified.record(stored.fingerprint)
    assert is_verified(tmp_path / "y")


@pytest.mark.parametrize("name", ["matrix", index_folder.MANIFEST])
def test_a_write_is_seen_also_if_the_modification_time_is_set_back(folder, name):
    path = file_of(folder, name)
    before = path.stat()
    with path.open("r+b") as file:
        first = file.read(1)
        file.seek(0)
        file.write(first)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert not is_verified(folder)


def test_damage_with_the_old_modification_time_is_refused(folder):
    path = file_of(folder, "matrix")
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x55")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert str(path) in refusal(index_folder.load, folder)


def test_what_is_added_to_a_trusted_index_keeps_it_trusted(folder):
    index_folder.amend(folder, "extra", {"a": np.arange(3)})
    assert is_verified(folder)


def test_what_is_added_to_another_index_does_not_make_it_trusted(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "y")
    index_folder.amend(tmp_path / "y", "extra", {"a": np.arange(3)})
    assert not is_verified(tmp_path / "y")


def test_a_record_that_others_can_write_is_not_believed(folder, record):
    record.chmod(0o777)
    assert not is_verified(folder)
    record.chmod(0o700)
    assert is_verified(folder)


def test_without_a_place_for_the_record_everything_is_verified(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))
    index_folder.save(tmp_path / "x", **content())
    assert not is_verified(tmp_path / "x")


def test_a_user_without_a_home(tmp_path, monkeypatch):
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(verified.Path, "home", no_home)
    index_folder.save(tmp_path / "x", **content())
    assert not is_verified(tmp_path / "x")


def test_the_record_is_in_the_cache_of_the_user(tmp_path, monkeypatch):
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home-cache"))
    index_folder.save(tmp_path / "x", **content())
    assert is_verified(tmp_path / "x")
    assert len(list((tmp_path / "home-cache" / "candgen" / "verified").iterdir())) == 1


def test_old_records_are_deleted(folder, record, monkeypatch):
    monkeypatch.setattr(verified, "MAX_RECORDS", 10)
    for number in range(11):
        verified.record(f"{number:02}")
        os.utime(record / f"{number:02}", (number, number))
    verified.record("last")
    names = {path.name for path in record.iterdir()}
    assert {"last", "10"} <= names
    assert "00" not in names
    assert len(names) <= 10
