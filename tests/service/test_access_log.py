"""The log: every line is a JSON object, whatever happens; on a terminal it is text."""

import io
import json
import logging
import os
import signal

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.service.access_log import JsonFormatter, NonBlockingHandler, TextFormatter
from tests.support.serving import ASKED, PATIENCE, build, eventually, serving

FAULT = """
import os, sys, threading, warnings
if "spawn_main" in " ".join(sys.orig_argv):
    import candgen

    explain = candgen.PivotTokenIndex.explain

    def break_(index, mention, *arguments, **options):
        if mention != "break":
            return explain(index, mention, *arguments, **options)
        warnings.warn("a warning of a library", stacklevel=1)
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
        raise RuntimeError("a mistake\\nof two lines")

    candgen.PivotTokenIndex.explain = break_
"""


@pytest.fixture
def index(tmp_path):
    return build(tmp_path / "fo.candgen")


def record(message, *arguments, level=logging.WARNING, error=None):
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("candgen", level, "", 0, message, arguments, info)


def test_a_record_is_one_line_of_json():
    text = JsonFormatter().format(record("worker %s died:\n\u2028 \x1b[31m", 7))
    assert len(text.splitlines()) == 1
    line = json.loads(text)
    assert (line["level"], line["message"]) == ("warning", "worker 7 died:\n\u2028 \x1b[31m")
    assert line["time"].endswith("+00:00")
    failed = JsonFormatter().format(record("failed", error=RuntimeError("x" * 10_000)))
    assert len(failed) < 4096
    assert json.loads(failed)["traceback"].endswith("x\n")
    asked = json.loads(JsonFormatter().format(record({"path": "/é", "method": "GET"})))
    assert asked.pop("time").endswith("+00:00")
    assert asked == {"path": "/é", "method": "GET"}


def test_text_for_a_terminal_has_no_control_characters():
    path = "/\x1b]0;title\x07\x9b31m\n"
    line = {"method": "GET", "path": path, "status": 200, "ms": 1.5}
    shown = TextFormatter().format(record(line))
    assert shown == r"GET /\x1b]0;title\x07\x9b31m\n 200 1.5 ms"
    error = RuntimeError("\x1b[31m")
    shown = TextFormatter().format(record("it failed", error=error))
    assert shown.startswith("candgen: it failed\n")
    assert "\x1b" not in shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stream", "begin"), [(io.StringIO(), '{"time"'), (Terminal(), "candgen")])
def test_the_format_is_for_who_reads_it(stream, begin):
    handler = NonBlockingHandler(stream)
    handler.emit(record("a warning"))
    handler.close()
    assert stream.getvalue().startswith(begin)
    assert stream.getvalue().count("\n") == 1


def test_every_line_is_json(tmp_path, index, monkeypatch):
    """Start with warnings, requests, an internal error, a dead worker, a reload, and the end."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "sitecustomize.py").write_text(FAULT, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'more'}:{os.environ.get('PYTHONPATH', '')}")
    key = tmp_path / "key"
    key.write_text("an-api-key", encoding="utf-8")
    key.chmod(0o644)
    options = ("--workers", 2, "--api-key-file", key)
    headers = {"X-API-Key": "an-api-key"}
    with serving(tmp_path, index, *options) as service:
        eventually(lambda: any("chmod 600" in message for message in service.errors()))
        assert service.ask(ASKED, headers=headers).status == 200
        service.send(b"\x00 is not HTTP\r\n\r\n")
        failing = "/api/v1/explain?mention=break&entity=Q282"
        assert service.ask(failing, headers=headers).status == 500
        eventually(service.mistakes)  # lines of the last moment end with the process
        index.joinpath("manifest.json").write_text("{", encoding="utf-8")
        service.process.send_signal(signal.SIGHUP)
        victim = service.workers()[0]
        os.kill(victim, signal.SIGKILL)
        eventually(lambda: any(f"worker {victim} died" in each for each in service.errors()))
        build(index)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(PATIENCE) in (0, -signal.SIGTERM)
    lines = service.lines()
    assert all(line["time"] for line in lines)
    assert all("method" in line or (line["level"] and line["message"]) for line in lines)
    (mistake,) = [line for line in lines if line.get("message") == "GET /api/v1/explain failed"]
    assert "RuntimeError: a mistake\nof two lines" in mistake["traceback"]
    (thread,) = [line for line in lines if line.get("message") == "uncaught exception"]
    assert "ZeroDivisionError" in thread["traceback"]
    assert any("a warning of a library" in message for message in service.errors())


def test_quiet_keeps_only_the_access_log_away(tmp_path, index):
    with serving(tmp_path, index, "--quiet", "--host", "0.0.0.0") as service:
        assert service.ask(ASKED).status == 200
        (worker,) = service.workers()
        os.kill(worker, signal.SIGKILL)
        eventually(lambda: any("died" in each for each in service.errors()))
    assert not service.requests()
    assert service.errors()[0].startswith("0.0.0.0 answers every client")
