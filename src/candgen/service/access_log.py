"""The log of the service: lines to stderr, JSON or text, written without blocking any request."""

import json
import logging
import queue
import sys
import threading
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

MAX_WAITING_LINES = 10_000
"""Lines that wait to be written; further ones are dropped until stderr is read again."""
CLOSE_TIMEOUT = 1.0
"""Seconds to write the last lines."""
MAX_TRACEBACK = 3000
"""Characters of a traceback, its last ones: lines over 4 KiB from two processes could be mixed."""


def log_to_stderr() -> None:
    """Send the access log, all warnings and all uncaught exceptions of this process to stderr."""
    # No line names its thread or source line; skipping that lookup halves the time of a log call.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001
    root = logging.getLogger()
    root.handlers = [NonBlockingHandler(sys.stderr)]
    root.setLevel(logging.WARNING)
    logging.getLogger("candgen").handlers = []  # that of the command line prints plain lines
    logging.getLogger("candgen.access").setLevel(logging.INFO)
    # Its warnings are about malformed requests, of which anybody can send any number.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda each: _log_uncaught(
        each.exc_type, each.exc_value or each.exc_type(), each.exc_traceback
    )
    sys.unraisablehook = lambda each: _log_uncaught(
        each.exc_type, each.exc_value or each.exc_type(), each.exc_traceback
    )


def _log_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    logging.getLogger("candgen").error("uncaught exception", exc_info=(kind, error, trace))


def log_time() -> str:
    """Return the time of a line."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object; the message of the access log is its members."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        return json.dumps(_members(record))


class TextFormatter(logging.Formatter):
    """Formats a record as text for people at a terminal, with control characters escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, or several with a traceback."""
        each = _members(record)
        if "message" in each:
            text = f"candgen: {each['message']}"
        else:
            text = f"{each['method']} {each['path']} {each['status']} {each['ms']} ms"
        lines = [text, *each.get("traceback", "").splitlines()]
        return "\n".join(line.encode("unicode_escape").decode() for line in lines)


def _members(record: logging.LogRecord) -> dict[str, Any]:
    if isinstance(record.msg, dict):
        return record.msg
    members = {
        "time": log_time(),
        "level": record.levelname.lower(),
        "message": record.getMessage().strip(),
    }
    if record.exc_info and record.exc_info[1] is not None:
        whole = "".join(traceback.format_exception(record.exc_info[1]))
        members["traceback"] = whole[-MAX_TRACEBACK:]
    return members


class NonBlockingHandler(logging.Handler):
    """Writes in its own thread: a full pipe would otherwise stop the whole service."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream
        self.formatter = TextFormatter() if stream.isatty() else JsonFormatter()
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
