"""One file from a mirror that misbehaves in every way we could think of."""

import hashlib
import os

import pytest

from candgen.dumps.download import DownloadError, State
from candgen.errors import StorageError
from tests.support.faulty_mirror import (
    ARTICLES,
    DATE,
    PATH,
    PROPS,
    Fault,
    asked,
    assert_right,
    here,
)

MENDED = {
    "cut off": ([Fault(cut=70_000)], [1.0], "bytes=70000-"),
    "cut off at once": ([Fault(cut=0)], [1.0], None),
    "cut off again and again": (
        [Fault(cut=30_000), Fault(cut=30_000), Fault(cut=30_000)],
        [1.0, 1.0, 1.0],
        "bytes=90000-",
    ),
    "cut off, then no ranges": ([Fault(cut=70_000), Fault(ranges=False)], [1.0], "bytes=70000-"),
    "cut off, then 416": ([Fault(cut=70_000), Fault(status=416)], [1.0, 2.0], None),
    "cut off, then another version": ([Fault(cut=70_000), Fault(total=5)], [1.0, 2.0], None),
    "cut off, then from elsewhere": ([Fault(cut=70_000), Fault(shift=5)], [1.0, 2.0], None),
    "says it is longer": ([Fault(lie=10)], [], None),
    "says it is shorter": ([Fault(lie=-10)], [1.0], "bytes="),
    "is longer": ([Fault(more=b"more")], [], None),
    "other bytes, once": ([Fault(wrong=True)], [], None),
    "busy": ([Fault(status=429, headers=(("Retry-After", "7"),))], [7.0], None),
    "unavailable": ([Fault(status=503, headers=(("Retry-After", "999999"),))], [300.0], None),
    "a wait that is none": ([Fault(status=503, headers=(("Retry-After", "soon"),))], [1.0], None),
    "broken twice": ([Fault(status=500), Fault(status=502)], [1.0, 2.0], None),
    "stalls": ([Fault(stall=70_000)], [1.0], "bytes=70000-"),
}


@pytest.mark.parametrize("name", MENDED)
def test_mended(mirror, get, name):
    faults, waits, ranged = MENDED[name]
    mirror.faults[PATH] = list(faults)
    fetched = get()
    assert_right(mirror, get.folder)
    assert fetched[0].state is State.FETCHED
    assert get.waits == waits
    assert not mirror.faults[PATH]
    last = asked(mirror)[-1]
    assert last.get("Range", "").startswith(ranged) if ranged else "Range" not in last
    if ranged:
        etag = hashlib.sha1(mirror.files[PATH]).hexdigest()
        assert last["If-Range"] == f'"{etag}"'


def test_a_file_that_changes_on_the_way_is_begun_again(mirror, get):
    mirror.faults[PATH] = [Fault(cut=70_000, wrong=True, headers=(("ETag", '"old"'),))]
    get()
    assert_right(mirror, get.folder)
    assert asked(mirror)[-1]["If-Range"] == '"old"'


HOPELESS = {
    "cut off at once": (Fault(cut=0), "cannot be fetched: the connection ended early; try again"),
    "never gets on": (Fault(cut=500, ranges=False), "the connection ended early"),
    "ranges that are none": (Fault(cut=500, total=1), "another version of the file"),
    "416 and half": (Fault(status=416, only_ranges=True), None),
    "other bytes": (Fault(wrong=True), "came twice with a wrong checksum: try again later"),
    "too short": (Fault(cut=500, only_ranges=False, ranges=False, lie=-9), "ended early"),
    "not there": (Fault(status=404), "the server answers 404 Not Found"),
    "forbidden": (Fault(status=403), "the server answers 403 Forbidden"),
    "broken": (Fault(status=500), "the server answers 500"),
    "stalls": (Fault(stall=0), "the server does not answer in time|timed out"),
    "turns in circles": (Fault(status=302, headers=(("Location", PATH),)), "answers 302"),
    "leads to a file": (Fault(status=302, headers=(("Location", "file:///etc/passwd"),)), "file:"),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_hopeless(mirror, get, name):
    fault, sentence = HOPELESS[name]
    if sentence is None:  # half of it comes, but never the other half
        mirror.faults[PATH] = [Fault(cut=500) if n % 2 == 0 else fault for n in range(50)]
        sentence = "cannot be fetched"
    mirror.always[PATH] = fault
    with pytest.raises(DownloadError, match=sentence) as caught:
        get()
    assert PATH in str(caught.value)
    assert "\n" not in str(caught.value)
    assert ARTICLES not in here(get.folder)
    assert len(asked(mirror)) <= 12
    for path in get.folder.iterdir():
        if path.suffix != ".part":
            assert path.read_bytes() == mirror.files[f"/fowiki/{DATE}/{path.name}"]
    if name == "other bytes":
        assert f"{ARTICLES}.part" not in here(get.folder)


@pytest.mark.parametrize("sums", [("md5",), ("sha1",)])
def test_one_checksum_is_enough(mirror, get, sums, caplog):
    mirror.add_run(sums=sums)
    mirror.faults[PATH] = [Fault(wrong=True)]
    get()
    assert_right(mirror, get.folder)
    assert len(asked(mirror)) == 2
    assert not caplog.messages


def test_without_checksums_the_length_must_do(mirror, get, caplog):
    mirror.add_run(sums=())
    (get.folder / f"{ARTICLES}.part").write_bytes(b"of something else")
    mirror.faults[PATH] = [Fault(cut=500), Fault()]
    get()
    assert_right(mirror, get.folder)
    assert "Range" not in asked(mirror)[0]
    assert len(caplog.messages) == 1
    assert f"no checksum of {ARTICLES}, " in caplog.messages[0]


def test_without_checksums_a_wrong_length_is_refused(mirror, get):
    mirror.add_run(sums=())
    mirror.always[PATH] = Fault(more=b"more")
    with pytest.raises(DownloadError, match=r"the server has \d+ bytes, \d+ were published"):
        get()
    assert ARTICLES not in here(get.folder)


def test_an_empty_file(mirror, get):
    mirror.files[PATH] = b""
    about = mirror.jobs["articlesmultistreamdump"]["files"][ARTICLES]
    about.update(size=0, sha1=hashlib.sha1(b"").hexdigest(), md5="")
    mirror.describe(mirror.jobs)
    get()
    assert (get.folder / ARTICLES).read_bytes() == b""


def test_files_that_are_right_are_not_fetched_again(mirror, get):
    get()
    mirror.requests.clear()
    assert {each.state for each in get()} == {State.THERE}
    assert {request.path for request in mirror.requests} == {
        "/fowiki/",
        f"/fowiki/{DATE}/dumpstatus.json",
    }


def test_files_that_are_wrong_are_replaced(mirror, get):
    get()
    (get.folder / ARTICLES).write_bytes(bytes(len(mirror.files[PATH])))
    (get.folder / PROPS).write_bytes(b"short")
    states = {each.path.name: each.state for each in get()}
    assert_right(mirror, get.folder)
    assert [name for name, state in states.items() if state is State.FETCHED] == [ARTICLES, PROPS]


@pytest.mark.parametrize("length", [1, 99_999])
def test_what_was_begun_is_continued(mirror, get, length):
    (get.folder / f"{ARTICLES}.part").write_bytes(mirror.files[PATH][:length])
    states = {each.path.name: each.state for each in get()}
    assert_right(mirror, get.folder)
    assert states[ARTICLES] is State.RESUMED
    assert [request["Range"] for request in asked(mirror)] == [f"bytes={length}-"]


def test_what_was_all_there_needs_no_request(mirror, get):
    (get.folder / f"{ARTICLES}.part").write_bytes(mirror.files[PATH])
    get()
    assert_right(mirror, get.folder)
    assert not asked(mirror)


@pytest.mark.parametrize("length", [500, 100_000, 300_000])
def test_what_was_begun_of_something_else_is_begun_again(mirror, get, length):
    (get.folder / f"{ARTICLES}.part").write_bytes(bytes(length))
    states = {each.path.name: each.state for each in get()}
    assert_right(mirror, get.folder)
    assert "Range" not in asked(mirror)[-1]
    assert len(asked(mirror)) == (1 if length > len(mirror.files[PATH]) else 2)
    if length == 500:
        assert states[ARTICLES] is State.FETCHED


def test_an_unlucky_file_does_not_cost_the_others(mirror, get):
    mirror.always[PATH] = Fault(cut=40_000, ranges=False)
    with pytest.raises(DownloadError):
        get()
    assert (get.folder / f"{ARTICLES}.part").read_bytes() == mirror.files[PATH][:40_000]
    mirror.always.clear()
    states = {each.path.name: each.state for each in get()}
    assert states[ARTICLES] is State.RESUMED
    assert_right(mirror, get.folder)


def test_a_disk_that_is_full_on_the_way(mirror, get, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=r"\.part cannot be written: No space left on device"):
        get()
    assert not get.waits  # nobody waits for a full disk
    assert all(name.endswith(".part") for name in here(get.folder))
