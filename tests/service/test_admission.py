"""Admission: places for requests, the work of large ones, and how often they are refused."""

import asyncio

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.service import admission as module
from candgen.service.admission import (
    MAX_CLIENT_WORK,
    MAX_WORK,
    MIN_REFUSAL_DELAY,
    REFUSALS_PER_SECOND,
    Admission,
)
from candgen.service.problems import Problem
from candgen.service.settings import Limits


def fill(admission, client, number, work):
    """Let large requests in until one is refused; those that were let in, and the refusal."""
    places = []
    for _ in range(number):
        places.append(admission.enter(client))
        places[-1].claim(work)
    refused = admission.enter(client)
    with pytest.raises(Problem) as raised:
        refused.claim(work)
    assert (raised.value.status, raised.value.retry_after) == (503, 1)
    refused.leave()
    return places, raised.value.detail


def test_the_number_of_requests_is_limited():
    admission = Admission(Limits(concurrency=3))
    places = [admission.enter("a") for _ in range(3)]
    with pytest.raises(Problem, match=r"^more than 3 concurrent requests") as raised:
        admission.enter("b")
    assert raised.value.status == 503
    places[0].leave()
    places[0].leave()  # twice is once
    admission.enter("b")
    with pytest.raises(Problem):
        admission.enter("b")


def test_large_requests_have_half_of_the_places():
    admission = Admission(Limits(concurrency=16))
    _, detail = fill(admission, "a", 6, 0.0)  # one client has three quarters of them
    assert detail == "6 large requests are in progress: try again soon"
    _, detail = fill(admission, "b", 2, 0.0)
    assert detail == "8 large requests are in progress: try again soon"
    for _ in range(8):
        admission.enter("c")  # short ones still have the other half


def test_the_work_of_large_requests_is_limited():
    admission = Admission(Limits())
    mine, detail = fill(admission, "a", int(MAX_CLIENT_WORK), 1.0)
    assert detail == "too much work is waiting: try again soon, or send fewer mentions"
    fill(admission, "b", int(MAX_WORK - MAX_CLIENT_WORK), 1.0)
    mine[0].leave()
    place = admission.enter("b")
    place.claim(1.0)
    place.claim(0.5)  # the same request again does not count twice


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_one_large_request_is_always_let_in(concurrency):
    admission = Admission(Limits(concurrency=concurrency))
    admission.enter("a").claim(1.0)


def test_the_largest_request_has_the_work_1():
    limits = Limits()
    assert limits.work(limits.characters, limits.candidates) == 1.0
    assert 0 < limits.work(1, 1) < 0.001


def test_refusals_wait_the_longer_the_more_of_them_there_are(monkeypatch):
    delays = []

    async def sleep(delay):
        delays.append(delay)
        await asyncio.Event().wait()

    async def refuse(number):
        admission = Admission(Limits(work_timeout=5.0))
        waiting = [asyncio.ensure_future(admission.delay_refusal()) for _ in range(number)]
        done, _ = await asyncio.wait(waiting, timeout=0.01)
        assert not done
        for each in waiting:
            each.cancel()
        await asyncio.wait(waiting)
        return admission._refusals

    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    number = 10 * REFUSALS_PER_SECOND
    assert asyncio.run(refuse(number)) == 0  # those that are gone do not count
    assert delays == sorted(delays)
    assert delays[:REFUSALS_PER_SECOND] == [MIN_REFUSAL_DELAY] * REFUSALS_PER_SECOND
    assert delays[4 * REFUSALS_PER_SECOND - 1] == 4.0
    assert delays[-1] == 5.0  # not longer than the work could have taken
