"""Indexes that change, break or vanish under a running service, and processes that end."""

import http.client
import os
import shutil
import signal
import threading
import time
from functools import partial

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from tests.support.serving import (
    ASKED,
    OLD,
    PATIENCE,
    Asking,
    build,
    eventually,
    exchange,
    is_alive,
    serving,
)

NEW = [("Q282", 3.107142925262451), ("Q1741", 2.049999952316284), ("Q584", 0.8428571224212646)]
"""What the index answers to Vín when Icelandic weighs half as much."""
OTHER = f"{ASKED}&index=other"
RELOAD = "/api/v1/reload"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    build(folder / "fo.candgen")
    build(folder / "other.candgen")
    with serving(
        folder,
        folder / "fo.candgen",
        folder / "other.candgen",
        "--workers",
        2,
        "--max-batch",
        1_000_000,
        "--max-candidates",
        10**9,
    ) as made:
        made.index = folder / "fo.candgen"
        yield made


@pytest.fixture(autouse=True)
def as_it_was(request):
    """Every test finds the old index, and all workers in good order."""
    if "service" not in request.fixturenames:
        yield
        return
    service = request.getfixturevalue("service")
    yield
    build(service.index)
    all_answer(service)
    eventually(partial(reloads, service))
    everywhere(service, OLD)


def all_answer(service):
    """Wait until both workers do."""
    taken = set()

    def both():
        taken.update(service.answering())
        return len(service.workers()) == 2 and set(service.workers()) <= taken

    assert eventually(both, seconds=2 * PATIENCE)


def reloads(service):
    try:
        return service.ask(RELOAD, b"").status == 200
    except (OSError, http.client.HTTPException):  # by a worker that is about to die
        return False


def everywhere(service, candidates, times=40):
    """Wait until this number of connections in a row get these candidates from any worker."""

    def in_a_row():
        for _ in range(times):
            answer = quietly(service, ASKED)
            if answer is None or answer.status != 200 or answer.candidates != candidates:
                return False
        return True

    assert eventually(in_a_row)


def quietly(service, path):
    """An answer, or None if the worker that was to give it dies."""
    try:
        return service.ask(path)
    except (OSError, http.client.HTTPException):
        return None


def ask_in_a_loop(service, seen):
    """Candidates, again and again, on a connection that is kept."""
    connection = service.connection()
    try:
        while True:
            answer = exchange(connection, ASKED)
            assert answer.status == 200, answer
            seen.add(tuple(answer.candidates))
            yield
    finally:
        connection.close()


# -- reloading ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["POST", "SIGHUP"])
def test_a_reload_under_load_is_not_felt(service, how):
    seen = set()
    versions = [(0.25, NEW), (0.5, OLD)] * 3 + [(0.25, NEW)]
    with Asking(lambda: ask_in_a_loop(service, seen), threads=4) as asking:
        for alpha, expected in versions:
            build(service.index, alpha=alpha)
            if how == "POST":
                answer = service.ask(RELOAD, b"")
                assert answer.status == 200
                assert [each["index"] for each in answer.json["indexes"]] == ["fo", "other"]
            else:
                service.process.send_signal(signal.SIGHUP)
            everywhere(service, expected)
    assert not asking.failures
    assert asking.done > 100
    assert seen <= {tuple(OLD), tuple(NEW)}
    assert len(service.workers()) == 2


def test_nothing_to_reload(service):
    answer = service.ask(RELOAD, b"")
    assert answer.json["indexes"] == [
        {"index": name, "state": "unchanged", "detail": ""} for name in ("fo", "other")
    ]


def test_a_reload_while_a_worker_starts(service):
    victim = service.workers()[0]
    os.kill(victim, signal.SIGKILL)
    build(service.index, alpha=0.25)
    for _ in range(10):
        service.process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
    all_answer(service)
    assert victim not in service.workers()
    everywhere(service, NEW)


# -- damage ---------------------------------------------------------------------------------------


def damage_is_told(service):
    """The index is refused, by all workers, and the other one goes on."""

    def refused():
        answers = [quietly(service, ASKED) for _ in range(20)]
        return all(answer is not None and answer.status == 503 for answer in answers)

    assert eventually(refused)
    answer = service.ask(ASKED)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Retry-After"]
    assert "fo" in answer.json["detail"]
    ready = service.ask("/readyz")
    assert ready.status == 503
    assert ready.json["detail"]
    assert service.ask("/healthz").status == 200
    assert service.ask(OTHER).candidates == OLD
    reload = service.ask(RELOAD, b"")
    assert reload.status == 503
    assert "fo: build it again, the log of the service has the reason" in reload.json["detail"]
    assert str(service.index.parent) not in reload.body.decode()
    assert {quietly(service, ASKED).status for _ in range(10)} == {503}


def arrays(service):
    """The files that hold something, the manifest apart."""
    every = sorted(service.index.glob("*.npy"))
    return [path for path in every if path.stat().st_size > 128]


def test_arrays_cut_off_in_place(service):
    for path in arrays(service):
        os.truncate(path, 100)
    damage_is_told(service)


def test_arrays_overwritten_in_place(service):
    for path in arrays(service):
        with path.open("r+b") as file:
            file.seek(128)
            file.write(b"\xff" * (path.stat().st_size - 128))
    damage_is_told(service)


def test_one_byte_overwritten_in_place(service):
    (path,) = service.index.glob("blocks.value.*.npy")
    with path.open("r+b") as file:
        file.seek(-8 * 200, os.SEEK_END)
        file.write(b"\x42")
    damage_is_told(service)


def test_no_answer_is_wrong_after_a_file_was_overwritten(service):
    """Not even the next one: files are compared after every search, before it is answered."""
    (path,) = service.index.glob("blocks.value.*.npy")
    sound = path.read_bytes()
    for _ in range(10):
        everywhere(service, OLD)
        with path.open("r+b") as file:
            file.seek(128)
            file.write(bytes(len(sound) - 128))
        for _ in range(20):
            answer = quietly(service, ASKED)
            assert answer.status == 503 or answer.candidates == OLD
        with path.open("r+b") as file:
            file.write(sound)
        assert eventually(partial(reloads, service))


def test_a_file_that_was_only_touched_is_sound(service):
    for path in arrays(service):
        path.touch()
    time.sleep(0.3)
    everywhere(service, OLD)
    assert service.ask("/readyz").status == 200


@pytest.mark.parametrize("what", ["manifest", "folder", "file"])
def test_what_is_removed_stays_in_memory(service, what):
    if what == "manifest":
        (service.index / "manifest.json").unlink()
    elif what == "folder":
        shutil.rmtree(service.index)
    else:
        arrays(service)[0].unlink()
        (service.index / "manifest.json").touch()
    everywhere(service, OLD)
    assert service.ask("/readyz").status == 200
    answer = service.ask(RELOAD, b"")
    assert answer.status == 503
    assert "keeps answering" in answer.json["detail"]
    assert str(service.index.parent) not in answer.json["detail"]
    everywhere(service, OLD)
    build(service.index, alpha=0.25)
    assert service.ask(RELOAD, b"").status == 200
    everywhere(service, NEW)


def test_damage_that_comes_with_a_new_index_is_refused(service):
    """Its arrays have the right sizes, but one is not UTF-8, which shows when it is read."""
    made = build(service.index.with_name("damaged"), alpha=0.25)
    (path,) = made.glob("entities.bytes.*.npy")
    with path.open("r+b") as file:
        file.seek(128)
        file.write(b"\xff" * (path.stat().st_size - 128))
    shutil.rmtree(service.index)
    made.rename(service.index)
    answer = service.ask(RELOAD, b"")
    assert answer.status == 503
    assert "keeps answering" in answer.json["detail"]
    everywhere(service, OLD)
    assert not service.mistakes()


def test_a_worker_that_dies_is_replaced_and_the_other_goes_on(service):
    all_answer(service)
    before = service.workers()
    os.kill(before[0], signal.SIGKILL)
    eventually(lambda: not is_alive(before[0]))
    answers = [quietly(service, ASKED) for _ in range(10)]
    assert [answer.candidates for answer in answers if answer] == [OLD] * 10
    all_answer(service)
    everywhere(service, OLD)
    assert before[1] in service.workers()
    assert any(f"worker {before[0]} died" in line for line in service.errors())
    assert b"candgen_requests_total" in service.ask("/metrics").body


def test_temporary_files_that_somebody_tidied_away(service):
    (folder,) = service.index.parent.glob("candgen-metrics-*")
    shutil.rmtree(folder)
    assert service.ask("/metrics").status == 200
    for pid in service.workers():
        os.kill(pid, signal.SIGKILL)
        eventually(lambda pid=pid: not is_alive(pid))
    all_answer(service)
    everywhere(service, OLD)
    assert b"candgen_requests_total" in service.ask("/metrics").body


# -- ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["SIGTERM", "SIGINT", "SIGINT to all"])
def test_requests_in_flight_are_answered_before_the_end(tmp_path, way):
    build(tmp_path / "fo.candgen")
    large = "--max-batch", 1_000_000, "--max-candidates", 10**9
    with serving(tmp_path, tmp_path / "fo.candgen", *large) as service:
        some = {"mentions": ["Vín"] * 100, "details": True}
        begun = time.monotonic()
        assert service.post(some).status == 200
        some["mentions"] *= 1 + int(3 / (time.monotonic() - begun))
        idle = service.connection()
        assert exchange(idle, "/healthz").status == 200
        answers = []
        thread = threading.Thread(target=lambda: answers.append(service.post(some)))
        thread.start()
        eventually(lambda: b"in_progress 2.0" in service.ask("/metrics").body)
        if way == "SIGINT to all":
            os.killpg(service.process.pid, signal.SIGINT)
        else:
            service.process.send_signal(getattr(signal, way))
        eventually(partial(is_refused, service))  # not left waiting until the others are done
        assert thread.is_alive()
        thread.join()
        status = service.process.wait(PATIENCE)
        idle.close()
        assert status in (0, -signal.SIGTERM, -signal.SIGINT, 130)
        assert answers[0].status == 200
        assert len(answers[0].json["results"]) == len(some["mentions"])
        with pytest.raises(ConnectionRefusedError):
            service.socket()
        assert not [line for line in service.errors() if "Traceback" in line]


def is_refused(service):
    try:
        service.socket().close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # it was waiting to be accepted when the service closed its socket
        return False
    return False


def test_workers_end_when_the_process_that_watches_them_is_killed(tmp_path):
    build(tmp_path / "fo.candgen")
    with serving(tmp_path, tmp_path / "fo.candgen", "--workers", 2) as service:
        workers = eventually(lambda: len(service.workers()) == 2 and service.workers())
        service.process.kill()
        eventually(lambda: not any(map(is_alive, workers)))
        with pytest.raises(ConnectionRefusedError):
            service.socket()


def test_a_worker_that_hangs_does_not_keep_the_service_from_ending(tmp_path):
    build(tmp_path / "fo.candgen")
    with serving(tmp_path, tmp_path / "fo.candgen", "--work-timeout", 0.5) as service:
        (worker,) = service.workers()
        os.kill(worker, signal.SIGSTOP)
        service.process.terminate()
        assert service.process.wait(PATIENCE) == 0
        assert not is_alive(worker)
