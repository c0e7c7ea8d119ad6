"""Work for several worker processes, which end when the process that started them does.

`concurrent.futures` is not used: its process pool can neither end busy workers at once nor tell
with which status a worker was killed.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple, TypeVar, cast

from candgen.errors import CandgenError, StorageError
from candgen.kernels import compile_listeners, tell_compiling

Task = TypeVar("Task")
Result = TypeVar("Result")
_LOST = (EOFError, BrokenPipeError, ConnectionResetError)
_LAST_SECONDS = 10.0  # for a worker to end that has closed its connection


class _Failure(NamedTuple):
    """An error of a worker, to be raised by the process that started it."""

    error: Exception


class _Compiling(NamedTuple):
    """What a worker sends before it compiles a kernel, which the user has to wait for."""

    kernel: str


def run_in_parallel(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, workers: int
) -> Iterator[Result]:
    """Yield what ``work`` returns for each task, in the order in which they are finished.

    One worker is this process itself. Several are processes, to which ``work``, tasks and results
    are sent: a task is taken from ``tasks`` when a worker is free, and an error in a worker is
    raised here. The workers end with this generator, and if this process is killed.
    """
    if workers == 1:
        yield from map(work, tasks)
        return
    waiting = iter(tasks)
    busy: dict[Connection, BaseProcess] = {}
    try:
        for _, task in zip(range(workers), waiting, strict=False):
            connection = _start_worker(work, busy)
            _send(connection, busy[connection], task)
        while busy:
            for connection in cast("list[Connection]", wait(list(busy))):
                result = _receive(connection, busy[connection])
                if isinstance(result, _Compiling):
                    tell_compiling(result.kernel)
                    continue
                try:
                    _send(connection, busy[connection], next(waiting))
                except StopIteration:
                    _end_workers({connection: busy.pop(connection)})
                yield cast("Result", result)
    finally:
        _end_workers(busy)


def _start_worker(
    work: Callable[[Task], Result], busy: dict[Connection, BaseProcess]
) -> Connection:
    """Start a worker; it is among the busy ones before it runs, so that Ctrl-C ends it, too."""
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of our threads
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, theirs), daemon=True)
    busy[ours] = process
    process.start()
    theirs.close()  # so that reading ours ends when the worker does
    return ours


def _end_workers(workers: Mapping[Connection, BaseProcess]) -> None:
    """Kill workers: none of them has anything left to do.

    SIGTERM would wait for ever in a worker that is stopped, and so would we.
    """
    started = [process for process in workers.values() if process.pid is not None]
    for process in started:
        process.kill()
    for process in started:
        process.join()
    for connection in workers:
        connection.close()


def _serve(work: Callable[[Task], Result], connection: Connection) -> None:
    """Do tasks until the connection is closed; runs in the worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    compile_listeners.append(lambda kernel: connection.send(_Compiling(kernel)))
    with suppress(*_LOST):
        while True:
            task = connection.recv()
            answer: object
            try:
                answer = work(task)
            except CandgenError as error:
                answer = _Failure(error)
            except Exception as error:  # not every exception can be sent to another process
                answer = _Failure(RuntimeError(f"{type(error).__name__}: {error}"))
            connection.send(answer)
    os._exit(0)  # the interpreter's own exit could wait for threads of libraries


def _exit_with_parent() -> None:
    """Exit when the parent has ended, so that no later run meets files of this worker."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _send(connection: Connection, process: BaseProcess, task: object) -> None:
    try:
        connection.send(task)
    except _LOST as error:
        raise _describe_lost_worker(process) from error


def _receive(connection: Connection, process: BaseProcess) -> object:
    try:
        answer = connection.recv()
    except _LOST as error:
        raise _describe_lost_worker(process) from error
    if isinstance(answer, _Failure):
        raise answer.error
    return answer


def _describe_lost_worker(process: BaseProcess) -> StorageError:
    process.join(_LAST_SECONDS)
    process.kill()
    process.join()
    return StorageError(
        f"a worker process was killed (exit status {process.exitcode}), possibly out of memory: "
        "use fewer workers"
    )
