"""Connections: their number is limited, and when files run out those who are in are answered."""

import contextlib
import resource

import psutil
import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from tests.support.serving import (
    ASKED,
    OLD,
    PATIENCE,
    assert_raw_problem,
    build,
    eventually,
    everything,
    exchange,
    serving,
)

MAXIMUM = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("connections")
    build(made / "fo.candgen")
    return made


@contextlib.contextmanager
def kept(service, number):
    """Connections that were answered once and stay open."""
    with contextlib.ExitStack() as stack:
        made = [
            stack.enter_context(contextlib.closing(service.connection())) for _ in range(number)
        ]
        for each in made:
            assert exchange(each, "/healthz").status == 200
        yield made


def is_free(service):
    try:
        return service.ask(ASKED).status == 200
    except OSError:
        return False


def test_more_connections_than_allowed(folder):
    with serving(folder, folder / "fo.candgen", "--max-connections", MAXIMUM) as service:
        with kept(service, MAXIMUM) as connections:
            for _ in range(50):
                with service.socket() as refused:
                    assert_raw_problem(everything(refused), 503)
            for each in connections:
                assert exchange(each, ASKED).candidates == OLD
        assert eventually(lambda: is_free(service))
        (warning,) = eventually(service.errors)  # and not fifty
        assert warning == "more than 8 connections: try again soon"


def test_a_limit_of_open_files_that_leaves_few_connections(folder):
    """As with ``ulimit -n``: files that are needed for other things are left."""
    low = 128
    with contextlib.ExitStack() as services:
        with limited_files(low):
            service = services.enter_context(serving(folder, folder / "fo.candgen"))
        (worker,) = map(psutil.Process, service.workers())
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(contextlib.closing(service.connection()))
            assert exchange(first, ASKED).candidates == OLD
            waiting = [stack.enter_context(service.socket()) for _ in range(2 * low)]
            eventually(lambda: any("connections" in each for each in service.errors()))
            before = sum(worker.cpu_times()[:2])
            for _ in range(20):
                assert exchange(first, ASKED).candidates == OLD
            assert exchange(first, "/metrics").status == 200
            assert exchange(first, "/api/v1/reload", b"").status == 200
            assert sum(worker.cpu_times()[:2]) - before < 2
            assert worker.num_fds() < low
            assert len(waiting) == 2 * low
        assert eventually(lambda: is_free(service))
        assert len(service.errors()) == 1
        assert not service.mistakes()


def test_no_file_is_left(folder):
    """Something else has taken the rest: connections that are there are answered all the same."""
    with serving(folder, folder / "fo.candgen") as service:
        (worker,) = map(psutil.Process, service.workers())
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(contextlib.closing(service.connection()))
            assert exchange(first, ASKED).candidates == OLD
            usual = resource.prlimit(worker.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (worker.num_fds(), usual[1]))
            for _ in range(50):
                with contextlib.suppress(OSError):
                    stack.enter_context(service.socket())
            before = sum(worker.cpu_times()[:2])
            for _ in range(20):
                assert exchange(first, ASKED).candidates == OLD
            assert sum(worker.cpu_times()[:2]) - before < 2
            size = service.log.stat().st_size
            resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, usual)
        assert eventually(lambda: is_free(service), seconds=PATIENCE)
        assert size < 20_000
        assert not service.mistakes()


@contextlib.contextmanager
def limited_files(number):
    """Lower the limit of this process, which its children have too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
