"""``candgen extract-wikidata`` on the command line."""

import bz2
import gzip
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import candgen
from tests.support import wikidata_world as world

LANGUAGES = "fo,is"


@pytest.fixture
def dump(tmp_path):
    path = tmp_path / "wikidata-20240501-all.json.gz"
    path.write_bytes(gzip.compress(world.all_kinds()))
    return path


def extract(cli, dump, output, *options, **more):
    wanted = ("--languages", LANGUAGES, "-o", output, "--workers", 1)
    return cli("extract-wikidata", dump, *wanted, *options, **more)


def entities(path):
    return set(candgen.MentionTable.read(path).entities)


def test_tables_and_what_is_printed(cli, dump, tmp_path):
    done = extract(cli, dump, tmp_path / "made")
    assert done.status == 0
    names = {path.name for path in (tmp_path / "made").iterdir()}
    assert names == {"fo.parquet", "is.parquet", "entities.parquet", "report.json"}
    report = json.loads((tmp_path / "made" / "report.json").read_bytes())
    assert report["dump"] == dump.name
    faroese = candgen.MentionTable.read(tmp_path / "made" / "fo.parquet")
    assert len(faroese) == report["names"]["fo"] > 0
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert f"{tmp_path / 'made'}: 9 of 11 items have names in these languages" in lines
    assert f"fo.parquet {len(faroese)}" in lines
    assert f"entities.parquet {report['entities']}" in lines
    assert "not an entity 3" in lines
    assert "some lines could not be read, the first is line 6: not UTF-8" in done.err


def test_info_prints_what_a_table_was_made_from(cli, dump, tmp_path):
    extract(cli, dump, tmp_path / "made")
    done = cli("info", tmp_path / "made" / "fo.parquet")
    assert done.status == 0
    assert dump.name in done.out
    assert "Wikidata" in done.out


def test_options(cli, dump, tmp_path):
    made = tmp_path / "made"
    assert extract(cli, dump, made, "--instance-of", "Q5, Q515").status == 0
    assert entities(made / "fo.parquet") == {"Q12", "Q10704"}
    assert extract(cli, dump, made, "--not-instance-of", "").status == 0
    assert "Q7" in entities(made / "fo.parquet")
    assert extract(cli, dump, made, "--not-instance-of", "Q5").status == 0
    assert "Q7" in entities(made / "fo.parquet")
    assert "Q12" not in entities(made / "fo.parquet")
    assert extract(cli, dump, made, "--has-sitelink").status == 0
    assert entities(made / "fo.parquet") == {"Q8", "Q10704"}
    assert extract(cli, dump, made, "--no-labels", "--no-aliases").status == 0
    assert list(candgen.MentionTable.read(made / "is.parquet")) == [("Þórshöfn", "Q10704", 1)]
    assert extract(cli, dump, made, "--no-sitelinks", "--mul").status == 0
    assert entities(made / "is.parquet") == {"Q5", "Q9", "Q167646"}
    assert extract(cli, dump, made, "--items", 1).status == 0
    assert entities(made / "fo.parquet") == {"Q10704"}


def test_stdin_and_a_dump_that_is_cut_short(cli, tmp_path):
    text = world.dump_of(world.FULL, closed=False)
    done = extract(cli, "-", tmp_path / "made", stdin=text)
    assert done.status == 1
    assert "stdin is cut short" in done.err
    assert entities(tmp_path / "made" / "fo.parquet") >= {"Q10704", "Q12"}
    done = extract(cli, "-", tmp_path / "made", "--allow-truncated", stdin=text)
    assert done.status == 0
    assert "stdin is cut short" in done.err
    assert extract(cli, "-", tmp_path / "made", stdin=text + b"\n]").status == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--instance-of", "human"), "instance_of has 'human', expected the id of an item"),
        (("--no-labels", "--no-aliases", "--no-sitelinks"), "there are no names"),
        (("--resume", "--items", 3), "a sample of the first items cannot be resumed"),
        (("--workers", 0), "invalid value for '--workers'"),
        (("--languages", "fo,fo"), "twice"),
        (("--languages", ","), "no language was named"),
    ],
)
def test_mistakes_are_one_sentence(cli, dump, tmp_path, options, words):
    done = extract(cli, dump, tmp_path / "made", *options)
    assert done.status == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [dump]


def test_what_is_no_dump_is_one_sentence(cli, tmp_path):
    (tmp_path / "x.json").write_bytes(b"hello\n")
    for name in ("x.json", "nothing.json"):
        done = extract(cli, tmp_path / name, tmp_path / "made")
        assert done.status == 2
        assert done.err.count("\n") == 1
        assert name in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"x.json"}


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_and_resume(cli, tmp_path):
    made = [world.item(at + 1, labels=world.texts(fo=f"nr {at}")) for at in range(4000)]
    text = world.dump_of(made)
    dump = tmp_path / "dump.json.bz2"
    dump.write_bytes(b"".join(bz2.compress(text[at : at + 50]) for at in range(0, len(text), 50)))
    command = ["extract-wikidata", dump, "--languages", "fo", "-o", tmp_path / "made"]
    program = [sys.executable, "-m", "candgen", *map(str, command), "--workers", "2"]
    running = subprocess.Popen(program, stderr=subprocess.PIPE, start_new_session=True)
    work = tmp_path / ".made.parts"
    deadline = time.monotonic() + 30
    while not work.exists() and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    _, error = running.communicate(timeout=30)
    assert running.returncode == 130
    assert b"Traceback" not in error
    assert b"--resume continues the run" in error
    assert not (tmp_path / "made").exists()
    assert cli(*command, "--resume", "--workers", 1).status == 0
    assert len(candgen.MentionTable.read(tmp_path / "made" / "fo.parquet")) == 4000
    assert not work.exists()


def test_help_has_an_example(cli):
    done = cli("extract-wikidata", "--help")
    assert done.status == 0
    assert "candgen extract-wikidata latest-all.json.bz2 --languages fo,is,da -o names" in done.out


def test_the_table_of_entities_is_described(cli, tmp_path):
    dump = tmp_path / "dump.json"
    dump.write_bytes(world.dump_of([world.item(10704, labels=world.texts(fo="Tórshavn"))]))
    assert cli("extract-wikidata", dump, "--languages", "fo,is", "-o", tmp_path / "x").status == 0
    shown = cli("info", tmp_path / "x" / "entities.parquet")
    assert shown.status == 0
    for text in ("table of entities", "Q10704", "Tórshavn", "not instance of"):
        assert text in shown.out
    told = cli("info", tmp_path / "x" / "entities.parquet", "--format", "json")
    assert json.loads(told.out)["languages"] == {"fo": 1}
