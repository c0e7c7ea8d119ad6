"""The folder format: round trips, damage, interruption, full disks, several processes at once."""

import errno
import itertools
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from candgen.errors import ParameterError, StorageError
from candgen.storage import index_folder
from candgen.storage.manifest import render
from candgen.tables.string_table import StringTable

NAMES = ["first.postings.keys", "matrix", "nothing", "one"]


def content(n=1):
    """The arguments of a save; whoever reads them back can tell whether all belong to one n."""
    return {
        "kind": f"kind-{n}",
        "parameters": {"n": n, "alpha": {"is": 0.4, "da": 0.1}, "language": "føroyskt"},
        "arrays": {
            "first.postings.keys": np.arange(n, n + 50, dtype=np.int64),
            "matrix": np.full((3, 4), n, dtype=np.float32),
            "nothing": np.zeros((0, 3), dtype=np.uint16),
            "one": np.array(n, dtype=np.uint8),
        },
        "inputs": {"is.tsv": {"sha256": "00" * 32}},
    }


def large(n):
    """The same with a megabyte, so that most of a save is spent in writing."""
    arrays = content(n)["arrays"] | {"large": np.full(1 << 17, n, dtype=np.int64)}
    return content(n) | {"arrays": arrays}


def assert_holds(folder, *allowed, verify=True):
    """The folder holds one of these contents, whole; which."""
    stored = index_folder.load(folder, verify=verify)
    (expected,) = [one for one in allowed if one["kind"] == stored.kind]
    assert stored.parameters == expected["parameters"]
    assert stored.inputs == expected["inputs"]
    assert list(stored.arrays) == sorted(expected["arrays"])
    for name, array in expected["arrays"].items():
        np.testing.assert_array_equal(stored.arrays[name], array, strict=True)
    return expected


def snapshot(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def file_of(folder, name):
    """The path of the manifest, or of the array of this name."""
    if name == index_folder.MANIFEST:
        return folder / name
    (path,) = folder.glob(f"{name}.????????????????.npy")
    return path


def refusal(call, *arguments, **options):
    """The one sentence with which this is refused."""
    with pytest.raises(StorageError) as caught:
        call(*arguments, **options)
    sentence = str(caught.value)
    assert sentence
    assert "\n" not in sentence
    return sentence


def rewrite(folder, change):
    """Alters the manifest and makes its checksum right again, as an attacker would."""
    path = folder / index_folder.MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    manifest.pop("checksum", None)
    path.write_bytes(render(manifest))


real_fsync = os.fsync


def do_not_wait_for_the_disk():
    """An fsync matters in a power cut, which cannot be tested here, and takes most of the time."""
    os.fsync = lambda descriptor: None


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "fo.candgen"
    index_folder.save(path, **content())
    return path


@pytest.fixture(scope="module")
def processes():
    """Two other processes, fresh ones: pytest has threads, which a fork would not survive."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, spawn, initializer=do_not_wait_for_the_disk) as pool:
        yield pool


# ---------------------------------------------------------------- round trip


def test_what_is_saved_is_loaded(folder):
    assert_holds(folder, content())
    stored = index_folder.load(str(folder))
    assert stored.path == folder
    assert stored.version
    assert stored.sizes == {name: file_of(folder, name).stat().st_size for name in NAMES}
    assert sorted(index_folder.verify(folder)) == sorted(snapshot(folder))


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


def test_an_index_without_arrays_and_inputs(tmp_path):
    index_folder.save(tmp_path / "x", kind="k", parameters={}, arrays={})
    stored = index_folder.load(tmp_path / "x")
    assert (stored.arrays, stored.parameters, stored.inputs) == ({}, {}, {})


def test_many_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(index_folder, "_CHUNK", 7)
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


def test_files_are_named_after_their_content(folder):
    for name in NAMES:
        path = file_of(folder, name)
        digest = subprocess.check_output(["sha256sum", path], text=True)
        assert path.name == f"{name}.{digest[:16]}.npy"
        entry = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"][name]
        assert entry["sha256"] == digest.split()[0]


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
    file, directory = ("sync", index_folder._TEMPORARY), ("sync", "fo.candgen")
    arrays = [step for name in NAMES for step in (file, ("rename", name.split(".")[0]))]
    assert events == [*arrays, directory, file, ("rename", "manifest"), directory]


def test_a_large_index_is_not_hashed_unless_asked(folder, monkeypatch):
    monkeypatch.setattr(index_folder, "SMALL", -1)
    monkeypatch.setattr(index_folder.hashlib, "file_digest", lambda *_: pytest.fail("hashed"))
    index_folder.load(folder)


def test_forty_arrays_open_in_milliseconds(tmp_path):
    arrays = {f"array.{i}": np.arange(1000) + i for i in range(40)}
    index_folder.save(tmp_path / "x", kind="k", parameters={}, arrays=arrays)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        index_folder.load(tmp_path / "x")
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.03  # 3 ms here


def test_prefixed_and_under_are_inverse(folder):
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


# ---------------------------------------------------------------- what cannot be saved


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
def test_a_dtype_that_is_no_number_is_refused(tmp_path, array):
    arrays = {"fine": np.zeros(2), "bad.one": array}
    said = refusal(index_folder.save, tmp_path / "x", kind="k", parameters={}, arrays=arrays)
    assert "bad.one" in said
    assert str(array.dtype) in said
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../a", "a..b", ".a", "a.", "A", "é", "a b", "a\n", "a" * 201]
)
def test_a_name_that_is_no_dotted_identifier_is_refused(tmp_path, name):
    arrays = {name: np.zeros(1)}
    said = refusal(index_folder.save, tmp_path / "x", kind="k", parameters={}, arrays=arrays)
    assert repr(name) in said
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), np.float32(1), {1: 2}, (1, 2), {1, 2}, b"", Path()]
)
@pytest.mark.parametrize("where", ["parameters", "inputs"])
def test_what_json_would_change_is_refused(tmp_path, value, where):
    arguments = content() | {where: {"value": value}}
    assert where in refusal(index_folder.save, tmp_path / "x", **arguments)
    assert not (tmp_path / "x").exists()


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


# ---------------------------------------------------------------- damage


def test_nothing_there(tmp_path):
    assert "fo.candgen does not exist" in refusal(index_folder.load, tmp_path / "fo.candgen")
    assert "manifest.json is missing" in refusal(index_folder.load, tmp_path)


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
    assert str(path) in refusal(index_folder.verify, folder)


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
    assert index_folder.verify(folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_large_index_is_verified_on_demand(folder, monkeypatch, name):
    monkeypatch.setattr(index_folder, "SMALL", -1)
    path = file_of(folder, name)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1  # the last byte of the data, or of the header where there is none
    path.write_bytes(data)
    assert str(path) in refusal(index_folder.verify, folder)
    assert str(path) in refusal(index_folder.load, folder, verify=True)
    if name == "nothing":
        assert str(path) in refusal(index_folder.load, folder)
    else:
        index_folder.load(folder)


@pytest.mark.parametrize("damage", [truncate, empty, lengthen, replace_by_pickle])
@pytest.mark.parametrize("name", NAMES)
def test_sizes_and_headers_of_a_large_index_are_checked_at_once(folder, monkeypatch, name, damage):
    monkeypatch.setattr(index_folder, "SMALL", -1)
    path = file_of(folder, name)
    damage(path)
    assert str(path) in refusal(index_folder.load, folder)


def test_the_manifest_of_another_index(folder, tmp_path):
    index_folder.save(tmp_path / "other", **content(2))
    (tmp_path / "other" / index_folder.MANIFEST).replace(folder / index_folder.MANIFEST)
    said = refusal(index_folder.load, folder)
    assert "is missing" in said
    assert ".npy" in said


def test_a_newer_format_says_upgrade(folder):
    def newer(manifest):
        manifest.update(format_version=3, something_new=[])

    rewrite(folder, newer)
    said = refusal(index_folder.load, folder)
    assert "format 3, this one reads up to 2" in said
    assert "upgrade" in said
    # It is an index nevertheless, so it may be replaced.
    index_folder.save(folder, **content())
    assert_holds(folder, content())


def entry(manifest):
    return manifest["files"]["matrix"]


BAD_MANIFESTS = {
    "format": lambda m: m.update(format="numpy"),
    "older": lambda m: m.update(format_version=0),
    "version": lambda m: m.update(format_version="1"),
    "kind": lambda m: m.update(kind=3),
    "no kind": lambda m: m.pop("kind"),
    "more": lambda m: m.update(more=1),
    "parameters": lambda m: m.update(parameters=[]),
    "inputs": lambda m: m.update(inputs=None),
    "candgen": lambda m: m.update(candgen_version=1),
    "files": lambda m: m.update(files=[]),
    "entry": lambda m: m["files"].update(matrix=1),
    "no size": lambda m: entry(m).pop("bytes"),
    "size": lambda m: entry(m).update(bytes=1),
    "float size": lambda m: entry(m).update(bytes=float(entry(m)["bytes"])),
    "object": lambda m: entry(m).update(dtype="|O"),
    "list dtype": lambda m: entry(m).update(dtype=[["a", "<f4"]]),
    "shape": lambda m: entry(m).update(shape=[4, 3, 1.0]),
    "no list": lambda m: entry(m).update(shape=12),
    "negative": lambda m: entry(m).update(shape=[-3, -4]),
    "huge": lambda m: m["files"]["nothing"].update(shape=[0, 1 << 62]),
    "deep": lambda m: entry(m).update(shape=[1] * 33),
    "hash": lambda m: entry(m).update(sha256="0" * 63),
    "number": lambda m: entry(m).update(sha256=7),
    "other hash": lambda m: entry(m).update(sha256="0" * 64),
    "name": lambda m: m["files"].update({"../matrix": m["files"].pop("matrix")}),
    "absolute": lambda m: entry(m).update(file="/etc/passwd"),
    "parent": lambda m: entry(m).update(file="../" + entry(m)["file"]),
    "below": lambda m: entry(m).update(file="x/" + entry(m)["file"]),
    "dot": lambda m: entry(m).update(file="./" + entry(m)["file"]),
    "another": lambda m: entry(m).update(file=m["files"]["one"]["file"]),
}


@pytest.mark.parametrize("change", BAD_MANIFESTS.values(), ids=BAD_MANIFESTS)
def test_a_forged_manifest_is_refused_although_its_checksum_is_right(folder, change):
    # What it may want to lead to is there, so only the manifest can be the reason.
    for path in list(folder.iterdir()):
        os.link(path, folder.parent / path.name)
    rewrite(folder, change)
    assert str(folder / index_folder.MANIFEST) in refusal(index_folder.load, folder)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "9" * 5000,
        '{"format": "candgen", "format_version": 1, "x": NaN}',
        "\xff",
        "1",
    ],
    ids=["nested", "digits", "nan", "latin-1", "number"],
)
def test_strange_json_is_refused(folder, text):
    (folder / index_folder.MANIFEST).write_bytes(text.encode("latin-1"))
    assert "manifest.json" in refusal(index_folder.load, folder)


def test_an_unchanged_manifest_is_read_again(folder):
    rewrite(folder, lambda manifest: None)
    assert_holds(folder, content())


# ---------------------------------------------------------------- failure


def failing(monkeypatch, name, error, *, after):
    """Makes os.<name> fail for good, after so many calls that work."""
    real, calls = getattr(os, name), []

    def fail(*arguments, **options):
        calls.append(1)
        if len(calls) > after:
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, fail)


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
    monkeypatch.setattr(index_folder.fcntl, "flock", flock)
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


# ---------------------------------------------------------------- killed


def crash_everywhere(place):
    """Saves again and again, dying each time one system call later; the number of deaths."""
    calls = ("fsync", "replace", "unlink", "mkdir", "open", "close")
    for point in range(1000):
        for kind in ("new", "over"):
            folder = Path(place, f"{kind}-{point}")
            if kind == "over":
                index_folder.save(folder, **content(1))
            child = os.fork()
            if child == 0:
                count = 0

                def dying(real):
                    def call(*arguments, **options):
                        nonlocal count
                        if count == point:  # noqa: B023
                            os._exit(9)
                        count += 1
                        return real(*arguments, **options)

                    return call

                for name in calls:
                    setattr(os, name, dying(getattr(os, name)))
                index_folder.save(folder, **content(2))
                os._exit(0)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) in (0, 9)
        if status == 0:
            return point
    raise AssertionError


def test_death_at_every_step(processes, tmp_path):
    points = processes.submit(crash_everywhere, tmp_path).result()
    assert points > 20
    index_folder.save(tmp_path / "good", **content(3))
    good = snapshot(tmp_path / "good")
    survivors = set()
    for point in range(points + 1):
        over, new = tmp_path / f"over-{point}", tmp_path / f"new-{point}"
        survivors.add(assert_holds(over, content(1), content(2))["kind"])
        if (new / index_folder.MANIFEST).exists():
            assert_holds(new, content(2))
        else:
            refusal(index_folder.load, new)
        for folder in (over, new):
            index_folder.save(folder, **content(3))
            assert snapshot(folder) == good, "a later save works and cleans up"
    assert survivors == {"kind-1", "kind-2"}


def kill_at_random(place, rounds):
    """Kills a process that saves one index after the other; which ones survived."""
    folder, survivors = Path(place, "x"), [1]
    chance = random.Random(0)
    start = time.monotonic()
    for n in (2, 1):
        index_folder.save(folder, **large(n))
    duration = time.monotonic() - start
    while len(survivors) < rounds or len(set(survivors)) < 2:
        assert len(survivors) < 10 * rounds, "no save ever succeeds"
        child = os.fork()
        if child == 0:
            while True:
                for n in (3 - survivors[-1], survivors[-1]):
                    index_folder.save(folder, **large(n))
        time.sleep(chance.uniform(0, 1.5 * duration))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        survivors.append(assert_holds(folder, large(1), large(2))["parameters"]["n"])
    return survivors


def test_kill_9_at_any_moment(processes, tmp_path):
    assert set(processes.submit(kill_at_random, tmp_path, 40).result()) == {1, 2}
    index_folder.save(tmp_path / "x", **large(1))
    index_folder.save(tmp_path / "good", **large(1))
    assert snapshot(tmp_path / "x") == snapshot(tmp_path / "good")


# ---------------------------------------------------------------- several processes


def keep_saving(folder, stop, at_least):
    """Saves alternately two indexes until there is a file `stop`; how often it had to wait."""
    saved = waited = 0
    while not stop.exists() or saved < at_least:
        try:
            index_folder.save(folder, **content(saved % 2 + 1))
            saved += 1
        except StorageError as error:
            if "being written by another process" not in str(error):
                raise
            waited += 1
            time.sleep(0.001)
    return waited


def test_a_reader_while_a_writer_replaces(processes, folder, tmp_path):
    first = index_folder.load(folder)
    writer = processes.submit(keep_saving, folder, tmp_path / "stop", 10)
    kinds, end = [], time.monotonic() + 30
    try:
        # A hundred changes of the index, as seen by the reader.
        while sum(a != b for a, b in itertools.pairwise(kinds)) < 100 and time.monotonic() < end:
            # Not verified: then a load is shorter, and meets more of the moments in between.
            kinds.append(assert_holds(folder, content(1), content(2), verify=False)["kind"])
    finally:
        (tmp_path / "stop").touch()
    assert writer.result() == 0
    assert set(kinds) == {"kind-1", "kind-2"}
    # The files behind it were deleted long ago.
    np.testing.assert_array_equal(
        first.arrays["first.postings.keys"], content(1)["arrays"]["first.postings.keys"]
    )


def test_a_reader_that_is_overtaken_between_manifest_and_arrays(folder, monkeypatch):
    real, overtaken = index_folder._open_array, []

    def open_array(path, *arguments, **options):
        if not overtaken:
            overtaken.append(path)
            index_folder.save(folder, **content(2))
        return real(path, *arguments, **options)

    monkeypatch.setattr(index_folder, "_open_array", open_array)
    assert_holds(folder, content(2))


def test_a_reader_that_is_overtaken_for_ever_gives_up(folder, monkeypatch):
    saved = []

    def open_array(path, *arguments, **options):
        saved.append(len(saved) % 2 + 1)
        index_folder.save(folder, **content(saved[-1]))
        raise FileNotFoundError(errno.ENOENT, "gone", str(path))

    monkeypatch.setattr(index_folder, "_TRIES", 5)
    monkeypatch.setattr(index_folder, "_open_array", open_array)
    assert "try again later" in refusal(index_folder.load, folder)
    assert len(saved) == 5


def test_two_savers_that_hammer_on_one_folder(processes, folder, tmp_path):
    (tmp_path / "stop").touch()
    both = [processes.submit(keep_saving, folder, tmp_path / "stop", 50) for _ in range(2)]
    for one in both:
        one.result()
    assert_holds(folder, content(1), content(2))
    index_folder.save(folder, **content(1))
    assert len(snapshot(folder)) == len(NAMES) + 1


def test_a_second_saver_is_told_to_wait(folder, monkeypatch):
    real, said = Path.replace, []

    def replace(path, target):
        said.append(refusal(index_folder.save, folder, **content(3)))
        return real(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    index_folder.save(folder, **content(2))
    assert len(said) == len(NAMES) + 1
    assert set(said) == {
        f"{folder} is being written by another process: wait until it has finished"
    }
    assert_holds(folder, content(2))
    assert len(snapshot(folder)) == len(NAMES) + 1


def test_a_lock_file_deleted_before_it_was_locked_does_not_count(folder, monkeypatch):
    real, opened = index_folder._locked, []

    def locked(path, *arguments):
        opened.append(real(path, *arguments))
        if len(opened) == 1:
            path.unlink()  # what a saver does that finishes at this moment
        return opened[-1]

    monkeypatch.setattr(index_folder, "_locked", locked)
    index_folder.save(folder, **content(2))
    assert len(opened) == 2
    assert_holds(folder, content(2))


# ---------------------------------------------------------------- strings


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
    for outside in ([2], [-1]):
        with pytest.raises(IndexError):
            table.take(outside)


def test_what_is_no_string_table_is_refused():
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


# ---------------------------------------------------------------- adding to an index


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


def test_nothing_is_added_to_what_is_no_index(tmp_path, folder):
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
