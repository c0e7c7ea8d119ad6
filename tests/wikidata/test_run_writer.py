"""Interrupted, killed and failed runs: nothing incomplete is left, and work is resumed."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from candgen.errors import CandgenError, StorageError
from candgen.wikidata import run_writer
from tests.support import wikidata_world as world
from tests.support.wikidata_files import contents, extract, write_dump


class Stop(BaseException):
    """Like Ctrl-C."""


def stop_after(parts):
    calls = []

    def progress(_doing, _share):
        calls.append(1)
        if len(calls) == parts:
            raise Stop

    return progress


@pytest.mark.parametrize(("kind", "workers"), [("bz2", 2), ("gz", 1), ("plain", 1)])
def test_an_interrupted_run_goes_on(tmp_path, long_text, kind, workers, monkeypatch):
    dump = write_dump(tmp_path, long_text, kind)
    size = dump.stat().st_size // 8 if kind != "gz" else len(long_text) // 8
    extract(dump, tmp_path / "whole", part_size=size)
    monkeypatch.setattr(run_writer, "MAX_RUN", 1)
    output, options = tmp_path / "made", {"part_size": size, "workers": workers}
    with pytest.raises(Stop):
        extract(dump, output, progress=stop_after(4), **options)
    assert not output.exists()
    work = tmp_path / ".made.parts"
    assert len(list(work.glob("*.tally"))) >= 3
    with pytest.raises(Stop):
        extract(dump, output, progress=stop_after(2), resume=True, **options)
    next(work.glob("000001-*.names")).unlink()  # what is lost is made again
    done = len(list(work.glob("*.names")))
    told = []
    extract(dump, output, resume=True, progress=lambda *told_: told.append(told_), **options)
    parts = [doing for doing, _ in told if "items" in doing]
    assert 0 < len(parts) <= 9 - done
    assert contents(output) == contents(tmp_path / "whole")
    assert not work.exists()


def test_only_the_same_run_goes_on(tmp_path, long_text):
    dump = write_dump(tmp_path, long_text)
    output, options = tmp_path / "made", {"part_size": 20_000}

    def interrupt():
        with pytest.raises(Stop):
            extract(dump, output, progress=stop_after(4), **options)

    interrupt()
    with pytest.raises(StorageError, match="other files or other options"):
        extract(dump, output, languages=("fo",), resume=True, **options)
    with pytest.raises(StorageError, match="other files or other options"):
        extract(dump, output, resume=True)
    extract(dump, output, languages=("fo",), **options)  # starts over
    assert {path.name for path in output.iterdir()} == {
        "fo.parquet",
        "entities.parquet",
        "report.json",
    }
    interrupt()
    dump.write_bytes(long_text[:-500] + b"\n]")
    with pytest.raises(StorageError, match="other files or other options"):
        extract(dump, output, resume=True, **options)


def test_a_failure_while_tables_are_written_leaves_nothing(tmp_path, monkeypatch):
    dump = write_dump(tmp_path, world.all_kinds())
    whole = tmp_path / "whole"
    extract(dump, whole)

    def fail(*_arguments):
        raise StorageError("entities.parquet cannot be written: no space")

    with monkeypatch.context() as patch:
        patch.setattr("candgen.wikidata.extract.write_entities", fail)
        with pytest.raises(CandgenError, match="no space"):
            extract(dump, tmp_path / "made")
    assert not (tmp_path / "made").exists()
    told = []
    extract(dump, tmp_path / "made", resume=True, progress=lambda doing, _: told.append(doing))
    assert told == ["merging names", "merging entities"]  # all parts were done
    assert contents(tmp_path / "made") == contents(whole)


KILLED = """
import os, signal, sys
from candgen.wikidata import run_writer
from candgen.wikidata.extract import extract_wikidata
from candgen.wikidata.names import Selection

def progress(_doing, _share):
    progress.calls += 1
    if progress.calls == 3:
        os.kill(os.getpid(), signal.SIGKILL)

progress.calls = 0
if __name__ == "__main__":
    run_writer.MAX_RUN = 1
    extract_wikidata(sys.argv[1], sys.argv[2], selection=Selection(languages=("fo", "is", "en",
        "no")), workers=2, part_size=int(sys.argv[3]), progress=progress)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill so")
def test_a_killed_run_leaves_no_output_and_goes_on(tmp_path, long_text):
    dump = write_dump(tmp_path, long_text, "bz2")
    script, size = tmp_path / "run.py", dump.stat().st_size // 6
    script.write_text(KILLED, encoding="utf-8")
    done = subprocess.run([sys.executable, script, dump, tmp_path / "made", str(size)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "made").exists()
    assert len(list(Path(tmp_path / ".made.parts").glob("*.tally"))) == 3
    extract(dump, tmp_path / "made", part_size=size, resume=True)
    extract(dump, tmp_path / "whole", part_size=size)
    assert contents(tmp_path / "made") == contents(tmp_path / "whole")
