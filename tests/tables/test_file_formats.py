"""Every format of a mention table: suffixes, round trips, writing whole or not at all."""

import errno
import gzip
import json
import os
import random
import stat
import struct
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from candgen.errors import ParameterError
from candgen.tables.mention_table import MentionTable
from tests.support.mention_tables import SUFFIXES, TOY, refusal, rows_of_a_table, toy, write


@pytest.mark.parametrize(
    "name", ["fo", "fo.csv", "fo.tsv.bz2", "fo.gz", "fo.parquet.gz", "fo.txt", ".tsv"]
)
def test_unknown_suffixes(name, tmp_path):
    path = write(tmp_path / name, "")
    for call in (MentionTable.read, toy().write):
        message = refusal(call, path)
        assert f"{path} has an unknown suffix" in message
        assert ".tsv, .jsonl, .ndjson" in message
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file(suffix, tmp_path):
    path = tmp_path / "nowhere" / f"fo{suffix}"
    assert refusal(MentionTable.read, path).startswith(f"{path} does not exist: check the name")


@pytest.mark.parametrize("mistake", [None, 7, b"fo.tsv", "", "a\0.tsv"])
def test_anything_but_a_path(mistake):
    assert "path is" in refusal(MentionTable.read, mistake, kind=ParameterError)
    assert "path is" in refusal(toy().write, mistake, kind=ParameterError)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(rows=rows_of_a_table)
def test_every_format_gives_back_what_it_was_given(suffix, rows):
    table = MentionTable.from_pairs(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"fo{suffix}"
        table.write(path)
        back = MentionTable.read(path)
        assert back == table
        assert back.digest == table.digest
        assert list(Path(folder).iterdir()) == [path]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_table_gives_the_same_bytes(suffix, tmp_path):
    rows = [(f"m{n % 977}é", f"Q{n % 31}", n + 1) for n in range(40_000)]
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    MentionTable.from_pairs(rows).write(first)
    random.Random(1).shuffle(rows)
    os.utime(first, (0, 0))
    arrow = pa.Table.from_pylist(
        [dict(zip(("mention", "entity", "count"), r, strict=True)) for r in rows]
    )
    cut = pa.concat_tables([arrow.slice(0, 10_000), arrow.slice(10_000)])
    MentionTable.from_arrow(cut).write(second)
    assert first.read_bytes() == second.read_bytes()
    MentionTable.read(first).write(second)
    assert first.read_bytes() == second.read_bytes()


def test_what_the_text_formats_look_like(tmp_path):
    toy().write(tmp_path / "fo.tsv")
    assert (tmp_path / "fo.tsv").read_bytes().decode() == (
        "mention\tentity\tcount\nHavnin\tQ10704\t12\nTórshavn\tQ10704\t1\nTórshavn\tQ2\t3\n"
    )
    toy().write(tmp_path / "fo.jsonl")
    lines = (tmp_path / "fo.jsonl").read_bytes().decode().split("\n")
    assert lines[0] == '{"mention": "Havnin", "entity": "Q10704", "count": 12}'
    assert [tuple(json.loads(line).values()) for line in lines[:-1]] == TOY
    toy().write(tmp_path / "fo.tsv.gz")
    packed = (tmp_path / "fo.tsv.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "fo.tsv").read_bytes()
    flags, time = struct.unpack("<3xBI", packed[:8])
    assert (flags, time) == (0, 0)  # no name, no time
    toy().write(tmp_path / "fo.parquet")
    group = pq.read_metadata(tmp_path / "fo.parquet").row_group(0)
    assert {group.column(n).compression for n in range(3)} == {"ZSTD"}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("broken", ["fsync", "replace", "write"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(suffix, broken, tmp_path, monkeypatch):
    path = tmp_path / f"fo{suffix}"
    MentionTable.from_pairs([("old", "Q1")]).write(path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if broken == "write":
        really_open = Path.open

        def open_on_full_disk(self, mode="r", *arguments, **keywords):
            file = really_open(self, mode, *arguments, **keywords)
            return FullDisk(file) if mode == "xb" else file

        monkeypatch.setattr(Path, "open", open_on_full_disk)
    else:
        monkeypatch.setattr(os, broken, full)
    table = MentionTable.from_pairs((f"m{n}", f"Q{n}") for n in range(3000))
    message = refusal(table.write, path)
    assert message == (
        f"{path} cannot be written: No space left on device; make room or choose another place"
    )
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


class FullDisk:
    """A file on a disk that has room for 100 bytes."""

    def __init__(self, file):
        self.file, self.room, self.closed = file, 100, False

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(data)

    def writelines(self, pieces):
        for piece in pieces:
            self.write(piece)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        toy().write(tmp_path / "fo.tsv")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path):
    path = tmp_path / "missing" / "fo.tsv"
    assert refusal(toy().write, path) == (
        f"{path} cannot be written: {path.parent} is not a folder, make it first"
    )
    (tmp_path / "file").write_bytes(b"")
    assert "is not a folder" in refusal(toy().write, tmp_path / "file" / "fo.tsv")
    (tmp_path / "folder.tsv").mkdir()
    assert "Is a directory" in refusal(toy().write, tmp_path / "folder.tsv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder.tsv"]


def test_a_folder_without_permission(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
        assert "Permission denied" in refusal(toy().write, folder / "fo.tsv")
    finally:
        folder.chmod(0o700)


def test_a_written_file_has_ordinary_permissions_and_links_stay_links(tmp_path):
    mask = os.umask(0o022)
    try:
        toy().write(tmp_path / "fo.tsv")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fo.tsv").stat().st_mode) == 0o644
    (tmp_path / "link.tsv").symlink_to(tmp_path / "fo.tsv")
    MentionTable.from_pairs([("a", "Q1")]).write(tmp_path / "link.tsv")
    assert (tmp_path / "link.tsv").is_symlink()
    assert len(MentionTable.read(tmp_path / "fo.tsv")) == 1
