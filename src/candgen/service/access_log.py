"""The log of a worker process: lines to stderr, written without blocking any request."""

import logging
import queue
import sys
import threading
from typing import TextIO

MAX_WAITING_LINES = 10_000
"""Lines that wait to be written; further ones are dropped until stderr is read again."""
CLOSE_TIMEOUT = 1.0
"""Seconds to write the last lines."""


def log_to_stderr() -> None:
    """Send the access log, a JSON object a line, and all warnings to stderr."""
    # No line names its thread or source line; skipping that lookup halves the time of a log call.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001
    handler = NonBlockingHandler(sys.stderr)
    for name in ("candgen.access", "candgen", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "candgen.access" else logging.WARNING)


class NonBlockingHandler(logging.Handler):
    """Writes in its own thread: a full pipe would otherwise stop the whole service."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream
        self._waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="candgen-log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line, or drop it if too many wait."""
        if self._waiting.qsize() < MAX_WAITING_LINES:
            self._waiting.put(self.format(record))

    def close(self) -> None:
        """Write the queued lines, but wait no longer than CLOSE_TIMEOUT."""
        self._waiting.put(None)
        self._thread.join(CLOSE_TIMEOUT)
        super().close()

    def _write(self) -> None:
        while (line := self._waiting.get()) is not None:
            try:
                self.stream.write(f"{line}\n")
                self.stream.flush()
            except (OSError, ValueError):  # stderr was closed
                return
