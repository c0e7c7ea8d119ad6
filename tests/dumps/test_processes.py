"""Several processes do the work, and none of them outlives who wants it."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from candgen import kernels
from candgen.dumps import processes
from candgen.dumps.processes import run_in_parallel
from candgen.errors import StorageError, TableError

PATIENCE = 60  # seconds; only what has failed takes so long


ENDED = "a worker process was killed (exit status -9), possibly out of memory: use fewer workers"


def squared(number):
    return number * number, os.getpid()


def careless(number):
    if number == 3:
        raise TableError("3.xml is no dump: choose another")
    if number == 4:
        raise KeyError("four")
    return number


def deadly(number):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def sleepy(path):
    """Tell who works, and never be done."""
    Path(path).write_text(str(os.getpid()))
    time.sleep(1000)


def is_running(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def wait_until(fulfilled):
    deadline = time.monotonic() + PATIENCE
    while not fulfilled():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def number_in(path):
    wait_until(lambda: path.exists() and path.read_text())
    return int(path.read_text())


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")


def test_one_worker_is_this_process_and_works_when_asked():
    taken = []

    def tasks():
        for number in range(3):
            taken.append(number)
            yield number

    results = run_in_parallel(squared, tasks(), workers=1)
    assert taken == []
    assert next(results) == (0, os.getpid())
    assert taken == [0]
    assert list(results) == [(1, os.getpid()), (4, os.getpid())]
    with pytest.raises(KeyError):
        list(run_in_parallel(careless, [4], workers=1))


def test_all_results_come_from_other_processes_and_tasks_are_taken_late():
    taken = []
    tasks = (taken.append(number) or number for number in range(20))
    results = run_in_parallel(squared, tasks, workers=2)
    first = next(results)
    assert len(taken) <= 3
    found = [first, *results]
    assert sorted(result for result, _ in found) == [number * number for number in range(20)]
    processes = {process for _, process in found}
    assert os.getpid() not in processes
    assert len(processes) <= 2
    assert multiprocessing.active_children() == []


def test_there_are_no_more_workers_than_tasks():
    assert list(run_in_parallel(squared, [], workers=4)) == []
    ((result, process),) = run_in_parallel(squared, [5], workers=4)
    assert (result, process != os.getpid()) == (25, True)


@pytest.mark.parametrize(
    ("work", "tasks", "error", "message"),
    [
        (careless, [1, 3], TableError, "3.xml is no dump: choose another"),
        (careless, [1, 4], RuntimeError, "KeyError: 'four'"),
        (deadly, [1, 2], StorageError, ENDED),
    ],
)
def test_what_goes_wrong_there_is_raised_here(work, tasks, error, message):
    with pytest.raises(error) as raised:
        list(run_in_parallel(work, tasks, workers=2))
    assert str(raised.value) == message
    assert multiprocessing.active_children() == []


class Gone:
    """A worker that has ended, and the connection to it."""

    exitcode = -9

    def kill(self):
        pass

    def join(self, timeout=None):
        pass

    def send(self, task):
        raise BrokenPipeError

    def recv(self):
        raise ConnectionResetError


@pytest.mark.parametrize("talk", [partial(processes._send, task=1), processes._receive])
def test_a_worker_that_is_gone_when_it_gets_a_task_is_told_alike(talk):
    with pytest.raises(StorageError) as raised:
        talk(Gone(), Gone())
    assert str(raised.value) == ENDED


@linux
def test_who_wants_no_more_ends_the_workers_at_once(tmp_path):
    path = tmp_path / "process"

    def tasks():
        yield path
        number_in(path)
        raise TableError("the second task is invalid")

    with pytest.raises(TableError, match="the second task is invalid"):
        list(run_in_parallel(sleepy, tasks(), workers=2))
    assert multiprocessing.active_children() == []
    assert not is_running(number_in(path))


@linux
def test_a_generator_that_is_closed_ends_the_workers_at_once():
    results = run_in_parallel(squared, iter(range(1000)), workers=2)
    _, process = next(results)
    assert is_running(process)
    results.close()
    assert multiprocessing.active_children() == []
    assert not is_running(process)


SCRIPT = """
import sys, time
from pathlib import Path
from candgen.dumps.processes import run_in_parallel

def work(path):
    import os
    Path(path).write_text(str(os.getpid()))
    while not Path(path + ".end").exists():
        time.sleep(0.01)
    Path(path + ".done").write_text("yes")

if __name__ == "__main__":
    for _ in run_in_parallel(work, sys.argv[1:], workers=2):
        pass
"""


@pytest.fixture
def working(tmp_path):
    """A process with two workers that are at work: it, them, their files, what it says."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    paths = [tmp_path / name for name in ("one", "two", "three", "four")]
    command = [sys.executable, str(script), *map(str, paths)]
    with (
        (tmp_path / "said").open("wb") as said,
        subprocess.Popen(command, stderr=said, start_new_session=True) as parent,
    ):
        yield parent, [number_in(path) for path in paths[:2]], paths, tmp_path / "said"
        for path in paths:
            path.with_name(f"{path.name}.end").touch()


@linux
def test_if_the_parent_is_killed_the_workers_end(working):
    parent, processes, paths, _ = working
    parent.kill()
    parent.wait(PATIENCE)
    wait_until(lambda: not any(map(is_running, processes)))
    assert not any(path.with_name(f"{path.name}.done").exists() for path in paths)


@linux
def test_workers_leave_ctrl_c_to_their_parent(working):
    parent, processes, paths, said = working
    for process in processes:
        os.kill(process, signal.SIGINT)
    for path in paths:
        path.with_name(f"{path.name}.end").touch()
    assert parent.wait(PATIENCE) == 0
    assert all(path.with_name(f"{path.name}.done").exists() for path in paths)
    assert said.read_text() == ""


@linux
def test_ctrl_c_ends_the_workers_at_once_and_they_say_nothing(working):
    parent, processes, paths, said = working
    os.killpg(parent.pid, signal.SIGINT)
    parent.wait(PATIENCE)
    assert not any(map(is_running, processes))
    assert not any(path.with_name(f"{path.name}.done").exists() for path in paths)
    assert said.read_text().count("Traceback") == 1


def stopped(path):
    """Stop, as Ctrl-Z does, and never be done."""
    Path(path).write_text(str(os.getpid()))
    os.kill(os.getpid(), signal.SIGSTOP)


def is_stopped(process):
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@linux
def test_a_worker_that_is_stopped_ends_with_the_others(tmp_path):
    """SIGTERM waits until such a process goes on, and who waits for the process waits as long."""
    path = tmp_path / "process"

    def tasks():
        yield path
        wait_until(lambda: is_stopped(number_in(path)))
        raise TableError("the second task is invalid")

    with pytest.raises(TableError, match="the second task is invalid"):
        list(run_in_parallel(stopped, tasks(), workers=2))
    assert multiprocessing.active_children() == []
    assert not is_running(number_in(path))


@linux
def test_a_worker_is_ended_if_ctrl_c_comes_while_it_starts(monkeypatch):
    """Otherwise nothing ends it before the exit of the parent, where a stopped worker hangs."""
    started = []
    start = processes.BaseProcess.start

    def interrupted(process):
        start(process)
        started.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(processes.BaseProcess, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(run_in_parallel(squared, [1, 2], workers=2))
    assert [process.exitcode for process in started] == [-signal.SIGKILL]


def stuck(_number):
    """Leave a thread that the interpreter would wait for at its end."""
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return os.getpid()


@linux
def test_threads_of_a_worker_do_not_keep_it_from_ending():
    found = list(run_in_parallel(stuck, [1, 2, 3], workers=2))
    assert not any(map(is_running, found))


def compiling(number):
    kernels.tell_compiling(f"kernel {number}")
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_kernels_that_a_worker_compiles_are_told_here(monkeypatch, workers):
    told = []
    monkeypatch.setattr(kernels, "compile_listeners", [told.append])
    assert sorted(run_in_parallel(compiling, range(4), workers=workers)) == [0, 1, 2, 3]
    assert sorted(told) == [f"kernel {number}" for number in range(4)]
