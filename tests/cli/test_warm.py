"""After ``candgen warm``, run as the systemd unit of the docs runs it, nothing is compiled."""

import configparser
import importlib
import shlex
import shutil
import subprocess
import sys
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from candgen.cli.warm import BUILDS, warm_up
from candgen.cli.warm_world import ENDINGS, write_world
from candgen.generators import METHODS
from candgen.kernels import kernel_cache
from tests.support.commands import SOURCE, environment, is_refusal
from tests.support.documents import DOCS, blocks
from tests.support.dumps import write_dump
from tests.support.faroese_wiki import PAGES
from tests.support.paper_world import TABLES

VARIABLE, SYSTEM_CACHE = "CANDGEN_CACHE_DIR", "/var/cache/candgen"


@pytest.fixture(scope="module")
def unit():
    """The settings of the unit."""
    (text,) = [block.text for block in blocks(DOCS / "service.md") if block.language == "ini"]
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read_string(text)
    return parser["Service"]


@pytest.fixture(scope="module")
def service_user(tmp_path_factory, unit):
    """The environment of the unit's user: the cache can be written, the package and HOME cannot."""
    folder = tmp_path_factory.mktemp("opt")
    package = folder / "candgen"
    shutil.copytree(SOURCE / "candgen", package, ignore=shutil.ignore_patterns("__pycache__"))
    for each in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (each / "__pycache__").write_bytes(b"")  # not even root can make a folder of it
    variables = dict(each.split("=", 1) for each in shlex.split(unit["Environment"]))
    assert variables == {VARIABLE: SYSTEM_CACHE}
    variables[VARIABLE] = str(folder / "cache")
    made = environment(PYTHONPATH=str(folder), HOME="/dev/null", **variables)
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        made.pop(name, None)
    return made


@pytest.fixture(scope="module")
def warmed(unit, service_user):
    """The unit's first command, run: what it printed."""
    program, *arguments = shlex.split(unit["ExecStartPre"])
    assert program.endswith("/candgen")
    assert arguments == ["warm"]
    return run(service_user, "-m", "candgen", *arguments)


def run(variables, *arguments, **options):
    """Run Python in an environment, and return what it printed to stderr, or raise."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=variables,
        capture_output=True,
        timeout=600,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stderr.decode()


COUNT = """
import sys
from numba.core import event
from candgen.cli import main

compiled = []

class Listener(event.Listener):
    def on_start(self, started):
        compiled.append(started.data["dispatcher"].py_func.__name__)

    def on_end(self, _):
        pass

event.register("numba:compile", Listener())
for line in sys.stdin.read().splitlines():
    assert main(line.split()) == 0, line
    assert not compiled, (line, compiled)
"""
COMMANDS = """\
build --pivot is=is.tsv --target fo=fo.tsv -o pti
build --method rerank --pivot is=is.tsv --pivot fi=fi.tsv --target fo=fo.tsv -o rerank
build --method cascade --pivot is=is.tsv --target fo=fo.tsv --threshold 0.001 -o cascade
build --method pti-smoothing --pivot is=is.tsv --target fo=fo.tsv -o smoothing
query pti víkvík
query rerank víkvík vágurnes
query cascade víkvík
query smoothing víkvík
query pti víkvík --scores share
explain pti víkvík Q1
explain rerank víkvík Q1
info rerank --verify
split fo=fo.tsv --per-type 5 --normalizer default -o fo.dataset
tune fo.dataset --method pti --pivot is=is.tsv -o tuned-pti
tune fo.dataset --pivot is=is.tsv -o tuned
evaluate fo.dataset pti rerank cascade
pivots --target fo=fo.tsv --pivot-tables tables
extract fo --dump fowiki-pages.xml.bz2 -o wiki.parquet --workers 1
build --target fo=wiki.parquet -o wiki.candgen
query wiki.candgen Havnina
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Other tables than those of the command, and a dump."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "tables").mkdir()
    for language, table in TABLES.items():
        table.write(folder / f"{language}.tsv")
        table.write(folder / "tables" / f"{language}.tsv")
    write_dump(folder / "fowiki-pages.xml.bz2", PAGES, together=2)
    return folder


def test_it_says_what_it_does_and_where(warmed, service_user):
    first, last = warmed.splitlines()
    assert first.startswith(f"compiling all kernels into {service_user[VARIABLE]}/kernels-")
    assert last.startswith("kernels: ")
    assert " compiled, " in last


def test_other_commands_then_compile_nothing(warmed, service_user, world):
    run(service_user, "-c", COUNT, cwd=world, input=COMMANDS.encode())


def test_nor_does_it_itself(warmed, service_user):
    assert (
        run(service_user, "-m", "candgen", "warm")
        .splitlines()[-1]
        .startswith("kernels: all were compiled before, ")
    )


def test_the_service_then_compiles_nothing(unit, warmed, service_user, world):
    pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")
    program, command, index, *_ = shlex.split(unit["ExecStart"])
    assert program.endswith("/candgen")
    assert (command, index) == ("serve", "/srv/fo.candgen")
    build = "build --method rerank --pivot is=is.tsv --target fo=fo.tsv -o served"
    run(service_user, "-m", "candgen", *build.split(), cwd=world)
    serve = [sys.executable, "-m", "candgen", "serve", "served", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(serve, cwd=world, env=service_user, **pipes) as service:
        try:
            address = service.stdout.readline().decode().strip()
            query = f"mention={quote('víkvíkur')}"
            for path in (f"candidates?{query}&details=true", f"explain?{query}&entity=Q1"):
                assert urlopen(f"{address}api/v1/{path}", timeout=60).status == 200
        finally:
            service.terminate()
        assert b"compiling" not in service.stderr.read()


def test_without_any_folder_commands_work_and_say_how_to_avoid_it(service_user, world):
    variables = {**service_user, VARIABLE: "/dev/null"}
    split = ["split", "fo=fo.tsv", "--per-type", "5", "-o", "x.dataset"]
    assert run(variables, "-m", "candgen", *split, cwd=world) == ""  # nothing to compile
    build = ["build", "--method", "wikipriors", "--target", "fo=fo.tsv", "-o", "unkept"]
    first, second, *_ = run(variables, "-m", "candgen", *build, cwd=world).splitlines()
    assert first.startswith("candgen: compiling kernels, in every process")
    assert VARIABLE in second


def test_warming_without_a_folder_is_an_error(cli, monkeypatch):
    monkeypatch.setattr(kernel_cache, "writable_folder", lambda: None)
    refused = cli("warm")
    assert is_refusal(refused)
    assert VARIABLE in refused.err


def test_a_command_that_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module("candgen.cli.warm")  # the package has the function
    monkeypatch.setattr(module, "_command_lines", lambda: ["query missing Havi"])
    with pytest.raises(Exception, match=r"^candgen query missing Havi: candgen: missing"):
        warm_up(lambda _doing, _fraction: None)


def test_the_world_has_a_table_for_each_language(tmp_path):
    write_world(tmp_path)
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == set(ENDINGS)


def test_every_method_without_training_is_built():
    assert {name for name, method in METHODS.items() if not method.neural} <= set(BUILDS)
