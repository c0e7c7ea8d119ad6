"""What docs/service.md shows is what happens."""

import re

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.service.settings import Limits
from tests.support.documents import DOCS, Shell, blocks, commands, lines, needs_bash, run_python
from tests.support.serving import serving

PAGE = DOCS / "service.md"
USUAL = "http://127.0.0.1:8000/"


@needs_bash
def test_the_examples_are_answered_as_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell = Shell(tmp_path / "shell")
    tables, *asked = [block for block in blocks(PAGE) if block.language == "console"]
    for command in commands(tables):
        shell.run(command)
    with serving(tmp_path, shell.folder / "fo.candgen") as service:
        here = service.address
        done = 0
        for command in (each for block in asked for each in commands(block)):
            assert USUAL in command.text
            text = command.text.replace(USUAL, here)
            assert lines(shell.run(command._replace(text=text)).stdout) == lines(command.shown)
            done += 1
        client, embedded = [block for block in blocks(PAGE) if block.language == "python"]
        printed = run_python(client._replace(text=client.text.replace(USUAL, here)), {})
        shown, _nginx = [block for block in blocks(PAGE) if block.language == "text"]
        assert printed == shown.text
    assert done == 3
    monkeypatch.chdir(shell.folder)
    names = {}
    run_python(embedded, names)
    assert names["app"].limits == Limits(batch=100)


FIELDS = {
    "work-timeout": "work_timeout",
    "request-timeout": "request_timeout",
    "max-requests": "concurrency",
}
"""From an option of ``candgen serve`` to a field of Limits; the others differ by "max-" only."""


def test_the_limits_are_the_defaults():
    rows = re.findall(
        r"^\| `--([a-z-]+)` \| ([\d,]+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    shown = {
        FIELDS.get(option, option.removeprefix("max-")): int(number.replace(",", ""))
        for option, number in rows
    }
    limits = Limits()
    assert shown == {**vars(limits), "body": limits.body >> 20}
