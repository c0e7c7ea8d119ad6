"""Names from strangers on a terminal: what they hold is shown, never obeyed.

Every command that shows names, entities, languages, parameters, metadata or names of files runs on
a terminal, with data that would set its title, clear it, ring its bell, turn its text around, or
be taken for the markup of rich.
"""

import json
import os
import pty
import re
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import candgen
from candgen.cli import main
from candgen.cli.output import visible
from candgen.evaluation.dataset import write_dataset
from candgen.storage import index_folder
from candgen.tables.entities import EntityTable
from tests.support.commands import is_refusal

MARKUP = "[bold red]x[link=http://a]"
HOSTILE = f"\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202eWien\u2066{MARKUP}"
LANGUAGE = f"fo\x1b]0;owned\x07\u202e{MARKUP.replace('/', '')}"
OBEYED = re.compile(
    "\x1b\\]|\x1b\\[2J|[\x00-\x06\x07\x0b\x0c\x0e-\x1a\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
"""What no command writes: rich itself moves the cursor and sets colours in other ways."""

TARGET = [(f"{HOSTILE} {n}", f"Q{n}{HOSTILE}", 60 - n) for n in range(50)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with hostile tables, a dataset and indexes of both kinds."""
    folder = tmp_path_factory.mktemp("hostile")
    table = candgen.MentionTable.from_pairs(TARGET)
    (folder / "tables").mkdir()
    for name in (f"{LANGUAGE[:20]}.tsv", "is.tsv"):
        candgen.MentionTable.from_pairs(TARGET[:40]).write(folder / "tables" / name)
    table.write(folder / "fo.parquet", metadata={HOSTILE: HOSTILE, "json": json.dumps([HOSTILE])})
    split = candgen.split(table, per_type=5, language=LANGUAGE)
    write_dataset(folder / "fo.dataset", split)
    index = candgen.PivotTokenIndex.build(
        pivots={LANGUAGE: table}, target=table, language=HOSTILE, alpha=0.5, lam=1.0
    )
    index.save(folder / "pti.candgen")
    candgen.Rerank(index).save(folder / "rerank.candgen")
    rows = [(entity, HOSTILE, HOSTILE, HOSTILE, [HOSTILE]) for _, entity, _ in TARGET]
    for name in ("pti", "rerank"):
        EntityTable.from_rows(rows).store(folder / f"{name}.candgen")
    index_folder.save(
        folder / "odd.candgen",
        kind="odd\x1b]0;owned\x07",
        parameters={HOSTILE: HOSTILE, "list": [HOSTILE] * 3, "deep": {HOSTILE: {"a": HOSTILE}}},
        arrays={"a": np.zeros(1)},
        inputs={HOSTILE: {"sha256": HOSTILE}},
    )
    described = pa.table(
        {name: [HOSTILE] for name in ("entity", "language", "name", "description")}
    )
    pq.write_table(described.replace_schema_metadata({HOSTILE: HOSTILE}), folder / "e.parquet")
    bad = f"mention\tentity\tcount\na\tQ1\t1\nb\tQ2\t{HOSTILE}\n"
    (folder / "bad.tsv").write_text(bad, encoding="utf-8")
    (folder / "names.txt").write_text(f"{HOSTILE}\n" * 3, encoding="utf-8")
    return folder


@pytest.fixture
def terminal(monkeypatch):
    """Runs a command whose stdout and stderr are a terminal: its status, and what was shown."""

    def run(*arguments):
        master, slave = pty.openpty()
        pieces = []

        def drain():
            try:
                while piece := os.read(master, 65536):
                    pieces.append(piece)
            except OSError:  # on Linux, the end
                return

        reader = threading.Thread(target=drain)
        reader.start()
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLUMNS", "400")
        with (
            os.fdopen(slave, "w", encoding="utf-8", errors="backslashreplace") as stream,
            monkeypatch.context() as patch,
        ):
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", stream)
            status = main([str(argument) for argument in arguments])
            stream.flush()
        reader.join(timeout=60)
        os.close(master)
        return status, b"".join(pieces).decode()

    return run


COMMANDS = {
    "query": (0, "query", "{pti}", HOSTILE, "-k", "3"),
    "query as json": (0, "query", "{pti}", HOSTILE, "--format", "jsonl"),
    "query of nothing": (0, "query", "{pti}", "\x1b]0;owned\x07"),
    "query, two stages": (0, "query", "{rerank}", HOSTILE, "-k", "3"),
    "explain": (0, "explain", "{pti}", f"{HOSTILE} 1", TARGET[1][1]),
    "explain as json": (0, "explain", "{pti}", f"{HOSTILE} 1", TARGET[1][1], "--format", "json"),
    "explain, two stages": (0, "explain", "{rerank}", f"{HOSTILE} 1", TARGET[1][1]),
    "explain nothing": (2, "explain", "{pti}", HOSTILE, HOSTILE),
    "info": (0, "info", "{pti}"),
    "info as json": (0, "info", "{pti}", "--format", "json"),
    "info, two stages": (0, "info", "{rerank}"),
    "info of other parameters": (0, "info", "{odd}"),
    "info of a table": (0, "info", "{folder}/fo.parquet"),
    "info of entities": (0, "info", "{folder}/e.parquet"),
    "info of a dataset": (0, "info", "{folder}/fo.dataset"),
    "info of a bad table": (2, "info", "{folder}/bad.tsv"),
    "info of no file": (2, "info", "{folder}/" + HOSTILE.replace("/", "")),
    "evaluate": (0, "evaluate", "{folder}/fo.dataset", LANGUAGE[:24] + "={pti}"),
    "pivots": (0, "pivots", "--target", "{folder}/fo.parquet", "--pivot-tables", "{tables}"),
    "pivots, names": (0, "pivots", "--target", "{folder}/names.txt", "--pivot-tables", "{tables}"),
    "tune": (
        0, "tune", "{folder}/fo.dataset", "--method", "pti", "--grid", "lam=0.2,1",
        "--pivot", "{tables}/is.tsv",
    ),
    "split": (0, "split", "{folder}/fo.parquet", "-o", "{new}/\x1b]0;owned\x07.dataset"),
    "build": (0, "build", "--target", "{folder}/fo.parquet", "-o", "{new}/fo.candgen"),
    "build, named": (0, "build", "--target", "{folder}/fo.parquet", "-o", "{new}/" + LANGUAGE[:20]),
    "build, skipping": (
        0, "build", "--skip-bad-rows", "--pivot", "{tables}/is.tsv",
        "--target", "{folder}/bad.tsv", "-o", "{new}/fo.candgen",
    ),
    "build, bad": (2, "build", "--target", "{folder}/bad.tsv", "-o", "{new}/fo.candgen"),
    "build --auto": (
        0, "build", "--auto", "--target", "{folder}/names.txt", "--pivot-tables", "{tables}",
        "-o", "{new}/fo.candgen",
    ),
    "entities that do not fit": (
        2, "build", "--target", "{tables}/is.tsv", "--entities", "{folder}/e.parquet",
        "-o", "{new}/fo.candgen",
    ),
    "an option": (2, "build", HOSTILE),
    "a command": (2, HOSTILE),
    "a number": (2, "query", "{pti}", "a", "-k", HOSTILE),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_passes_control_characters_on(place, terminal, tmp_path, tried, name):
    tried("terminal")
    status, *arguments = COMMANDS[name]
    paths = {
        "folder": place,
        "tables": place / "tables",
        "new": tmp_path,
        **{each: place / f"{each}.candgen" for each in ("pti", "rerank", "odd")},
    }
    for key, path in paths.items():
        arguments = [each.replace(f"{{{key}}}", str(path)) for each in arguments]
    found, shown = terminal(*arguments)
    assert found == status, shown
    assert shown
    assert OBEYED.search(shown) is None, repr(shown)


def test_names_are_shown_as_they_are_but_for_controls(place, terminal, tried):
    """The markup of rich is text, and nothing but the controls is missing."""
    tried("terminal", 2)
    _, shown = terminal("query", place / "pti.candgen", f"{HOSTILE} 1", "-k", "1")
    assert visible(HOSTILE).encode() in re.sub("\x1b\\[[0-9;]*m", "", shown).encode()
    _, shown = terminal("info", place / "fo.parquet")
    assert shown.count(MARKUP) >= 5


def test_programs_get_the_data_as_it_is(place, cli, tried):
    tried("terminal", 3)
    entity, name = TARGET[1][1], f"{HOSTILE} 1"
    lines = cli("query", place / "pti.candgen", name, "-k", "1", "--format", "jsonl")
    assert lines.answers[0]["mention"] == name
    assert HOSTILE in lines.answers[0]["candidates"][0]["entity"]
    rows = cli("query", place / "pti.candgen", name, "-k", "1", "--format", "tsv")
    assert rows.out.split("\n")[1].startswith(f"{name}\t1\tQ")
    reasons = cli("explain", place / "pti.candgen", name, entity, "--format", "json")
    assert json.loads(reasons.out)["entity"] == entity


def test_a_name_that_is_not_shown_is_not_suggested(place, terminal, tmp_path, tried):
    tried("terminal")
    _, shown = terminal("build", "--target", place / "fo.parquet", "-o", tmp_path / "fo.candgen")
    assert "try:" not in shown


@pytest.mark.parametrize("form", ["table", "json"])
def test_parameters_that_are_nested_deep(tmp_path, cli, tried, form):
    for depth in (10, 100, 450, 900):
        tried("terminal", 3)
        deep = {"a": 1}
        for _ in range(depth):
            deep = {f"a name that is too long for a line {'x' * 80}": deep}
        path = tmp_path / f"{depth}.parquet"
        metadata = {"lists": "[" * depth + "]" * depth, "objects": json.dumps(deep)}
        candgen.MentionTable.from_pairs([("a", "Q1")]).write(path, metadata=metadata)
        assert cli("info", path, "--format", form).status == 0
        folder = tmp_path / f"{depth}.candgen"
        index_folder.save(folder, kind="odd", parameters=deep, arrays={"a": np.zeros(1)}, inputs={})
        result = cli("info", folder, "--format", form)
        assert result.status == 0 or is_refusal(result)
        assert len(result.out) < 1_000_000 or form == "json"


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_a_failure_of_the_machine_is_a_sentence(tmp_path, cli, monkeypatch, tried, error):
    tried("terminal")

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(candgen.MentionTable, "read", fail)
    assert is_refusal(cli("build", "--target", "fo.tsv", "-o", tmp_path / "fo.candgen"))
