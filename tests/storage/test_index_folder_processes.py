"""The folder of an index: processes that are killed, and several at once."""

import errno
import itertools
import multiprocessing
import os
import random
import signal
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from candgen.errors import StorageError
from candgen.storage import atomic, index_folder
from tests.support.stored_indexes import NAMES, assert_holds, content, large, refusal, snapshot


def do_not_wait_for_the_disk():
    """An fsync matters in a power cut, which cannot be tested here, and takes most of the time."""
    os.fsync = lambda descriptor: None


@pytest.fixture(scope="module")
def processes():
    """Two other processes, fresh ones: pytest has threads, which a fork would not survive."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, spawn, initializer=do_not_wait_for_the_disk) as pool:
        yield pool


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
    real, overtaken = index_folder.open_regular_file, []

    def open_file(path):
        if path.suffix == ".npy" and not overtaken:
            overtaken.append(path)
            index_folder.save(folder, **content(2))
        return real(path)

    monkeypatch.setattr(index_folder, "open_regular_file", open_file)
    assert_holds(folder, content(2))


def test_a_reader_that_is_overtaken_for_ever_gives_up(folder, monkeypatch):
    real, saved = index_folder.open_regular_file, []

    def open_file(path):
        if path.name == index_folder.MANIFEST:
            return real(path)
        saved.append(len(saved) % 2 + 1)
        index_folder.save(folder, **content(saved[-1]))
        raise FileNotFoundError(errno.ENOENT, "gone", str(path))

    monkeypatch.setattr(index_folder, "_MAX_ATTEMPTS", 5)
    monkeypatch.setattr(index_folder, "open_regular_file", open_file)
    assert "try again later" in refusal(index_folder.load, folder)
    assert len(saved) == 5


def test_two_processes_that_save_to_one_folder_all_the_time(processes, folder, tmp_path):
    (tmp_path / "stop").touch()
    both = [processes.submit(keep_saving, folder, tmp_path / "stop", 50) for _ in range(2)]
    for one in both:
        one.result()
    assert_holds(folder, content(1), content(2))
    index_folder.save(folder, **content(1))
    assert len(snapshot(folder)) == len(NAMES) + 1


def test_a_second_save_at_the_same_time_is_refused(folder, monkeypatch):
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
    real, locked = atomic.try_lock, []

    def try_lock(file):
        locked.append(real(file))
        if len(locked) == 1:
            Path(file.name).unlink()  # what a saver does that finishes at this moment
        return locked[-1]

    monkeypatch.setattr(atomic, "try_lock", try_lock)
    index_folder.save(folder, **content(2))
    assert locked == [True, True]
    assert_holds(folder, content(2))
