"""The log of the service: lines to stderr, JSON or text, written without blocking any request."""

import json
import logging
import sys
import threading
import traceback
from collections import deque
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

MAX_WAITING_LINES = 10_000
"""Lines that wait to be written; further ones are dropped until stderr is read again."""
WRITE_DELAY = 0.05
"""Seconds in which lines are collected before they are written."""
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
    closed = sys.stderr is None
    root.handlers = [logging.NullHandler() if closed else NonBlockingHandler(sys.stderr)]
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


def format_time(seconds: float) -> str:
    """Return a time as the log has it.

    >>> format_time(0.5)
    '1970-01-01T00:00:00.500+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


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
        return {"time": format_time(record.created), **record.msg}
    members = {
        "time": format_time(record.created),
        "level": record.levelname.lower(),
        "message": record.getMessage().strip(),
    }
    if record.exc_info and record.exc_info[1] is not None:
        whole = "".join(traceback.format_exception(record.exc_info[1]))
        members["traceback"] = whole[-MAX_TRACEBACK:]
    return members


class NonBlockingHandler(logging.Handler):
    """Writes in its own thread: a full pipe would otherwise stop the whole service.

    The thread writes what has come within a moment at once: to wake it for every line would cost a
    request more than all the rest of its log.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream
        self.formatter = TextFormatter() if stream.isatty() else JsonFormatter()
        self._waiting: deque[logging.LogRecord] = deque()
        self._has_lines, self._is_closed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._write, name="candgen-log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line, or drop it if too many wait."""
        if len(self._waiting) < MAX_WAITING_LINES:
            self._waiting.append(record)
            if not self._has_lines.is_set():
                self._has_lines.set()

    def close(self) -> None:
        """Write the queued lines, but wait no longer than CLOSE_TIMEOUT."""
        self._is_closed.set()
        self._has_lines.set()
        self._thread.join(CLOSE_TIMEOUT)
        super().close()

    def _write(self) -> None:
        while not self._is_closed.is_set():
            self._has_lines.wait()
            self._is_closed.wait(WRITE_DELAY)
            self._has_lines.clear()
            while self._waiting:
                try:
                    self.stream.write(f"{self.format(self._waiting.popleft())}\n")
                except (OSError, ValueError):  # stderr was closed
                    return
