"""Parts, formats and workers change nothing, and the progress is shown."""

import bz2
import gzip
import json

import pytest

from candgen.dumps import compressed_streams as dump_module
from candgen.dumps import external_sort as runs_module
from candgen.errors import StorageError
from candgen.wikipedia import read_part as read_part_module
from candgen.wikipedia.extract import Sources, extract
from tests.support.dumps import WrittenPage, cut_every, dump_xml, multistream, pieces, write_dump
from tests.support.faroese_wiki import PAGES, WITHOUT_IDS, rows


def files(folder, name="fo"):
    """The bytes of the table, and the report but for the names of the inputs."""
    report = json.loads((folder / f"{name}.report.json").read_text(encoding="utf-8"))
    del report["inputs"]
    return (folder / f"{name}.parquet").read_bytes(), report


def test_every_format_part_and_number_of_workers_gives_the_same_files(
    tmp_path, monkeypatch, capfdbinary
):
    many = [page._replace(title=f"{page.title} {n}", id=None) for n in range(30) for page in PAGES]
    xml = dump_xml(many)
    contents = {
        "a-20230501-.xml": xml,
        "b-20230501-.xml.gz": gzip.compress(xml),
        "c-20230501-.xml.bz2": bz2.compress(xml),
        "d-20230501-.xml.bz2": multistream(pieces(many, together=7)),
        "e-20230501-.xml.bz2": multistream(cut_every(xml, 1013)),
    }
    made = {}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        extract(str(tmp_path / name), tmp_path / "fo.parquet")
        made[name] = files(tmp_path)
    monkeypatch.setattr(dump_module, "MIN_PART", 2000)
    monkeypatch.setattr(read_part_module, "_MAX_LINKS", 5)
    monkeypatch.setattr(runs_module, "_BATCH", 4)
    monkeypatch.setattr(runs_module, "ROWS", 16)
    for name in list(contents)[3:]:
        for workers in (1, 2):
            extract(str(tmp_path / name), tmp_path / "fo.parquet", workers=workers)
            made[name, workers] = files(tmp_path)
    first = made["a-20230501-.xml"]
    assert first[1]["pages"]["read"] == len(many)
    assert all(each == first for each in made.values())


def test_several_files_of_one_dump(tmp_path, faroese):
    one = write_dump(tmp_path / "fowiki-20230501-1.xml.bz2", PAGES[:5])
    two = write_dump(tmp_path / "fowiki-20230501-2.xml.gz", PAGES[5:])
    extract(Sources((str(one), str(two))), tmp_path / "fo.parquet", workers=2)
    assert rows(tmp_path / "fo.parquet") == WITHOUT_IDS


def test_parts_that_do_not_add_up_are_no_table(faroese, tmp_path, monkeypatch):
    monkeypatch.setattr(dump_module, "MIN_PART", 1)
    real = read_part_module.PageStatistics.add

    def forgetful(self, other):
        real(self, other)
        self.seen["links"] = 1

    monkeypatch.setattr(read_part_module.PageStatistics, "add", forgetful)
    with pytest.raises(StorageError, match="do not add up"):
        extract(faroese, tmp_path / "fo.parquet")
    assert not (tmp_path / "fo.parquet").exists()


def test_it_is_told_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(dump_module, "MIN_PART", 1)
    many = [WrittenPage(f"Síða {n}", "[[x]]") for n in range(40)]
    path = write_dump(tmp_path / "x.xml.bz2", many, together=10)
    seen = []
    extract(str(path), tmp_path / "fo.parquet", progress=seen.append)
    assert [each for each in seen if not each.pages and each.doing == "reading pages"] == []
    reading = [each for each in seen if each.doing.startswith(("starting", "reading pages"))]
    assert all(each.total == path.stat().st_size for each in reading)
    assert [each.done for each in reading] == sorted(each.done for each in reading)
    assert (reading[0].done, reading[0].pages) == (0, 0)
    assert (reading[-1].done, reading[-1].pages) == (path.stat().st_size, 40)
    (tmp_path / "x.xml").write_bytes(dump_xml(many * 500))
    seen.clear()
    extract(str(tmp_path / "x.xml"), tmp_path / "fo.parquet", progress=seen.append)
    assert any(0 < each.pages < 20000 for each in seen)
