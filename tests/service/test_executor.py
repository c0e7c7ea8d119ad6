"""The executor: short jobs at once, long ones in turns, each with a timeout."""

import asyncio
import threading
import time

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.errors import ParameterError
from candgen.index.cancellation import check_cancellation
from candgen.service import executor as module
from candgen.service.executor import Executor
from candgen.service.problems import Problem

WAIT = 20.0
"""Seconds after which something that should have happened has not."""


@pytest.fixture(autouse=True)
def a_turn_is_one_piece(monkeypatch):
    """However fast the pieces are; a job that sets another TURN says so."""
    monkeypatch.setattr(module, "TURN", 1e-9)


def pieces(number, *, log=None, name="", end=None):
    """A job of some pieces, which writes its name to the log for each."""
    for _ in range(number):
        if log is not None:
            log.append(name)
        yield
    return name if end is None else end()


def gated(gate, *, log=None, name="gate"):
    """A job with one piece that lasts until a gate opens, and one after it."""
    if log is not None:
        log.append(name)
    assert gate.wait(WAIT)
    yield
    return name


def run(job, *, timeout=WAIT, **options):
    return run_all([(job, options)], timeout=timeout)[0]


def run_all(jobs, *, gate=None, timeout=WAIT, threads=1):
    """What the jobs return; all are submitted, in this order, before the gate is opened."""

    async def submit():
        executor = Executor(timeout, threads)
        try:
            tasks = []
            for job, options in jobs:
                tasks.append(asyncio.ensure_future(executor.run(job, **options)))
                await asyncio.sleep(0)  # it starts
            if gate is not None:
                gate.set()
            return await asyncio.gather(*tasks)
        finally:
            executor.close()

    return asyncio.run(submit())


def here():
    return threading.current_thread().name


# -- where jobs run -------------------------------------------------------------------------------


def test_a_job_runs_in_a_thread_and_a_quick_one_does_not():
    assert run(pieces(1, end=here)).startswith("candgen-long")
    assert run(pieces(1, end=here), short=True).startswith("candgen-short")
    assert run(pieces(1, end=here), short=True, quick=True) == here()


def test_a_quick_job_leaves_the_event_loop_free_while_other_short_ones_run():
    gate = threading.Event()
    jobs = [(gated(gate), {"short": True}), (pieces(1, end=here), {"short": True, "quick": True})]
    _, name = run_all(jobs, gate=gate, threads=2)
    assert name.startswith("candgen-short")


def test_a_quick_job_does_not_wait_for_long_ones():
    gate = threading.Event()
    quick = {"short": True, "quick": True}
    jobs = [(gated(gate), {}), (pieces(1, end=here), quick), (pieces(1, end=gate.set), quick)]
    assert run_all(jobs)[1] == here()


# -- turns ----------------------------------------------------------------------------------------


def test_long_jobs_take_turns():
    gate, log = threading.Event(), []
    jobs = [(gated(gate), {}), *((pieces(3, log=log, name=name), {}) for name in "abc")]
    assert run_all(jobs, gate=gate) == ["gate", "a", "b", "c"]
    assert "".join(log) == "abcabcabc"


def test_a_job_keeps_its_thread_for_a_turn(monkeypatch):
    monkeypatch.setattr(module, "TURN", WAIT)
    gate, log = threading.Event(), []
    jobs = [(gated(gate), {}), *((pieces(3, log=log, name=name), {}) for name in "ab")]
    run_all(jobs, gate=gate)
    assert "".join(log) == "aaabbb"


def test_a_new_job_goes_before_those_that_had_a_turn():
    started, gate, log = threading.Event(), threading.Event(), []

    def old():
        log.append("old")
        yield
        started.set()
        assert gate.wait(WAIT)
        log.append("old")
        yield
        log.append("old")

    async def submit():
        executor = Executor(WAIT, 1)
        try:
            first = [asyncio.ensure_future(executor.run(old())) for _ in range(2)]
            assert await asyncio.to_thread(started.wait, WAIT)
            new = asyncio.ensure_future(executor.run(pieces(1, log=log, name="new")))
            await asyncio.sleep(0)
            gate.set()
            await asyncio.gather(*first, new)
        finally:
            executor.close()

    asyncio.run(submit())
    # Both had a turn, the first one is in its second; then comes the new one.
    assert log[:4] == ["old", "old", "old", "new"]


def test_a_short_job_does_not_wait_for_long_ones():
    gate = threading.Event()
    jobs = [(gated(gate), {}) for _ in range(5)]
    jobs.append((pieces(1, end=gate.set), {"short": True}))  # it alone lets the others go on
    assert run_all(jobs) == ["gate"] * 5 + [None]


def sleepy(number, log, name):
    for _ in range(number):
        log.append(name)
        time.sleep(0.01)
        yield


def test_a_client_with_many_jobs_gets_no_more_time_than_one_with_a_single_job():
    gate, log = threading.Event(), []
    jobs = [
        (gated(gate), {"client": "gate"}),
        *((sleepy(10, log, "many"), {"client": "many"}) for _ in range(10)),
        (sleepy(10, log, "one"), {"client": "one"}),
    ]
    run_all(jobs, gate=gate)
    # Of 20 pieces, half are the single job's. Its last one comes before the 18th of the others.
    assert log[: log.index("one") + 1].count("many") <= 2
    last = len(log) - log[::-1].index("one")
    assert log[:last].count("many") <= 17


def test_time_of_a_client_that_is_away_is_not_saved_up():
    gate, log = threading.Event(), []

    async def submit():
        executor = Executor(WAIT, 1)
        try:
            busy = [asyncio.ensure_future(executor.run(sleepy(40, log, "a"), client="a"))]
            while len(log) < 20:
                await asyncio.sleep(0.005)
            busy.append(asyncio.ensure_future(executor.run(sleepy(20, log, "b"), client="b")))
            await asyncio.gather(*busy)
            # Nothing is kept of clients that are gone, once the thread has tidied up.
            deadline = time.monotonic() + WAIT
            while executor._seconds and time.monotonic() < deadline:
                await asyncio.sleep(0.005)
            assert executor._seconds == {}
        finally:
            executor.close()

    asyncio.run(submit())
    between = "".join(log)[log.index("b") :][:20]
    assert 5 <= between.count("a") <= 15
    del gate


# -- ends -----------------------------------------------------------------------------------------


def endless(ended):
    try:
        while True:
            time.sleep(0.001)
            yield
    finally:
        ended.set()


@pytest.mark.parametrize(
    "options", [{}, {"short": True}, {"short": True, "quick": True}], ids=["long", "short", "quick"]
)
def test_at_the_deadline_the_client_is_told_and_the_thread_is_free(options):
    ended = threading.Event()

    async def submit():
        executor = Executor(0.1, 1)
        try:
            with pytest.raises(Problem, match=r"^timeout after 0\.1 seconds") as raised:
                await executor.run(endless(ended), **options)
            assert (raised.value.status, raised.value.retry_after) == (503, 1)
            assert await asyncio.to_thread(ended.wait, WAIT)
            executor.timeout = WAIT
            return await executor.run(pieces(1, name="next"), **options)
        finally:
            executor.close()

    assert asyncio.run(submit()) == "next"


def one_long_search(ended):
    """A job whose only piece lasts until it is cancelled, like a kernel that looks at a flag."""
    try:
        while True:
            time.sleep(0.001)
            check_cancellation()
    finally:
        ended.set()
    yield


@pytest.mark.parametrize("short", [False, True])
def test_at_the_deadline_the_search_in_progress_is_cancelled(short):
    ended = threading.Event()

    async def submit():
        executor = Executor(0.1, 1)
        try:
            with pytest.raises(Problem, match=r"^timeout after 0\.1 seconds"):
                await executor.run(one_long_search(ended), short=short)
            assert await asyncio.to_thread(ended.wait, WAIT)
            executor.timeout = WAIT
            return await executor.run(pieces(1, name="next"), short=short)
        finally:
            executor.close()

    assert asyncio.run(submit()) == "next"


def test_a_client_that_disconnects_cancels_its_own_search_only():
    ended, gate = threading.Event(), threading.Event()

    def other():
        assert gate.wait(WAIT)
        check_cancellation()
        yield
        return "other"

    async def submit():
        executor = Executor(WAIT, 2)
        try:
            gone = asyncio.ensure_future(executor.run(one_long_search(ended)))
            stays = asyncio.ensure_future(executor.run(other()))
            await asyncio.sleep(0.05)
            gone.cancel()
            assert await asyncio.to_thread(ended.wait, WAIT)
            gate.set()
            return await stays
        finally:
            executor.close()

    assert asyncio.run(submit()) == "other"


def test_a_job_that_waits_is_given_up_at_its_deadline():
    gate, log = threading.Event(), []

    async def submit():
        executor = Executor(0.1, 1)
        try:
            jobs = [executor.run(gated(gate)), executor.run(pieces(3, log=log))]
            with pytest.raises(Problem, match="timeout"):
                await asyncio.gather(*jobs)
            await asyncio.sleep(0.2)
            assert len(executor._unfinished) == 1  # the one that has the thread
            gate.set()
            executor.timeout = WAIT
            return await executor.run(pieces(1, name="next"))
        finally:
            executor.close()

    assert asyncio.run(submit()) == "next"
    assert log == []


def test_a_cancelled_job_ends_with_its_piece():
    ended = threading.Event()

    async def submit():
        executor = Executor(WAIT, 1)
        try:
            task = asyncio.ensure_future(executor.run(endless(ended)))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(ended.wait, WAIT)
            return await executor.run(pieces(1, name="next"))
        finally:
            executor.close()

    assert asyncio.run(submit()) == "next"


def failing(error):
    yield
    raise error


@pytest.mark.parametrize("short", [False, True])
def test_an_error_reaches_its_own_request_only(short):
    async def submit():
        executor = Executor(WAIT, 1)
        try:
            jobs = [
                executor.run(pieces(3, name="a"), short=short),
                executor.run(failing(ValueError("broken")), short=short),
                executor.run(pieces(3, name="b"), short=short),
            ]
            return await asyncio.gather(*jobs, return_exceptions=True)
        finally:
            executor.close()

    first, error, last = asyncio.run(submit())
    assert (first, last) == ("a", "b")
    assert isinstance(error, ValueError)


def test_an_error_of_the_library_is_the_clients():
    with pytest.raises(Problem, match="k is 0") as raised:
        run(failing(ParameterError("k is 0: expected a whole number of at least 1")))
    assert raised.value.status == 422
