"""What is extracted from a dump, and how articles are divided."""

from collections import Counter

import pytest

import candgen
from candgen.dumps import compressed_streams as dump_module
from candgen.wikipedia.extract import Options, extract
from tests.support.dumps import WrittenPage, write_dump
from tests.support.faroese_wiki import PAGES, WITHOUT_IDS, rows


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        (Options(templates=False), {("Kina", "fo:Kina"): 1}),
        (Options(refs=False), {("Suðuroy", "fo:Suðuroy"): 1}),
        (Options(tables=False), {("T.", "fo:Tórshavn"): 1}),
        (Options(minimum=2), {pair: 1 for pair in WITHOUT_IDS if pair[0] != "Kina"}),
    ],
)
def test_what_can_be_left_out(faroese, tmp_path, options, gone):
    report = extract(faroese, tmp_path / "fo.parquet", options=options)
    wanted = Counter(WITHOUT_IDS)
    wanted.subtract(gone)
    assert rows(tmp_path / "fo.parquet") == +wanted
    told = report.to_dict()
    assert sum(told["seen"].values()) == told["kept"] + sum(told["dropped"].values())
    if options.minimum > 1:
        assert told["dropped"]["below the minimum count"] == 10


def test_titles_as_mentions(faroese, tmp_path):
    options = Options(titles=True, redirect_titles=True)
    report = extract(faroese, tmp_path / "fo.parquet", options=options)
    made = Counter(rows(tmp_path / "fo.parquet"))
    made.subtract(WITHOUT_IDS)
    assert +made == {
        ("Føroyar", "fo:Føroyar"): 1,
        ("Tórshavn", "fo:Tórshavn"): 1,
        ("Suðuroy", "fo:Suðuroy"): 1,
        ("Paris", "fo:Paris (gudur)"): 1,
        ("Gomul", "fo:Gomul"): 1,
        ("Gadget.js", "fo:Gadget.js"): 1,
        ("Havnin", "fo:Tórshavn"): 1,
        ("Søga", "fo:Føroyar"): 1,
    }
    assert report.to_dict()["seen"] == {"links": 18, "page titles": 6, "redirect titles": 6}


def test_other_namespaces(faroese, tmp_path):
    report = extract(faroese, tmp_path / "fo.parquet", options=Options(namespaces=(0, 14)))
    made = rows(tmp_path / "fo.parquet")
    assert made["Tórshavn", "fo:Tórshavn"] == 2
    assert made["Búskapur", "fo:Bólkur:Býir"] == 1
    assert report.to_dict()["pages"]["articles"] == 6


def test_the_first_pages(faroese, tmp_path):
    report = extract(faroese, tmp_path / "fo.parquet", options=Options(pages=1), workers=2)
    assert report.to_dict()["pages"]["read"] == 1
    assert rows(tmp_path / "fo.parquet").keys() == {
        ("Tórshavn", "fo:Tórshavn"),
        ("Havnina", "fo:Havnin"),
        ("Suðuroyar", "fo:Suðuroy"),
        ("Føroyar", "fo:Føroyar"),
    }


def test_the_first_pages_of_several_parts(faroese, tmp_path, monkeypatch):
    monkeypatch.setattr(dump_module, "MIN_PART", 1)
    for number in range(1, 16):
        report = extract(faroese, tmp_path / "fo.parquet", options=Options(pages=number))
        assert report.to_dict()["pages"]["read"] == min(number, len(PAGES))
        assert not report.truncated


def test_articles_are_divided_among_three_tables(tmp_path):
    pages = [WrittenPage(f"Síða {n}", f"[[Mál|orð {n}]] [[Mál]]") for n in range(400)]
    path = str(write_dump(tmp_path / "x.xml", pages))
    extract(path, tmp_path / "fo.parquet", options=Options(split=(70, 15, 15), seed=3))
    assert not (tmp_path / "fo.parquet").exists()
    names = ("fo.train.parquet", "fo.dev.parquet", "fo.test.parquet")
    tables = [rows(tmp_path / name) for name in names]
    sizes = [len(table) - 1 for table in tables]
    assert sum(sizes) == 400
    assert 240 < sizes[0] < 320
    assert all(40 < size < 80 for size in sizes[1:])
    for table, size in zip(tables, sizes, strict=True):
        assert table["Mál", "fo:Mál"] == size  # both links of an article are in one table
    extract(path, tmp_path / "again.parquet", options=Options(split=(0.7, 0.15, 0.15), seed=3))
    assert rows(tmp_path / "again.dev.parquet") == tables[1]
    extract(path, tmp_path / "other.parquet", options=Options(split=(70, 15, 15), seed=4))
    assert rows(tmp_path / "other.dev.parquet") != tables[1]
    extract(path, tmp_path / "all.parquet", options=Options(split=(1, 0, 0)))
    assert len(rows(tmp_path / "all.train.parquet")) == 401
    assert len(candgen.MentionTable.read(tmp_path / "all.test.parquet")) == 0
