"""The executor: jobs in threads, with a timeout."""

import asyncio
import threading
import time

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.errors import ParameterError
from candgen.service.executor import Executor, check_deadline
from candgen.service.problems import Problem


def run(job, *, timeout=5.0, **options):
    executor = Executor(timeout, 1)
    try:
        return asyncio.run(executor.run(job, **options))
    finally:
        executor.close()


def test_a_job_runs_in_a_thread_and_a_quick_one_does_not():
    assert run(lambda _: threading.current_thread().name).startswith("candgen")
    here = threading.current_thread().name
    assert run(lambda _: threading.current_thread().name, quick=True) == here


def test_a_job_is_given_its_deadline():
    before = time.monotonic()
    assert before + 5.0 <= run(lambda deadline: deadline) <= time.monotonic() + 5.0


@pytest.mark.parametrize("quick", [False, True])
def test_a_job_that_checks_its_deadline_too_late_is_busy(quick):
    def job(deadline):
        while True:
            check_deadline(deadline)

    with pytest.raises(Problem, match=r"^timeout after 0\.05 seconds") as raised:
        run(job, timeout=0.05, quick=quick)
    assert (raised.value.status, raised.value.retry_after) == (503, 1)


def test_an_error_of_the_library_is_the_clients():
    def job(_):
        raise ParameterError("k is 0: expected a whole number of at least 1")

    with pytest.raises(Problem, match="k is 0") as raised:
        run(job)
    assert raised.value.status == 422


def test_a_deadline_that_is_ahead_raises_nothing():
    check_deadline(time.monotonic() + 60)
    with pytest.raises(TimeoutError):
        check_deadline(time.monotonic() - 1)
