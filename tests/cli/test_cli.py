"""The whole command line: help, usage errors, signals and streams."""

import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from typer.main import get_command

import candgen
from candgen.cli import app
from candgen.generators import summaries
from tests.support.commands import command, environment, is_refusal, popen, process, snapshot


def test_help_is_quick_and_has_examples():
    names = ["demo", "build", "query", "explain", "info"]
    script = f"""
import sys
import textwrap
from candgen.cli import main
for name in {names}:
    assert main([name, "--help"]) == 0
assert main(["--help"]) == 0 and main(["--version"]) == 0
heavy = {{"numba", "numpy", "pyarrow", "regex", "babel", "torch"}} & set(sys.modules)
assert not heavy, heavy
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment())
    assert run.returncode == 0, run.stderr.decode()
    shown = run.stdout.decode()
    for name in names:
        assert f"\n    candgen {name}" in shown or f"\n  candgen {name}" in shown
        assert f"\n  {name} " in shown.split("Make an index:")[1]


def test_help_lists_the_commands_in_groups_with_a_line_each(cli):
    groups = cli("--help").out.split("\n\n")[-5:]
    shown = {}
    for title, *lines in (group.strip("\n").splitlines() for group in groups):
        shown[title] = dict(line.split(maxsplit=1) for line in lines)
    assert {title: list(lines) for title, lines in shown.items()} == {
        "Make an index:": ["demo", "pivots", "build", "tune"],
        "Ask it:": ["query", "explain", "info", "serve"],
        "Measure it:": ["split", "evaluate", "reproduce"],
        "Get data:": ["download", "extract", "extract-wikidata"],
        "Install it:": ["warm"],
    }
    summaries = {name: line for lines in shown.values() for name, line in lines.items()}
    assert all(line.endswith(".") and "..." not in line for line in summaries.values()), summaries


@pytest.mark.parametrize("name", [None, *get_command(app).commands])
def test_help_fits_80_columns(cli, name):
    shown = cli(*filter(None, [name]), "--help").out
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_version(cli):
    result = cli("--version")
    assert result.status == 0
    assert result.out.startswith("candgen 0")


def test_without_arguments_there_is_help_but_no_success(cli):
    result = cli()
    assert result.status == 2
    assert "Make an index:" in result.out


def test_module_and_status_of_a_mistake():
    run = process("query", "nowhere.candgen", "Vín")
    assert run.returncode == 2
    assert run.stdout == b""
    assert run.stderr == b"candgen: nowhere.candgen does not exist: build it first\n"


NEURAL = "build --method charagram --pivot {world}/is.tsv "


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("bild", "bild"),
        ("query", "INDEX"),
        ("query {index} Vín -k 0", "-k"),
        ("query {index} Vín -k x", "-k"),
        ("query {index} Vín --lam -1", "--lam"),
        ("query {index} Vín --lam inf", "lam"),
        ("query {index} Vín --format xml", "xml"),
        ("query {index} Vín --scores big", "big"),
        ("query {index} Vín --colour", "--colour"),
        ("query {world} Vín", "manifest.json"),
        ("query {world}/is.tsv Vín", "is a file"),
        ("explain {index} Vín", "ENTITY"),
        ("explain {index} Vín Q0", "Q0"),
        ("explain {world}/nowhere Vín Q282", "nowhere"),
        ("info", "INDEX"),
        ("info {world}/nowhere.candgen", "build it first"),
        ("info {world}/nowhere.tsv.gz", "check the name"),
        ("info {world}", "manifest.json"),
        ("build", "-o"),
        ("build -o {world}/x", "--pivot"),
        ("build --pivot {world}/is.tsv", "-o"),
        ("build --pivot {world}/nowhere.tsv -o {world}/x", "nowhere.tsv"),
        ("build --pivot {world}/fo.candgen -o {world}/x", "fo.candgen"),
        ("build --pivot is= -o {world}/x", "'is='"),
        ("build --pivot =is.tsv -o {world}/x", "'=is.tsv'"),
        ("build --pivot {world}/is.tsv --pivot is={world}/fo.tsv.gz -o {world}/x", "'is'"),
        ("build --pivot {world}/is.tsv --target is={world}/fo.tsv.gz -o {world}/x", "'is'"),
        ("build --target fo={world}/fo.tsv.gz --language da -o {world}/x", "'da'"),
        ("build --pivot {world}/is.tsv --alpha da=1 -o {world}/x", "'da'"),
        ("build --target {world}/is.tsv --alpha da=1 -o {world}/x", "'da'"),
        ("build --pivot {world}/is.tsv --alpha 1 --alpha 2 -o {world}/x", "twice"),
        ("build --pivot {world}/is.tsv --alpha is=1 --alpha is=2 -o {world}/x", "twice"),
        ("build --pivot {world}/is.tsv --alpha is=much -o {world}/x", "much"),
        ("build --pivot {world}/is.tsv --alpha -1 -o {world}/x", "-1"),
        ("build --pivot {world}/is.tsv --alpha nan -o {world}/x", "nan"),
        ("build --pivot {world}/is.tsv --alpha 0 -o {world}/x", "alpha 0"),
        ("build --pivot {world}/is.tsv --lam -1 -o {world}/x", "--lam"),
        ("build --pivot {world}/is.tsv --threshold 2 -o {world}/x", "--threshold"),
        ("build --pivot {world}/is.tsv --threads 0 -o {world}/x", "--threads"),
        ("build --pivot {world}/is.tsv --ngrams 5-2 -o {world}/x", "5-2"),
        ("build --pivot {world}/is.tsv --ngrams two -o {world}/x", "two"),
        ("build --pivot {world}/is.tsv --normalizer nfc -o {world}/x", "nfc"),
        ("build --pivot {world}/is.tsv --ngram-unit byte -o {world}/x", "byte"),
        ("build --pivot {world}/is.tsv --method best -o {world}/x", "'best'"),
        ("build --pivot {world}/is.tsv --set epochs -o {world}/x", "NAME=VALUE"),
        ("build --pivot {world}/is.tsv --set depth=3 -o {world}/x", "--set depth"),
        ("build --pivot {world}/is.tsv --set lam=1 --lam 2 -o {world}/x", "--lam and --set lam"),
        (NEURAL + "--english {world}/no.tsv -o {world}/x", "no.tsv"),
        ("build --pivot {world}/is.tsv --english en= -o {world}/x", "--english"),
        (NEURAL + "--english {world}/is.tsv --dev {world}/no.tsv -o {world}/x", "no.tsv"),
        (NEURAL + "--english {world}/is.tsv --dev {world}/latin1.tsv -o {world}/x", "UTF-8"),
        # What is wrong with -o is said before the tables are read.
        ("build --pivot {world}/nowhere.tsv -o {world}/no/where", "no/where"),
        ("build --pivot {world}/nowhere.tsv -o {world}/is.tsv/x", "is.tsv/x"),
        ("build --pivot {world}/nowhere.tsv -o {world}/is.tsv", "is a file"),
        ("build --pivot {world}/nowhere.tsv -o {world}", "not a candgen index"),
    ],
)
def test_a_mistake_is_one_sentence(cli, world, index, line, named):
    before = snapshot(world)
    result = cli(*line.format(world=world, index=index).split())
    assert is_refusal(result), (result.status, result.out, result.err)
    assert named in result.err
    assert snapshot(world) == before
    assert not (world / "x").exists()


def test_a_reader_that_has_enough(index):
    with popen("query", index) as run:
        feeder = subprocess.Popen(
            [sys.executable, "-c", "import sys\nfor i in range(200000): print('Wien', i)"],
            stdout=run.stdin,
            stderr=subprocess.DEVNULL,
        )
        run.stdin.close()
        assert json.loads(run.stdout.readline())["mention"] == "Wien 0"
        run.stdout.close()
        assert run.wait(timeout=120) in (0, 141)
        assert run.stderr.read() == b""
        feeder.wait(timeout=120)


@pytest.mark.parametrize("arguments", [["--format", "table"], ["--format", "tsv"]])
def test_a_reader_that_reads_nothing(index, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        command("query", index, "Vín", *arguments),
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    os.close(writing)
    assert run.returncode in (0, 141)
    assert run.stderr == b""


def test_ctrl_c(index):
    with popen("query", index) as run:
        run.stdin.write(b"Wien\n")
        run.stdin.flush()
        run.stdout.readline()
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=60) == 130
        assert run.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [("query", "Vín"), ("info",)])
def test_an_output_that_is_full(index, arguments):
    name, *rest = arguments
    unbuffered = environment() | {"PYTHONUNBUFFERED": "1"}
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            command(name, index, *rest), stdout=full, stderr=subprocess.PIPE, env=unbuffered
        )
    assert run.returncode == 2
    assert run.stderr.startswith(b"candgen: standard output cannot be written: ")
    assert len(run.stderr.splitlines()) == 1


def test_streams_that_are_closed(index):
    for end, named in (("<&-", "input"), (">&-", "output")):
        line = shlex.join(command("query", index, *["Vín"] * (end == ">&-")))
        run = subprocess.run(
            ["sh", "-c", f"{line} {end}"], stderr=subprocess.PIPE, env=environment(), text=True
        )
        assert run.returncode == 2
        assert run.stderr.startswith(f"candgen: standard {named} ")


def test_the_locale_does_not_matter(index):
    run = subprocess.run(
        command("query", index, "-k", "1"),
        input="Vín\n".encode(),
        capture_output=True,
        env=environment(LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii"),
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.decode("utf-8"))["mention"] == "Vín"


@pytest.mark.parametrize("command", ["split", "tune", "evaluate", "reproduce"])
def test_bad_rows_may_be_skipped(cli, tables, dataset, indexes, tmp_path, command):
    bad = tmp_path / "bad"
    bad.mkdir()
    for language in ("fo", "is"):
        candgen.MentionTable.read(tables / f"{language}.tsv.gz").write(bad / f"{language}.tsv")
    with (bad / "is.tsv").open("a", encoding="utf-8") as file:
        file.write("only a mention\n")
    arguments = {
        "split": ["split", bad / "is.tsv", "-o", tmp_path / "d"],
        "tune": ["tune", dataset, "--pivot", bad / "is.tsv"],
        "evaluate": ["evaluate", dataset, indexes[0], "--pivot", bad / "is.tsv"],
        "reproduce": [
            "reproduce",
            "ceilings",
            "--data",
            bad,
            "--pair",
            "fo-is",
            "-o",
            tmp_path / "out",
            "--no-figures",
        ],
    }[command]
    refused = cli(*arguments)
    assert refused.status == 2
    assert "is.tsv line" in refused.err
    done = cli(*arguments, "--skip-bad-rows")
    assert done.status == 0, done.err
    assert "bad rows left out: 1" in done.err


@pytest.mark.parametrize("name", ["split", "tune", "evaluate", "reproduce"])
def test_help_has_an_example_and_does_not_wait_for_numpy(name):
    program = (
        "import sys\nfrom candgen.cli import main\n"
        f"main([{name!r}, '--help'])\n"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'numba', 'pyarrow', 'matplotlib')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert f"candgen {name} " in done.stdout
    assert "Examples:" in done.stdout
    if name in ("tune", "reproduce"):
        told = "".join(done.stdout.split())
        assert all(method in told for method in summaries.METHODS)


def test_a_warning_is_said_once(cli, tmp_path):
    """WikiPriors counts the same table twice, for its mentions and for its words."""
    table = tmp_path / "is.tsv"
    table.write_text("mention\tentity\nVín\tQ282\n \tQ1741\n", encoding="utf-8")
    output = str(tmp_path / "o")
    done = cli("build", "--method", "wikipriors", "--pivot", f"is={table}", "-o", output)
    assert done.err.count("left out 1 without a token") == 1


WAITS_FOR_EVER = {
    "a destructor of a library": """
import ctypes
libc = ctypes.CDLL(None)
libc.__cxa_atexit(libc.pause, None, None)
""",
    "a thread": """
import threading
threading.Thread(target=threading.Event().wait).start()
""",
}


@pytest.mark.skipif(sys.platform != "linux", reason="registers a function of glibc")
@pytest.mark.parametrize("waiting", WAITS_FOR_EVER)
def test_the_command_ends_after_its_last_line_whatever_libraries_wait_for(waiting, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif sys.orig_argv[1:3] == ['-m', 'candgen']:\n"
        + textwrap.indent(WAITS_FOR_EVER[waiting], "    ")
        + "    import atexit\n    atexit.register(sys.stderr.write, 'exit functions ran')\n"
    )
    path = os.pathsep.join((str(tmp_path), environment()["PYTHONPATH"]))
    done = subprocess.run(
        command("info", tmp_path / "none"),
        capture_output=True,
        env=environment(PYTHONPATH=path),
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"candgen: ")
    assert done.stderr.endswith(b"exit functions ran")
