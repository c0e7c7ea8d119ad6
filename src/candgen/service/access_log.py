"""The log of a worker: lines for stderr, which wait for nobody and keep nobody waiting."""

import logging
import queue
import sys
import threading
from typing import TextIO

MOST = 10_000
"""Lines that wait to be written; beyond them, where nobody reads them, they are lost."""
END = 1.0
"""Seconds that the last lines have to be written."""


def log_to_stderr() -> None:
    """One line a request, as JSON, and whatever else is worth saying."""
    # Nobody asks which thread or line of code has logged: not to look that up is half the time.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001
    handler = Lines(sys.stderr)
    for name in ("candgen.access", "candgen", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
    logging.getLogger("candgen.access").setLevel(logging.INFO)


class Lines(logging.Handler):
    """Writes in a thread of its own: a pipe that nobody reads would stop the whole service."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream
        self._waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="candgen-log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Leave a line to be written."""
        if self._waiting.qsize() < MOST:
            self._waiting.put(self.format(record))

    def close(self) -> None:
        """Write what is left, if that can be done soon."""
        self._waiting.put(None)
        self._thread.join(END)
        super().close()

    def _write(self) -> None:
        while (line := self._waiting.get()) is not None:
            try:
                self.stream.write(f"{line}\n")
                self.stream.flush()
            except (OSError, ValueError):  # it was closed: there is nobody to tell
                return
