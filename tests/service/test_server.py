"""Services that cannot start, or whose output is not read."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen import kernels
from candgen.service import server
from tests.support.serving import PATIENCE, START, Service, build, eventually, is_worker


@pytest.fixture
def index(tmp_path):
    return build(tmp_path / "fo.candgen")


@contextlib.contextmanager
def started(index, *arguments, **options):
    """``candgen serve``, whatever becomes of it; nothing of it is left in the end."""
    command = [sys.executable, "-m", "candgen", "serve", index, "--port", "0", *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, start_new_session=True, **options
    ) as process:
        try:
            yield process
        finally:
            for each in [*children(process), process]:
                with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
                    each.kill()


def children(process):
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).children(recursive=True)
    return []


def test_an_address_that_cannot_be_told(index):
    with (
        Path("/dev/full").open("w") as full,
        started(index, "--workers", "2", stdout=full, stderr=subprocess.PIPE) as process,
    ):
        _, said = process.communicate(timeout=START)
        assert process.returncode == 2
        (line,) = map(json.loads, said.splitlines())
        assert line["level"] == "error"
        assert line["message"].startswith("standard output cannot be written")
        assert not children(process)


def test_no_room_for_temporary_files(index):
    """A file of a megabyte may not be written: as if the file system were full."""
    few = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (100_000, 100_000))
    with started(index, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=few) as process:
        out, said = process.communicate(timeout=START)
    assert (process.returncode, out) == (2, b"")
    assert said.startswith(b"candgen: no space for temporary files")
    assert b"TMPDIR" in said
    assert said.count(b"\n") == 1


def test_workers_that_die_again_and_again(index):
    """Somebody kills each before it can answer, as a lack of memory would."""
    with started(index, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + START
        while process.poll() is None and time.monotonic() < end:
            for worker in filter(is_worker, children(process)):
                with contextlib.suppress(psutil.NoSuchProcess):
                    worker.kill()
            time.sleep(0.02)
        out, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (2, b"")
    *deaths, last = map(json.loads, said.splitlines())
    assert len(deaths) == 5
    assert {line["level"] for line in deaths} == {"warning"}
    assert last["level"] == "error"
    assert last["message"].startswith("5 workers died before they could answer, the last one")
    assert "killed by SIGKILL" in last["message"]
    assert b"Traceback" not in said


def test_a_log_that_nobody_reads(tmp_path, index):
    """A pipe holds some hundred lines; a write to a full pipe blocks."""
    with started(
        index, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        service = Service(process, process.stdout.readline().strip(), tmp_path / "none")
        for _ in range(1500):
            assert service.ask("/healthz").status == 200
        process.terminate()
        assert process.wait(PATIENCE) in (0, -signal.SIGTERM)


def test_a_log_that_is_closed(tmp_path, index):
    """As with ``2>&-``."""
    with started(index, stdout=subprocess.PIPE, encoding="utf-8", preexec_fn=close_log) as process:
        service = Service(process, process.stdout.readline().strip(), tmp_path / "none")
        assert service.ask("/healthz").status == 200
        process.terminate()
        assert process.wait(PATIENCE) in (0, -signal.SIGTERM)


def close_log():
    os.close(2)


@pytest.mark.parametrize("seconds", [0.6, 1.0, 1.5, 2.5])
def test_control_c_while_it_starts(index, seconds):
    """It reaches all processes of a terminal."""
    with started(index, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        time.sleep(seconds)
        eventually(lambda: children(process) or process.poll() is not None)
        for each in [*children(process), process]:
            each.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=START)
        assert process.returncode in (0, 130, -signal.SIGINT)
        assert b"Traceback" not in said


def test_compiling_is_logged_once(monkeypatch, caplog):
    listeners = []
    monkeypatch.setattr(kernels, "compile_listeners", listeners)
    monkeypatch.setattr(server, "compile_listeners", listeners)
    listeners.append(server._log_compilation)
    kernels.tell_compiling("score")
    kernels.tell_compiling("search")
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "candgen warm" in record.message
