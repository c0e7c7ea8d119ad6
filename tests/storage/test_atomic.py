"""Files and folders that are written whole or not at all, and locks between processes."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from candgen.errors import StorageError
from candgen.storage import atomic
from candgen.storage.atomic import atomic_folder, atomic_write, lock_file, write_text


def fail(monkeypatch, name, *, at):
    """Make the call number ``at`` of os.<name> fail, as on a full disk."""
    real, calls = getattr(os, name), []

    def call(*arguments, **options):
        calls.append(1)
        if len(calls) == at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, call)


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "report.md"
    write_text(path, "old")
    with atomic_write(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, name):
    path = tmp_path / "report.md"
    write_text(path, "old")
    fail(monkeypatch, name, at=1)
    with pytest.raises(StorageError) as caught:
        write_text(path, "new")
    assert str(caught.value) == (
        f"{path} cannot be written: No space left on device; choose another place"
    )
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_synced_does_not_fail_a_write(tmp_path, monkeypatch):
    fail(monkeypatch, "fsync", at=2)
    write_text(tmp_path / "report.md", "new")
    assert (tmp_path / "report.md").read_bytes() == b"new"


def test_only_a_regular_file_is_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="pipe is not a regular file"):
        write_text(tmp_path / "pipe", "new")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_folder_is_replaced_whole(tmp_path):
    path = tmp_path / "data"
    for text in ("old", "new"):
        with atomic_folder(path, lambda _: True) as fresh:
            (fresh / "a.txt").write_text(text, encoding="utf-8")
            assert fresh.parent == path.parent
        assert (path / "a.txt").read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("at", [1, 2])
def test_a_failed_replacement_leaves_the_old_folder(tmp_path, monkeypatch, at):
    path = tmp_path / "data"
    path.mkdir()
    (path / "mine.txt").touch()
    fail(monkeypatch, "rename", at=at)
    with (
        pytest.raises(StorageError, match="data cannot be written: No space left on device"),
        atomic_folder(path, lambda _: True),
    ):
        pass
    assert [each.name for each in tmp_path.rglob("*")] == ["data", "mine.txt"]


def test_a_folder_that_cannot_be_put_back_is_named(tmp_path, monkeypatch):
    path = tmp_path / "data"
    path.mkdir()
    (path / "mine.txt").touch()
    fail(monkeypatch, "rename", at=2)
    renamed = os.rename

    def rename(source, target):
        if str(source).endswith(".old"):
            raise PermissionError(errno.EACCES, "Permission denied")
        renamed(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with (
        pytest.raises(StorageError, match=r"nor put back: it is now .*\.old, rename it"),
        atomic_folder(path, lambda _: True),
    ):
        pass
    (kept,) = tmp_path.iterdir()
    assert kept.suffix == ".old"
    assert [each.name for each in kept.iterdir()] == ["mine.txt"]


def test_folders_of_others_are_left_alone(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.txt").touch()
    (tmp_path / "file").touch()
    for name, said in (("data", "something else in it"), ("file", "is a file"), ("x/y", "no fol")):
        with pytest.raises(StorageError, match=said), atomic_folder(tmp_path / name, lambda _: 0):
            pytest.fail("the folder was made")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["data", "file", "mine.txt"]


HOLD = """
import sys, fcntl
file = open(sys.argv[1], "ab")
fcntl.flock(file, fcntl.LOCK_EX)
print(flush=True)
input()
"""


def test_a_lock_belongs_to_one_process_until_it_ends(tmp_path):
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        assert lock_file(path) is None
        other.kill()
        other.wait()
    with lock_file(path) as held:
        assert held is not None
        assert lock_file(path) is None
    with lock_file(path) as again:
        assert again is not None


def test_a_lock_file_is_not_reached_through_a_link(tmp_path):
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"):
        lock_file(tmp_path / "lock")
    assert not (tmp_path / "elsewhere").exists()


def test_the_lock_of_a_deleted_file_does_not_count(tmp_path, monkeypatch):
    path, real, tries = tmp_path / "lock", atomic.try_lock, []

    def try_lock(file):
        tries.append(file)
        if len(tries) < 3:
            Path(file.name).unlink()
        return real(file)

    monkeypatch.setattr(atomic, "try_lock", try_lock)
    with lock_file(path) as held:
        assert [file.closed for file in tries] == [True, True, False]
        assert atomic.is_still_at(path, held.fileno())
