"""Extractions that are interrupted, and go on."""

import os
import signal
import subprocess
import sys
import time

import pytest

from candgen.dumps import compressed_streams as dump_module
from candgen.errors import StorageError
from candgen.wikipedia import read_part as read_part_module
from candgen.wikipedia.extract import Options, extract
from tests.support.dumps import WrittenPage, write_dump
from tests.support.faroese_wiki import WITHOUT_IDS, rows

SMALL_PARTS = """
import sys
import candgen.dumps.compressed_streams
from candgen.cli import main
candgen.dumps.compressed_streams.MIN_PART = 1
sys.exit(main(sys.argv[1:]))
"""


def test_what_was_finished_is_not_done_again(faroese, tmp_path, monkeypatch):
    monkeypatch.setattr(dump_module, "MIN_PART", 1)
    whole = extract(faroese, tmp_path / "whole.parquet").to_dict()
    begun = []
    real = read_part_module.read_part

    def counting(part, *args, **kwargs):
        begun.append(part.start)
        if len(begun) == 5:
            raise KeyboardInterrupt
        return real(part, *args, **kwargs)

    monkeypatch.setattr("candgen.wikipedia.read_parts.read_part", counting)
    with pytest.raises(KeyboardInterrupt):
        extract(faroese, tmp_path / "fo.parquet")
    assert not (tmp_path / "fo.parquet").exists()
    with pytest.raises(StorageError, match="leave out --resume"):
        extract(faroese, tmp_path / "fo.parquet", resume=True, options=Options(minimum=2))
    begun += [None]
    resumed = extract(faroese, tmp_path / "fo.parquet", resume=True).to_dict()
    assert len(begun[6:]) == len(set(begun) - {None}) - 4
    assert not set(begun[:4]) & set(begun[6:])
    assert resumed["pages"] == whole["pages"]
    assert rows(tmp_path / "fo.parquet") == rows(tmp_path / "whole.parquet")
    assert not (tmp_path / ".fo.parquet.parts").exists()


def test_without_resume_a_run_starts_over(faroese, tmp_path, monkeypatch):
    def fails(*_args, **_kwargs):
        raise RuntimeError("in the middle")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr("candgen.wikipedia.extract._make_resolver", fails)
        extract(faroese, tmp_path / "fo.parquet")
    (tmp_path / ".fo.parquet.parts" / "000000.tally").write_text("damaged", encoding="utf-8")
    extract(faroese, tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == WITHOUT_IDS


def interrupt(path, output, monkeypatch):
    """Leave a run of which all parts are finished."""

    def stop(*_args, **_kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("candgen.wikipedia.extract._merge", stop)
        extract(path, output)


def test_a_dump_of_one_part_is_resumed_too(faroese, tmp_path, monkeypatch):
    interrupt(faroese, tmp_path / "fo.parquet", monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr("candgen.wikipedia.read_parts.read_part", None)  # it is not read again
        extract(faroese, tmp_path / "fo.parquet", resume=True)
    assert rows(tmp_path / "fo.parquet") == WITHOUT_IDS


def test_what_was_made_of_another_file_is_not_resumed(faroese, tmp_path, monkeypatch):
    interrupt(faroese, tmp_path / "fo.parquet", monkeypatch)
    os.utime(faroese, (1, 1))
    with pytest.raises(StorageError, match="leave out --resume"):
        extract(faroese, tmp_path / "fo.parquet", resume=True)


def test_resuming_what_was_never_begun_is_fine(faroese, tmp_path):
    extract(faroese, tmp_path / "fo.parquet", resume=True)
    assert rows(tmp_path / "fo.parquet") == WITHOUT_IDS


@pytest.mark.parametrize(
    ("end", "workers"), [(signal.SIGINT, 1), (signal.SIGINT, 2), (signal.SIGKILL, 2)]
)
def test_a_run_that_is_ended_leaves_no_half_file_and_can_be_resumed(tmp_path, end, workers):
    many = [WrittenPage(f"Síða {n}", f"[[Mál|orð {n}]] " * 400) for n in range(900)]
    path = write_dump(tmp_path / "fowiki.xml.bz2", many, together=3)
    command = [
        sys.executable,
        "-c",
        SMALL_PARTS,
        "extract",
        "fo",
        "--dump",
        str(path),
        "--workers",
        str(workers),
        "-o",
        str(tmp_path / "fo.parquet"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    work = tmp_path / ".fo.parquet.parts"
    deadline = time.monotonic() + 60
    while len(list(work.glob("*.tally"))) < 3 and time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(end)
    _, told = process.communicate(timeout=60)
    assert process.returncode == (130 if end == signal.SIGINT else -signal.SIGKILL), told
    if end == signal.SIGINT:
        assert b"--resume" in told
        assert b"Traceback" not in told
    assert {path.name for path in tmp_path.iterdir()} == {"fowiki.xml.bz2", work.name}
    done = subprocess.run([*command, "--resume"], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(rows(tmp_path / "fo.parquet")) == 900
    assert not work.exists()
