"""The folder of an index: round trips, foreign folders, failures, full disks, amendments."""

import errno
import os
import resource
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from candgen.errors import StorageError
from candgen.storage import atomic, index_folder, index_replacement
from tests.support.stored_indexes import (
    NAMES,
    assert_holds,
    content,
    failing,
    file_of,
    large,
    refusal,
    snapshot,
)

real_fsync = os.fsync


def test_what_is_saved_is_loaded(folder):
    assert_holds(folder, content())
    stored = index_folder.load(str(folder))
    assert stored.path == folder
    assert stored.version
    assert stored.sizes == {name: file_of(folder, name).stat().st_size for name in NAMES}
    assert stored.is_verified


def test_an_index_without_arrays_and_inputs(tmp_path):
    index_folder.save(tmp_path / "x", kind="k", parameters={}, arrays={})
    stored = index_folder.load(tmp_path / "x")
    assert (stored.arrays, stored.parameters, stored.inputs) == ({}, {}, {})


def test_many_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(index_replacement, "CHUNK", 7)
    index_folder.save(tmp_path / "x", **content())
    assert_holds(tmp_path / "x", content())


def test_an_index_saved_over_the_files_it_is_mapped_from(folder):
    stored = index_folder.load(folder)
    index_folder.save(folder, **content() | {"arrays": stored.arrays})
    assert_holds(folder, content())


def test_the_same_content_gives_the_same_bytes(folder, tmp_path):
    backwards = content()
    for part in ("arrays", "parameters"):
        backwards[part] = dict(reversed(backwards[part].items()))
    index_folder.save(tmp_path / "other", **backwards)
    index_folder.save(tmp_path / "over", **large(2))
    index_folder.save(tmp_path / "over", **content())
    assert snapshot(folder) == snapshot(tmp_path / "other") == snapshot(tmp_path / "over")
    index_folder.save(folder, **content())
    assert snapshot(folder) == snapshot(tmp_path / "other")


def test_everything_is_synced_before_the_manifest_is_renamed(folder, monkeypatch):
    events, real_replace = [], os.replace

    def fsync(descriptor):
        events.append(("sync", Path(f"/proc/self/fd/{descriptor}").readlink().name))
        real_fsync(descriptor)

    def replace(source, target):
        events.append(("rename", target.name.split(".")[0]))
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    index_folder.save(folder, **content(2))
    file, directory = ("sync", index_replacement.TEMPORARY), ("sync", "fo.candgen")
    arrays = [step for name in NAMES for step in (file, ("rename", name.split(".")[0]))]
    assert events == [*arrays, directory, file, ("rename", "manifest"), directory]


def test_add_prefix_and_strip_prefix_are_inverse(folder):
    inner = {"keys": np.arange(3), "strings.bytes": np.arange(2)}
    arrays = index_folder.add_prefix("first", inner) | index_folder.add_prefix(
        "first2", {"keys": np.arange(9)}
    )
    assert sorted(arrays) == ["first.keys", "first.strings.bytes", "first2.keys"]
    assert index_folder.strip_prefix("first", arrays) == inner
    assert index_folder.strip_prefix("no", arrays) == {}
    assert list(index_folder.strip_prefix("first", index_folder.load(folder).arrays)) == [
        "postings.keys"
    ]


def test_a_path_that_is_a_file_is_refused(tmp_path):
    path = tmp_path / "fo.candgen"
    path.write_text("mine", encoding="utf-8")
    assert "fo.candgen is a file" in refusal(index_folder.save, path, **content())
    assert "fo.candgen is a file" in refusal(index_folder.load, path)
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json", ".hidden", "a.npy", "x/y"])
@pytest.mark.parametrize("text", ["", "{}", '{"format": "other"}', "[]"])
def test_a_foreign_folder_is_refused_and_left_alone(tmp_path, name, text):
    path = tmp_path / "fo.candgen" / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert "not a candgen index" in refusal(index_folder.save, tmp_path / "fo.candgen", **content())
    assert [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()] == [
        f"fo.candgen/{name}"
    ]
    assert path.read_text(encoding="utf-8") == text
    assert "manifest.json" in refusal(index_folder.load, tmp_path / "fo.candgen")


def test_an_empty_folder_is_filled(tmp_path):
    index_folder.save(tmp_path, **content())
    assert_holds(tmp_path, content())


def test_a_missing_parent_is_refused(tmp_path):
    said = refusal(index_folder.save, tmp_path / "no" / "fo.candgen", **content())
    assert str(tmp_path / "no") in said
    assert not (tmp_path / "no").exists()


def test_foreign_files_in_an_index_are_left_alone(folder):
    mine = {"notes.txt": b"mine", "a.npy": b"mine", "manifest.json.bak": b"", "x.candgen-tmp": b""}
    for name, text in mine.items():
        (folder / name).write_bytes(text)
    index_folder.save(folder, **content(2))
    assert_holds(folder, content(2))
    left = {name: text for name, text in snapshot(folder).items() if name in mine}
    assert left == mine
    assert len(snapshot(folder)) == len(mine) + len(NAMES) + 1


def test_nothing_there(tmp_path):
    assert "fo.candgen does not exist" in refusal(index_folder.load, tmp_path / "fo.candgen")
    assert "manifest.json is missing" in refusal(index_folder.load, tmp_path)


STEPS = [("fsync", n) for n in range(6)] + [("replace", n) for n in range(5)]


@pytest.mark.parametrize(("name", "after"), STEPS)
def test_a_full_disk_leaves_the_old_index(folder, monkeypatch, name, after):
    good = snapshot(folder)
    failing(monkeypatch, name, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), after=after)
    said = refusal(index_folder.save, folder, **content(2))
    assert said == (
        f"{folder} could not be written: No space left on device; "
        "the index that was there is unchanged"
    )
    assert snapshot(folder) == good


@pytest.mark.parametrize(("name", "after"), STEPS)
def test_a_full_disk_leaves_no_new_folder(tmp_path, monkeypatch, name, after):
    failing(monkeypatch, name, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), after=after)
    said = refusal(index_folder.save, tmp_path / "x", **content())
    assert "No space left on device" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "after"), STEPS)
def test_control_c_leaves_the_old_index(folder, monkeypatch, name, after):
    good = snapshot(folder)
    failing(monkeypatch, name, KeyboardInterrupt(), after=after)
    with pytest.raises(KeyboardInterrupt):
        index_folder.save(folder, **content(2))
    assert snapshot(folder) == good


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.EIO, "Input/output error")])
def test_a_failure_after_the_rename_keeps_the_new_index(folder, monkeypatch, error):
    # fsync: four arrays, the folder, the manifest; the next is that of the folder once more.
    failing(monkeypatch, "fsync", error, after=6)
    with pytest.raises(type(error)) as caught:
        index_folder.save(folder, **content(2))
    if isinstance(caught.value, StorageError):
        assert "the new index is in place" in str(caught.value)
    monkeypatch.undo()
    assert_holds(folder, content(2))
    index_folder.save(folder, **content(2))
    assert len(snapshot(folder)) == len(NAMES) + 1


def test_a_file_system_that_cannot_sync_folders_or_lock(tmp_path, monkeypatch):
    real = os.fsync

    def fsync(descriptor):
        if Path(f"/proc/self/fd/{descriptor}").is_dir():
            raise OSError(errno.EINVAL, "Invalid argument")
        real(descriptor)

    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(atomic.fcntl, "flock", flock)
    index_folder.save(tmp_path / "x", **content())
    assert_holds(tmp_path / "x", content())


def test_files_that_cannot_be_deleted_do_not_fail_a_save(folder, monkeypatch):
    failing(monkeypatch, "unlink", PermissionError(errno.EACCES, "no"), after=1)
    index_folder.save(folder, **content(2))
    monkeypatch.undo()
    assert_holds(folder, content(2))
    index_folder.save(folder, **content(2))
    assert len(snapshot(folder)) == len(NAMES) + 1


@pytest.mark.parametrize("exists", [True, False])
def test_a_file_that_grows_too_large_for_real(tmp_path, exists):
    folder = tmp_path / "fo.candgen"
    if exists:
        index_folder.save(folder, **content())
    good = snapshot(folder) if exists else None
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        said = refusal(index_folder.save, folder, **large(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert "File too large" in said
    assert (snapshot(folder) if exists else None) == good
    assert folder.exists() == exists


@pytest.fixture
def tiny_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip(f"cannot mount a small disk: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_full_for_real(tiny_disk):
    folder = tiny_disk / "fo.candgen"
    assert "No space left" in refusal(index_folder.save, folder, **large(1))
    assert list(tiny_disk.iterdir()) == []
    index_folder.save(folder, **content())
    good = snapshot(folder)
    said = refusal(index_folder.save, folder, **large(2))
    assert said.endswith("No space left on device; the index that was there is unchanged")
    assert snapshot(folder) == good


@pytest.fixture
def no_rights():
    """A place whose files can be read and not written, also if the tests are run by root."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "fo.candgen")
        index_folder.save(folder, **content())
        folder.chmod(0o555)
        Path(place).chmod(0o555)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        yield folder
        if is_root:
            os.seteuid(0)
        Path(place).chmod(0o755)
        folder.chmod(0o755)


def test_a_read_only_folder(no_rights):
    good = snapshot(no_rights)
    said = refusal(index_folder.save, no_rights, **content(2))
    assert said.endswith("Permission denied; the index that was there is unchanged")
    assert snapshot(no_rights) == good
    assert_holds(no_rights, content())
    beside = no_rights.with_name("new.candgen")
    assert "Permission denied" in refusal(index_folder.save, beside, **content())


def forbid(path):
    """Takes the right to read away, as the owner."""
    euid = os.geteuid()
    os.seteuid(os.getuid())
    path.chmod(0)
    os.seteuid(euid)


@pytest.mark.parametrize("name", ["matrix", index_folder.MANIFEST])
def test_an_unreadable_file(no_rights, name):
    path = file_of(no_rights, name)
    forbid(path)
    assert f"{path} could not be read: Permission denied" in refusal(index_folder.load, no_rights)


def test_an_unreadable_folder(no_rights):
    forbid(no_rights)
    assert "could not be read: Permission denied" in refusal(index_folder.load, no_rights)
    assert "could not be read: Permission denied" in refusal(
        index_folder.save, no_rights, **content()
    )


def test_when_the_state_is_not_known_nothing_is_deleted(folder, monkeypatch):
    failing(monkeypatch, "fsync", OSError(errno.EIO, "Input/output error"), after=6)

    def read_bytes(_):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", read_bytes)
        assert "not known" in refusal(index_folder.save, folder, **content(2))
    assert_holds(folder, content(2))


EXTRA = {"notes": np.arange(5), "words": np.zeros((2, 3), np.float32)}


def test_arrays_are_added_and_replaced_and_nothing_else_is_touched(folder):
    before = snapshot(folder)
    index_folder.amend(folder, "extra", EXTRA)
    assert_holds_beside(folder, EXTRA)
    kept = {name: data for name, data in snapshot(folder).items() if name in before}
    assert {name for name in before if kept[name] != before[name]} == {"manifest.json"}
    index_folder.amend(folder, "extra", {"notes": np.arange(3)})
    assert_holds_beside(folder, {"notes": np.arange(3)})
    assert not list(folder.glob("extra.words.*"))
    index_folder.amend(folder, "extra", {})
    assert snapshot(folder) == before


def assert_holds_beside(folder, extra):
    stored = index_folder.load(folder, verify=True)
    found = index_folder.strip_prefix("extra", stored.arrays)
    assert {name: array.tolist() for name, array in found.items()} == {
        name: array.tolist() for name, array in extra.items()
    }
    mine = {name: array for name, array in stored.arrays.items() if not name.startswith("extra.")}
    expected = content()
    assert mine.keys() == expected["arrays"].keys()
    assert (stored.kind, stored.parameters) == (expected["kind"], expected["parameters"])


def test_a_save_drops_what_was_added(folder):
    index_folder.amend(folder, "extra", EXTRA)
    index_folder.save(folder, **content(2))
    assert_holds(folder, content(2))
    assert not list(folder.glob("extra.*"))


def test_a_reader_keeps_what_it_has_opened(folder):
    index_folder.amend(folder, "extra", EXTRA)
    stored = index_folder.load(folder)
    index_folder.amend(folder, "extra", {"notes": np.arange(9)})
    assert stored.arrays["extra.notes"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["fsync", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
@pytest.mark.parametrize("after", range(3))
def test_a_failure_adds_nothing(folder, monkeypatch, name, error, after):
    before = snapshot(folder)
    failing(monkeypatch, name, error, after=after)
    with pytest.raises((KeyboardInterrupt, StorageError)):
        index_folder.amend(folder, "extra", EXTRA)
    monkeypatch.undo()
    assert snapshot(folder) == before


def test_nothing_is_added_to_other_folders(tmp_path, folder):
    assert "does not exist" in refusal(index_folder.amend, tmp_path / "none", "extra", EXTRA)
    assert not (tmp_path / "none").exists()
    (tmp_path / "other").mkdir()
    assert "manifest.json is missing" in refusal(
        index_folder.amend, tmp_path / "other", "extra", EXTRA
    )
    assert list((tmp_path / "other").iterdir()) == []
    assert "cannot name an array" in refusal(index_folder.amend, folder, "../x", EXTRA)
    objects = {"bad": np.array([object()])}
    assert "dtype object" in refusal(index_folder.amend, folder, "extra", objects)
