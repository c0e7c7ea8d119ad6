"""Work that is done by several processes, and ends when the one that wants it does."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeVar, cast

from candgen.errors import CandgenError, StorageError

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_parallel(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, workers: int
) -> Iterator[Result]:
    """Give what ``work`` returns for each task, in the order in which they are done.

    With one worker there is no other process. With more, ``work``, tasks and results travel
    between processes, a task is taken from ``tasks`` when a worker is free, and an error in a
    worker is raised here. However this ends, also if this process is killed, the workers end.
    """
    if workers == 1:
        yield from map(work, tasks)
        return
    waiting = iter(tasks)
    busy: dict[Connection, BaseProcess] = {}
    try:
        for _, task in zip(range(workers), waiting, strict=False):
            connection, process = _start(work)
            busy[connection] = process
            _send(connection, process, task)
        while busy:
            for connection in cast("list[Connection]", wait(list(busy))):
                result = _received(connection, busy[connection])
                try:
                    _send(connection, busy[connection], next(waiting))
                except StopIteration:
                    _end(connection, busy.pop(connection))
                yield cast("Result", result)
    finally:
        for connection, process in busy.items():
            process.terminate()
            _end(connection, process)


def _start(work: Callable[[Task], Result]) -> tuple[Connection, BaseProcess]:
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of our threads
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, theirs), daemon=True)
    process.start()
    theirs.close()  # so that its end is seen here
    return ours, process


def _serve(work: Callable[[Task], Result], connection: Connection) -> None:
    """Do tasks until there are no more; runs in the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that we work for
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            task = connection.recv()
            answer: object
            try:
                answer = work(task)
            except CandgenError as error:
                answer = _Failure(error)
            except Exception as error:  # raised again by who wants the result
                answer = _Failure(RuntimeError(f"{type(error).__name__}: {error}"))
            connection.send(answer)


def _end_with_parent() -> None:
    """Wait until the process that we work for is gone: what we write then may be in the way."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


class _Failure:
    def __init__(self, error: Exception) -> None:
        self.error = error


def _send(connection: Connection, process: BaseProcess, task: object) -> None:
    try:
        connection.send(task)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise _ended(process) from error


def _ended(process: BaseProcess) -> StorageError:
    process.join()
    return StorageError(
        f"a worker process was ended from outside (status {process.exitcode}), perhaps for want of "
        "memory: use fewer workers"
    )


def _received(connection: Connection, process: BaseProcess) -> object:
    try:
        answer = connection.recv()
    except (EOFError, ConnectionResetError) as error:
        raise _ended(process) from error
    if isinstance(answer, _Failure):
        raise answer.error
    return answer


def _end(connection: Connection, process: BaseProcess) -> None:
    connection.close()
    process.join()
